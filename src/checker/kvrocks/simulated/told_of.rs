//! What nodes say of the simulated cluster, and what its controllers hold.

use super::{Cluster, NODES};
use crate::checker::kvrocks::told;

impl Cluster {
    pub(super) fn look(&mut self) {
        let view = (0..4).map(|node| {
            let slots: Vec<String> = self
                .owners
                .iter()
                .filter(|(_, o)| **o == node / 2)
                .map(|(slot, _)| slot.to_string())
                .collect();
            let told = match self.deposed.get(&node) {
                Some(true) => "down".to_owned(),
                Some(false) => format!("master@{}", self.known[node]),
                None if self.masters[node / 2] != node || self.has_stopped(node) => {
                    format!("replica@{}", self.known[node])
                }
                // What it owns under an older topology it does not say.
                None if self.known[node] < self.version => format!("master@{}", self.known[node]),
                None => format!("master@{}:{}", self.known[node], slots.join(",")),
            };
            format!("{}={told}", NODES[node])
        });
        self.recorder.view(view.collect::<Vec<_>>().join(" "));
    }

    pub(super) fn document(&self) -> String {
        let shards = (0..2).map(|shard| {
            let master = self.told_masters[shard];
            let replica = shard * 2 + (1 - master % 2);
            let owned = self.owners.iter().filter(|(_, owner)| **owner == shard);
            let slots: Vec<String> = owned.map(|(slot, _)| slot.to_string()).collect();
            let mark = self.moving.filter(|moving| 1 - moving.target == shard);
            told::part(
                NODES[master],
                NODES[replica],
                &slots.join(","),
                mark.map(|m| (m.slot, m.target)),
            )
        });
        let shards: Vec<String> = shards.collect();
        format!(r#"{{"version":{},"shards":[{}]}}"#, self.version, shards.join(","))
    }
}
