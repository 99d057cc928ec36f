//! `stormglass completions`: a script for the user's shell.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Cli, exit};
use crate::say::say;

#[derive(Args)]
pub struct Arguments {
    shell: Shell,
}

pub fn completions(arguments: &Arguments) -> i32 {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "stormglass", &mut script);
    say!("{}", String::from_utf8_lossy(&script));
    exit::VALID
}
