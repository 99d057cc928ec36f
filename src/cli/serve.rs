//! `stormglass serve`: a server of ours in a process of its own; started in containers.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};

use super::{exit, fail};
use crate::reference::process::{self, LogTo, Process};
use crate::reference::{ControllerVariant, NodeVariant, controller, kvrocks};

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    server: Server,
}

#[derive(Subcommand)]
enum Server {
    /// A kvrocks node
    Kvrocks(KvrocksArguments),
    /// A controller of kvrocks nodes
    Controller(ControllerArguments),
}

#[derive(Args)]
struct KvrocksArguments {
    /// A kvrocks.conf
    #[arg(long, short = 'c')]
    config: PathBuf,
    /// Where the node keeps its data
    #[arg(long)]
    dir: PathBuf,
    #[arg(long, default_value_t)]
    variant: NodeVariant,
    /// Further keys of kvrocks.conf, as `key=value`; they come after the file's
    #[arg(long, value_parser = pair)]
    set: Vec<(String, String)>,
}

#[derive(Args)]
struct ControllerArguments {
    /// The controller's config.yaml
    #[arg(long, short = 'c')]
    config: PathBuf,
    #[arg(long, default_value_t)]
    variant: ControllerVariant,
}

/// Serves until it is told to end; the exit code.
pub fn serve(arguments: Arguments) -> i32 {
    let served = match arguments.server {
        Server::Kvrocks(arguments) => serve_kvrocks(&arguments),
        Server::Controller(arguments) => serve_controller(&arguments),
    };
    match served {
        Ok(()) => exit::VALID,
        Err(error) => fail(exit::INFRASTRUCTURE, format!("{error:#}")),
    }
}

fn serve_kvrocks(arguments: &KvrocksArguments) -> anyhow::Result<()> {
    let path = &arguments.config;
    let mut config = kvrocks::Config::parse(arguments.variant, &text(path)?)
        .with_context(|| path.display().to_string())?;
    for (key, value) in &arguments.set {
        config.put(key, value)?;
    }
    let host = Process::new(arguments.dir.clone(), LogTo::Stdout)?;
    process::run(|| kvrocks::serve(host, config))
}

/// A controller keeps nothing on its disk.
fn serve_controller(arguments: &ControllerArguments) -> anyhow::Result<()> {
    let path = &arguments.config;
    let config = controller::Config::parse(arguments.variant, &text(path)?)
        .with_context(|| path.display().to_string())?;
    let host = Process::without_folder(LogTo::Stderr);
    process::run(|| controller::serve(host, config))
}

fn text(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').ok_or("expected key=value")?;
    Ok((pair.0.to_owned(), pair.1.to_owned()))
}
