//! `MULTI`, `EXEC`, `DISCARD`, `WATCH`, `UNWATCH`.

use std::rc::Rc;

use bytes::Bytes;

use crate::reference::host::Host;
use crate::reference::kvrocks::dispatch::{error, run_queue};
use crate::reference::kvrocks::node::Node;
use crate::reference::kvrocks::peer::{Peer, Queue};
use crate::reference::kvrocks::store::Watch;
use crate::resp::Value;

pub fn multi(peer: &mut Peer) -> Value {
    if peer.queue.is_some() {
        return error("ERR MULTI calls can not be nested");
    }
    peer.queue = Some(Queue::default());
    Value::ok()
}

pub fn discard(peer: &mut Peer) -> Value {
    match peer.queue.take() {
        None => error("ERR DISCARD without MULTI"),
        Some(_) => {
            peer.watches.clear();
            Value::ok()
        }
    }
}

pub fn exec<H: Host>(node: &Rc<Node<H>>, peer: &mut Peer) -> Value {
    let Some(queue) = peer.queue.take() else { return error("ERR EXEC without MULTI") };
    let watches = std::mem::take(&mut peer.watches);
    if queue.is_broken {
        return error("EXECABORT Transaction discarded");
    }
    if watches.iter().any(Watch::is_touched) {
        return Value::Null;
    }
    run_queue(node, peer, &queue.commands).map_or_else(error, Value::Array)
}

pub fn watch<H: Host>(node: &Node<H>, peer: &mut Peer, keys: &[Bytes]) -> Value {
    let mut store = node.store.borrow_mut();
    peer.watches.extend(keys.iter().map(|key| store.watch(key)));
    Value::ok()
}

pub fn unwatch(peer: &mut Peer) -> Value {
    peer.watches.clear();
    Value::ok()
}
