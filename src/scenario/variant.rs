//! Which variants there are, of which service, and which of them a run has.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::catalog::nearest;
use crate::checker::World;
use crate::cluster::Role;
use crate::reference::{ControllerVariant, NodeVariant};
use crate::scenario::{ScenarioError, WorkloadSpec};
use crate::sim;

/// Another word for the data nodes' role on the command line.
const NODE: &str = "node";

/// A way in which servers of a role can behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownVariant {
    pub role: Role,
    pub name: &'static str,
    /// What it does otherwise, in a sentence.
    pub about: &'static str,
}

/// All variants, by role; of each role the first one is as the real server is.
pub fn known_variants() -> Vec<KnownVariant> {
    let zookeeper = sim::Variant::ALL.into_iter().map(|one| (one.name(), one.description()));
    let controller = ControllerVariant::ALL.iter().map(|one| (one.name(), one.about()));
    let kvrocks = NodeVariant::ALL.iter().map(|one| (one.name(), one.about()));
    let of = |role| move |(name, about)| KnownVariant { role, name, about };
    let all = zookeeper.map(of(Role::Zookeeper)).chain(controller.map(of(Role::Controller)));
    all.chain(kvrocks.map(of(Role::Kvrocks))).collect()
}

/// A variant as it is asked for: `controller=cas`, `node=lease`, or a bare name for the data nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantChoice {
    pub role: Option<Role>,
    pub name: String,
}

impl FromStr for VariantChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<VariantChoice, String> {
        let Some((role, name)) = text.split_once('=') else {
            return Ok(VariantChoice { role: None, name: text.to_owned() });
        };
        let found = Role::ALL.into_iter().find(|one| one.name() == role);
        match found.or((role == NODE).then_some(Role::Kvrocks)) {
            Some(role) => Ok(VariantChoice { role: Some(role), name: name.to_owned() }),
            None => {
                let names = Role::ALL.map(Role::name).join(", ");
                Err(format!(
                    "there is no service `{role}`; there is {names}, and {NODE} for kvrocks"
                ))
            }
        }
    }
}

impl fmt::Display for VariantChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.role {
            Some(role) => write!(f, "{role}={}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// What is chosen for each role of this workload, by its name; why a choice cannot be had.
pub(super) fn resolve(
    choices: &[VariantChoice],
    workload: &WorkloadSpec,
    world: World,
) -> Result<BTreeMap<String, String>, ScenarioError> {
    let mut chosen = BTreeMap::new();
    for choice in choices {
        let refuse = |message| ScenarioError::Variant { choice: choice.to_string(), message };
        let role = check(choice, workload, world).map_err(refuse)?;
        if let Some(before) = chosen.insert(role.name().to_owned(), choice.name.clone()) {
            let message = format!("{role} has one variant in a run, and `{before}` is named, too");
            return Err(refuse(message));
        }
    }
    Ok(chosen)
}

fn check(choice: &VariantChoice, workload: &WorkloadSpec, world: World) -> Result<Role, String> {
    let has = |role: &Role| workload.services.contains_key(role);
    let role = choice.role.unwrap_or(match has(&Role::Kvrocks) {
        true => Role::Kvrocks,
        false => workload.leader,
    });
    if !has(&role) {
        let services: Vec<&str> = workload.services.keys().map(|role| role.name()).collect();
        return Err(format!("this workload has no {role}; it has {}", services.join(", ")));
    }
    let all = known_variants();
    if !all.iter().any(|known| known.role == role && known.name == choice.name) {
        return Err(unknown(role, choice, &all, has));
    }
    if role == Role::Zookeeper && world == World::Docker {
        return Err(
            "planted bugs of ZooKeeper exist in the simulation only; add --world sim".into()
        );
    }
    Ok(role)
}

/// Names what there is, and what may have been meant, of this role or of another.
fn unknown(
    role: Role,
    choice: &VariantChoice,
    all: &[KnownVariant],
    has: impl Fn(&Role) -> bool,
) -> String {
    let own: Vec<&str> =
        all.iter().filter(|known| known.role == role).map(|known| known.name).collect();
    let mut others = all.iter().filter(|known| has(&known.role) && known.role != role);
    let other = others.find(|known| known.name == choice.name);
    let near = match (nearest(&choice.name, own.iter().copied()), other) {
        (_, Some(other)) => format!("; did you mean `{}={}`?", other.role, other.name),
        (Some(near), None) => format!("; did you mean `{near}`?"),
        (None, None) => String::new(),
    };
    format!("{role} has no variant `{}`{near}; it has {}", choice.name, own.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(services: &str, leader: &str) -> WorkloadSpec {
        let yaml = format!(
            "services: {{ {services} }}\nleader: {leader}\nrate: 1\nconcurrency: 1n\ntime: 1s\n"
        );
        serde_yaml::from_str(&yaml).expect("a workload")
    }

    fn chosen(choices: &[&str], world: World) -> Result<String, String> {
        let workload = workload("zookeeper: 1, controller: 2, kvrocks: 4", "controller");
        let choices: Vec<VariantChoice> =
            choices.iter().map(|choice| choice.parse()).collect::<Result<_, _>>()?;
        let chosen = resolve(&choices, &workload, world).map_err(|error| error.to_string())?;
        let pairs = chosen.iter().map(|(role, name)| format!("{role}={name}"));
        Ok(pairs.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_bare_name_and_node_are_of_the_data_nodes() {
        for (choices, told) in [
            (&["lease"][..], "kvrocks=lease"),
            (&["node=lease"], "kvrocks=lease"),
            (&["kvrocks=lease", "controller=cas"], "controller=cas kvrocks=lease"),
            (&["zookeeper=cas-races"], "zookeeper=cas-races"),
            (&[], ""),
        ] {
            assert_eq!(chosen(choices, World::Sim), Ok(told.to_owned()));
        }
        let zookeepers = workload("zookeeper: 3", "zookeeper");
        let bare = ["cas-races".parse().expect("a choice")];
        let chosen = resolve(&bare, &zookeepers, World::Sim).expect("of ZooKeeper");
        assert_eq!(chosen["zookeeper"], "cas-races");
    }

    #[test]
    fn what_cannot_be_had_is_refused_with_what_may_have_been_meant() {
        for (choices, world, told) in [
            (&["leese"][..], World::Sim, "did you mean `lease`?; it has as-shipped, asking-only"),
            (&["cas"], World::Sim, "kvrocks has no variant `cas`; did you mean `controller=cas`?"),
            (&["controller=lease"], World::Sim, "did you mean `kvrocks=lease`?"),
            (&["redis=x"], World::Sim, "there is no service `redis`"),
            (&["lease", "node=asking-only"], World::Sim, "one variant in a run, and `lease`"),
            (&["zookeeper=cas-races"], World::Docker, "in the simulation only"),
        ] {
            let error = chosen(choices, world).expect_err(choices[0]);
            assert!(error.contains(told), "{choices:?}: {error}");
        }
        let zookeepers = workload("zookeeper: 3", "zookeeper");
        let astray = ["node=lease".parse().expect("a choice")];
        let error = resolve(&astray, &zookeepers, World::Sim).expect_err("no data nodes");
        assert!(error.to_string().contains("no kvrocks; it has zookeeper"), "{error}");
    }
}
