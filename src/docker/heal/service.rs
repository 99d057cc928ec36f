//! The processes of a run: frozen ones thawed, ended ones started, and every server heard to answer.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use futures::future::join_all;
use tokio::time::Instant;

use super::links::Places;
use super::patient::{Pair, Patient};
use super::{Health, Treatment};
use crate::cluster::{Action, FaultId};
use crate::docker::agent::Agent;
use crate::docker::engine::{Engine, is_conflict};
use crate::docker::question::{self, Question, Reply};
use crate::docker::{logs, node};
use crate::op::NodeName;

const ANSWER_WITHIN: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);
const LOG_LINES: usize = 5;

/// Starts hold containers that have ended: their networks are where all else happens.
pub(super) async fn revive_holds(engine: &Engine, patient: &Patient) -> Vec<Treatment> {
    let mut treatments = Vec::new();
    for (name, pair) in patient.nodes.iter().filter(|(_, pair)| !pair.hold.is_running) {
        let started = node::start(engine, &pair.hold.id).await.context("start it");
        let done = started.map(|()| Some("had ended, started".to_owned()));
        treatments.push(Treatment::of(format!("hold of {name}"), done));
    }
    treatments
}

/// Takes back one recorded action on a process; the network's have been taken back together.
pub(super) async fn undo(
    engine: &Engine,
    patient: &Patient,
    fault: FaultId,
    action: &Action,
) -> Option<Treatment> {
    let (name, is_thaw) = match action {
        Action::Start { node } => (node, false),
        Action::Resume { node } => (node, true),
        _ => return None,
    };
    let what = format!("{} {name} of {fault}", action.name());
    let Some(pair) = patient.nodes.get(name) else {
        return Some(Treatment::new(Health::Ill, what, "the node has no containers"));
    };
    let done = if is_thaw { thaw(engine, pair).await } else { start(engine, pair).await };
    Some(Treatment::of(what, done))
}

/// Thaws and starts whatever needs it, recorded or not.
pub(super) async fn sweep(engine: &Engine, patient: &Patient) -> Vec<Treatment> {
    let swept = patient.nodes.iter().map(|(name, pair)| async move {
        let thawed = Treatment::of(name, thaw(engine, pair).await);
        [thawed, Treatment::of(name, start(engine, pair).await)]
    });
    let all = join_all(swept).await.into_iter().flatten();
    all.filter(|treatment| treatment.health != Health::Well).collect()
}

/// What was wrong, if anything.
async fn thaw(engine: &Engine, pair: &Pair) -> anyhow::Result<Option<String>> {
    let service = &pair.service.id;
    if node::state(engine, service).await?.paused != Some(true) {
        return Ok(None);
    }
    match engine.api().unpause_container(service).await {
        // It has gone on meanwhile.
        Err(error) if is_conflict(&error) => Ok(None),
        Err(error) => Err(error).context("thaw it"),
        Ok(()) => Ok(Some("was frozen, thawed".to_owned())),
    }
}

async fn start(engine: &Engine, pair: &Pair) -> anyhow::Result<Option<String>> {
    let service = &pair.service.id;
    if node::pid(&node::state(engine, service).await?).is_some() {
        return Ok(None);
    }
    node::start(engine, service).await.context("start it")?;
    Ok(Some("was down, started".to_owned()))
}

/// Waits until each service answers at its client port.
pub(super) async fn await_answers(
    engine: &Engine,
    agent: &Agent,
    patient: &Patient,
    places: &Places,
) -> Vec<Treatment> {
    let asked = patient.nodes.iter().map(|(name, pair)| async move {
        match await_answer(engine, agent, name, pair, places).await {
            Ok(pid) => {
                let seen = format!("runs with pid {pid} and answers");
                Treatment::new(Health::Well, name, seen)
            }
            Err(error) => Treatment::new(Health::Ill, name, format!("{error:#}")),
        }
    });
    join_all(asked).await
}

async fn await_answer(
    engine: &Engine,
    agent: &Agent,
    name: &NodeName,
    pair: &Pair,
    places: &Places,
) -> anyhow::Result<u32> {
    ensure!(places.contains_key(name), "its hold container does not run");
    let deadline = Instant::now() + ANSWER_WITHIN;
    loop {
        let reply = question::ask(agent, name, pair.role).await?;
        let state = node::state(engine, &pair.service.id).await?;
        match (node::pid(&state), reply) {
            (Some(pid), Reply::Answered(_)) => return Ok(pid),
            (Some(_), _) if Instant::now() < deadline => tokio::time::sleep(POLL).await,
            (Some(_), Reply::Other(seen)) => {
                let expected = Question::of(pair.role).expected;
                bail!("it runs, but not within {ANSWER_WITHIN:?} did it say {expected}: {seen}")
            }
            (None, _) => {
                let lines = logs::tail(engine, &pair.service.id, LOG_LINES).await;
                bail!("it has ended; its last lines:\n{lines}")
            }
        }
    }
}
