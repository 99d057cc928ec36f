use clap::{Parser, Subcommand};
use stormglass::agent::{self, AgentArguments};

#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serves one run's orchestrator on a Docker host, over standard input and output
    #[command(hide = true)]
    Agent(AgentArguments),
    /// Holds a node's network namespace
    #[command(hide = true)]
    Hold,
}

fn main() {
    let code = match Arguments::parse().command {
        Command::Agent(arguments) => agent::run(arguments),
        Command::Hold => agent::hold(),
    };
    std::process::exit(code);
}
