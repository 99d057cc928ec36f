//! `APPLYBATCH`: records of a migration by raw keys and values. It looks at no slot.

use bytes::Bytes;

use crate::reference::host::Host;
use crate::reference::kvrocks::dispatch::error;
use crate::reference::kvrocks::node::Node;
use crate::reference::kvrocks::peer::Peer;
use crate::reference::kvrocks::store::Record;
use crate::resp::Value;

pub fn applybatch<H: Host>(node: &Node<H>, peer: &Peer, words: &[Bytes]) -> Value {
    if !node.cluster.borrow().is_filler(peer.id) {
        return error("ERR no import is under way on this connection");
    }
    let mut rest: &[u8] = &words[1];
    let mut records = Vec::new();
    while !rest.is_empty() {
        match Record::decode(&mut rest) {
            Ok(record) => records.push(record),
            Err(wrong) => return error(format!("ERR Invalid argument: {wrong}")),
        }
    }
    match node.commit(records) {
        Ok(()) => Value::Int(words[1].len() as i64),
        Err(refusal) => error(refusal),
    }
}
