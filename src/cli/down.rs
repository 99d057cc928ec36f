//! `stormglass down`: remove what runs have left behind.

use clap::Args;

use super::{exit, fail};
use crate::docker::{Engine, FoundRun, RunId, Swept, Which, sweep};

#[derive(Args)]
pub struct Arguments {
    /// Only this run
    #[arg(long, value_name = "ID")]
    run: Option<RunId>,
    /// Also runs whose orchestrator is alive
    #[arg(long)]
    force: bool,
}

pub fn down(arguments: &Arguments) -> i32 {
    let runtime = match super::runtime() {
        Ok(runtime) => runtime,
        Err(error) => return fail(exit::INFRASTRUCTURE, error),
    };
    runtime.block_on(async {
        let engine = match Engine::connect().await {
            Ok(engine) => engine,
            Err(error) => return fail(exit::INFRASTRUCTURE, error),
        };
        match sweep(&engine, &arguments.which()).await {
            Ok(swept) => told(&swept, arguments.run.as_ref()),
            Err(error) => fail(exit::INFRASTRUCTURE, format!("{error:#}")),
        }
    })
}

impl Arguments {
    fn which(&self) -> Which {
        match (&self.run, self.force) {
            (None, false) => Which::Gone,
            (None, true) => Which::All,
            (Some(run), false) => Which::One(run.clone()),
            (Some(run), true) => Which::OneByForce(run.clone()),
        }
    }
}

/// A run that was named and is still there is a refusal; runs of others that go on are not.
fn told(swept: &Swept, named: Option<&RunId>) -> i32 {
    for run in &swept.removed {
        println!("removed run {}", line(run));
    }
    for run in &swept.spared {
        let why = format!("its orchestrator is {}", run.life.name());
        println!("left run {} alone: {why}; --force removes it too", line(run));
    }
    if swept.removed.is_empty() && swept.spared.is_empty() {
        println!("nothing to remove");
    }
    if named.is_some() && !swept.spared.is_empty() { exit::USAGE } else { exit::VALID }
}

fn line(run: &FoundRun) -> String {
    let FoundRun { run, containers, networks, volumes, .. } = run;
    format!("{run}: {containers} containers, {networks} networks, {volumes} volumes")
}
