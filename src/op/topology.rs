//! The topology of a kvrocks cluster, as a controller tells it, in names of nodes: what an operation
//! `topology` saw.

use serde::{Deserialize, Serialize};

use super::{NodeName, Value};

/// Who serves what, by one version.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClusterTopology {
    pub version: u64,
    pub shards: Vec<Shard>,
}

#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Shard {
    pub master: Option<NodeName>,
    pub replicas: Vec<NodeName>,
    /// As `0-100,130`; empty where it has none.
    pub slots: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migrating: Option<Migrating>,
}

/// What is on its way to another shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Migrating {
    /// A slot, or a range of them.
    pub slot: String,
    /// The index of the shard that it goes to.
    pub target: usize,
}

impl ClusterTopology {
    pub fn to_value(&self) -> Value {
        Value::Json(Box::new(serde_json::to_value(self).expect("a topology is plain data")))
    }

    /// What an operation `topology` saw; `None` of other values.
    pub fn of(value: &Value) -> Option<ClusterTopology> {
        match value {
            Value::Json(json) => ClusterTopology::deserialize(&**json).ok(),
            _ => None,
        }
    }

    /// The shard that owns a slot, by its index.
    pub fn owner(&self, slot: u16) -> Option<usize> {
        self.shards.iter().position(|shard| holds(&shard.slots, slot))
    }

    pub fn is_migrating(&self) -> bool {
        self.shards.iter().any(|shard| shard.migrating.is_some())
    }

    /// Every slot has an owner.
    pub fn is_whole(&self) -> bool {
        let owned = self.shards.iter().flat_map(|shard| ranges(&shard.slots));
        let mut owned: Vec<(u16, u16)> = owned.collect();
        owned.sort_unstable();
        let next = owned.iter().try_fold(0_u32, |next, (first, last)| {
            (u32::from(*first) <= next).then_some(next.max(u32::from(*last) + 1))
        });
        next == Some(u32::from(crate::key_space::SLOTS))
    }
}

/// Slots as `0-100,130`, as ranges with both ends in. What is no range is left out.
pub fn ranges(slots: &str) -> impl Iterator<Item = (u16, u16)> {
    slots.split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
    })
}

/// Whether slots as `0-100,130` hold this one.
pub fn holds(slots: &str, slot: u16) -> bool {
    ranges(slots).any(|(first, last)| (first..=last).contains(&slot))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(first: &str, second: &str) -> ClusterTopology {
        let shard = |slots: &str| Shard { slots: slots.to_owned(), ..Shard::default() };
        ClusterTopology { version: 1, shards: vec![shard(first), shard(second)] }
    }

    #[test]
    fn the_owner_of_a_slot_is_found() {
        let topology = two("0-99,101-8191", "100,8192-16383");
        assert_eq!(topology.owner(100), Some(1));
        assert_eq!(topology.owner(101), Some(0));
        assert!(topology.is_whole());
        assert_eq!(two("0-99", "").owner(100), None);
    }

    #[test]
    fn a_slot_without_owner_is_noticed() {
        for (first, second) in [("0-8191", "8193-16383"), ("0-8191", "8192-16382"), ("1-16383", "")]
        {
            assert!(!two(first, second).is_whole(), "{first} and {second}");
        }
        assert!(two("0-9000", "8000-16383").is_whole());
    }

    #[test]
    fn it_survives_the_history() {
        let mut topology = two("0-8191", "8192-16383");
        topology.shards[0].master = Some("kvrocks1".into());
        topology.shards[0].migrating = Some(Migrating { slot: "100".into(), target: 1 });
        assert_eq!(ClusterTopology::of(&topology.to_value()), Some(topology));
        assert_eq!(ClusterTopology::of(&Value::Int(3)), None);
    }
}
