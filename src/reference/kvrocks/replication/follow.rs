//! A slave's side: it takes its master's records, and comes back whenever the connection breaks.

use std::net::SocketAddrV4;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::Link;
use super::frame::Frame;
use crate::reference::NodeVariant;
use crate::reference::host::{Host, within};
use crate::reference::kvrocks::connection::next;
use crate::reference::kvrocks::log::Batch;
use crate::reference::kvrocks::node::{Level, Node};
use crate::reference::kvrocks::store::Record;
use crate::resp::{Decoder, Value, encode_command};

const CONNECT_PATIENCE: Duration = Duration::from_millis(3100);

/// A master that was silent for so long is gone; it pings each second.
const PATIENCE: Duration = Duration::from_millis(3200);

const RETRY_AFTER: Duration = Duration::from_millis(500);

/// Follows until it is dropped.
pub async fn follow<H: Host>(node: Rc<Node<H>>, address: String) {
    let mut was_up = false;
    loop {
        let ended = attempt(&node, &address, was_up).await;
        was_up |= node.replication.is_linked();
        node.replication.link.set(Link { heard: node.replication.link().heard, ..Link::default() });
        node.tell(Level::Warning, &format!("[replication] The master {address}: {ended}"));
        node.host.sleep(RETRY_AFTER).await;
    }
}

/// Why the connection to the master ended, or was none.
async fn attempt<H: Host>(node: &Rc<Node<H>>, address: &str, was_up: bool) -> String {
    match connect(node, address, was_up).await {
        Ok(mut slave) => loop {
            if let Err(why) = slave.take_next().await {
                return why;
            }
        },
        Err(why) => why,
    }
}

/// A connection on which the stream has begun.
struct Slave<H: Host> {
    node: Rc<Node<H>>,
    wire: Wire<H>,
    /// What has come of all the data so far, with the term and the last sequence number of it.
    snapshot: Option<(String, u64, Vec<Record>)>,
    /// The variant `replica-gap` misses what was written up to here while it was not connected.
    gap_to: u64,
}

async fn connect<H: Host>(
    node: &Rc<Node<H>>,
    address: &str,
    was_up: bool,
) -> Result<Slave<H>, String> {
    let to: SocketAddrV4 =
        address.parse().map_err(|_| "expected an IPv4 address and a port".to_owned())?;
    let connected = within(&node.host, CONNECT_PATIENCE, node.host.connect(to)).await;
    let stream =
        connected.ok_or("no connection within 3.1 s")?.map_err(|wrong| wrong.to_string())?;
    let mut wire = Wire { node: node.clone(), stream, decoder: Decoder::default() };
    let (term, last) = place(node);
    let port = node.config(|config| config.port.to_string());
    wire.send(&["REPLCONF", "listening-port", &port]).await?;
    wire.send(&["PSYNC", &term, &last.to_string()]).await?;
    wire.reply().await?;
    let opening = wire.reply().await?;
    let words: Vec<&str> = opening.split(' ').collect();
    let (is_full, term, last) = match words[..] {
        ["CONTINUE", term, last] => (false, term, last),
        ["FULLRESYNC", term, last] => (true, term, last),
        _ => return Err(format!("expected CONTINUE or FULLRESYNC, found `{opening}`")),
    };
    let last = last.parse().map_err(|_| format!("expected a sequence number, found `{last}`"))?;
    let mut slave = Slave { node: node.clone(), wire, snapshot: None, gap_to: 0 };
    if is_full {
        node.say(&format!("[replication] Full resync from {address}, to sequence {last}"));
        slave.snapshot = Some((term.to_owned(), last, Vec::new()));
        slave.set_link(false, true);
    } else {
        node.say(&format!("[replication] Goes on from {address}, up to sequence {last}"));
        slave.enter(term)?;
        slave.set_link(true, false);
        if was_up && node.variant() == NodeVariant::ReplicaGap {
            slave.gap_to = last;
        }
    }
    Ok(slave)
}

/// The term whose records this node has, and up to where.
fn place<H: Host>(node: &Node<H>) -> (String, u64) {
    node.settle();
    let term = node.replication.history.borrow().term().to_owned();
    (term, node.log.borrow().sequence())
}

impl<H: Host> Slave<H> {
    fn set_link(&self, is_up: bool, is_syncing: bool) {
        let heard = self.node.host.monotonic();
        self.node.replication.link.set(Link { is_up, is_syncing, heard });
    }

