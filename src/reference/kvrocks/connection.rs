//! One connection: requests in, replies out, in order.

use std::io;
use std::net::SocketAddrV4;
use std::rc::Rc;

use bytes::Bytes;
use futures::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::dispatch::{Reaction, react};
use super::node::Node;
use super::peer::Peer;
use super::replication::feed;
use crate::reference::host::Host;
use crate::resp::{Decoder, ProtocolError, Value};

/// A request may be so long as a whole.
pub const LONGEST_REQUEST: usize = 64 << 20;

/// So many bytes of replies wait at most before they are sent and no further request is read.
const MOST_UNSENT: usize = 64 << 10;

/// Takes a new connection, or refuses it where there are too many.
pub fn take<H: Host>(node: &Rc<Node<H>>, mut stream: H::Stream, address: SocketAddrV4) {
    if node.clients.count() >= node.config(|config| config.max_clients as usize) {
        node.host.run(async move {
            let full = Value::Error("ERR max number of clients reached".to_owned());
            let mut bytes = Vec::new();
            full.encode(&mut bytes);
            // Whether they hear it or not, they are not served.
            let _ = stream.write_all(&bytes).await;
        });
        return;
    }
    let id = node.clients.add(address);
    let host = node.host.clone();
    let task = {
        let node = node.clone();
        host.keep_running(async move {
            talk(&node, stream, Peer::new(id, address)).await;
            end(&node, id);
        })
    };
    node.clients.set_task(id, task);
}

/// A connection has ended, or shall end now.
///
/// Nothing does this by being dropped: a process that is killed drops everything and does nothing.
pub fn end<H: Host>(node: &Node<H>, id: u64) {
    let Some(client) = node.clients.remove(id) else { return };
    node.replication.forget(id);
    if client.has_imported {
        node.lose_import(id);
    }
}

/// Talks until the peer goes or sends what is no RESP.
async fn talk<H: Host>(node: &Rc<Node<H>>, mut stream: H::Stream, mut peer: Peer) {
    let mut decoder = Decoder::default();
    let mut unsent = Vec::new();
    let mut piece = vec![0; 16 << 10];
    loop {
        let Ok(length @ 1..) = stream.read(&mut piece).await else { return };
        decoder.feed(&piece[..length]);
        peer.proven = peer.replied;
        loop {
            let words = match next(&mut decoder) {
                Ok(Some(words)) => words,
                Ok(None) => break,
                Err(error) => {
                    Value::Error(format!("ERR {error}")).encode(&mut unsent);
                    // They are told if they still listen; then it is over.
                    let _ = send(&mut stream, &mut unsent).await;
                    return;
                }
            };
            if words.is_empty() {
                continue;
            }
            node.gate.pass().await;
            match react(node, &mut peer, words) {
                Reaction::Reply(value) => value.encode(&mut unsent),
                Reaction::Later(value) => {
                    // What was answered before must not wait for it.
                    if send(&mut stream, &mut unsent).await.is_err() {
                        return;
                    }
                    value.await.encode(&mut unsent);
                }
                Reaction::Feed(request) => {
                    if send(&mut stream, &mut unsent).await.is_ok() {
                        feed(node, stream, decoder, &peer, request).await;
                    }
                    return;
                }
                Reaction::Close(value) => {
                    value.encode(&mut unsent);
                    let _ = send(&mut stream, &mut unsent).await;
                    return;
                }
            }
            if unsent.len() > MOST_UNSENT && send(&mut stream, &mut unsent).await.is_err() {
                return;
            }
        }
        if send(&mut stream, &mut unsent).await.is_err() {
            return;
        }
        peer.replied = Some(node.host.monotonic());
    }
}

/// The next request, if all of it is there.
pub fn next(decoder: &mut Decoder) -> Result<Option<Vec<Bytes>>, ProtocolError> {
    let request = decoder.next_command()?;
    if request.is_none() && decoder.pending() > LONGEST_REQUEST {
        return Err(ProtocolError {
            expected: "a request of at most 64 MiB",
            found: "a longer one".to_owned(),
        });
    }
    Ok(request)
}

async fn send(stream: &mut (impl AsyncWrite + Unpin), unsent: &mut Vec<u8>) -> io::Result<()> {
    if unsent.is_empty() {
        return Ok(());
    }
    stream.write_all(unsent).await?;
    unsent.clear();
    stream.flush().await
}
