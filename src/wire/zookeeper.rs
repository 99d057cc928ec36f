//! ZooKeeper's client protocol: jute records behind a length, replies matched by the request's number.
//!
//! The first record of each direction opens the session. Watch events (number -1) answer nothing; pings,
//! authentications and the setting of watches have negative numbers of their own. Four-letter words have
//! no length that could be one, and are opaque.

mod jute;
mod reply;
mod request;

use super::awaited::Awaited;
use super::{Codec, HEAD_BYTES, Mark, Passed, Reply, Request, RequestId};
use jute::Record;

/// Servers take about 1 MiB by default; four ASCII letters read as a length are far above this.
const LONGEST: usize = 64 << 20;
const LENGTH: usize = 4;
/// How far back a reply's request is looked for: others may overtake pings only.
const OVERTAKEN: usize = 64;

const SHORTEST_CONNECT: usize = 28;
const SHORTEST_CONNECTED: usize = 20;
const SHORTEST_REQUEST: usize = 8;
const SHORTEST_REPLY: usize = 16;

/// What must be remembered of a request to read its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Connect,
    Numbered { number: i32, operation: i32 },
}

#[derive(Default)]
pub struct Zookeeper {
    requests: Frames,
    replies: Frames,
    awaited: Awaited<Asked>,
    is_opened: bool,
    is_answered: bool,
    answered: Option<Asked>,
    /// Replies can no longer be read, so nothing can be done with requests.
    is_lost: bool,
}

impl Zookeeper {
    /// The request whose head is there; `None` where it cannot be one.
    fn asked(&self) -> Option<Asked> {
        let mut record = Record::new(self.requests.body());
        if !self.is_opened {
            // The protocol's version, which is 0: keeps other protocols with lengths apart.
            return (record.int() == Some(0)).then_some(Asked::Connect);
        }
        let (number, operation) = (record.int()?, record.int()?);
        Some(Asked::Numbered { number, operation })
    }

    fn answered(&mut self) -> Option<(RequestId, Asked)> {
        if !self.is_answered {
            return self.awaited.take(1, |asked| *asked == Asked::Connect);
        }
        let wanted = Record::new(self.replies.body()).int()?;
        let is_meant =
            |asked: &Asked| matches!(asked, Asked::Numbered { number, .. } if *number == wanted);
        self.awaited.take(OVERTAKEN, is_meant)
    }
}

impl Codec for Zookeeper {
    fn request(&mut self, bytes: &[u8]) -> Passed {
        if self.is_lost {
            return (0, Some(Mark::Opaque));
        }
        let shortest = if self.is_opened { SHORTEST_REQUEST } else { SHORTEST_CONNECT };
        let (taken, step) = self.requests.advance(bytes, shortest);
        let mark = match step {
            None => return (taken, None),
            Some(Step::End) => Mark::End,
            Some(Step::Bad) => Mark::Opaque,
            Some(Step::Head) => {
                let asked = self.asked();
                let id = asked.and_then(|asked| self.awaited.push(asked));
                self.is_opened = true;
                id.map_or(Mark::Opaque, Mark::Request)
            }
        };
        (taken, Some(mark))
    }

    fn reply(&mut self, bytes: &[u8]) -> Passed {
        let shortest = if self.is_answered { SHORTEST_REPLY } else { SHORTEST_CONNECTED };
        let (taken, step) = self.replies.advance(bytes, shortest);
        let mark = match step {
            None => return (taken, None),
            Some(Step::End) => Mark::End,
            Some(Step::Bad) => {
                self.is_lost = true;
                Mark::Opaque
            }
            Some(Step::Head) => {
                let answered = self.answered();
                self.is_answered = true;
                self.answered = answered.map(|(_, asked)| asked);
                Mark::Reply(answered.map(|(id, _)| id))
            }
        };
        (taken, Some(mark))
    }

    fn describe_request(&self) -> Request {
        match self.asked_of_last() {
            Asked::Connect => request::connect(self.requests.body()),
            Asked::Numbered { operation, .. } => request::numbered(operation, self.requests.body()),
        }
    }

    fn describe_reply(&self) -> Reply {
        match self.answered {
            Some(Asked::Connect) => reply::connected(self.replies.body()),
            Some(Asked::Numbered { operation, .. }) => {
                reply::numbered(operation, self.replies.body())
            }
            None => Reply { text: "no reply to a request".to_owned(), applied: false },
        }
    }

    fn forget(&mut self, request: RequestId) {
        self.awaited.forget(request);
    }

    fn repeat(&mut self, request: RequestId) -> Option<RequestId> {
        self.awaited.repeat(request)
    }

    fn kept(&self) -> usize {
        self.requests.head.capacity() + self.replies.head.capacity()
    }
}

impl Zookeeper {
    /// The first request is the one with number 1 of this connection.
    fn asked_of_last(&self) -> Asked {
        let mut record = Record::new(self.requests.body());
        match (self.requests.is_first, record.int(), record.int()) {
            (false, Some(number), Some(operation)) => Asked::Numbered { number, operation },
            _ => Asked::Connect,
        }
    }
}

enum Step {
    Head,
    End,
    Bad,
}

/// One direction: records behind their length.
struct Frames {
    /// The first bytes of the record under way, with its length.
    head: Vec<u8>,
    /// Of the whole record with its length; 0 while unknown.
    total: usize,
    seen: usize,
    has_head: bool,
    is_first: bool,
}

impl Default for Frames {
    fn default() -> Frames {
        Frames { head: Vec::new(), total: 0, seen: 0, has_head: false, is_first: true }
    }
}

impl Frames {
    fn body(&self) -> &[u8] {
        self.head.get(LENGTH..).unwrap_or_default()
    }

    fn advance(&mut self, bytes: &[u8], shortest: usize) -> (usize, Option<Step>) {
        if self.has_head { self.skip(bytes) } else { self.collect(bytes, shortest) }
    }

    fn skip(&mut self, bytes: &[u8]) -> (usize, Option<Step>) {
        let taken = (self.total - self.seen).min(bytes.len());
        self.seen += taken;
        if self.seen < self.total {
            return (taken, None);
        }
        // Large heads are rare, and idle connections many.
        self.head.clear();
        self.head.shrink_to(1024);
        (self.total, self.seen, self.has_head, self.is_first) = (0, 0, false, false);
        (taken, Some(Step::End))
    }

    fn collect(&mut self, bytes: &[u8], shortest: usize) -> (usize, Option<Step>) {
        let mut taken = 0;
        loop {
            let wanted = if self.total == 0 { LENGTH } else { self.total.min(HEAD_BYTES) };
            let more = (wanted - self.head.len()).min(bytes.len() - taken);
            self.head.extend(&bytes[taken..taken + more]);
            taken += more;
            if self.head.len() < wanted {
                return (taken, None);
            }
            if self.total != 0 {
                self.seen = self.head.len();
                self.has_head = true;
                return (taken, Some(Step::Head));
            }
            let length = Record::new(&self.head).int().and_then(|length| length.try_into().ok());
            match length {
                Some(length) if (shortest..=LONGEST).contains(&length) => {
                    self.total = LENGTH + length;
                }
                _ => return (taken, Some(Step::Bad)),
            }
        }
    }
}
