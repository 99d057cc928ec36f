//! The controller's document of a cluster, as an operation's result carries it.

use serde_json::Value as Json;

use super::slots::Slots;
use crate::op::{NodeName, Value};

/// A slot on its way to another shard.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::checker::kvrocks) struct Mark {
    pub slots: Slots,
    pub target: usize,
}

/// One shard of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checker::kvrocks) struct Part {
    pub master: Option<NodeName>,
    /// In name order.
    pub replicas: Vec<NodeName>,
    pub slots: Slots,
    pub mark: Option<Mark>,
}

/// What a controller holds for the topology. Equal documents say the same, whatever else was in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checker::kvrocks) struct Document {
    pub version: u64,
    pub shards: Vec<Part>,
}

impl Document {
    /// The document in a result, bare or below `data` and `cluster`.
    pub fn read(value: &Value) -> Option<Document> {
        let Value::Json(json) = value else { return None };
        let mut json = &**json;
        for wrapping in ["data", "cluster"] {
            json = json.get(wrapping).unwrap_or(json);
        }
        let shards = json.get("shards")?.as_array()?;
        let shards = shards.iter().map(part).collect::<Option<Vec<_>>>()?;
        Some(Document { version: json.get("version")?.as_u64()?, shards })
    }

    /// The shard that owns a slot.
    pub fn owner(&self, slot: u16) -> Option<usize> {
        self.shards.iter().position(|shard| shard.slots.contains(slot))
    }

    pub fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.shards.iter().filter_map(|shard| shard.mark.as_ref())
    }

    pub fn is_marked(&self, slot: u16) -> bool {
        self.marks().any(|mark| mark.slots.contains(slot))
    }
}

fn part(json: &Json) -> Option<Part> {
    let mut part = Part { master: None, replicas: Vec::new(), slots: Slots::default(), mark: None };
    for node in json.get("nodes")?.as_array()? {
        let name = host(node.get("addr")?.as_str()?);
        match node.get("role").and_then(Json::as_str) {
            Some("master") => part.master = Some(name),
            _ => part.replicas.push(name),
        }
    }
    part.replicas.sort();
    if let Some(ranges) = json.get("slot_ranges").and_then(Json::as_array) {
        let ranges: Vec<&str> = ranges.iter().filter_map(Json::as_str).collect();
        part.slots = Slots::parse(&ranges.join(","))?;
    }
    part.mark = mark(json);
    Some(part)
}

/// No mark is `null`, an empty text or a target below 0.
fn mark(json: &Json) -> Option<Mark> {
    let target = json.get("target_shard_index")?.as_i64()?;
    let slots = match json.get("migrating_slot")? {
        Json::String(text) if !text.is_empty() => Slots::parse(text)?,
        Json::Number(slot) => Slots::parse(&slot.to_string())?,
        _ => return None,
    };
    Some(Mark { slots, target: usize::try_from(target).ok()? })
}

fn host(address: &str) -> NodeName {
    address.rsplit_once(':').map_or(address, |(host, _)| host).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::text::history;

    fn read(json: &str) -> Option<Document> {
        Document::read(&history(&format!("1 0 ok topology {json}")).events()[0].value)
    }

    const SHARDS: &str = r#""shards":[{"nodes":[{"addr":"kvrocks1:6666","role":"master"},{"addr":"kvrocks2:6666","role":"slave","created_at":1}],"slot_ranges":["0-8191"],"target_shard_index":1,"migrating_slot":"130"},{"nodes":[{"addr":"kvrocks3:6666","role":"master"}],"slot_ranges":["8192-16383"],"target_shard_index":-1,"migrating_slot":null}]"#;

    #[test]
    fn a_document_is_read_bare_and_wrapped() {
        let bare = read(&format!(r#"{{"version":2,"name":"c0",{SHARDS}}}"#)).expect("a document");
        assert_eq!((bare.version, bare.owner(130), bare.owner(8192)), (2, Some(0), Some(1)));
        assert_eq!(bare.shards[0].master, Some("kvrocks1".into()));
        assert_eq!(bare.shards[0].replicas, [NodeName::from("kvrocks2")]);
        assert!(bare.is_marked(130) && !bare.is_marked(131));
        assert_eq!(bare.marks().map(|mark| mark.target).collect::<Vec<_>>(), [1]);
        let wrapped = format!(r#"{{"data":{{"cluster":{{"version":2,{SHARDS}}}}}}}"#);
        assert_eq!(read(&wrapped), Some(bare));
    }

    #[test]
    fn other_results_are_no_documents() {
        for other in ["{\"version\":2}", "[1]", "{\"version\":-1,\"shards\":[]}", "nil", "5"] {
            assert_eq!(read(other), None, "{other}");
        }
        let broken = r#"{"version":2,"shards":[{"nodes":[],"slot_ranges":["x"]}]}"#;
        assert_eq!(read(broken), None);
    }
}
