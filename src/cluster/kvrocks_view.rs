//! What a kvrocks node says of itself, asked over any connection: `CLUSTER INFO`, `CLUSTER NODES` and
//! `INFO replication`, put together as one node's view.

use std::io;

use futures::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::cluster::{NodeState, NodeView, Role};
use crate::resp::{Decoder, Value, encode_command};

const READ_BYTES: usize = 4096;

/// Asks a node for all of it at once. Whoever calls bounds the time.
///
/// A node that answers serves; a replica that has lost its master, and a node that still loads its data,
/// just runs.
pub async fn ask_kvrocks<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
) -> io::Result<NodeView> {
    let mut request = Vec::new();
    encode_command(&["CLUSTER", "INFO"], &mut request);
    encode_command(&["CLUSTER", "NODES"], &mut request);
    encode_command(&["INFO", "replication"], &mut request);
    stream.write_all(&request).await?;
    stream.flush().await?;
    let (mut decoder, mut buffer) = (Decoder::default(), [0; READ_BYTES]);
    let mut replies = Vec::new();
    while replies.len() < 3 {
        match decoder.next_value().map_err(io::Error::other)? {
            Some(reply) => replies.push(reply),
            None => match stream.read(&mut buffer).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                length => decoder.feed(&buffer[..length]),
            },
        }
    }
    Ok(kvrocks_view(&replies[0], &replies[1], &replies[2]))
}

/// What the three replies mean together.
pub fn kvrocks_view(info: &Value, nodes: &Value, replication: &Value) -> NodeView {
    let running = |detail: String| NodeView::new(Role::Kvrocks, NodeState::Running, detail);
    let replication = match text(replication) {
        Ok(replication) => replication,
        Err(error) => return running(error),
    };
    let (info, nodes) = match (text(info), text(nodes)) {
        (Ok(info), Ok(nodes)) => (info, nodes),
        (Err(error), _) | (_, Err(error)) if error.starts_with("CLUSTERDOWN") => {
            return NodeView::new(Role::Kvrocks, NodeState::Serving, "no topology");
        }
        (Err(error), _) | (_, Err(error)) => return running(error),
    };
    let leads = field(&replication, "role") == Some("master");
    let epoch = field(&info, "cluster_current_epoch").and_then(|epoch| epoch.parse().ok());
    let slots = own_slots(&nodes);
    let link = field(&replication, "master_link_status");
    let detail = detail(&info, &replication, slots.as_deref());
    let state = match leads || link == Some("up") {
        true => NodeState::Serving,
        false => NodeState::Running,
    };
    NodeView { leads, epoch, slots, ..NodeView::new(Role::Kvrocks, state, detail) }
}

/// `master, version 3, slots 0-8191, migrating 5000: start`
fn detail(info: &str, replication: &str, slots: Option<&str>) -> String {
    let mut words = Vec::new();
    match field(replication, "role") {
        Some("slave") => {
            let of = field(replication, "master_host").unwrap_or("nobody");
            let link = field(replication, "master_link_status").unwrap_or("unknown");
            words.push(format!("replica of {of}, link {link}"));
        }
        role => words.push(role.unwrap_or("no role").to_owned()),
    }
    if let Some(version) = field(info, "cluster_current_epoch") {
        words.push(format!("version {version}"));
    }
    if let Some(slots) = slots {
        words.push(format!("slots {slots}"));
    }
    for (verb, slots, state) in [
        ("migrating", "migrating_slot(s)", "migrating_state"),
        ("importing", "importing_slot(s)", "import_state"),
    ] {
        if let (Some(slots), Some(state)) = (field(info, slots), field(info, state)) {
            words.push(format!("{verb} {slots}: {state}"));
        }
    }
    words.join(", ")
}

