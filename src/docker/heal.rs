//! Takes back what a killed orchestrator has left in force, and leaves its cluster up and whole.
//!
//! What is recorded as open is undone first, newest first; then everything that by its name, label or
//! mark could be ours is looked for, so that a lost record costs nothing. Only what was looked at
//! afterwards and found well counts as healed. Doing it again does nothing.

mod clock;
mod links;
mod patient;
mod service;

use std::fmt;

use futures::future::join_all;

use crate::cluster::{Action, FaultId};
use crate::docker::agent::{Agent, AgentPlan};
use crate::docker::engine::Engine;
use crate::docker::node;
use crate::docker::owner::Owner;
use crate::docker::sweep::end_agent;

pub use patient::{Patient, patients};

/// How it is with one thing that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Nothing was wrong with it.
    Well,
    /// It was mended.
    Healed,
    /// It still is wrong.
    Ill,
}

/// One thing that was looked at, and what was found and done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Treatment {
    pub health: Health,
    /// `zookeeper1`, `links`, `rules of f3`, ...
    pub what: String,
    pub seen: String,
}

impl Treatment {
    fn new(health: Health, what: impl ToString, seen: impl Into<String>) -> Treatment {
        Treatment { health, what: what.to_string(), seen: seen.into() }
    }

    fn of(what: impl ToString, done: anyhow::Result<Option<String>>) -> Treatment {
        match done {
            Ok(None) => Treatment::new(Health::Well, what, "as it should be"),
            Ok(Some(seen)) => Treatment::new(Health::Healed, what, seen),
            Err(error) => Treatment::new(Health::Ill, what, format!("{error:#}")),
        }
    }
}

impl fmt::Display for Treatment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let health = match self.health {
            Health::Well => "ok",
            Health::Healed => "healed",
            Health::Ill => "ILL",
        };
        write!(f, "{health:<6} {}: {}", self.what, self.seen)
    }
}

/// Heals one run. `open` is what takes back its recorded faults, newest first.
pub async fn heal(
    engine: &Engine,
    patient: &Patient,
    open: &[(FaultId, Action)],
) -> anyhow::Result<Vec<Treatment>> {
    // While an agent lives, its rules are its own, and nobody else can remove them.
    join_all(patient.agents().map(|agent| end_agent(engine, agent))).await;
    for agent in patient.agents() {
        node::remove(engine, &agent.id).await?;
    }
    let mut treatments = service::revive_holds(engine, patient).await;
    let agent = start_agent(engine, patient).await?;
    let treated = treat(engine, &agent, patient, open, &mut treatments).await;
    let ended = agent.stop().await;
    treated?;
    ended?;
    Ok(treatments)
}

async fn treat(
    engine: &Engine,
    agent: &Agent,
    patient: &Patient,
    open: &[(FaultId, Action)],
    treatments: &mut Vec<Treatment>,
) -> anyhow::Result<()> {
    let places = links::enroll(engine, agent, patient).await?;
    treatments.extend(links::clear(agent).await?);
    for (fault, action) in open {
        treatments.extend(service::undo(engine, patient, *fault, action).await);
    }
    treatments.extend(service::sweep(engine, patient).await);
    let (mut answers, open) = futures::join!(
        service::await_answers(engine, agent, patient, &places),
        links::verify(agent, &places)
    );
    // Only a server that is through with its start has clocks that can be read.
    let clocks = clock::put_right(engine, agent, patient).await;
    if clocks.iter().any(|treatment| treatment.health == Health::Healed) {
        answers = service::await_answers(engine, agent, patient, &places).await;
        treatments.extend(clock::verify(engine, agent, patient).await);
    }
    treatments.extend(clocks);
    treatments.extend(answers);
    treatments.push(open?);
    Ok(())
}

async fn start_agent(engine: &Engine, patient: &Patient) -> anyhow::Result<Agent> {
    let image = engine.own_image().await?;
    let mut plan = AgentPlan::new(patient.run.as_str(), &image);
    plan.container = format!("sg-{}-healer", patient.run);
    plan.labels = Owner::current().labels(&patient.run, None, "agent");
    Agent::start(engine.api(), &plan).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_tells_how_it_is() {
        let line = |done| Treatment::of("zookeeper1", done).to_string();
        assert_eq!(line(Ok(None)), "ok     zookeeper1: as it should be");
        assert_eq!(line(Ok(Some("was frozen".to_owned()))), "healed zookeeper1: was frozen");
        assert_eq!(line(Err(anyhow::anyhow!("gone"))), "ILL    zookeeper1: gone");
    }
}