    /// Records of this term follow behind those that are here.
    fn enter(&self, term: &str) -> Result<(), String> {
        let last = self.node.log.borrow().sequence();
        let mut history = self.node.replication.history.borrow_mut();
        history.enter(&self.node.host, term, last).map_err(|wrong| format!("{wrong:#}"))
    }

    /// Takes all frames that are there, and waits for more; then says how far this slave is.
    async fn take_next(&mut self) -> Result<(), String> {
        let is_syncing = self.snapshot.is_some();
        while let Some(words) = self.wire.request().map_err(|wrong| wrong.to_string())? {
            self.take(Frame::read(&words)?)?;
        }
        let is_still = self.snapshot.is_some();
        if !is_still {
            let last = self.node.log.borrow().sequence().to_string();
            self.wire.send(&["REPLCONF", "ACK", &last]).await?;
        }
        if is_syncing && !is_still {
            self.set_link(true, false);
        }
        self.wire.fill().await?;
        let link = self.node.replication.link();
        self.set_link(link.is_up, link.is_syncing);
        Ok(())
    }

    fn take(&mut self, frame: Frame) -> Result<(), String> {
        match (frame, &mut self.snapshot) {
            (Frame::Ping, _) => Ok(()),
            (Frame::Snapshot(records), Some((_, _, all))) => {
                all.extend(records);
                Ok(())
            }
            (Frame::SnapshotEnd, Some(_)) => {
                let Some((term, last, records)) = self.snapshot.take() else { return Ok(()) };
                self.node.restart(&term, last, records)
            }
            (Frame::Batch(batch), None) => self.append(batch),
            (Frame::Batch(_), Some(_)) => Err("a batch came within a snapshot".to_owned()),
            (_, None) => Err("a snapshot came that was not asked for".to_owned()),
        }
    }

    fn append(&self, batch: Batch) -> Result<(), String> {
        if batch.first <= self.gap_to {
            return Ok(());
        }
        let expected = self.node.log.borrow().sequence() + 1;
        let may_miss_some = self.node.variant() == NodeVariant::ReplicaGap;
        if batch.first != expected && !may_miss_some {
            return Err(format!("expected sequence {expected}, found {}", batch.first));
        }
        self.node.replicate(batch)
    }
}

/// Bytes from and to the master.
struct Wire<H: Host> {
    node: Rc<Node<H>>,
    stream: H::Stream,
    decoder: Decoder,
}

impl<H: Host> Wire<H> {
    async fn send(&mut self, words: &[&str]) -> Result<(), String> {
        let mut bytes = Vec::new();
        encode_command(words, &mut bytes);
        write(&self.node, &mut self.stream, &bytes).await
    }

    /// A line that is no error.
    async fn reply(&mut self) -> Result<String, String> {
        loop {
            match self.decoder.next_value().map_err(|wrong| wrong.to_string())? {
                Some(Value::Simple(line)) => return Ok(line),
                Some(Value::Error(refusal)) => return Err(refusal),
                Some(_) => return Err("expected a line".to_owned()),
                None => self.fill().await?,
            }
        }
    }

    fn request(&mut self) -> Result<Option<Vec<Bytes>>, crate::resp::ProtocolError> {
        next(&mut self.decoder)
    }

    async fn fill(&mut self) -> Result<(), String> {
        let piece = read(&self.node, &mut self.stream).await?;
        self.decoder.feed(&piece);
        Ok(())
    }
}

async fn write<H: Host>(
    node: &Node<H>,
    stream: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
) -> Result<(), String> {
    let sent = async {
        stream.write_all(bytes).await?;
        stream.flush().await
    };
    let sent = within(&node.host, PATIENCE, sent).await;
    sent.ok_or("it takes nothing")?.map_err(|wrong: std::io::Error| wrong.to_string())
}

async fn read<H: Host>(
    node: &Node<H>,
    stream: &mut (impl AsyncRead + Unpin),
) -> Result<Vec<u8>, String> {
    let mut piece = vec![0; 64 << 10];
    let read = within(&node.host, PATIENCE, stream.read(&mut piece)).await;
    match read.ok_or("it was silent for 3.2 s")?.map_err(|wrong| wrong.to_string())? {
        0 => Err("it has ended the connection".to_owned()),
        length => {
            piece.truncate(length);
            Ok(piece)
        }
    }
}