/// The text of a reply, or what stands there in its place.
fn text(reply: &Value) -> Result<String, String> {
    match reply {
        Value::Bulk(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        Value::Simple(text) => Ok(text.clone()),
        Value::Error(error) => Err(error.clone()),
        other => Err(format!("expected a text, found {other:?}")),
    }
}

/// A line `name:value` of an `INFO`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    let mut values = fields.filter(|(key, _)| *key == name).map(|(_, value)| value.trim());
    values.next()
}

/// Slots in the line of `CLUSTER NODES` that is the node's own; `None` where there are none. What is
/// under way from or to it stands there in brackets and is not meant.
fn own_slots(nodes: &str) -> Option<String> {
    let myself = |line: &&str| {
        line.split(' ').nth(2).is_some_and(|flags| flags.split(',').any(|flag| flag == "myself"))
    };
    let line = nodes.lines().find(myself)?;
    let ranges = line.split_ascii_whitespace().skip(8).filter(|range| !range.starts_with('['));
    let ranges = ranges.collect::<Vec<_>>().join(",");
    (!ranges.is_empty()).then_some(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: &str = "cluster_state:ok\r\ncluster_known_nodes:3\r\ncluster_size:2\r\n\
        cluster_current_epoch:2\r\ncluster_my_epoch:2\r\n";
    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    fn view(info: &str, nodes: &str, replication: &str) -> NodeView {
        let value = |text: &str| match text.strip_prefix('-') {
            Some(error) => Value::Error(error.to_owned()),
            None => Value::bulk(text.to_owned()),
        };
        kvrocks_view(&value(info), &value(nodes), &value(replication))
    }

    #[test]
    fn a_master_tells_its_slots_and_what_it_migrates() {
        let info = format!(
            "{INFO}migrating_slot(s): 5000\r\ndestination_node: {TWO}\r\nmigrating_state: start\r\n"
        );
        let nodes = format!(
            "{TWO} 10.0.0.42:6666@16666 master - 1 2 2 connected 8192-16383\n\
             {ONE} 10.0.0.41:6666@16666 myself,master - 1 2 2 connected 0-100 130 [5000->-{TWO}]\n"
        );
        let seen = view(&info, &nodes, "# Replication\r\nrole:master\r\nconnected_slaves:1\r\n");
        assert_eq!((seen.state, seen.leads, seen.epoch), (NodeState::Serving, true, Some(2)));
        assert_eq!(seen.slots.as_deref(), Some("0-100,130"));
        assert_eq!(seen.detail, "master, version 2, slots 0-100,130, migrating 5000: start");
    }

    #[test]
    fn a_replica_serves_while_its_master_is_there() {
        let nodes = format!("{TWO} 10.0.0.43:6666@16666 myself,slave {ONE} 1 2 2 connected\n");
        for (link, state) in [("up", NodeState::Serving), ("down", NodeState::Running)] {
            let replication = format!(
                "role:slave\r\nmaster_host:10.0.0.41\r\nmaster_port:6666\r\n\
                 master_link_status:{link}\r\n"
            );
            let seen = view(INFO, &nodes, &replication);
            assert_eq!((seen.state, seen.leads, seen.slots), (state, false, None));
            assert_eq!(seen.detail, format!("replica of 10.0.0.41, link {link}, version 2"));
        }
    }

    #[test]
    fn without_topology_it_serves_and_leads_nothing() {
        let down = "-CLUSTERDOWN The cluster is not initialized";
        let seen = view(down, down, "role:master\r\n");
        assert_eq!(seen, NodeView::new(Role::Kvrocks, NodeState::Serving, "no topology"));
        let loading = "-LOADING kvrocks is restoring the db from backup";
        assert_eq!(view(loading, loading, loading).state, NodeState::Running);
        assert_eq!(view("", "", "").detail, "no role");
    }

    #[test]
    fn a_connection_that_ends_early_is_an_error() {
        let mut half = io::Cursor::new(b"$-1\r\n".to_vec());
        let mut stream = futures::io::AllowStdIo::new(&mut half);
        assert!(futures::executor::block_on(ask_kvrocks(&mut stream)).is_err());
    }
}
