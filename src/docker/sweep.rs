//! What runs have left on the engine, found by label, and its removal. Only labelled things are touched.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use bollard::models::ContainerSummaryStateEnum;
use bollard::query_parameters::{
    KillContainerOptionsBuilder, ListContainersOptionsBuilder, ListNetworksOptionsBuilder,
    ListVolumesOptionsBuilder, RemoveVolumeOptions,
};
use futures::future::{join_all, try_join_all};
use tokio::time::Instant;

use crate::docker::agent::{Agent, AgentPlan};
use crate::docker::engine::{Engine, is_missing};
use crate::docker::node;
use crate::docker::owner::{Life, NODE, Owner, RESULTS, ROLE, RUN, RunId};
use crate::op::NodeName;

/// An agent told to end heals and goes; one that does not is removed.
const AGENT_ENDS_WITHIN: Duration = Duration::from_secs(2);

const POLL: Duration = Duration::from_millis(20);

/// A run of which something is left, or which goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRun {
    pub run: String,
    pub life: Life,
    pub containers: usize,
    pub networks: usize,
    pub volumes: usize,
}

/// Which runs to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// All whose orchestrator is gone.
    Gone,
    /// All, also those that go on.
    All,
    /// One, if its orchestrator is gone.
    One(RunId),
    /// One, even if it goes on.
    OneByForce(RunId),
}

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    pub removed: Vec<FoundRun>,
    /// Runs that were asked for but go on, or may.
    pub spared: Vec<FoundRun>,
}

/// One labelled container.
pub(super) struct Found {
    pub id: String,
    pub role: String,
    pub node: Option<NodeName>,
    /// The run's results folder.
    pub results: Option<PathBuf>,
    pub is_paused: bool,
    pub is_running: bool,
}

/// Everything of one run.
#[derive(Default)]
pub(super) struct Belongings {
    pub containers: Vec<Found>,
    networks: Vec<String>,
    volumes: Vec<String>,
    owners: Vec<Option<Owner>>,
}

/// The runs of which something is on the engine, by id.
pub async fn runs(engine: &Engine) -> anyhow::Result<Vec<FoundRun>> {
    let found = belongings(engine, RUN).await?;
    Ok(found.iter().map(|(run, of)| of.describe(run, engine.is_local())).collect())
}

/// Removes what the runs chosen have left. Doing it again does nothing.
pub async fn sweep(engine: &Engine, which: &Which) -> anyhow::Result<Swept> {
    let (wanted, force) = match which {
        Which::Gone => (None, false),
        Which::All => (None, true),
        Which::One(run) => (Some(run), false),
        Which::OneByForce(run) => (Some(run), true),
    };
    let mut swept = Swept::default();
    for (run, of) in belongings(engine, RUN).await? {
        if wanted.is_some_and(|wanted| wanted.as_str() != run) {
            continue;
        }
        let found = of.describe(&run, engine.is_local());
        if found.life != Life::Gone && !force {
            swept.spared.push(found);
            continue;
        }
        take_away(engine, &run, &of).await?;
        swept.removed.push(found);
    }
    Ok(swept)
}

/// Removes everything of one run, whoever drives it.
pub async fn remove(engine: &Engine, run: &RunId) -> anyhow::Result<()> {
    let label = format!("{RUN}={run}");
    for (run, of) in belongings(engine, &label).await? {
        take_away(engine, &run, &of).await?;
    }
    Ok(())
}

async fn take_away(engine: &Engine, run: &str, of: &Belongings) -> anyhow::Result<()> {
    let failed = |what: &'static str| move || format!("remove the {what} of run {run}");
    let (agents, others): (Vec<_>, Vec<_>) =
        of.containers.iter().partition(|found| found.role == "agent");
    // The agents first: while one lives, its rules are its own and nobody else can remove them.
    join_all(agents.iter().map(|agent| end_agent(engine, agent))).await;
    heal_remains(engine, run).await;
    let removing = others.iter().chain(&agents).map(|found| remove_container(engine, found));
    try_join_all(removing).await.with_context(failed("containers"))?;
    for network in &of.networks {
        match engine.api().remove_network(network).await {
            Err(error) if !is_missing(&error) => {
                return Err(error).with_context(failed("network"));
            }
            _ => {}
        }
    }
    for volume in &of.volumes {
        match engine.api().remove_volume(volume, None::<RemoveVolumeOptions>).await {
            Err(error) if !is_missing(&error) => {
                return Err(error).with_context(failed("volumes"));
            }
            _ => {}
        }
    }
    Ok(())
}

async fn remove_container(engine: &Engine, found: &Found) -> Result<(), bollard::errors::Error> {
    if found.is_paused {
        // It may have gone on or gone away meanwhile; the removal below tells.
        let _ = engine.api().unpause_container(&found.id).await;
    }
    node::remove(engine, &found.id).await
}

