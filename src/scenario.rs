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
pub use workload::WorkloadSpec;
pub use yaml::YamlError;

pub use crate::checker::World;

use crate::catalog::Catalog;
use crate::checker::Identity;
use crate::nemesis::{Target, Turns};

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
    /// Further arguments of the command line, images apart, so that the run can be repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    pub workload: WorkloadSpec,
    pub faults: Vec<NamedFault>,
    /// Of nemeses whose faults come one at a time: how they take turns.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub turns: BTreeMap<String, Turns>,
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
            arguments: overrides.arguments(),
            workload,
            faults,
            turns: BTreeMap::new(),
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

    /// What runs of this workload are filed under: its name, or that of its file.
    pub fn family(&self) -> &str {
        match self.name.strip_suffix(".yaml") {
            Some(path) => path.rsplit('/').next().unwrap_or(path),
            None => &self.name,
        }
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
                Some(Target::Role(role)) => {
                    self.workload.services.get(role).is_none_or(|count| *count == 0)
                }
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

    /// What expectations may ask of this run.
    pub fn identity(&self) -> Identity {
        Identity {
            world: self.world,
            nemeses: self.nemeses(),
            variants: self.variant.clone(),
            images: self.images.clone(),
        }
    }

    pub fn nemeses(&self) -> Vec<String> {
        self.nemesis.split(',').map(|name| name.trim().to_owned()).collect()
    }

    /// The exact command that repeats this run.
    pub fn repro(&self) -> String {
        let mut command = format!(
            "stormglass run {} --nemesis {} --world {} --seed {}",
            quoted(&self.name),
            quoted(&self.nemesis),
            self.world.name(),
            self.seed
        );
        for argument in &self.arguments {
            command.push(' ');
            command.push_str(&quoted(argument));
        }
        for (name, image) in &self.images {
            command.push_str(&format!(" --image {}", quoted(&format!("{name}={image}"))));
        }
        command
    }
}

/// An argument as a shell takes it back.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(name: &str, nemesis: &str, overrides: &Overrides) -> Scenario {
        let scenario = Scenario::load(name, nemesis, World::Sim, 7, overrides);
        scenario.unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_saved_scenario_is_read_back_as_it_was() {
        let set = vec!["register.keys=3".to_owned(), "nemesis.faults.0.for=2s".to_owned()];
        let overrides = Overrides { set, ..Overrides::default() };
        let scenario = load("zookeeper/register", "kill-leader,pause:zookeeper2", &overrides);
        let read = Scenario::parse("scenario.yaml", &scenario.to_yaml());
        assert_eq!(read.as_ref(), Ok(&scenario));
        let targets: Vec<_> = scenario.faults.iter().map(|named| named.fault.aim()).collect();
        assert_eq!(targets, ["leader", "zookeeper2"]);
        assert!(scenario.faults.iter().all(|named| named.fault.lasts.to_string() == "2s"));
        assert_eq!(scenario.workload.register.keys, 3);
    }

    #[test]
    fn the_command_that_repeats_a_run_is_safe_in_a_shell() {
        let overrides = Overrides { set: vec!["rate=20".into()], ..Overrides::default() };
        let mut scenario = load("zookeeper/register", "kill, pause", &overrides);
        scenario.name = "it's mine.yaml".into();
        scenario.images.insert("zookeeper".into(), "zookeeper:3.9".into());
        assert_eq!(
            scenario.repro(),
            r"stormglass run 'it'\''s mine.yaml' --nemesis 'kill, pause' --world sim --seed 7 --set rate=20 --image zookeeper=zookeeper:3.9"
        );
    }

    #[test]
    fn runs_of_a_file_are_filed_under_its_name() {
        let mut scenario = load("zookeeper/register", "none", &Overrides::default());
        assert_eq!(scenario.family(), "zookeeper/register");
        for name in ["/some/where/mine.yaml", "../mine.yaml", "mine.yaml"] {
            scenario.name = name.into();
            assert_eq!(scenario.family(), "mine");
        }
    }
}
