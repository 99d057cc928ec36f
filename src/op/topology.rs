//! The topology of a kvrocks cluster, as its controllers' document tells it in names of nodes: what an
//! operation `topology` saw.

use serde_json::Value as Json;

use super::{NodeName, Value};

/// Who serves what, by one version.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ClusterTopology {
    pub version: u64,
    pub shards: Vec<Shard>,
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Shard {
    pub master: Option<NodeName>,
    pub replicas: Vec<NodeName>,
    /// As `0-100,130`; empty where it has none.
    pub slots: String,
    pub migrating: Option<Migrating>,
}

/// What is on its way to another shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrating {
    /// A slot, or a range of them.
    pub slot: String,
    /// The index of the shard that it goes to.
    pub target: usize,
}

impl ClusterTopology {
    /// The topology in the result of an operation, bare or below `cluster`; `None` of other results.
    pub fn of(value: &Value) -> Option<ClusterTopology> {
        match value {
            Value::Json(json) => ClusterTopology::read(json.get("cluster").unwrap_or(json)),
            _ => None,
        }
    }

    /// Reads a document in which the host of a node's `addr` is its name.
    pub fn read(document: &Json) -> Option<ClusterTopology> {
        let version = document.get("version")?.as_u64()?;
        let shards = document.get("shards")?.as_array()?.iter().map(Shard::read);
        Some(ClusterTopology { version, shards: shards.collect::<Option<_>>()? })
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
        next == Some(u32::from(crate::resp::SLOTS))
    }
}

impl Shard {
    fn read(json: &Json) -> Option<Shard> {
        let mut shard = Shard::default();
        for node in json["nodes"].as_array()? {
            let address = node["addr"].as_str()?;
            let name = address.rsplit_once(':').map_or(address, |(host, _)| host).into();
            match node["role"].as_str()? {
                "master" => shard.master = Some(name),
                _ => shard.replicas.push(name),
            }
        }
        let ranges = json["slot_ranges"].as_array()?.iter().map(Json::as_str);
        shard.slots = ranges.collect::<Option<Vec<_>>>()?.join(",");
        let slot = match &json["migrating_slot"] {
            Json::String(slot) if !slot.is_empty() => Some(slot.clone()),
            Json::Number(slot) => slot.as_u64().map(|slot| slot.to_string()),
            _ => None,
        };
        let target = json["target_shard_index"].as_u64().and_then(|index| index.try_into().ok());
        shard.migrating = slot.zip(target).map(|(slot, target)| Migrating { slot, target });
        Some(shard)
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

    /// As the controller 1.2.0 answers, but for the names.
    const MIGRATING: &str = r#"{"version":2,"name":"c0","shards":[{"nodes":[{"addr":"kvrocks1:6666","role":"master"},{"addr":"kvrocks2:6666","role":"slave"}],"slot_ranges":["0-99","101-8191"],"target_shard_index":1,"migrating_slot":"101"},{"nodes":[{"addr":"kvrocks3:6666","role":"master"}],"slot_ranges":["100","8192-16383"],"target_shard_index":-1,"migrating_slot":null}]}"#;

    #[test]
    fn a_document_is_read_bare_and_within_another_result() {
        let bare: Json = serde_json::from_str(MIGRATING).expect("JSON");
        let within = serde_json::json!({ "slot": 101, "cluster": bare.clone() });
        let [bare, within] = [bare, within].map(|json| Value::Json(Box::new(json)));
        let topology = ClusterTopology::of(&bare).expect("a topology");
        assert_eq!(ClusterTopology::of(&within), Some(topology.clone()));
        assert_eq!(topology.version, 2);
        assert_eq!(topology.shards[0].master, Some("kvrocks1".into()));
        assert_eq!(topology.shards[0].replicas, ["kvrocks2".into()]);
        assert_eq!(topology.shards[0].slots, "0-99,101-8191");
        let migrating = Migrating { slot: "101".into(), target: 1 };
        assert_eq!(topology.shards[0].migrating, Some(migrating));
        assert_eq!(topology.shards[1].migrating, None);
        assert!(topology.is_migrating() && topology.is_whole());
        for other in [Value::Nil, Value::Int(3), Value::Json(Box::new(Json::Null))] {
            assert_eq!(ClusterTopology::of(&other), None);
        }
    }
}