/// Lets an agent heal and end by itself, as long as that does not take too long.
pub(super) async fn end_agent(engine: &Engine, agent: &Found) {
    if !agent.is_running {
        return;
    }
    let options = KillContainerOptionsBuilder::new().signal("SIGTERM").build();
    if engine.api().kill_container(&agent.id, Some(options)).await.is_err() {
        return;
    }
    let deadline = Instant::now() + AGENT_ENDS_WITHIN;
    while Instant::now() < deadline {
        match node::state(engine, &agent.id).await {
            Ok(state) if state.running == Some(true) => tokio::time::sleep(POLL).await,
            _ => return,
        }
    }
}

/// Removes rules that an agent killed outright has left, on kernels that do not remove them themselves.
///
/// Best effort: where no agent can be started, none has been.
async fn heal_remains(engine: &Engine, run: &str) {
    let Ok(image) = engine.own_image().await else { return };
    let Ok(id) = run.parse::<RunId>() else { return };
    let mut plan = AgentPlan::new(run, &image);
    plan.container = format!("sg-{run}-sweeper");
    plan.labels = Owner::current().labels(&id, None, "agent");
    if let Ok(agent) = Agent::start(engine.api(), &plan).await {
        let _ = agent.heal().await;
        let _ = agent.stop().await;
    }
}

impl Belongings {
    pub fn describe(&self, run: &str, local: bool) -> FoundRun {
        FoundRun {
            run: run.to_owned(),
            life: life(&self.owners, local),
            containers: self.containers.len(),
            networks: self.networks.len(),
            volumes: self.volumes.len(),
        }
    }
}

/// Gone only if every part of the run says so: parts of one run have one owner, or a sweeper's.
fn life(owners: &[Option<Owner>], local: bool) -> Life {
    let lives = owners.iter().map(|owner| match owner {
        Some(owner) => owner.life(local),
        None => Life::Unknown,
    });
    lives.fold(Life::Gone, |so_far, life| match (so_far, life) {
        (Life::Alive, _) | (_, Life::Alive) => Life::Alive,
        (Life::Unknown, _) | (_, Life::Unknown) => Life::Unknown,
        (Life::Gone, Life::Gone) => Life::Gone,
    })
}

/// Everything that carries a label, by run.
pub(super) async fn belongings(
    engine: &Engine,
    label: &str,
) -> anyhow::Result<BTreeMap<String, Belongings>> {
    let filters = HashMap::from([("label", vec![label])]);
    let mut found = BTreeMap::<String, Belongings>::new();
    let containers = ListContainersOptionsBuilder::new().all(true).filters(&filters).build();
    let containers = engine.api().list_containers(Some(containers)).await;
    for container in containers.context("list containers")? {
        let labels = container.labels.unwrap_or_default();
        let (Some(run), Some(id)) = (labels.get(RUN), container.id) else { continue };
        let of = found.entry(run.clone()).or_default();
        of.owners.push(Owner::of(&labels));
        of.containers.push(Found {
            id,
            role: labels.get(ROLE).cloned().unwrap_or_default(),
            node: labels.get(NODE).map(|node| NodeName::from(node.as_str())),
            results: labels.get(RESULTS).map(PathBuf::from),
            is_paused: container.state == Some(ContainerSummaryStateEnum::PAUSED),
            is_running: container.state == Some(ContainerSummaryStateEnum::RUNNING),
        });
    }
    let networks = ListNetworksOptionsBuilder::new().filters(&filters).build();
    for network in engine.api().list_networks(Some(networks)).await.context("list networks")? {
        let labels = network.labels.unwrap_or_default();
        let (Some(run), Some(id)) = (labels.get(RUN), network.id) else { continue };
        let of = found.entry(run.clone()).or_default();
        of.owners.push(Owner::of(&labels));
        of.networks.push(id);
    }
    let volumes = ListVolumesOptionsBuilder::new().filters(&filters).build();
    let volumes = engine.api().list_volumes(Some(volumes)).await.context("list volumes")?;
    for volume in volumes.volumes.unwrap_or_default() {
        let Some(run) = volume.labels.get(RUN) else { continue };
        let of = found.entry(run.clone()).or_default();
        of.owners.push(Owner::of(&volume.labels));
        of.volumes.push(volume.name);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner() -> Owner {
        Owner::current()
    }

    fn earlier_boot() -> Owner {
        let mut labels = owner().labels(&RunId::fresh(), None, "hold");
        labels.insert(crate::docker::owner::STARTED.to_owned(), "1/before/pid:[1]".to_owned());
        Owner::of(&labels).expect("whole labels")
    }

    #[test]
    fn a_run_is_gone_only_if_every_part_of_it_is() {
        assert_eq!(life(&[Some(earlier_boot()), Some(earlier_boot())], true), Life::Gone);
        assert_eq!(life(&[Some(earlier_boot()), Some(owner())], true), Life::Alive);
        assert_eq!(life(&[Some(earlier_boot()), None], true), Life::Unknown);
        assert_eq!(life(&[None, Some(owner())], true), Life::Alive);
    }
}
