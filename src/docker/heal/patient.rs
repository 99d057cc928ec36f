//! A run that is still up, by the labels of its containers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::cluster::Role;
use crate::docker::engine::Engine;
use crate::docker::owner::{Life, RUN, RunId};
use crate::docker::sweep::{Belongings, Found, belongings};
use crate::op::NodeName;

/// A run with the containers of its nodes.
pub struct Patient {
    pub run: RunId,
    /// Whether its orchestrator is still there.
    pub life: Life,
    results: Option<PathBuf>,
    agents: Vec<Found>,
    pub(super) nodes: BTreeMap<NodeName, Pair>,
}

/// The containers of one node.
pub(super) struct Pair {
    pub role: Role,
    pub hold: Found,
    pub service: Found,
}

impl Patient {
    /// The folder with its ledger, as its containers tell.
    pub fn results(&self) -> Option<&Path> {
        self.results.as_deref()
    }

    pub(super) fn agents(&self) -> impl Iterator<Item = &Found> {
        self.agents.iter()
    }

    fn of(run: RunId, life: Life, of: Belongings) -> Patient {
        let results = of.containers.iter().find_map(|found| found.results.clone());
        let mut agents = Vec::new();
        let (mut holds, mut services) = (BTreeMap::new(), BTreeMap::new());
        for found in of.containers {
            match (&*found.role, found.node) {
                ("agent", _) => agents.push(found),
                ("hold", Some(node)) => drop(holds.insert(node, found)),
                (_, Some(node)) => drop(services.insert(node, found)),
                (_, None) => {}
            }
        }
        let pair = |(node, hold)| {
            let service: Found = services.remove(&node)?;
            // A role of a later version is none that could be asked here.
            let role = Role::ALL.into_iter().find(|role| role.name() == service.role)?;
            Some((node, Pair { role, hold, service }))
        };
        let nodes = holds.into_iter().filter_map(pair).collect();
        Patient { run, life, results, agents, nodes }
    }
}

/// The runs that have containers on the engine.
pub async fn patients(engine: &Engine) -> anyhow::Result<Vec<Patient>> {
    let mut patients = Vec::new();
    for (run, of) in belongings(engine, RUN).await? {
        // Whatever has another name was not made by us.
        let Ok(id) = run.parse::<RunId>() else { continue };
        let life = of.describe(&run, engine.is_local()).life;
        patients.push(Patient::of(id, life, of));
    }
    patients.retain(|patient| !patient.nodes.is_empty() || !patient.agents.is_empty());
    Ok(patients)
}
