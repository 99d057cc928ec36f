//! A request's way through the node: which command it is, who may ask for it now, what comes of it.
//!
//! The order of the checks is the real one's; it can be seen from outside.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use bytes::Bytes;

use super::cluster::Asker;
use super::command::{self, Own};
use super::connection::LONGEST_REQUEST;
use super::node::Node;
use super::peer::Peer;
use super::replication::FeedRequest;
use super::store::{Command, lookup, unknown_command};
use crate::reference::host::Host;
use crate::resp::Value;

/// What comes of a request.
pub enum Reaction {
    Reply(Value),
    /// The reply takes its time; the connection waits for it.
    Later(Pin<Box<dyn Future<Output = Value>>>),
    /// The connection becomes a stream of records.
    Feed(FeedRequest),
    /// The last reply.
    Close(Value),
}

impl Reaction {
    pub fn error(text: impl Into<String>) -> Reaction {
        Reaction::Reply(error(text))
    }
}

pub fn error(text: impl Into<String>) -> Value {
    Value::Error(text.into())
}

/// A command that somebody knows.
#[derive(Clone, Copy)]
enum Known {
    OnKeys(&'static Command),
    Own(&'static Own),
}

impl Known {
    fn of(name: &[u8]) -> Option<Known> {
        lookup(name).map(Known::OnKeys).or_else(|| command::lookup(name).map(Known::Own))
    }

    fn takes(self, words: usize) -> bool {
        match self {
            Known::OnKeys(command) => command.takes(words),
            Known::Own(own) => own.takes(words),
        }
    }

    fn keys(self, words: &[Bytes]) -> Vec<&Bytes> {
        match self {
            Known::OnKeys(command) => command.keys(words),
            Known::Own(own) if own.has_keys => words[1..].iter().collect(),
            Known::Own(_) => Vec::new(),
        }
    }

    fn writes(self) -> bool {
        match self {
            Known::OnKeys(command) => command.write,
            Known::Own(own) => own.writes,
        }
    }
}

/// Does what a request asks for. There is at least one word.
pub fn react<H: Host>(node: &Rc<Node<H>>, peer: &mut Peer, words: Vec<Bytes>) -> Reaction {
    let known = match recognize(&words, peer) {
        Ok(known) => known,
        Err(refusal) => {
            peer.break_queue();
            return Reaction::Reply(refusal);
        }
    };
    node.clients.with(peer.id, |client| {
        client.last_command = String::from_utf8_lossy(&words[0]).to_ascii_lowercase();
    });
    if let Err(refusal) = admit(node, peer, known, &words) {
        peer.break_queue();
        return Reaction::error(refusal);
    }
    peer.asks = false;
    let queues = !matches!(known, Known::Own(own) if own.bypasses_queue);
    if let Some(queue) = peer.queue.as_mut().filter(|_| queues) {
        queue.bytes += words.iter().map(Bytes::len).sum::<usize>();
        if queue.bytes > LONGEST_REQUEST {
            queue.is_broken = true;
            queue.commands.clear();
            return Reaction::error("ERR the transaction is too large: at most 64 MiB");
        }
        queue.commands.push(words);
        return Reaction::Reply(Value::Simple("QUEUED".to_owned()));
    }
    if let Err(refusal) = may_run(node, known) {
        return Reaction::error(refusal);
    }
    match known {
        Known::OnKeys(command) => Reaction::Reply(run_on_keys(node, command, &words)),
        Known::Own(own) => command::run(node, peer, own, &words),
    }
}

/// Which command it is, if it may be asked for like this.
fn recognize(words: &[Bytes], peer: &Peer) -> Result<Known, Value> {
    let known = Known::of(&words[0]).ok_or_else(|| unknown_command(words))?;
    if !known.takes(words.len()) {
        return Err(error("ERR wrong number of arguments"));
    }
    match known {
        Known::Own(own) if peer.queue.is_some() && !own.may_be_queued && !own.bypasses_queue => {
            let name = own.name.to_ascii_uppercase();
            Err(error(format!("ERR {name} inside MULTI is not allowed")))
        }
        _ => Ok(known),
    }
}

/// Whether this node is the right one for these keys.
fn admit<H: Host>(
    node: &Node<H>,
    peer: &Peer,
    known: Known,
    words: &[Bytes],
) -> Result<(), String> {
    if !node.config(|config| config.is_cluster) {
        return Ok(());
    }
    let cluster = node.cluster.borrow();
    let asker = Asker {
        writes: known.writes(),
        is_reader: peer.is_reader,
        asks: peer.asks,
        is_importing: peer.is_importing && cluster.is_filler(peer.id),
    };
    cluster.admit(&known.keys(words), asker, node.lease())
}

/// What a slave must not do, whoever asks.
fn may_run<H: Host>(node: &Node<H>, known: Known) -> Result<(), String> {
    if !node.is_slave() {
        return Ok(());
    }
    if known.writes() {
        return Err("READONLY You can't write against a read only slave.".to_owned());
    }
    let is_stale = !node.config(|config| config.serves_stale_data) && !node.replication.is_linked();
    let always =
        matches!(known, Known::Own(own) if ["info", "config", "slaveof"].contains(&own.name));
    match is_stale && !always {
        true => {
            Err("MASTERDOWN Link with MASTER is down and slave-serve-stale-data is set to 'no'."
                .to_owned())
        }
        false => Ok(()),
    }
}

fn run_on_keys<H: Host>(node: &Node<H>, command: &Command, words: &[Bytes]) -> Value {
    let executed = node.store.borrow().execute(words, node.host.wall_ms());
    if let Err(refusal) = node.commit(executed.effects) {
        return error(refusal);
    }
    touch(node, command, words, &executed.reply);
    executed.reply
}

/// Those that watch a key learn of a write that named it, also if it changed nothing.
fn touch<H: Host>(node: &Node<H>, command: &Command, words: &[Bytes], reply: &Value) {
    if command.write && !matches!(reply, Value::Error(_)) {
        let mut store = node.store.borrow_mut();
        command.keys(words).iter().for_each(|key| store.touch(key));
    }
}

/// Does the commands of a transaction as one; the replies, or why none of it was done.
pub fn run_queue<H: Host>(
    node: &Rc<Node<H>>,
    peer: &mut Peer,
    commands: &[Vec<Bytes>],
) -> Result<Vec<Value>, String> {
    let mut replies = Vec::with_capacity(commands.len());
    let mut touched: Vec<(&Command, usize)> = Vec::new();
    let mut store = node.store.borrow_mut();
    let mut transaction = store.transaction(node.host.wall_ms());
    for (index, words) in commands.iter().enumerate() {
        let known = recognize(words, peer);
        let may = known.and_then(|known| {
            let may = admit(node, peer, known, words).and_then(|()| may_run(node, known));
            may.map(|()| known).map_err(error)
        });
        replies.push(match may {
            Err(refusal) => refusal,
            Ok(Known::OnKeys(command)) => {
                touched.push((command, index));
                transaction.execute(words)
            }
            Ok(Known::Own(own)) => match command::run(node, peer, own, words) {
                Reaction::Reply(reply) | Reaction::Close(reply) => reply,
                Reaction::Later(_) | Reaction::Feed(_) => {
                    error(format!("ERR {} inside MULTI is not allowed", own.name))
                }
            },
        });
    }
    let records = transaction.finish();
    drop(store);
    node.commit(records)?;
    for (command, index) in touched {
        touch(node, command, &commands[index], &replies[index]);
    }
    Ok(replies)
}
