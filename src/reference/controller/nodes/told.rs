//! What nodes tell of themselves: `CLUSTER INFO` and `INFO`.

use super::NodeError;
use crate::reference::controller::slots::SlotRange;

/// The part of `CLUSTER INFO` that the controller reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterInfo {
    /// The version of its topology.
    pub epoch: i64,
    /// What it migrates or migrated last.
    pub migrating_slot: Option<SlotRange>,
    pub migrating_state: String,
}

/// The part of `INFO` that the controller reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeInfo {
    pub role: String,
    pub sequence: u64,
}

/// Lines of a name, a colon and a value.
fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.map(|(name, value)| (name.trim(), value.trim()))
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, NodeError> {
    value.parse().map_err(|_| NodeError(format!("{name}: expected a number, found {value:?}")))
}

impl ClusterInfo {
    pub fn parse(text: &str) -> Result<ClusterInfo, NodeError> {
        let (mut epoch, mut migrating_slot, mut migrating_state) = (-1, None, String::new());
        for (name, value) in pairs(text) {
            match name.to_ascii_lowercase().as_str() {
                "cluster_current_epoch" => epoch = number(name, value)?,
                "migrating_slot" | "migrating_slot(s)" if !value.is_empty() => {
                    migrating_slot = Some(value.parse().map_err(NodeError)?);
                }
                "migrating_state" => migrating_state = value.to_owned(),
                _ => {}
            }
        }
        Ok(ClusterInfo { epoch, migrating_slot, migrating_state })
    }
}

impl NodeInfo {
    pub fn parse(text: &str) -> Result<NodeInfo, NodeError> {
        let mut info = NodeInfo::default();
        for (name, value) in pairs(text) {
            match name {
                "role" => info.role = value.to_owned(),
                "sequence" => info.sequence = number(name, value)?,
                _ => {}
            }
        }
        Ok(info)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_tells_its_version_and_its_migration() {
        let text = "cluster_state:ok\r\ncluster_current_epoch:19\r\ncluster_my_epoch:19\r\n\
                    migrating_slot(s): 130\r\ndestination_node: 8f\r\nmigrating_state: start\r\n";
        let info = ClusterInfo::parse(text).expect("sound");
        assert_eq!((info.epoch, info.migrating_state.as_str()), (19, "start"));
        assert_eq!(info.migrating_slot, "130".parse().ok());
        let info =
            ClusterInfo::parse("cluster_state:ok\r\nmigrating_slot(s): \r\n").expect("sound");
        assert_eq!((info.epoch, info.migrating_slot), (-1, None));
        assert!(ClusterInfo::parse("cluster_current_epoch:x").is_err());
        assert!(ClusterInfo::parse("migrating_slot(s): x").is_err());
    }

    #[test]
    fn a_node_tells_its_role_and_how_far_its_data_are() {
        let text = "# Replication\r\nrole:slave\r\nmaster_host:10.0.0.31\r\n# Keyspace\r\nsequence:5475\r\n";
        let info = NodeInfo::parse(text).expect("sound");
        assert_eq!((info.role.as_str(), info.sequence), ("slave", 5475));
        assert!(NodeInfo::parse("sequence:-1").is_err());
    }
}
