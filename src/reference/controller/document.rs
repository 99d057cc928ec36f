//! A cluster's metadata: the JSON document that ZooKeeper holds and clients are shown, byte by byte as the
//! real one writes it.

use serde::{Deserialize, Deserializer, Serialize};

use super::failure::Failure;
use super::slots::{LAST_SLOT, SlotRange, shares};

pub const MASTER: &str = "master";
pub const SLAVE: &str = "slave";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cluster {
    pub version: i64,
    pub name: String,
    #[serde(deserialize_with = "or_default")]
    pub shards: Vec<Shard>,
    /// The version of the znode that this was read from.
    #[serde(skip)]
    pub znode_version: i32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shard {
    #[serde(deserialize_with = "or_default")]
    pub nodes: Vec<Node>,
    #[serde(deserialize_with = "or_default")]
    pub slot_ranges: Vec<SlotRange>,
    pub target_shard_index: i64,
    /// Older controllers wrote -1 where nothing migrates.
    #[serde(deserialize_with = "slots_or_none")]
    pub migrating_slot: Option<SlotRange>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    pub addr: String,
    pub created_at: i64,
    pub id: String,
    pub password: String,
    pub role: String,
}

/// Null, too, means nothing.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn slots_or_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SlotRange>, D::Error> {
    Ok(match serde_json::Value::deserialize(from)? {
        serde_json::Value::String(text) => text.parse().ok(),
        _ => None,
    })
}

impl Default for Shard {
    fn default() -> Shard {
        Shard { nodes: vec![], slot_ranges: vec![], target_shard_index: -1, migrating_slot: None }
    }
}

impl Node {
    pub fn is_master(&self) -> bool {
        self.role == MASTER
    }
}

impl Shard {
    pub fn master(&self) -> Option<&Node> {
        self.nodes.iter().find(|node| node.is_master())
    }

    pub fn is_migrating(&self) -> bool {
        self.migrating_slot.is_some() && self.target_shard_index != -1
    }

    pub fn is_servicing(&self) -> bool {
        !self.slot_ranges.is_empty() || self.is_migrating()
    }

    pub fn clear_migration(&mut self) {
        self.migrating_slot = None;
        self.target_shard_index = -1;
    }
}

impl Cluster {
    /// Of the first version: nodes are dealt shard by shard, the first of each is its master.
    pub fn new(
        name: &str,
        addrs: &[String],
        per_shard: i64,
        mut node: impl FnMut(&str, &str) -> Node,
    ) -> Result<Cluster, Failure> {
        if addrs.is_empty() {
            return Err(Failure::bad_request("cluster nodes should NOT be empty"));
        }
        let Ok(per_shard) = usize::try_from(per_shard) else {
            return Err(Failure::bad_request("replicas should NOT be less than 0"));
        };
        let per_shard = per_shard.max(1);
        if !addrs.len().is_multiple_of(per_shard) {
            return Err(Failure::bad_request("cluster nodes should be divisible by replicas"));
        }
        let shards = addrs.len() / per_shard;
        if shards > usize::from(LAST_SLOT) {
            return Err(Failure::bad_request("there are not so many slots"));
        }
        let shares = shares(shards);
        let shards = addrs.chunks(per_shard).zip(shares).map(|(addrs, share)| Shard {
            nodes: nodes(addrs, &mut node),
            slot_ranges: vec![share],
            ..Shard::default()
        });
        Ok(Cluster {
            version: 1,
            name: name.to_owned(),
            shards: shards.collect(),
            znode_version: 0,
        })
    }

    pub fn shard(&self, index: i64) -> Result<&Shard, Failure> {
        let shard = usize::try_from(index).ok().and_then(|index| self.shards.get(index));
        shard.ok_or_else(Failure::index_out_of_range)
    }

