//! A topology in the nodes' own forms: the lines that `CLUSTERX SETNODES` takes and those that
//! `CLUSTER NODES` gives.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::document::{Cluster, MASTER, Node, SLAVE, Shard};
use super::failure::Failure;
use super::nodes::NodeError;

/// For `CLUSTERX SETNODES`.
pub fn lines(cluster: &Cluster) -> Result<String, NodeError> {
    let mut lines = String::new();
    for (index, shard) in cluster.shards.iter().enumerate() {
        let Some(master) = shard.master() else {
            return Err(NodeError(format!("found err at shard[{index}]: missing master node")));
        };
        for node in &shard.nodes {
            let place = node.addr.replacen(':', " ", 1);
            let _ = match std::ptr::eq(node, master) {
                true => {
                    let slots = shard.slot_ranges.iter().map(ToString::to_string);
                    let slots = slots.collect::<Vec<_>>().join(" ");
                    writeln!(lines, "{} {place} {MASTER} - {slots}", node.id)
                }
                false => writeln!(lines, "{} {place} {SLAVE} {}", node.id, master.id),
            };
        }
    }
    Ok(lines)
}

/// From `CLUSTER NODES`. A node in the middle of a migration writes what cannot be read here.
pub fn parse(text: &str) -> Result<Cluster, Failure> {
    let mut cluster = Cluster::default();
    let mut slaves: BTreeMap<&str, Vec<Node>> = BTreeMap::new();
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() {
        return Err(Failure::internal("cluster nodes string error"));
    }
    for line in text.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let wrong = |what: &str| Failure::internal(format!("{what}, node info[{line:?}]"));
        let [id, place, flags, master, _, _, version, ..] = fields[..] else {
            return Err(wrong("require at least 7 fields"));
        };
        let addr = place.split('@').next().unwrap_or(place);
        let node = |role: &str| Node {
            addr: addr.to_owned(),
            id: id.to_owned(),
            role: role.to_owned(),
            ..Node::default()
        };
        cluster.version = version.parse().map_err(|_| wrong("node version error"))?;
        if flags.split(',').any(|flag| flag == MASTER) {
            let slots = fields.iter().skip(8).map(|slots| slots.parse());
            let slot_ranges = slots.collect::<Result<_, _>>().map_err(|error| {
                Failure::internal(format!("parse slots error for node[{line}]: {error}"))
            })?;
            cluster.shards.push(Shard {
                nodes: vec![node(MASTER)],
                slot_ranges,
                ..Shard::default()
            });
        } else if flags.split(',').any(|flag| flag == SLAVE) {
            slaves.entry(master).or_default().push(node(SLAVE));
        } else {
            return Err(wrong("node role error"));
        }
    }
    // Shards without slots come last.
    cluster.shards.sort_by_key(|shard| shard.slot_ranges.first().map_or(u16::MAX, |one| one.start));
    for shard in &mut cluster.shards {
        let own = slaves.remove(shard.nodes[0].id.as_str());
        shard.nodes.extend(own.into_iter().flatten());
    }
    Ok(cluster)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = "\
2222 10.0.0.42:6666@16666 master - 1795959000000 1795959000000 2 connected 8192-16383\n\
1111 10.0.0.41:6666@16666 myself,master - 1795959000000 1795959000000 2 connected 0-8000 8002-8191\n\
3333 10.0.0.43:6666@16666 slave 1111 1795959000000 1795959000000 2 connected\n";

    #[test]
    fn what_a_node_tells_becomes_what_nodes_are_told() {
        let cluster = parse(TOLD).expect("sound");
        assert_eq!(cluster.version, 2);
        assert_eq!(
            lines(&cluster).expect("masters"),
            "1111 10.0.0.41 6666 master - 0-8000 8002-8191\n\
             3333 10.0.0.43 6666 slave 1111\n\
             2222 10.0.0.42 6666 master - 8192-16383\n"
        );
    }

    #[test]
    fn a_shard_needs_a_master_and_may_have_no_slots() {
        let mut cluster = parse(TOLD).expect("sound");
        cluster.shards[1].slot_ranges.clear();
        assert!(lines(&cluster).expect("masters").ends_with("2222 10.0.0.42 6666 master - \n"));
        cluster.shards[1].nodes[0].role = SLAVE.to_owned();
        let error = lines(&cluster).expect_err("no master").to_string();
        assert_eq!(error, "found err at shard[1]: missing master node");
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for (text, why) in [
            ("", "cluster nodes string error"),
            ("a b c", "at least 7 fields"),
            ("1 10.0.0.1:6666 master - 0 0 x connected", "node version error"),
            ("1 10.0.0.1:6666 arbiter - 0 0 1 connected", "node role error"),
            ("1 10.0.0.1:6666 master - 0 0 1 connected 0-10 [5->-2]", "parse slots error"),
        ] {
            let error = parse(text).expect_err(text).message;
            assert!(error.contains(why), "{error}");
        }
    }
}
