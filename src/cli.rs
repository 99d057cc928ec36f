//! The command line: one file a subcommand. Arguments as typed here, meaning in the modules they call.

mod arguments;
mod check;
mod completions;
mod describe;
mod doctor;
mod down;
mod heal;
mod image_reference;
mod images;
mod list;
mod report;
mod run;
mod serve;
mod width;

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use crate::docker::{Engine, RunId};
use crate::say::say_aside;

pub use run::RunArguments;

/// Exit codes, as in the README's table.
pub mod exit {
    pub const VALID: i32 = 0;
    pub const INVALID: i32 = 1;
    pub const UNKNOWN: i32 = 2;
    pub const INFRASTRUCTURE: i32 = 3;
    pub const USAGE: i32 = 64;
    pub const INTERRUPTED: i32 = 130;
}

/// Starts a real cluster (or its simulation), breaks it, and tells from the history whether it kept
/// its promises.
#[derive(Parser)]
#[command(name = "stormglass", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str =
    "Exit codes: 0 valid, 1 invalid, 2 unknown, 3 infrastructure, 64 usage, 130 interrupted";

#[derive(Subcommand)]
enum Command {
    /// Run a workload while nemeses break things, and judge what happened
    Run(Box<RunArguments>),
    /// List workloads, nemeses, checkers, models, anomalies, services or variants
    List(list::Arguments),
    /// Show one workload, nemesis, checker, model, anomaly or variant whole
    Describe(describe::Arguments),
    /// Judge a results folder or a history file again
    Check(Box<check::Arguments>),
    /// Write a run's report.html and junit.xml again from its history
    Report(report::Arguments),
    /// Take back what killed runs have left in force, and leave their clusters up
    Heal(heal::Arguments),
    /// Remove what runs have left behind: containers, networks, volumes, rules
    Down(down::Arguments),
    /// Show or build the images that runs use
    Images(images::Arguments),
    /// Tell what this host and its Docker engine can and cannot do
    Doctor(doctor::Arguments),
    /// Print a completion script for a shell
    Completions(completions::Arguments),
    /// The hand inside the host; started by runs in a container of their own
    #[command(hide = true)]
    Agent(crate::agent::AgentArguments),
    /// A server of our own; started in containers
    #[command(hide = true)]
    Serve(serve::Arguments),
    /// Keeps a node's network namespace; started by runs
    #[command(hide = true)]
    Hold,
    /// Runs a service and starts it again in place; started by runs
    #[command(hide = true)]
    Supervise(crate::agent::SuperviseArguments),
}

/// Parses the arguments, does what they say, and returns the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            return refused(&error);
        }
    };
    match cli.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::List(arguments) => list::list(&arguments),
        Command::Describe(arguments) => describe::describe(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Heal(arguments) => heal::heal(&arguments),
        Command::Down(arguments) => down::down(&arguments),
        Command::Images(arguments) => images::images(&arguments),
        Command::Doctor(arguments) => doctor::doctor(&arguments),
        Command::Completions(arguments) => completions::completions(&arguments),
        Command::Agent(arguments) => crate::agent::run(arguments),
        Command::Serve(arguments) => serve::serve(arguments),
        Command::Hold => crate::agent::hold(),
        Command::Supervise(arguments) => crate::agent::supervise(&arguments),
    }
}

/// Prints help as it is, and what is wrong with arguments as one paragraph.
fn refused(error: &clap::Error) -> i32 {
    use clap::error::ErrorKind;
    let is_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !error.use_stderr() || is_help {
        let _ = error.print();
        return if is_help { exit::USAGE } else { exit::VALID };
    }
    let text = error.render().to_string();
    let told = text.split("\n\n").filter(|part| {
        let part = part.trim_start();
        !part.starts_with("Usage:") && !part.starts_with("For more information")
    });
    let told: Vec<String> =
        told.map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let told = told.join("; ");
    let told = told.strip_prefix("error: ").unwrap_or(&told);
    fail(exit::USAGE, format!("{told}; `--help` shows what is expected"))
}

/// A runtime for commands that talk to an engine.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// Does work on the engine; what it could not do is told with the code for infrastructure.
fn with_engine(work: impl AsyncFnOnce(&Engine) -> anyhow::Result<i32>) -> i32 {
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return fail(exit::INFRASTRUCTURE, error),
    };
    runtime.block_on(async {
        let engine = match Engine::connect().await {
            Ok(engine) => engine,
            Err(error) => return fail(exit::INFRASTRUCTURE, error),
        };
        match work(&engine).await {
            Ok(code) => code,
            Err(error) => fail(exit::INFRASTRUCTURE, format!("{error:#}")),
        }
    })
}

/// Colours only where a person reads.
fn colours() -> crate::report::Colours {
    use std::io::IsTerminal;
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted && std::io::stdout().is_terminal() {
        crate::report::Colours::Ansi
    } else {
        crate::report::Colours::Plain
    }
}

/// Says that nothing of a named run is there, and which others are.
fn no_such_run<'a>(run: &RunId, others: impl Iterator<Item = &'a RunId>) -> i32 {
    let others: Vec<&str> = others.map(RunId::as_str).collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(" ({})", others.join(", ")),
    };
    fail(
        exit::USAGE,
        format!(
            "there is no run `{run}` of which anything is left; without --run all runs are looked \
             at{others}"
        ),
    )
}

/// Prints an error as one paragraph on stderr and returns its exit code.
fn fail(code: i32, error: impl std::fmt::Display) -> i32 {
    say_aside!("stormglass: {error}");
    code
}
