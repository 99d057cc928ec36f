//! What cluster is wanted.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;

use crate::cluster::{Needs, Node, Role, Settings, Topology};
use crate::docker::cluster::{Limits, UpError};
use crate::docker::outfit::{Outfit, Setting};
use crate::docker::owner::RunId;
use crate::docker::subnet::Subnet;
use crate::reference::{ControllerVariant, NodeVariant, UnknownVariant};

/// So many nodes fit into a run's subnet, with room for the rest.
const LARGEST: usize = 200;

/// How a reference server behaves that nobody asks to behave otherwise.
const AS_SHIPPED: &str = "as-shipped";

const READY_WITHIN: Duration = Duration::from_secs(60);

/// A cluster to be made.
#[derive(Clone, Debug)]
pub struct ClusterSpec {
    pub run: RunId,
    /// How many nodes of each role, in all at least one.
    pub services: BTreeMap<Role, usize>,
    /// Images chosen instead of the usual ones, by role's name; `reference` is our own server.
    pub images: BTreeMap<String, String>,
    /// How reference servers are to behave, by role's name. A role named here runs one.
    pub variants: BTreeMap<String, String>,
    /// Settings of the services' own configuration.
    pub config: BTreeMap<Role, Settings>,
    pub limits: Limits,
    /// The run's subnet; `None` to have a free one chosen.
    pub subnet: Option<Subnet>,
    /// The run's results folder: logs go to `nodes/<name>/` in it.
    pub results: PathBuf,
    /// What the faults of the scenario ask of this world.
    pub needs: Needs,
    /// All services must serve by then.
    pub ready_within: Duration,
}

impl ClusterSpec {
    /// These services with the usual images, as they are shipped.
    pub fn new(run: RunId, services: BTreeMap<Role, usize>, results: PathBuf) -> ClusterSpec {
        ClusterSpec {
            run,
            services,
            images: BTreeMap::new(),
            variants: BTreeMap::new(),
            config: BTreeMap::new(),
            limits: Limits::default(),
            subnet: None,
            results,
            needs: Needs::default(),
            ready_within: READY_WITHIN,
        }
    }

    /// The roles that have nodes, in the order of a topology.
    pub(super) fn roles(&self) -> impl Iterator<Item = (Role, usize)> {
        let count = |role| self.services.get(&role).copied().unwrap_or(0);
        Role::ALL.into_iter().map(move |role| (role, count(role))).filter(|(_, count)| *count > 0)
    }

    /// What can be told to be wrong before anything is looked at.
    pub(super) fn check(&self) -> Result<(), UpError> {
        let nodes = self.services.values().sum();
        if !(1..=LARGEST).contains(&nodes) {
            return Err(UpError::Size { nodes, largest: LARGEST });
        }
        for (role, variant) in &self.variants {
            check_variant(role, variant)?;
        }
        // Where nodes will be does not matter to whether their settings fit.
        let somewhere = |_| Some(Ipv4Addr::LOCALHOST);
        self.topology(somewhere).map_or(Ok(()), |topology| self.outfits(&topology).map(|_| ()))
    }

    /// The nodes, by index at these addresses; `None` where one has none.
    pub(super) fn topology(&self, address: impl Fn(usize) -> Option<Ipv4Addr>) -> Option<Topology> {
        let numbers = |(role, count)| (1..=count).map(move |number| (role, number));
        let all = self.roles().flat_map(numbers).enumerate();
        let node = |(index, (role, number)): (usize, (Role, usize))| {
            Some(Node { name: role.node_name(number), role, address: address(index)? })
        };
        Some(Topology { nodes: all.map(node).collect::<Option<Vec<Node>>>()? })
    }

    /// What each node is given, in the order of the topology.
    pub(super) fn outfits(&self, topology: &Topology) -> Result<Vec<Outfit>, UpError> {
        let empty = Settings::new();
        let fitted = self.roles().flat_map(|(role, _)| topology.with_role(role).zip(1..));
        let outfit = |(node, number): (&Node, usize)| {
            let role = node.role;
            let config = self.config.get(&role).unwrap_or(&empty);
            let variant = self.variants.get(role.name()).map_or(AS_SHIPPED, String::as_str);
            let setting = Setting { topology, node, number, config, variant };
            Outfit::of(&setting).map_err(|flaw| UpError::Config { role, flaw })
        };
        fitted.map(outfit).collect()
    }
}

fn check_variant(role: &str, variant: &str) -> Result<(), UpError> {
    let none = || UpError::NoVariants { role: role.to_owned(), variant: variant.to_owned() };
    let role = Role::ALL.into_iter().find(|one| one.name() == role).ok_or_else(none)?;
    let known: Result<(), UnknownVariant> = match role {
        Role::Kvrocks => variant.parse::<NodeVariant>().map(|_| ()),
        Role::Controller => variant.parse::<ControllerVariant>().map(|_| ()),
        Role::Zookeeper => return Err(none()),
    };
    Ok(known?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(services: &[(Role, usize)], variants: &[(&str, &str)]) -> ClusterSpec {
        let services = services.iter().copied().collect();
        let pair = |(role, name): &(&str, &str)| ((*role).to_owned(), (*name).to_owned());
        let variants = variants.iter().map(pair).collect();
        ClusterSpec { variants, ..ClusterSpec::new(RunId::fresh(), services, PathBuf::new()) }
    }

    fn error(spec: &ClusterSpec) -> String {
        spec.check().map_or_else(|error| error.to_string(), |()| "sound".to_owned())
    }

    #[test]
    fn roles_come_in_the_order_of_a_topology() {
        let spec = spec(&[(Role::Kvrocks, 4), (Role::Zookeeper, 1), (Role::Controller, 0)], &[]);
        assert_eq!(spec.roles().collect::<Vec<_>>(), [(Role::Zookeeper, 1), (Role::Kvrocks, 4)]);
        assert_eq!(error(&spec), "sound");
    }

    #[test]
    fn clusters_of_none_and_of_too_many_are_refused() {
        for nodes in [0, LARGEST + 1] {
            let text = error(&spec(&[(Role::Zookeeper, nodes)], &[]));
            assert!(text.contains(&format!("of {nodes} nodes")), "{text}");
        }
    }

    #[test]
    fn settings_that_do_not_fit_are_told_before_anything_is_made() {
        let mut spec = spec(&[(Role::Zookeeper, 1), (Role::Kvrocks, 1)], &[]);
        spec.config.insert(Role::Kvrocks, [("port".to_owned(), "7".to_owned())].into());
        assert!(error(&spec).starts_with("config of kvrocks: port is set by the cluster itself"));
    }

    #[test]
    fn variants_are_those_of_reference_servers() {
        let of = |role, name| error(&spec(&[(Role::Kvrocks, 1)], &[(role, name)]));
        assert_eq!(of("kvrocks", "asking-only"), "sound");
        assert_eq!(of("controller", "cas"), "sound");
        assert!(of("kvrocks", "cas").contains("it has as-shipped"), "{}", of("kvrocks", "cas"));
        assert!(of("zookeeper", "cas").contains("zookeeper has no variants"));
    }
}
