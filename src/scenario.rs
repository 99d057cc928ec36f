//! A scenario is one run fully described: loaded from the catalogues and the command line, validated,
//! saved with the run. The only place that knows YAML.

mod check;
mod expected;
mod nemesis;
mod overrides;
mod script;
mod settings;
mod variant;
mod workload;
mod yaml;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use nemesis::{NamedFault, base as nemesis_base, load_one as load_nemesis};
pub use overrides::{Overrides, ScenarioError};
pub use script::schedule_yaml;
pub use variant::{KnownVariant, VariantChoice, known_variants};
pub use workload::WorkloadSpec;
pub use yaml::YamlError;

pub use crate::checker::World;

use crate::catalog::Catalog;
use crate::checker::{AS_SHIPPED, Identity};
use crate::cluster::Role;
use crate::nemesis::{Script, Turns};

/// What an image is called that is a server of our own.
pub const REFERENCE: &str = "reference";

/// Everything that decides what a run does. Saved as `scenario.yaml`, enough to run it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name of the workload, as in `stormglass list workloads`.
    pub name: String,
    pub world: World,
    pub seed: u64,
    /// Names of the nemeses, joined by commas, as given or as the schedule names them.
    pub nemesis: String,
    /// What was chosen, by role; of roles that are absent see [`Scenario::variants`].
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
    /// What is done when, in place of faults: the schedule of an earlier run, or one by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
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
        expected::check(name, &workload, overrides)?;
        let variant = variant::resolve(&overrides.variants, &workload, world)?;
        settings::check(name, &workload, &settings::Served { world, images: &overrides.images })?;
        let mut scenario = Scenario {
            name: name.to_owned(),
            world,
            seed,
            nemesis: nemesis.to_owned(),
            variant,
            images: overrides.images.clone(),
            arguments: overrides.arguments(),
            workload,
            faults: Vec::new(),
            turns: BTreeMap::new(),
            script: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kernel: String::new(),
        };
        match &overrides.schedule {
            Some(path) => {
                let script = script::load(path, &scenario.topology())?;
                scenario.nemesis = script::nemesis(&script);
                scenario.script = Some(script);
            }
            None => {
                let loaded = nemesis::load(nemesis, overrides)?;
                (scenario.faults, scenario.turns) = (loaded.faults, loaded.turns);
                scenario.fill_in_messages()?;
                scenario.check_faults()?;
            }
        }
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

    /// What expectations may ask of this run.
    pub fn identity(&self) -> Identity {
        Identity {
            world: self.world,
            nemeses: self.nemeses(),
            variants: self.variants(),
            images: self.images.clone(),
        }
    }

    /// The variants of all servers that are our own, by role; of real images nothing is known but that
    /// they are as they are shipped.
    pub fn variants(&self) -> BTreeMap<String, String> {
        let is_own = |role: &Role| {
            let image = self.images.get(role.name());
            self.world == World::Sim || image.is_some_and(|image| image == REFERENCE)
        };
        let of_ours = [Role::Controller, Role::Kvrocks].into_iter();
        let of_ours = of_ours.filter(|role| self.workload.services.contains_key(role));
        let as_shipped = |role: Role| (role.name().to_owned(), AS_SHIPPED.to_owned());
        let mut variants: BTreeMap<_, _> = of_ours.filter(is_own).map(as_shipped).collect();
        variants.extend(self.variant.clone());
        variants
    }

    pub fn nemeses(&self) -> Vec<String> {
        self.nemesis.split(',').map(|name| name.trim().to_owned()).collect()
    }

    /// The exact command that repeats this run.
    pub fn repro(&self) -> String {
        let mut command = format!("stormglass run {}", quoted(&self.name));
        if self.script.is_none() {
            command.push_str(&format!(" --nemesis {}", quoted(&self.nemesis)));
        }
        command.push_str(&format!(" --world {} --seed {}", self.world.name(), self.seed));
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
        assert_eq!(scenario.workload.register.map(|register| register.keys), Some(3));
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
    fn every_nemesis_of_the_catalogue_fits_every_workload_and_acts_within_half_a_minute() {
        let more = Overrides { nodes: [(Role::Kvrocks, 6)].into(), ..Overrides::default() };
        // What these do needs longer than that to show.
        let slow = ["lag-store", "skew-controllers", "stale-leader", "starve-failover"];
        for workload in Catalog::Workloads.names() {
            for nemesis in Catalog::Nemeses.names() {
                let overrides = Overrides::default();
                let scenario = Scenario::load(&workload, &nemesis, World::Sim, 7, &overrides);
                let scenario = match scenario {
                    Ok(scenario) => scenario,
                    // A nemesis of one system names roles or messages that another has not.
                    Err(error) if workload.starts_with("zookeeper/") => {
                        let told = error.to_string();
                        let is_of_another = told.contains("has no `kvrocks`")
                            || told.contains("has no `master`")
                            || told.contains("has no `controller`")
                            || told.contains("has no `leader:kvrocks`")
                            || told.contains("has no `leader:controller`")
                            || told.contains("no node here speaks resp");
                        assert!(is_of_another, "{nemesis}: {told}");
                        continue;
                    }
                    // Some need more shards than there are usually.
                    Err(_) => load(&workload, &nemesis, &more),
                };
                let lines = Catalog::Nemeses.load(&nemesis).map(|entry| entry.text.lines().count());
                assert!(lines.is_ok_and(|lines| lines <= 15), "{nemesis}");
                for NamedFault { fault, .. } in &scenario.faults {
                    let over = fault.after.nanos() + fault.lasts.nanos();
                    let is_slow = slow.contains(&&*nemesis);
                    let bound = if is_slow { 60 } else { 20 };
                    assert!(over <= bound * crate::op::SECOND, "{nemesis}: {fault:?}");
                }
            }
        }
    }

    #[test]
    fn aims_are_composed_with_every_kind_of_fault() {
        for (nemesis, aim) in [
            ("skew-bump:zookeeper2", "zookeeper2"),
            ("reply-loss-leader", "leader"),
            ("expire-session-follower", "follower"),
            ("partition-clients-leader", "leader, from clients"),
            ("crash-majority", "majority"),
            ("lag", "follower->leader"),
        ] {
            let scenario = load("zookeeper/register", nemesis, &Overrides::default());
            assert_eq!(scenario.faults[0].fault.aim(), aim, "{nemesis}");
        }
    }

    #[test]
    fn message_faults_hit_what_the_workload_names() {
        let scenario = load("zookeeper/register", "reply-loss", &Overrides::default());
        let message = scenario.faults[0].fault.message.as_ref();
        assert_eq!(message, scenario.workload.message.as_ref());
        assert_eq!(scenario.needs().taps.len(), 3);
        let mixed = load("zookeeper/register", "mixed,pause", &Overrides::default());
        let mechanisms: Vec<_> = mixed.needs().mechanisms;
        assert_eq!(mechanisms, [(crate::cluster::Mechanism::Freeze, "pause".to_owned())]);
        assert_eq!(mixed.turns.keys().collect::<Vec<_>>(), ["mixed"]);
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