    pub fn shard_mut(&mut self, index: i64) -> Result<&mut Shard, Failure> {
        let shard = usize::try_from(index).ok().and_then(|index| self.shards.get_mut(index));
        shard.ok_or_else(Failure::index_out_of_range)
    }

    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.shards.iter().flat_map(|shard| &shard.nodes)
    }

    pub fn set_password(&mut self, password: &str) {
        for node in self.shards.iter_mut().flat_map(|shard| &mut shard.nodes) {
            node.password = password.to_owned();
        }
    }

    /// The one shard that has these slots.
    pub fn owner_of(&self, slots: SlotRange) -> Result<usize, Failure> {
        let mut owner = None;
        for (index, shard) in self.shards.iter().enumerate() {
            for _ in shard.slot_ranges.iter().filter(|range| range.overlaps(slots)) {
                if owner.replace(index).is_some() {
                    return Err(Failure::internal("slot range belongs to multiple shards"));
                }
            }
        }
        owner.ok_or_else(|| Failure::internal("slot not belong to any shard"))
    }
}

/// Nodes of one shard: the first is the master.
pub fn nodes(addrs: &[String], mut node: impl FnMut(&str, &str) -> Node) -> Vec<Node> {
    let roles = std::iter::once(MASTER).chain(std::iter::repeat(SLAVE));
    addrs.iter().zip(roles).map(|(addr, role)| node(addr, role)).collect()
}

/// JSON as Go writes it, which escapes what means something in HTML.
pub fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    if !text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                escaped.push_str(&format!("\\u{:04x}", letter as u32));
            }
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: &str = r#"{"version":2,"name":"c0","shards":[{"nodes":[{"addr":"10.0.0.31:6666","created_at":1795958608,"id":"97eKmon1ZZGqlz4qePwiKf0VKWFNql2WJB9Vpubo","password":"","role":"master"},{"addr":"10.0.0.32:6666","created_at":1795958608,"id":"aPL9O3epen4ZzSM5VZysK5VK4znCmgJbNfhnwKtU","password":"","role":"slave"}],"slot_ranges":["0-8191"],"target_shard_index":1,"migrating_slot":"101"},{"nodes":[],"slot_ranges":[],"target_shard_index":-1,"migrating_slot":null}]}"#;

    #[test]
    fn a_document_of_the_real_one_comes_back_byte_by_byte() {
        let cluster: Cluster = serde_json::from_str(RECORDED).expect("sound");
        assert_eq!(json(&cluster), RECORDED);
        assert!(cluster.shards[0].is_migrating() && !cluster.shards[1].is_servicing());
        assert_eq!(
            cluster.shards[0].master().map(|node| node.addr.as_str()),
            Some("10.0.0.31:6666")
        );
    }

    #[test]
    fn what_is_missing_or_older_is_taken() {
        let text = r#"{"version":3,"shards":[{"nodes":null,"slot_ranges":null,"migrating_slot":-1}],"more":1}"#;
        let cluster: Cluster = serde_json::from_str(text).expect("sound");
        assert_eq!((cluster.version, cluster.name.as_str()), (3, ""));
        assert_eq!(cluster.shards, [Shard::default()]);
        assert!(serde_json::from_str::<Cluster>("").is_err());
    }

    #[test]
    fn a_shard_needs_a_slot() {
        let addrs = vec![String::new(); 16_384];
        assert!(Cluster::new("c", &addrs, 1, |_, _| Node::default()).is_err());
        let cluster = Cluster::new("c", &addrs, 2, |_, _| Node::default()).expect("enough slots");
        assert_eq!(cluster.shards.len(), 8_192);
        assert!(Cluster::new("c", &addrs, -1, |_, _| Node::default()).is_err());
        assert!(Cluster::new("c", &addrs, i64::MAX, |_, _| Node::default()).is_err());
    }

    #[test]
    fn slots_have_one_owner() {
        let cluster: Cluster = serde_json::from_str(RECORDED).expect("sound");
        assert_eq!(cluster.owner_of("5".parse().expect("a slot")).ok(), Some(0));
        let none = cluster.owner_of("9000".parse().expect("a slot")).expect_err("nobody's");
        assert_eq!(none.message, "slot not belong to any shard");
    }

    #[test]
    fn what_means_something_in_html_is_escaped() {
        assert_eq!(json(&"a<b>&c\u{2028}"), r#""a\u003cb\u003e\u0026c\u2028""#);
    }
}
