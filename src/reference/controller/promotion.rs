//! Which slave becomes the master of its shard.

use serde_json::Value;

use super::Shared;
use super::document::{Cluster, MASTER, Node, SLAVE, Shard};
use super::failure::Failure;
use super::log::Field;
use crate::reference::host::Host;

impl<H: Host> Shared<H> {
    /// Gives a shard another master, in the document only; the new one's id.
    ///
    /// The one with the most data is taken, or the preferred one if it will do. A slave without data will not
    /// do, so a shard that was never written to has no failover.
    pub async fn promote(
        &self,
        cluster: &mut Cluster,
        shard: i64,
        expected: Option<&str>,
        preferred: Option<&str>,
    ) -> Result<String, Failure> {
        let shard = cluster.shard_mut(shard)?;
        if shard.nodes.len() <= 1 {
            return Err(Failure::internal("no replica in shard"));
        }
        let Some(old) = shard.nodes.iter().position(Node::is_master) else {
            return Err(Failure::internal("old master node not found"));
        };
        if expected.is_some_and(|id| shard.nodes[old].id != id) {
            return Err(Failure::internal("the old node is not master"));
        }
        let new = self.best(shard, old, preferred).await;
        let new = new.ok_or_else(|| Failure::internal("no match new master in shard"))?;
        shard.nodes[old].role = SLAVE.to_owned();
        shard.nodes[new].role = MASTER.to_owned();
        Ok(shard.nodes[new].id.clone())
    }

    async fn best(&self, shard: &Shard, old: usize, preferred: Option<&str>) -> Option<usize> {
        let mut best: Option<(u64, usize)> = None;
        for (index, node) in shard.nodes.iter().enumerate().filter(|(index, _)| *index != old) {
            let Some(sequence) = self.sequence(node).await else { continue };
            if preferred == Some(&node.id) {
                return Some(index);
            }
            if best.is_none_or(|(most, _)| sequence >= most) {
                best = Some((sequence, index));
            }
        }
        best.map(|(_, index)| index)
    }

    /// How far a slave's data are; `None` where it cannot be promoted.
    async fn sequence(&self, node: &Node) -> Option<u64> {
        let about = |more: &[Field<'static>]| {
            let id: Field<'static> = ("id", node.id.clone().into());
            [&[id, ("addr", node.addr.clone().into())], more].concat()
        };
        let skip = |message: &str, error: String| {
            self.log.warn(message, &about(&[("error", Value::from(error))]));
            None
        };
        if let Err(error) = self.nodes.cluster_info(node).await {
            return skip("Skip the node due to failed to get cluster info", error.to_string());
        }
        let info = match self.nodes.info(node).await {
            Ok(info) => info,
            Err(error) => {
                let message = "Skip the node due to failed to get info of node";
                return skip(message, error.to_string());
            }
        };
        let told = about(&[("role", info.role.clone().into()), ("sequence", info.sequence.into())]);
        if info.role != SLAVE || info.sequence == 0 {
            self.log.warn("Skip the node due to role or sequence invalid", &told);
            return None;
        }
        self.log.info("Get slave node info successfully", &told);
        Some(info.sequence)
    }
}
