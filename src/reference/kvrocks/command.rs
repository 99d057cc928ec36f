//! The commands that are not on keys: on connections, on the server, on the cluster.

mod applybatch;
mod client;
mod cluster;
mod clusterx;
mod config;
mod debug;
mod hello;
mod info;
mod role;
mod table;
mod told;
mod transaction;

use std::rc::Rc;

use bytes::Bytes;

use super::dispatch::Reaction;
use super::node::Node;
use super::peer::Peer;
use super::replication::FeedRequest;
use crate::reference::host::Host;
use crate::resp::Value;

#[cfg(test)]
pub use table::own_names;
pub use table::{Own, lookup};

use table::Name;

/// Runs one. There are as many words as it takes.
pub fn run<H: Host>(node: &Rc<Node<H>>, peer: &mut Peer, own: &Own, words: &[Bytes]) -> Reaction {
    let reply = match own.run {
        Name::Asking => {
            peer.asks = true;
            Value::ok()
        }
        Name::Readonly => {
            peer.is_reader = true;
            Value::ok()
        }
        Name::Readwrite => {
            peer.is_reader = false;
            Value::ok()
        }
        Name::Select => Value::ok(),
        Name::Quit => return Reaction::Close(Value::ok()),
        Name::Auth => Value::Error("ERR Client sent AUTH, but no password is set".to_owned()),
        Name::Slaveof => Value::Error("ERR can't change to slave in cluster mode".to_owned()),
        Name::Time => told_time(node.host.wall_ms()),
        Name::Multi => transaction::multi(peer),
        Name::Exec => transaction::exec(node, peer),
        Name::Discard => transaction::discard(peer),
        Name::Watch => transaction::watch(node, peer, &words[1..]),
        Name::Unwatch => transaction::unwatch(peer),
        Name::Client => return client::client(node, peer, words),
        Name::Hello => hello::hello(node, peer, words),
        Name::Info => Value::bulk(info::info(node, words.get(1))),
        Name::Role => role::role(node),
        Name::Config => config::config(node, words),
        Name::Command => told::command(words),
        Name::Debug => return debug::debug(node, words),
        Name::Cluster => cluster::cluster(node, peer, words),
        Name::Clusterx => return clusterx::clusterx(node, peer, words),
        Name::Applybatch => applybatch::applybatch(node, peer, words),
        Name::Replconf => {
            if words[1].eq_ignore_ascii_case(b"listening-port") {
                peer.listens = number(&words[2]);
            }
            Value::ok()
        }
        Name::Psync => match FeedRequest::read(&words[1..]) {
            Ok(request) => return Reaction::Feed(request),
            Err(error) => Value::Error(error),
        },
    };
    Reaction::Reply(reply)
}

fn told_time(now_ms: i64) -> Value {
    let (seconds, ms) = (now_ms.div_euclid(1000), now_ms.rem_euclid(1000));
    let words = [seconds.to_string(), (ms * 1000).to_string()];
    Value::Array(words.map(Value::bulk).to_vec())
}

/// A word as text, in lower case.
fn lower(word: &Bytes) -> String {
    String::from_utf8_lossy(word).to_ascii_lowercase()
}

fn number<T: std::str::FromStr>(word: &Bytes) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}
