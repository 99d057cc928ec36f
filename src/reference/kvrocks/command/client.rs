//! `CLIENT`: who is connected.

use std::net::SocketAddrV4;

use bytes::Bytes;

use super::lower;
use crate::reference::host::Host;
use crate::reference::kvrocks::connection::end;
use crate::reference::kvrocks::dispatch::Reaction;
use crate::reference::kvrocks::node::Node;
use crate::reference::kvrocks::peer::Peer;
use crate::resp::Value;

const SYNTAX: &str = "ERR Syntax error, try CLIENT LIST|INFO|KILL ip:port|GETNAME|SETNAME";

pub fn client<H: Host>(node: &Node<H>, peer: &mut Peer, words: &[Bytes]) -> Reaction {
    let reply = match (lower(&words[1]).as_str(), &words[2..]) {
        ("id", []) => Value::Int(peer.id as i64),
        ("getname", []) => peer.name.clone().map_or(Value::Null, Value::Bulk),
        ("setname", [name]) => {
            peer.name = Some(name.clone()).filter(|name| !name.is_empty());
            node.clients.with(peer.id, |client| client.name = peer.name.clone());
            Value::ok()
        }
        ("list", []) => Value::bulk(node.clients.told(None)),
        ("info", []) => Value::bulk(node.clients.told(Some(peer.id))),
        ("kill", [address]) => {
            let address: Option<SocketAddrV4> = super::number(address);
            match address.and_then(|address| node.clients.find(address)) {
                Some(id) if id == peer.id => return Reaction::Close(Value::ok()),
                Some(id) => {
                    end(node, id);
                    Value::ok()
                }
                None => Value::Error("ERR No such client".to_owned()),
            }
        }
        _ => Value::Error(SYNTAX.to_owned()),
    };
    Reaction::Reply(reply)
}
