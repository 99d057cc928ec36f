//! What passes on a connection, message by message: incremental decoders of three protocols.
//!
//! Pure: bytes go in, in pieces of any size, and marks come out that say after which byte a message can
//! be judged and after which it ends. Bodies are counted, not kept. What cannot be read is said to be
//! opaque from its first byte on; nothing panics, and memory is bounded whatever comes.

mod awaited;
mod http;
mod resp;
mod splice;
mod text;
mod zookeeper;

use crate::cluster::Protocol;

pub use splice::{Deed, Hit, Rules, Splice};

/// How much of a message is kept to judge and describe it, at most.
pub const HEAD_BYTES: usize = 64 * 1024;

/// How many requests may wait for their replies on one connection.
pub const OUTSTANDING: usize = 64 * 1024;

/// Numbers the requests of one connection, from 1.
pub type RequestId = u64;

/// What has been reached in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Enough of a request is there to judge it; its body may follow.
    Request(RequestId),
    /// Enough of a reply is there to describe it. `None`: it answers no request, or an unknown one.
    Reply(Option<RequestId>),
    /// The message ends here.
    End,
    /// From the first byte of the message under way (if there is none: from here) nothing is understood.
    Opaque,
}

/// How many bytes were taken, and the mark right behind them. Without a mark all bytes were taken.
pub type Passed = (usize, Option<Mark>);

/// A request for people and patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What a pattern is matched against.
    pub words: Vec<String>,
    pub text: String,
    /// The znode, key or URL.
    pub subject: Option<String>,
}

/// A reply for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub text: String,
    /// The server says that the request was done.
    pub applied: bool,
}

/// One protocol's two directions.
trait Codec: Send {
    fn request(&mut self, bytes: &[u8]) -> Passed;
    fn reply(&mut self, bytes: &[u8]) -> Passed;
    fn describe_request(&self) -> Request;
    fn describe_reply(&self) -> Reply;
    fn forget(&mut self, request: RequestId);
    fn repeat(&mut self, request: RequestId) -> Option<RequestId>;
    /// Bytes held in buffers.
    fn kept(&self) -> usize;
}

/// Both directions of one connection.
pub struct Dialogue {
    protocol: Protocol,
    codec: Box<dyn Codec>,
}

impl Dialogue {
    pub fn new(protocol: Protocol) -> Dialogue {
        let codec: Box<dyn Codec> = match protocol {
            Protocol::Resp => Box::<resp::Resp>::default(),
            Protocol::Zookeeper => Box::<zookeeper::Zookeeper>::default(),
            Protocol::Http => Box::<http::Http>::default(),
        };
        Dialogue { protocol, codec }
    }

    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Takes what comes from the client, up to the next mark.
    pub fn request(&mut self, bytes: &[u8]) -> Passed {
        self.codec.request(bytes)
    }

    /// Takes what comes from the server, up to the next mark.
    pub fn reply(&mut self, bytes: &[u8]) -> Passed {
        self.codec.reply(bytes)
    }

    /// The request that was marked last; only before its end.
    pub fn describe_request(&self) -> Request {
        self.codec.describe_request()
    }

    /// The reply that was marked last; only before its end.
    pub fn describe_reply(&self) -> Reply {
        self.codec.describe_reply()
    }

    /// This request does not reach the server: no reply will come.
    pub fn forget(&mut self, request: RequestId) {
        self.codec.forget(request);
    }

    /// This request reaches the server a second time, right behind itself; the number of the second.
    pub fn repeat(&mut self, request: RequestId) -> Option<RequestId> {
        self.codec.repeat(request)
    }

    /// Bytes of messages that are held to read them.
    pub fn kept(&self) -> usize {
        self.codec.kept()
    }
}

/// What a client's first bytes tell of its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniffed {
    Speaks(Protocol),
    /// Nothing that is known here.
    Unknown,
    TooEarly,
}

/// Guesses a protocol by a client's first bytes.
pub fn sniff(bytes: &[u8]) -> Sniffed {
    match bytes.first() {
        None => Sniffed::TooEarly,
        Some(b'*') => Sniffed::Speaks(Protocol::Resp),
        // The length of a first request, far below 16 MiB.
        Some(0) => Sniffed::Speaks(Protocol::Zookeeper),
        Some(byte) if byte.is_ascii_alphabetic() => sniff_line(bytes),
        Some(_) => Sniffed::Unknown,
    }
}

fn sniff_line(bytes: &[u8]) -> Sniffed {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
        return if bytes.len() < HEAD_BYTES { Sniffed::TooEarly } else { Sniffed::Unknown };
    };
    let line = bytes[..end].trim_ascii_end();
    match line.rsplit(|byte| *byte == b' ').next() {
        Some(b"HTTP/1.1" | b"HTTP/1.0") => Sniffed::Speaks(Protocol::Http),
        _ => Sniffed::Speaks(Protocol::Resp),
    }
}

#[cfg(test)]
mod tests;
