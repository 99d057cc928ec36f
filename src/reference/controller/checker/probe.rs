//! A round of probes: every node is asked for the version of its topology.

use serde_json::Value;

use super::super::log::Field;
use super::super::nodes::NodeError;
use super::super::topology;
use super::*;

/// A topology that a node has and ZooKeeper does not.
struct Newer {
    version: i64,
    lines: String,
}

impl<H: Host> Checker<H> {
    pub(super) async fn probe(&self) {
        let cluster = match self.shared.store.cluster(&self.key).await {
            Ok(cluster) => cluster,
            Err(error) => {
                let message = "Failed to get the clusterName info from the clusterStore";
                return self.complain(message, &error);
            }
        };
        *self.cluster.borrow_mut() = Some(cluster.clone());
        let shards = cluster.shards.iter().enumerate();
        let nodes = shards.flat_map(|(index, shard)| shard.nodes.iter().map(move |n| (index, n)));
        let probes = nodes.map(|(index, node)| self.probe_node(index, node, &cluster));
        let found = futures::future::join_all(probes).await;
        let newest = found
            .into_iter()
            .flatten()
            .reduce(|newest, other| if other.version > newest.version { other } else { newest });
        if let Some(newest) = newest {
            self.take_from_node(&cluster, &newest).await;
        }
    }

    async fn probe_node(&self, shard: usize, node: &Node, cluster: &Cluster) -> Option<Newer> {
        let version = match self.shared.nodes.cluster_info(node).await {
            Ok(info) => info.epoch,
            Err(error) if error.is_not_initialized() => -1,
            Err(error) if error.is_loading() => {
                let message = "The node is restoring the db from backup";
                self.shared.log.error(message, &self.about(node));
                return None;
            }
            Err(error) => {
                let count = self.count_failure(shard, node).await;
                let mut fields = self.about(node);
                fields.push(("error", error.to_string().into()));
                fields.push(("failure_count", count.into()));
                self.shared.log.warn("Failed to probe the node", &fields);
                return None;
            }
        };
        let newer = match version {
            version if version < cluster.version => {
                if let Err(error) = self.shared.nodes.push(node, cluster).await {
                    let mut fields = self.about(node);
                    fields.push(("error", error.to_string().into()));
                    self.shared.log.error("Failed to sync the clusterName info", &fields);
                }
                None
            }
            version if version > cluster.version => {
                self.ask_for_newer(node, version, cluster).await
            }
            _ => None,
        };
        self.failures.borrow_mut().remove(&node.id);
        newer
    }

    async fn ask_for_newer(&self, node: &Node, version: i64, cluster: &Cluster) -> Option<Newer> {
        let mut fields = self.about(node);
        fields.push(("node.version", version.into()));
        fields.push(("clusterName.version", cluster.version.into()));
        self.shared.log.warn("The node is in a higher version", &fields);
        match self.shared.nodes.cluster_nodes(node).await {
            Ok(lines) => Some(Newer { version, lines }),
            Err(NodeError(error)) => {
                let mut fields = self.about(node);
                fields.push(("error", error.into()));
                let message = "Failed to get the cluster nodes info from node";
                self.shared.log.error(message, &fields);
                None
            }
        }
    }

    /// The node's topology takes the place of the one in ZooKeeper.
    async fn take_from_node(&self, cluster: &Cluster, newest: &Newer) {
        let complain = |message: &str, error: &Failure| {
            let lines = ("cluster", newest.lines.clone().into());
            self.shared.log.error(message, &[lines, ("error", error.to_string().into())]);
        };
        let mut taken = match topology::parse(&newest.lines) {
            Ok(taken) => taken,
            Err(error) => return complain("Failed to parse the cluster info", &error),
        };
        taken.name = cluster.name.clone();
        taken.znode_version = cluster.znode_version;
        let password = cluster.nodes().next().map_or("", |node| &node.password);
        taken.set_password(password);
        if let Err(error) = self.shared.store.set_cluster(&self.key, &mut taken).await {
            return complain("Failed to update the cluster info", &error);
        }
        let info = serde_json::to_value(&taken).unwrap_or(Value::Null);
        let fields = [("latestClusterInfo", info)];
        self.shared.log.info("Refresh latest cluster info to all nodes", &fields);
    }

    pub(super) fn about(&self, node: &Node) -> Vec<Field<'static>> {
        vec![
            ("cluster_name", self.key.1.clone().into()),
            ("id", node.id.clone().into()),
            ("is_master", node.is_master().into()),
            ("addr", node.addr.clone().into()),
        ]
    }
}
