//! One connection to one RESP server: requests out, as many replies in, within a bounded time.
//!
//! Nothing is sent twice, and what became of a request is told as it is known.

use std::future::Future;
use std::io;
use std::time::Duration;

use futures::FutureExt;
use futures::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use crate::resp::{Decoder, Value, encode_command};

/// A request: a command and its arguments.
pub type Request = Vec<String>;

/// Replies to one exchange may be so long together.
const LONGEST_REPLY: usize = 64 << 20;

const READ_BYTES: usize = 16 << 10;

/// Why not all replies came.
#[derive(Clone, Debug, PartialEq)]
pub enum Trouble {
    /// Not one byte was sent.
    NotSent { why: String },
    /// The server may have performed the requests. These replies came before it ended.
    Sent { why: String, replies: Vec<Value> },
}

/// An open connection. After a [`Trouble`] it must not be used again.
pub struct Connection<S> {
    stream: S,
    decoder: Decoder,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Waits for a connection that is being opened.
    pub async fn open(
        opening: impl Future<Output = io::Result<S>>,
        limit: Duration,
    ) -> Result<Connection<S>, Trouble> {
        let why = match timeout(limit, opening).await {
            Ok(Ok(stream)) => return Ok(Connection { stream, decoder: Decoder::default() }),
            Ok(Err(error)) => format!("no connection: {error}"),
            Err(_) => format!("no connection in {limit:?}"),
        };
        Err(Trouble::NotSent { why })
    }

    /// The server has neither gone nor said anything unasked, as far as that has arrived here.
    pub fn is_quiet(&mut self) -> bool {
        let mut byte = [0];
        self.decoder.pending() == 0 && self.stream.read(&mut byte).now_or_never().is_none()
    }

    /// Sends all requests at once and waits for a reply to each.
    pub async fn ask(
        &mut self,
        requests: &[Request],
        limit: Duration,
    ) -> Result<Vec<Value>, Trouble> {
        let mut bytes = Vec::new();
        requests.iter().for_each(|words| encode_command(words, &mut bytes));
        let mut replies = Vec::with_capacity(requests.len());
        let exchange = self.exchange(&bytes, requests.len(), &mut replies);
        let why = match timeout(limit, exchange).await {
            Ok(Ok(())) => return Ok(replies),
            Ok(Err(why)) => why,
            Err(_) => format!("no answer in {limit:?}"),
        };
        Err(Trouble::Sent { why, replies })
    }

    async fn exchange(
        &mut self,
        bytes: &[u8],
        count: usize,
        replies: &mut Vec<Value>,
    ) -> Result<(), String> {
        let broken = |error: io::Error| format!("connection broke: {error}");
        self.stream.write_all(bytes).await.map_err(broken)?;
        self.stream.flush().await.map_err(broken)?;
        let mut piece = [0; READ_BYTES];
        while replies.len() < count {
            match self.decoder.next_value().map_err(|error| error.to_string())? {
                Some(reply) => replies.push(reply),
                None if self.decoder.pending() > LONGEST_REPLY => {
                    return Err(format!("a reply of more than {LONGEST_REPLY} bytes"));
                }
                None => match self.stream.read(&mut piece).await.map_err(broken)? {
                    0 => return Err("connection closed by the server".to_owned()),
                    length => self.decoder.feed(&piece[..length]),
                },
            }
        }
        Ok(())
    }
}
