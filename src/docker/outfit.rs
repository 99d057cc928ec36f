//! What a service's container is given, by role: files, environment, and what it runs.
//!
//! Each role's module knows where its official image reads its configuration; an image laid out like it
//! works as well. Nothing inside an image is used but its own entry point.

use crate::cluster::{Node, Role, Settings, Topology, check_settings};
use crate::docker::{controller, kvrocks, zookeeper};

/// What is put into a container, and what it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outfit {
    /// A tar to be unpacked at `/`, readable by every user.
    pub files: Vec<u8>,
    pub environment: Vec<String>,
    /// What our own image runs where it stands in for the real one: the subcommand and its arguments.
    pub reference: Vec<String>,
}

/// The place of one node in its cluster.
pub(super) struct Setting<'a> {
    pub topology: &'a Topology,
    pub node: &'a Node,
    /// Which of its role it is, from 1.
    pub number: usize,
    /// Settings of its own configuration that the scenario asks for.
    pub config: &'a Settings,
    /// What the reference server of this role is to do otherwise, where it runs.
    pub variant: &'a str,
}

impl Outfit {
    /// An error says what of the scenario's settings does not fit.
    pub fn of(setting: &Setting<'_>) -> Result<Outfit, String> {
        let role = setting.node.role;
        check_settings(role, setting.config)?;
        match role {
            Role::Zookeeper => zookeeper::outfit(setting),
            Role::Controller => controller::outfit(setting),
            Role::Kvrocks => kvrocks::outfit(setting),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;
    use std::net::Ipv4Addr;

    use super::*;

    /// One ZooKeeper server, two controllers and two nodes.
    pub fn topology() -> Topology {
        let counts = [(Role::Zookeeper, 1), (Role::Controller, 2), (Role::Kvrocks, 2)];
        let all = counts.into_iter().flat_map(|(role, count)| (1..=count).map(move |n| (role, n)));
        let node = |(index, (role, number)): (u8, (Role, usize))| Node {
            name: role.node_name(number),
            role,
            address: Ipv4Addr::new(10, 0, 0, index),
        };
        Topology { nodes: (11..).zip(all).map(node).collect() }
    }

    pub fn outfit(name: &str, config: &[(&str, &str)]) -> Result<Outfit, String> {
        let topology = topology();
        let config = config.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let config: Settings = config.collect();
        let node = topology.node(name).expect("a node");
        Outfit::of(&Setting {
            topology: &topology,
            node,
            number: 1,
            config: &config,
            variant: "as-shipped",
        })
    }

    /// The files of an outfit by path, each seen to be readable by all.
    pub fn files(outfit: &Outfit) -> BTreeMap<String, String> {
        let mut archive = tar::Archive::new(outfit.files.as_slice());
        let read = archive.entries().expect("a tar").map(|entry| {
            let mut entry = entry.expect("an entry");
            assert_eq!(entry.header().mode().expect("a mode") & 0o444, 0o444);
            let mut text = String::new();
            entry.read_to_string(&mut text).expect("text");
            (entry.path().expect("a path").display().to_string(), text)
        });
        read.collect()
    }

    #[test]
    fn what_nodes_are_found_by_cannot_be_set() {
        for (node, key) in
            [("zookeeper1", "clientPort"), ("controller1", "addr"), ("kvrocks1", "port")]
        {
            let error = outfit(node, &[(key, "7")]).expect_err(key);
            assert!(error.starts_with(&format!("{key} is set by the cluster itself")), "{error}");
        }
    }
}
