//! `stormglass down`: remove what runs have left behind.

use std::time::Duration;

use clap::Args;

use super::{exit, no_such_run, with_engine};
use crate::docker::{Engine, FoundRun, RunId, Swept, Which, sweep};
use crate::say::say_line;

const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// A live run that is forced away may make things for as long as it likes.
const MOST_LOOKS: u32 = 8;

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
    with_engine(async |engine| {
        let swept = sweep_until_quiet(engine, &arguments.which()).await?;
        Ok(told(&swept, arguments.run.as_ref()))
    })
}

/// Sweeps again as long as something was found: of requests that were under way when an orchestrator
/// was killed, the engine goes on to make things.
async fn sweep_until_quiet(engine: &Engine, which: &Which) -> anyhow::Result<Swept> {
    let mut all = sweep(engine, which).await?;
    let mut found = !all.removed.is_empty();
    for _ in 0..MOST_LOOKS {
        if !found {
            break;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
        let more = sweep(engine, which).await?;
        found = !more.removed.is_empty();
        let is_new = |run: &FoundRun| all.removed.iter().all(|known| known.run != run.run);
        let new: Vec<FoundRun> = more.removed.into_iter().filter(is_new).collect();
        all.removed.extend(new);
    }
    Ok(all)
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
        say_line!("removed run {}", line(run));
    }
    for run in &swept.spared {
        let why = format!("its orchestrator is {}", run.life.name());
        say_line!("left run {} alone: {why}; --force removes it too", line(run));
    }
    if swept.removed.is_empty() && swept.spared.is_empty() {
        if let Some(run) = named {
            return no_such_run(run, std::iter::empty());
        }
        say_line!("nothing to remove");
    }
    if named.is_some() && !swept.spared.is_empty() { exit::USAGE } else { exit::VALID }
}

fn line(run: &FoundRun) -> String {
    let FoundRun { run, containers, networks, volumes, .. } = run;
    format!("{run}: {containers} containers, {networks} networks, {volumes} volumes")
}
