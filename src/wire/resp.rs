//! Redis' protocol: arrays of bulk strings up, values down, replies in the order of the requests.
//!
//! Inline commands and the types of RESP3 are read too. Commands after which replies no longer answer
//! requests one by one (subscriptions, `MONITOR`, replication) make what follows opaque.

mod value;
mod walker;

use super::awaited::Awaited;
use super::{Codec, Mark, Passed, Reply, Request, RequestId};
use walker::{Side, Step, Walker};

/// What is waited for on the side of the replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Value,
    /// From here on replies answer nothing.
    Unordered,
}

pub struct Resp {
    requests: Walker,
    replies: Walker,
    awaited: Awaited<Asked>,
    is_unordered: bool,
    is_lost: bool,
}

impl Default for Resp {
    fn default() -> Resp {
        Resp {
            requests: Walker::new(Side::Requests),
            replies: Walker::new(Side::Replies),
            awaited: Awaited::default(),
            is_unordered: false,
            is_lost: false,
        }
    }
}

impl Resp {
    /// Replies to the requests before are still read.
    fn end_order(&mut self) -> Mark {
        self.is_unordered = true;
        if self.awaited.push(Asked::Unordered).is_none() {
            self.is_lost = true;
        }
        Mark::Opaque
    }

    fn judge(&mut self) -> Mark {
        let words = value::words(self.requests.head());
        match words.first() {
            // Servers say nothing to an empty line or array.
            None => Mark::Request(self.awaited.number()),
            Some(first) if ends_order(first, words.get(1).copied()) => self.end_order(),
            Some(_) => match self.awaited.push(Asked::Value) {
                Some(id) => Mark::Request(id),
                None => self.end_order(),
            },
        }
    }
}

fn ends_order(command: &[u8], argument: Option<&[u8]>) -> bool {
    let is = |word: &[u8], wanted: &str| word.eq_ignore_ascii_case(wanted.as_bytes());
    let subscriptions = [
        "SUBSCRIBE",
        "PSUBSCRIBE",
        "SSUBSCRIBE",
        "UNSUBSCRIBE",
        "PUNSUBSCRIBE",
        "SUNSUBSCRIBE",
        "MONITOR",
        "SYNC",
        "PSYNC",
    ];
    subscriptions.iter().any(|wanted| is(command, wanted))
        || (is(command, "CLIENT") && argument.is_some_and(|word| is(word, "REPLY")))
}

impl Codec for Resp {
    fn request(&mut self, bytes: &[u8]) -> Passed {
        if self.is_unordered || self.is_lost {
            return (0, Some(Mark::Opaque));
        }
        let (taken, step) = self.requests.advance(bytes);
        let mark = match step {
            None => return (taken, None),
            Some(Step::Head) => self.judge(),
            Some(Step::End) => Mark::End,
            Some(Step::Bad) => self.end_order(),
        };
        (taken, Some(mark))
    }

    fn reply(&mut self, bytes: &[u8]) -> Passed {
        let is_over = self.replies.is_between() && self.awaited.first() == Some(Asked::Unordered);
        if self.is_lost || is_over {
            self.is_lost = true;
            return (0, Some(Mark::Opaque));
        }
        let (taken, step) = self.replies.advance(bytes);
        let mark = match step {
            None => return (taken, None),
            // A push comes in between and answers nothing.
            Some(Step::Head) if self.replies.head().first() == Some(&b'>') => Mark::Reply(None),
            Some(Step::Head) => Mark::Reply(self.awaited.pop().map(|(id, _)| id)),
            Some(Step::End) => Mark::End,
            Some(Step::Bad) => {
                self.is_lost = true;
                Mark::Opaque
            }
        };
        (taken, Some(mark))
    }

    fn describe_request(&self) -> Request {
        value::request(self.requests.head())
    }

    fn describe_reply(&self) -> Reply {
        value::reply(self.replies.head())
    }

    fn forget(&mut self, request: RequestId) {
        self.awaited.forget(request);
    }

    fn repeat(&mut self, request: RequestId) -> Option<RequestId> {
        self.awaited.repeat(request)
    }

    fn kept(&self) -> usize {
        self.requests.kept() + self.replies.kept()
    }
}
