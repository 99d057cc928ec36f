//! When a master does not answer any more: counting, and a failover.

use super::*;

impl<H: Host> Checker<H> {
    /// One more failed probe; how many they are now. Each time a master's count is full, it is replaced.
    pub(super) async fn count_failure(&self, shard: usize, node: &Node) -> u64 {
        let count = {
            let mut failures = self.failures.borrow_mut();
            let count = failures.entry(node.id.clone()).or_default();
            *count += 1;
            *count
        };
        if node.is_master() && count.is_multiple_of(self.shared.config.max_ping_count) {
            self.replace(shard, node).await;
        }
        count
    }

    async fn replace(&self, shard: usize, old: &Node) {
        let complain = |message: &str, error: &Failure| {
            let mut fields = self.about(old);
            fields.push(("error", error.to_string().into()));
            self.shared.log.error(message, &fields);
        };
        let mut cluster = match self.shared.store.cluster(&self.key).await {
            Ok(cluster) => cluster,
            Err(error) => return complain("Failed to get the cluster info", &error),
        };
        let promoted = self.shared.promote(&mut cluster, shard as i64, Some(&old.id), None).await;
        let new = match promoted {
            Ok(new) => new,
            Err(error) => return complain("Failed to promote the new master", &error),
        };
        if let Err(error) = self.shared.store.update_cluster(&self.key, &mut cluster).await {
            return complain("Failed to update the cluster", &error);
        }
        self.failures.borrow_mut().remove(&new);
        let mut fields = self.about(old);
        fields.push(("new_master_id", new.into()));
        self.shared.log.info("Promote the new master", &fields);
    }
}
