//! A scenario is one run fully described: loaded from the catalogues and the command line, validated,
//! saved with the run. The only place that knows YAML.

mod nemesis;
mod overrides;
mod workload;
mod yaml;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use nemesis::NamedFault;
pub use overrides::{Overrides, ScenarioError};
pub use workload::{Expectation, WorkloadSpec};
pub use yaml::YamlError;

use crate::catalog::Catalog;
use crate::cluster::Topology;
use crate::nemesis::Target;

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum World {
    /// Deterministic simulation.
    Sim,
    /// Real software in containers.
    Docker,
}

impl World {
    pub fn name(self) -> &'static str {
        match self {
            World::Sim => "sim",
            World::Docker => "docker",
        }
    }
}

/// Everything that decides what a run does. Saved as `scenario.yaml`, enough to run it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name of the workload, as in `stormglass list workloads`.
    pub name: String,
    pub world: World,
    pub seed: u64,
    /// Names of the nemeses, joined by commas, as given.
    pub nemesis: String,
    /// By role; roles that are absent run `as-shipped`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variant: BTreeMap<String, String>,
    /// Image references by service; filled in with digests once they are resolved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, String>,
    pub workload: WorkloadSpec,
    pub faults: Vec<NamedFault>,
    /// Version of Stormglass, and the kernel it ran on; for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kernel: String,
}

impl Scenario {
    /// Loads a workload and its nemeses from the catalogues and applies what the command line says.
    pub fn load(
        name: &str,
        nemesis: &str,
        world: World,
        seed: u64,
        overrides: &Overrides,
    ) -> Result<Scenario, ScenarioError> {
        let entry = Catalog::Workloads.load(name)?;
        let workload = overrides.workload(&entry)?;
        let faults = nemesis::load(nemesis, overrides)?;
        let scenario = Scenario {
            name: name.to_owned(),
            world,
            seed,
            nemesis: nemesis.to_owned(),
            variant: overrides.variants.clone(),
            images: overrides.images.clone(),
            workload,
            faults,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kernel: String::new(),
        };
        scenario.check_targets()?;
        Ok(scenario)
    }

    /// Reads a saved scenario.
    pub fn parse(origin: &str, text: &str) -> Result<Scenario, YamlError> {
        let scenario: Scenario = yaml::parse(origin, text)?;
        scenario.workload.check(origin, text)?;
        Ok(scenario)
    }

    pub fn to_yaml(&self) -> String {
        serde_yaml::to_string(self).expect("a scenario is plain data")
    }

    /// The names of the nodes that this scenario will have, in topology order.
    pub fn node_names(&self) -> Vec<String> {
        let numbered = |(role, count): (&crate::cluster::Role, &usize)| {
            let role = role.name();
            (1..=*count).map(move |number| format!("{role}{number}")).collect::<Vec<_>>()
        };
        self.workload.services.iter().flat_map(numbered).collect()
    }

    /// A named node or role that the topology lacks can never be hit: said before the start.
    fn check_targets(&self) -> Result<(), ScenarioError> {
        let nodes = self.node_names();
        for fault in &self.faults {
            let lacking = match &fault.fault.target {
                Some(Target::Node(name)) => !nodes.contains(name),
                Some(Target::Role(role)) => self.workload.services.get(role).is_none_or(|count| *count == 0),
                _ => false,
            };
            if let (true, Some(target)) = (lacking, &fault.fault.target) {
                return Err(ScenarioError::Target {
                    nemesis: fault.nemesis.clone(),
                    target: target.to_string(),
                    workload: self.name.clone(),
                    nodes: nodes.join(", "),
                });
            }
        }
        Ok(())
    }

    /// Every node of the topology is one that the scenario names.
    pub fn fits(&self, topology: &Topology) -> bool {
        topology.names().map(|name| name.to_string()).eq(self.node_names())
    }
}
