//! A master's side: a connection that said PSYNC is fed with all records from its place on.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::select;
use futures::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{Replica, frame};
use crate::reference::host::{Host, within};
use crate::reference::kvrocks::connection::next;
use crate::reference::kvrocks::log::Unreadable;
use crate::reference::kvrocks::node::{Level, Node};
use crate::reference::kvrocks::peer::Peer;
use crate::reference::kvrocks::store::Record;
use crate::resp::{Decoder, Value};

/// So often a slave hears of its master at least.
const PING_EACH: Duration = Duration::from_secs(1);

/// So many bytes are put together before they are sent.
const MOST_UNSENT: usize = 256 << 10;

/// Where a slave wants to go on: it has the records of this term up to this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedRequest {
    term: String,
    sequence: u64,
}

impl FeedRequest {
    /// Reads what stands behind PSYNC.
    pub fn read(words: &[Bytes]) -> Result<FeedRequest, String> {
        let [term, sequence] = words else {
            return Err("ERR wrong number of arguments".to_owned());
        };
        let sequence = std::str::from_utf8(sequence).ok().and_then(|word| word.parse().ok());
        let sequence = sequence.ok_or("ERR value is not an integer or out of range")?;
        Ok(FeedRequest { term: String::from_utf8_lossy(term).into_owned(), sequence })
    }
}

/// Feeds until the connection ends or this node is no master any more.
pub async fn feed<H: Host>(
    node: &Rc<Node<H>>,
    mut stream: H::Stream,
    decoder: Decoder,
    peer: &Peer,
    request: FeedRequest,
) {
    let feeds_end = node.replication.feeds_end.count();
    if node.is_slave() {
        let mut bytes = Vec::new();
        let refusal = "ERR this node is a slave and feeds nobody".to_owned();
        Value::Error(refusal).encode(&mut bytes);
        // Refused, whether they hear it or not.
        let _ = stream.write_all(&bytes).await;
        return;
    }
    let (opening, position) = open(node, &request);
    let replica = Replica {
        address: peer.address,
        port: peer.listens.unwrap_or_else(|| peer.address.port()),
        acknowledged: position.min(request.sequence),
    };
    node.replication.replicas.borrow_mut().insert(peer.id, replica);
    let (read, write) = stream.split();
    let (send, listen) =
        (pin!(send(node, write, opening, position)), pin!(listen(node, read, decoder, peer.id)));
    let ended = pin!(node.replication.feeds_end.after(feeds_end));
    select(select(send, listen), ended).await;
}

/// What is sent first.
struct Opening {
    line: String,
    /// All data, where the slave cannot go on from where it is.
    snapshot: Option<Vec<Record>>,
}

/// What is sent first, and the sequence number that the slave has with it.
fn open<H: Host>(node: &Node<H>, request: &FeedRequest) -> (Opening, u64) {
    node.settle();
    let (log, history) = (node.log.borrow(), node.replication.history.borrow());
    let (last, term) = (log.written(), history.term());
    let FeedRequest { term: theirs, sequence } = request;
    if history.holds(theirs, *sequence, last) && log.read(*sequence, 1).is_ok() {
        node.replication.partial_syncs.set(node.replication.partial_syncs.get() + 1);
        let line = format!("CONTINUE {term} {last}");
        return (Opening { line, snapshot: None }, *sequence);
    }
    node.replication.full_syncs.set(node.replication.full_syncs.get() + 1);
    node.say(&format!("Full resync of a slave with sequence {sequence} of `{theirs}`"));
    let line = format!("FULLRESYNC {term} {last}");
    (Opening { line, snapshot: Some(node.store.borrow().records().collect()) }, last)
}

async fn send<H: Host>(
    node: &Rc<Node<H>>,
    mut stream: impl AsyncWrite + Unpin,
    opening: Opening,
    mut position: u64,
) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    Value::Simple(opening.line).encode(&mut bytes);
    if let Some(records) = opening.snapshot {
        for part in parts(&records) {
            frame::snapshot(part, &mut bytes);
            stream.write_all(&bytes).await?;
            bytes.clear();
        }
        frame::snapshot_end(&mut bytes);
    }
    stream.write_all(&bytes).await?;
    stream.flush().await?;
    loop {
        let seen = node.logged.count();
        let mut bytes = Vec::new();
        if let Err(why) = collect(node, &mut position, &mut bytes) {
            // If its place is gone, it gets all of the data when it comes again.
            node.tell(Level::Warning, &format!("[replication] A slave cannot be fed: {why}"));
            return Ok(());
        }
        if bytes.is_empty() {
            let news = within(&node.host, PING_EACH, node.logged.after(seen)).await;
            if news.is_some() {
                continue;
            }
            frame::ping(&mut bytes);
        }
        stream.write_all(&bytes).await?;
        stream.flush().await?;
    }
}

/// Cuts records into pieces of a few hundred kilobytes, or of one record.
fn parts(mut records: &[Record]) -> impl Iterator<Item = &[Record]> {
    std::iter::from_fn(move || {
        let mut bytes = Vec::new();
        let is_full = |record: &Record| {
            record.encode(&mut bytes);
            bytes.len() >= MOST_UNSENT
        };
        let count = records.iter().position(is_full).map_or(records.len(), |last| last + 1);
        let (part, rest) = records.split_at(count);
        records = rest;
        Some(part).filter(|part| !part.is_empty())
    })
}

fn collect<H: Host>(
    node: &Node<H>,
    position: &mut u64,
    bytes: &mut Vec<u8>,
) -> Result<(), Unreadable> {
    for batch in node.log.borrow().read(*position, MOST_UNSENT)? {
        frame::batch(&batch, bytes);
        *position = batch.last();
    }
    Ok(())
}

/// Hears how far the slave is.
async fn listen<H: Host>(
    node: &Rc<Node<H>>,
    mut stream: impl AsyncRead + Unpin,
    mut decoder: Decoder,
    peer: u64,
) {
    let mut piece = vec![0; 4 << 10];
    loop {
        while let Ok(Some(words)) = next(&mut decoder) {
            let [_, ack, sequence] = &words[..] else { continue };
            let sequence = std::str::from_utf8(sequence).ok().and_then(|word| word.parse().ok());
            if let (true, Some(sequence)) = (ack.eq_ignore_ascii_case(b"ack"), sequence)
                && let Some(replica) = node.replication.replicas.borrow_mut().get_mut(&peer)
            {
                replica.acknowledged = sequence;
            }
        }
        match stream.read(&mut piece).await {
            Ok(length @ 1..) => decoder.feed(&piece[..length]),
            Ok(0) | Err(_) => return,
        }
        if decoder.pending() > 64 << 10 {
            return;
        }
    }
}
