//! The topology of a cluster as controllers told it, in a form that can be compared.

use super::slots::Slots;
use crate::op::{ClusterTopology, NodeName, Value};

/// A slot on its way to another shard.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::checker) struct Mark {
    pub slots: Slots,
    pub target: usize,
}

/// One shard of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checker) struct Part {
    pub master: Option<NodeName>,
    /// In name order.
    pub replicas: Vec<NodeName>,
    pub slots: Slots,
    pub mark: Option<Mark>,
}

/// What a controller holds for the topology. Equal documents say the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checker) struct Document {
    pub version: u64,
    pub shards: Vec<Part>,
}

impl Document {
    /// The document in a result: the result itself, or what it has for `cluster`.
    pub fn read(value: &Value) -> Option<Document> {
        let inner = match value {
            Value::Json(json) => json.get("cluster"),
            _ => None,
        };
        let wrapped = inner.map(|json| Value::Json(Box::new(json.clone())));
        let topology = ClusterTopology::of(wrapped.as_ref().unwrap_or(value))?;
        let shards = topology.shards.into_iter().map(part).collect::<Option<Vec<_>>>()?;
        Some(Document { version: topology.version, shards })
    }

    pub fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.shards.iter().filter_map(|shard| shard.mark.as_ref())
    }

    /// Whether the slot is this shard's.
    pub fn owns(&self, shard: usize, slot: u16) -> bool {
        self.shards.get(shard).is_some_and(|part| part.slots.contains(slot))
    }

    pub fn is_marked(&self, slot: u16) -> bool {
        self.marks().any(|mark| mark.slots.contains(slot))
    }
}

fn part(shard: crate::op::Shard) -> Option<Part> {
    let mut replicas = shard.replicas;
    replicas.sort();
    let mark = match shard.migrating {
        Some(migrating) => {
            Some(Mark { slots: Slots::parse(&migrating.slot)?, target: migrating.target })
        }
        None => None,
    };
    Some(Part { master: shard.master, replicas, slots: Slots::parse(&shard.slots)?, mark })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::text::history;

    fn read(json: &str) -> Option<Document> {
        Document::read(&history(&format!("1 0 ok topology {json}")).events()[0].value)
    }

    const BARE: &str = r#"{"version":2,"shards":[{"nodes":[{"addr":"kvrocks1:6666","role":"master"},{"addr":"kvrocks5:6666","role":"slave"},{"addr":"kvrocks2:6666","role":"slave"}],"slot_ranges":["0-8191"],"migrating_slot":"130","target_shard_index":1},{"nodes":[{"addr":"kvrocks3:6666","role":"master"}],"slot_ranges":["8192-16383"]}]}"#;

    #[test]
    fn a_document_is_read_bare_and_beside_other_results() {
        let bare = read(BARE).expect("a document");
        assert_eq!(bare.version, 2);
        assert_eq!(bare.shards[0].master, Some("kvrocks1".into()));
        assert_eq!(bare.shards[0].replicas, ["kvrocks2", "kvrocks5"].map(NodeName::from));
        assert!(bare.shards[1].slots.contains(8192));
        assert!(bare.is_marked(130) && !bare.is_marked(131));
        assert_eq!(bare.marks().map(|mark| mark.target).collect::<Vec<_>>(), [1]);
        let wrapped = format!(r#"{{"slot":130,"target":1,"cluster":{BARE}}}"#);
        assert_eq!(read(&wrapped), Some(bare));
    }

    #[test]
    fn other_results_are_no_documents() {
        for other in [r#"{"version":2}"#, "[1]", r#"{"slot":1,"cluster":null}"#, "nil", "5"] {
            assert_eq!(read(other), None, "{other}");
        }
        assert_eq!(read(&BARE.replace("0-8191", "0-x")), None);
    }
}
