//! `HELLO`: this node speaks RESP2, whatever it is asked for.

use bytes::Bytes;

use super::{lower, number};
use crate::reference::host::Host;
use crate::reference::kvrocks::dispatch::error;
use crate::reference::kvrocks::node::Node;
use crate::reference::kvrocks::peer::Peer;
use crate::resp::Value;

/// The version of Redis that the real one claims to be.
pub const REDIS_VERSION: &str = "4.0.0";

pub fn hello<H: Host>(node: &Node<H>, peer: &mut Peer, words: &[Bytes]) -> Value {
    let options = match &words[1..] {
        [] => &[][..],
        [version, options @ ..] => match number::<i64>(version) {
            Some(2 | 3) => options,
            Some(_) => return error("NOPROTO unsupported protocol version"),
            None => return error("ERR Protocol version is not an integer or out of range"),
        },
    };
    match options {
        [] => {}
        [option, name] if lower(option) == "setname" => {
            peer.name = Some(name.clone()).filter(|name| !name.is_empty());
            node.clients.with(peer.id, |client| client.name = peer.name.clone());
        }
        [option, ..] => {
            let option = String::from_utf8_lossy(option);
            return error(format!("ERR Syntax error in HELLO option {option}"));
        }
    }
    let mode = if node.config(|config| config.is_cluster) { "cluster" } else { "standalone" };
    let role = if node.is_slave() { "slave" } else { "master" };
    let mut parts = Vec::new();
    let mut put = |key: &'static str, value: Value| parts.extend([Value::bulk(key), value]);
    put("server", Value::bulk("redis"));
    put("version", Value::bulk(REDIS_VERSION));
    put("proto", Value::Int(2));
    put("mode", Value::bulk(mode));
    put("role", Value::bulk(role));
    put("modules", Value::NullArray);
    Value::Array(parts)
}
