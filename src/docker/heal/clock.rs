//! Clocks of services, found to be off by what is in the processes themselves.

use anyhow::{Context, ensure};
use futures::future::join_all;

use super::patient::{Pair, Patient};
use super::{Health, Treatment};
use crate::agent::protocol::{ClockReport, Offsets};
use crate::docker::agent::Agent;
use crate::docker::engine::Engine;
use crate::docker::node;

/// Reads the clocks of every service and puts right those that are off.
pub(super) async fn put_right(engine: &Engine, agent: &Agent, patient: &Patient) -> Vec<Treatment> {
    let treated = patient.nodes.iter().map(|(name, pair)| async move {
        Treatment::of(format!("clocks of {name}"), treat(engine, agent, pair).await)
    });
    join_all(treated).await
}

/// What was wrong, if anything.
async fn treat(engine: &Engine, agent: &Agent, pair: &Pair) -> anyhow::Result<Option<String>> {
    let service = &pair.service.id;
    let pid = pid(engine, pair).await?;
    if !is_detoured(&agent.read_clock(pid).await?) {
        return Ok(None);
    }
    let healed = agent.heal_clock(pid).await?;
    if healed.shows(Offsets::default()) && !is_detoured(&healed) {
        return Ok(Some("were moved, put right".to_owned()));
    }
    // A monotonic clock must not go back while its process lives.
    node::restart(engine, service).await.context("restart it")?;
    Ok(Some("were moved, put right by a restart".to_owned()))
}

/// Those that are moved in spite of all.
pub(super) async fn verify(engine: &Engine, agent: &Agent, patient: &Patient) -> Vec<Treatment> {
    let looked = patient.nodes.iter().map(|(name, pair)| async move {
        let seen = async {
            let found = agent.read_clock(pid(engine, pair).await?).await?;
            ensure!(!is_detoured(&found), "they are still moved");
            Ok(None)
        };
        Treatment::of(format!("clocks of {name}"), seen.await)
    });
    let all = join_all(looked).await.into_iter();
    all.filter(|treatment| treatment.health == Health::Ill).collect()
}

async fn pid(engine: &Engine, pair: &Pair) -> anyhow::Result<u32> {
    node::pid(&node::state(engine, &pair.service.id).await?).context("it does not run")
}

fn is_detoured(report: &ClockReport) -> bool {
    report.processes.iter().any(|process| process.detoured)
}
