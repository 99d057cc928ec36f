//! A client's own idea of who serves what. Pure.

use std::collections::BTreeMap;

use crate::cluster::{Role, Topology};
use crate::op::NodeName;
use crate::resp::Value;

/// Nodes by the address that the cluster gives them.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    nodes: BTreeMap<String, NodeName>,
}

impl Addresses {
    pub fn of(topology: &Topology) -> Addresses {
        let named = topology.nodes.iter().map(|node| {
            let (port, _) = node.role.client_port();
            (format!("{}:{port}", node.address), node.name)
        });
        Addresses { nodes: named.collect() }
    }

    /// Who is at `10.0.0.2:6666`.
    pub fn node(&self, address: &str) -> Option<NodeName> {
        self.nodes.get(address).copied()
    }

    /// An error of a server in which a node's address stands as its name.
    pub fn named(&self, error: &str) -> String {
        let words = error.split(' ').map(|word| match self.nodes.get(word) {
            Some(name) => name.as_str(),
            None => word,
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// The kvrocks nodes, in topology order: where a map can be learnt.
pub fn seeds(topology: &Topology) -> Vec<NodeName> {
    topology.with_role(Role::Kvrocks).map(|node| node.name).collect()
}

/// Who serves which slot, as one node told it, and what redirections have taught since.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SlotMap {
    /// First and last slot, the master and its replicas.
    ranges: Vec<(u16, u16, Vec<NodeName>)>,
    moved: BTreeMap<u16, NodeName>,
}

impl SlotMap {
    /// Reads the reply to `CLUSTER SLOTS`. Nodes that have no name here are left out.
    pub fn read(reply: &Value, addresses: &Addresses) -> Result<SlotMap, String> {
        let Value::Array(rows) = reply else {
            return Err(match reply {
                Value::Error(error) => addresses.named(error),
                other => format!("expected an array of slot ranges, found {}", kind(other)),
            });
        };
        let ranges = rows
            .iter()
            .map(|row| range(row, addresses).ok_or_else(|| "a slot range that is none".to_owned()));
        Ok(SlotMap { ranges: ranges.collect::<Result<_, _>>()?, moved: BTreeMap::new() })
    }

    /// The node that takes writes to a slot.
    pub fn master(&self, slot: u16) -> Option<NodeName> {
        let moved = self.moved.get(&slot).copied();
        moved.or_else(|| self.nodes(slot).first().copied())
    }

    /// The replicas of a slot's master; none are known of a slot that has moved.
    pub fn replicas(&self, slot: u16) -> &[NodeName] {
        match self.moved.contains_key(&slot) {
            true => &[],
            false => self.nodes(slot).get(1..).unwrap_or_default(),
        }
    }

    /// A redirection told who has the slot now.
    pub fn learn(&mut self, slot: u16, node: NodeName) {
        if self.nodes(slot).first() == Some(&node) {
            self.moved.remove(&slot);
        } else {
            self.moved.insert(slot, node);
        }
    }

    fn nodes(&self, slot: u16) -> &[NodeName] {
        let range = self.ranges.iter().find(|(first, last, _)| (*first..=*last).contains(&slot));
        range.map_or(&[], |(_, _, nodes)| nodes)
    }
}

fn range(row: &Value, addresses: &Addresses) -> Option<(u16, u16, Vec<NodeName>)> {
    let Value::Array(parts) = row else { return None };
    let [Value::Int(first), Value::Int(last), nodes @ ..] = parts.as_slice() else { return None };
    let nodes = nodes.iter().map(|node| {
        let Value::Array(parts) = node else { return None };
        let [Value::Bulk(host), Value::Int(port), ..] = parts.as_slice() else { return None };
        Some(addresses.node(&format!("{}:{port}", String::from_utf8_lossy(host))))
    });
    // A node without a name is one that nobody here could ask.
    let nodes: Vec<Option<NodeName>> = nodes.collect::<Option<_>>()?;
    let nodes = nodes.into_iter().flatten().collect();
    Some((u16::try_from(*first).ok()?, u16::try_from(*last).ok()?, nodes))
}

/// What a reply is, in a word.
pub fn kind(reply: &Value) -> &'static str {
    match reply {
        Value::Simple(_) => "a simple string",
        Value::Error(_) => "an error",
        Value::Int(_) => "a number",
        Value::Bulk(_) => "a string",
        Value::Null => "nothing",
        Value::NullArray | Value::Array(_) => "an array",
    }
}

/// Where an error sends its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redirection<'a> {
    pub slot: u16,
    pub address: &'a str,
    /// For this one request, which must say `ASKING` first.
    pub is_ask: bool,
}

impl Redirection<'_> {
    /// Reads `MOVED 8579 10.0.0.42:6666`.
    pub fn of(error: &str) -> Option<Redirection<'_>> {
        let mut words = error.split(' ');
        let is_ask = match words.next()? {
            "MOVED" => false,
            "ASK" => true,
            _ => return None,
        };
        Some(Redirection { slot: words.next()?.parse().ok()?, address: words.next()?, is_ask })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Node;
    use crate::resp::Decoder;

