//! One connection: requests in, replies out, in order.

use std::net::SocketAddrV4;
use std::rc::Rc;

use bytes::Bytes;
use futures::io::{AsyncReadExt, AsyncWriteExt};

use super::node::Node;
use crate::reference::host::Host;
use crate::resp::{Decoder, Value};

/// A request may be so long as a whole.
const LONGEST_REQUEST: usize = 64 << 20;

/// So many bytes of replies wait at most before they are sent and no further request is read.
const MOST_UNSENT: usize = 64 << 10;

/// Talks until the peer goes or sends what is no RESP.
pub async fn talk<H: Host>(node: Rc<Node<H>>, mut stream: H::Stream, _peer: SocketAddrV4) {
    let mut decoder = Decoder::default();
    let mut unsent = Vec::new();
    let mut piece = vec![0; 16 << 10];
    loop {
        let Ok(length @ 1..) = stream.read(&mut piece).await else { return };
        decoder.feed(&piece[..length]);
        loop {
            let words = match decoder.next_command() {
                Ok(Some(words)) => words,
                Ok(None) if decoder.pending() <= LONGEST_REQUEST => break,
                Ok(None) => {
                    let error = "ERR Protocol error: a request of at most 67108864 bytes";
                    return refuse(&mut stream, unsent, error).await;
                }
                Err(error) => {
                    return refuse(&mut stream, unsent, &format!("ERR {error}")).await;
                }
            };
            if !words.is_empty() {
                answer(&node, &words).encode(&mut unsent);
            }
            if unsent.len() > MOST_UNSENT && send(&mut stream, &mut unsent).await.is_err() {
                return;
            }
        }
        if send(&mut stream, &mut unsent).await.is_err() {
            return;
        }
    }
}

async fn send(
    stream: &mut (impl futures::io::AsyncWrite + Unpin),
    unsent: &mut Vec<u8>,
) -> std::io::Result<()> {
    stream.write_all(unsent).await?;
    unsent.clear();
    stream.flush().await
}

async fn refuse(
    stream: &mut (impl futures::io::AsyncWrite + Unpin),
    mut unsent: Vec<u8>,
    error: &str,
) {
    Value::Error(error.to_owned()).encode(&mut unsent);
    // The peer may be gone already; there is nobody else to tell.
    if send(stream, &mut unsent).await.is_ok() {
        let _ = stream.close().await;
    }
}

fn answer<H: Host>(node: &Node<H>, words: &[Bytes]) -> Value {
    let name = String::from_utf8_lossy(&words[0]).to_ascii_uppercase();
    match (name.as_str(), &words[1..]) {
        ("PING", []) => Value::Simple("PONG".into()),
        ("PING", [text]) => Value::bulk(text.clone()),
        ("GET", [key]) => node.values.borrow().get(key).cloned().map_or(Value::Null, Value::Bulk),
        ("SET", [key, value]) => {
            node.values.borrow_mut().insert(key.clone(), value.clone());
            Value::ok()
        }
        _ => Value::Error(format!("ERR unknown command `{name}`")),
    }
}
