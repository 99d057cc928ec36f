//! A run in the simulated world.

use std::fmt::Display;
use std::str::FromStr;

use super::recorder::Recorder;
use super::watching::Watching;
use super::{Broken, Played, RunArguments, open_log};
use crate::cluster::Role;
use crate::play::play as play_scenario;
use crate::progress::Progress;
use crate::rng::Rng;
use crate::run::{Interrupt, Ran};
use crate::scenario::Scenario;
use crate::sim::{SimCluster, SimSpec, Variants};
use crate::store::Store;

pub fn play(
    arguments: &RunArguments,
    scenario: &Scenario,
    progress: Progress,
    interrupt: &Interrupt,
) -> Result<(Store, Played), Broken> {
    let spec = spec(scenario)?;
    let store = arguments.store(scenario)?;
    match play_in(arguments, scenario, spec, progress, interrupt, &store) {
        Ok(played) => Ok((store, played)),
        Err(broken) => {
            store.abandon();
            Err(broken)
        }
    }
}

fn play_in(
    arguments: &RunArguments,
    scenario: &Scenario,
    spec: SimSpec,
    progress: Progress,
    interrupt: &Interrupt,
    store: &Store,
) -> Result<Played, Broken> {
    let log = open_log(store, scenario)?;
    let watching = Watching::of(arguments, scenario)?;
    let mut recorder = Recorder::new(store, scenario, progress, log.clone(), watching)?;
    let simulation = async {
        let cluster = SimCluster::up(spec).await?;
        Ok(play_scenario(scenario, &cluster, &mut recorder, interrupt).await?)
    };
    let ran: anyhow::Result<Ran> = crate::sim::run(simulation).map_err(Broken::infrastructure)?;
    let broken = recorder.finish();
    let ran = ran.map_err(|error| Broken::infrastructure(format!("{error:#}")))?;
    Ok(Played { history: ran.history, broken, log })
}

fn spec(scenario: &Scenario) -> Result<SimSpec, Broken> {
    Ok(SimSpec {
        services: scenario.workload.services.clone(),
        config: scenario.workload.config.clone(),
        variants: Variants {
            zookeeper: variant(scenario, Role::Zookeeper)?,
            controller: variant(scenario, Role::Controller)?,
            kvrocks: variant(scenario, Role::Kvrocks)?,
        },
        rng: Rng::from_seed(scenario.seed).fork("sim"),
    })
}

/// How the services of a role behave; as shipped where nothing is said.
fn variant<V: FromStr<Err: Display> + Default>(
    scenario: &Scenario,
    role: Role,
) -> Result<V, Broken> {
    let named = scenario.variant.get(role.name());
    named.map_or(Ok(V::default()), |name| name.parse().map_err(Broken::usage))
}
