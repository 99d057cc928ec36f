//! Following migrations: what became of a slot is asked from the master that gives it away.

use super::super::document::Shard;
use super::super::slots::{SlotRange, with, without};
use super::*;

impl<H: Host> Checker<H> {
    /// Looks after each shard that migrates, by the cluster as it was known at the last probe.
    pub(super) async fn follow_migrations(&self, mut cluster: Cluster) {
        for index in 0..cluster.shards.len() {
            let shard = &cluster.shards[index];
            let (true, Some(slot)) = (shard.is_migrating(), shard.migrating_slot) else { continue };
            if !self.follow(&mut cluster, index, slot).await {
                return;
            }
        }
    }

    /// False if the others are to wait for the next time.
    async fn follow(&self, cluster: &mut Cluster, index: usize, slot: SlotRange) -> bool {
        let Some(source) = cluster.shards[index].master().cloned() else { return true };
        let info = match self.shared.nodes.cluster_info(&source).await {
            Ok(info) => info,
            Err(error) => {
                let mut fields = self.named("cluster").to_vec();
                fields.push(("shard_index", index.into()));
                fields.push(("source_node", source.id.into()));
                fields.push(("error", error.to_string().into()));
                let message = "Failed to get the cluster info from the source node";
                self.shared.log.error(message, &fields);
                return true;
            }
        };
        if info.migrating_slot != Some(slot) {
            let mut fields = self.named("cluster").to_vec();
            fields.push(("shard_index", index.into()));
            fields.push(("migrating_slot", slot.to_string().into()));
            self.shared.log.error("Mismatch migrating slot", &fields);
            return self.end(cluster, index, Shard::clear_migration).await;
        }
        let Some(target) = self.target(cluster, index) else { return false };
        let mut fields = self.named("cluster").to_vec();
        fields.push(("slot", slot.to_string().into()));
        match info.migrating_state.as_str() {
            "none" | "start" => true,
            "success" => {
                let given = &mut cluster.shards[target].slot_ranges;
                *given = with(given, slot);
                let done = self.end(cluster, index, |shard| {
                    shard.slot_ranges = without(&shard.slot_ranges, slot);
                    shard.clear_migration();
                });
                if !done.await {
                    return false;
                }
                self.shared.log.info("Migrate the slot successfully", &fields);
                true
            }
            "fail" => {
                if !self.end(cluster, index, Shard::clear_migration).await {
                    return false;
                }
                self.shared.log.warn("Failed to migrate the slot", &fields);
                true
            }
            unknown => {
                fields.push(("state", unknown.to_owned().into()));
                self.shared.log.error("Unknown migrating state", &fields);
                self.end(cluster, index, Shard::clear_migration).await
            }
        }
    }

    fn target(&self, cluster: &Cluster, index: usize) -> Option<usize> {
        let target = cluster.shards[index].target_shard_index;
        let found = usize::try_from(target).ok().filter(|target| *target < cluster.shards.len());
        if found.is_none() {
            let mut fields = self.named("cluster").to_vec();
            fields.push(("index", target.into()));
            self.shared.log.error("Invalid target shard index", &fields);
        }
        found
    }

    async fn end(&self, cluster: &mut Cluster, index: usize, f: impl FnOnce(&mut Shard)) -> bool {
        f(&mut cluster.shards[index]);
        if let Err(error) = self.shared.store.update_cluster(&self.key, cluster).await {
            self.complain("Failed to update the cluster", &error);
            return false;
        }
        *self.cluster.borrow_mut() = Some(cluster.clone());
        true
    }
}