    fn topology() -> Topology {
        let node = |number: u8| Node {
            name: format!("kvrocks{number}").into(),
            role: Role::Kvrocks,
            address: [10, 0, 0, 40 + number].into(),
        };
        Topology { nodes: (1..=3).map(node).collect() }
    }

    fn decoded(text: &str) -> Value {
        let mut decoder = Decoder::default();
        decoder.feed(text.as_bytes());
        decoder.next_value().expect("RESP").expect("a whole value")
    }

    /// As kvrocks 2.10.1 answered: 0-8191 at .41 with replica .43, the rest at .42.
    const SLOTS: &str = "*2\r\n*4\r\n:0\r\n:8191\r\n*3\r\n$9\r\n10.0.0.41\r\n:6666\r\n$2\r\n11\r\n\
        *3\r\n$9\r\n10.0.0.43\r\n:6666\r\n$2\r\n33\r\n\
        *3\r\n:8192\r\n:16383\r\n*3\r\n$9\r\n10.0.0.42\r\n:6666\r\n$2\r\n22\r\n";

    #[test]
    fn a_map_is_learnt_and_corrected() {
        let addresses = Addresses::of(&topology());
        let mut map = SlotMap::read(&decoded(SLOTS), &addresses).expect("a map");
        assert_eq!(map.master(449), Some("kvrocks1".into()));
        assert_eq!(map.replicas(449), ["kvrocks3".into()]);
        assert_eq!(map.master(8579), Some("kvrocks2".into()));
        map.learn(449, "kvrocks2".into());
        assert_eq!((map.master(449), map.replicas(449)), (Some("kvrocks2".into()), &[][..]));
        assert_eq!(map.master(450), Some("kvrocks1".into()));
        map.learn(449, "kvrocks1".into());
        assert_eq!(map.replicas(449), ["kvrocks3".into()]);
        assert_eq!(SlotMap::default().master(1), None);
    }

    #[test]
    fn what_is_no_map_is_told() {
        let addresses = Addresses::of(&topology());
        let down = "-CLUSTERDOWN The cluster is not initialized\r\n";
        let error = SlotMap::read(&decoded(down), &addresses);
        assert_eq!(error, Err("CLUSTERDOWN The cluster is not initialized".into()));
        for odd in ["+OK\r\n", "*1\r\n:1\r\n", "*1\r\n*2\r\n:-1\r\n:5\r\n", "*1\r\n*1\r\n:1\r\n"] {
            assert!(SlotMap::read(&decoded(odd), &addresses).is_err(), "{odd}");
        }
        let stranger = SLOTS.replace("10.0.0.42", "10.0.0.99");
        let map = SlotMap::read(&decoded(&stranger), &addresses).expect("a map");
        assert_eq!(map.master(8579), None);
    }

    #[test]
    fn redirections_are_read_and_nodes_told_by_name() {
        let error = "MOVED 8579 10.0.0.42:6666";
        let redirection = Redirection { slot: 8579, address: "10.0.0.42:6666", is_ask: false };
        assert_eq!(Redirection::of(error), Some(redirection));
        assert_eq!(Addresses::of(&topology()).named(error), "MOVED 8579 kvrocks2");
        assert!(Redirection::of("ASK 1 10.0.0.42:6666").is_some_and(|one| one.is_ask));
        for other in ["MOVED", "MOVED 99999 a:1", "MOVED x a:1", "MOVED 3", "ERR MOVED 3 a:1"] {
            assert_eq!(Redirection::of(other), None, "{other}");
        }
    }
}
