//! HTTP/1: heads that are kept, bodies that are counted, replies in the order of the requests.
//!
//! A connection that is upgraded, or becomes a tunnel, is opaque from then on.

mod body;
mod head;

use super::awaited::Awaited;
use super::text::{cut, plain};
use super::{Codec, HEAD_BYTES, Mark, Passed, Reply, Request, RequestId};
use body::Body;
use head::Head;

/// What decides on how a reply ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Head,
    Connect,
    Other,
}

#[derive(Default)]
pub struct Http {
    requests: Messages,
    replies: Messages,
    awaited: Awaited<Asked>,
    /// After this reply the connection speaks something else.
    is_last: bool,
    is_lost: bool,
}

impl Http {
    fn judge_request(&mut self) -> Option<(Body, Mark)> {
        let head = Head::parse(&self.requests.head)?;
        let [method, _, version] = head.first_line[..] else { return None };
        if !version.starts_with(b"HTTP/1.") {
            return None;
        }
        let body = head.body()?.unwrap_or(Body::Length(0));
        let asked = match method {
            b"HEAD" => Asked::Head,
            b"CONNECT" => Asked::Connect,
            _ => Asked::Other,
        };
        Some((body, Mark::Request(self.awaited.push(asked)?)))
    }

    fn judge_reply(&mut self) -> Option<(Body, Mark)> {
        let head = Head::parse(&self.replies.head)?;
        let status = head.status()?;
        // Said in between: the reply itself is still to come.
        if (100..200).contains(&status) && status != 101 {
            return Some((Body::Length(0), Mark::Reply(None)));
        }
        let answered = self.awaited.pop();
        let asked = answered.map(|(_, asked)| asked);
        self.is_last = status == 101 || (asked == Some(Asked::Connect) && status / 100 == 2);
        let has_none = matches!(status, 101 | 204 | 304) || asked == Some(Asked::Head);
        let body = match head.body()? {
            _ if has_none || self.is_last => Body::Length(0),
            Some(body) => body,
            None => Body::ToTheEnd,
        };
        Some((body, Mark::Reply(answered.map(|(id, _)| id))))
    }
}

impl Codec for Http {
    fn request(&mut self, bytes: &[u8]) -> Passed {
        if self.is_lost {
            return (0, Some(Mark::Opaque));
        }
        let (taken, step) = self.requests.advance(bytes, is_method);
        let mark = match step {
            None => return (taken, None),
            Some(Step::End) => Mark::End,
            Some(Step::Bad) => Mark::Opaque,
            Some(Step::Head) => match self.judge_request() {
                Some((body, mark)) => {
                    self.requests.body = Some(body);
                    mark
                }
                None => Mark::Opaque,
            },
        };
        (taken, Some(mark))
    }

    fn reply(&mut self, bytes: &[u8]) -> Passed {
        if self.is_lost || (self.is_last && self.replies.head.is_empty()) {
            self.is_lost = true;
            return (0, Some(Mark::Opaque));
        }
        let (taken, step) = self.replies.advance(bytes, |first| first == b'H');
        let judged = match step {
            None => return (taken, None),
            Some(Step::End) => return (taken, Some(Mark::End)),
            Some(Step::Bad) => None,
            Some(Step::Head) => self.judge_reply(),
        };
        let Some((body, mark)) = judged else {
            self.is_lost = true;
            return (taken, Some(Mark::Opaque));
        };
        self.replies.body = Some(body);
        (taken, Some(mark))
    }

    fn describe_request(&self) -> Request {
        let head = Head::parse(&self.requests.head);
        let words = head.map(|head| head.first_line).unwrap_or_default();
        let words: Vec<String> = words.into_iter().take(2).map(plain).collect();
        let subject = words.get(1).cloned();
        Request { text: cut(words.join(" ")), words, subject }
    }

    fn describe_reply(&self) -> Reply {
        let Some(head) = Head::parse(&self.replies.head) else {
            return Reply { text: "no reply".to_owned(), applied: false };
        };
        let words = head.first_line.iter().skip(1).map(|word| plain(word));
        let text = cut(words.collect::<Vec<_>>().join(" "));
        Reply { text, applied: head.status().is_some_and(|status| status / 100 == 2) }
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

fn is_method(first: u8) -> bool {
    first.is_ascii_uppercase()
}

enum Step {
    Head,
    End,
    Bad,
}

/// One direction.
#[derive(Default)]
struct Messages {
    head: Vec<u8>,
    /// Present once the head is whole.
    body: Option<Body>,
}

impl Messages {
    fn advance(&mut self, bytes: &[u8], may_begin: impl Fn(u8) -> bool) -> (usize, Option<Step>) {
        let Some(body) = &mut self.body else { return self.collect(bytes, may_begin) };
        let (taken, is_over) = body.pass(bytes);
        let step = match is_over {
            None => Some(Step::Bad),
            Some(false) => None,
            Some(true) => {
                self.head.clear();
                self.head.shrink_to(1024);
                self.body = None;
                Some(Step::End)
            }
        };
        (taken, step)
    }

    fn collect(&mut self, bytes: &[u8], may_begin: impl Fn(u8) -> bool) -> (usize, Option<Step>) {
        let before = self.head.len();
        let added = bytes.len().min(HEAD_BYTES - before);
        self.head.extend(&bytes[..added]);
        if let Some(end) = head::end(&self.head, before) {
            self.head.truncate(end);
            let step = if self.is_text(0, &may_begin) { Step::Head } else { Step::Bad };
            return (end - before, Some(step));
        }
        let is_bad = !self.is_text(before, &may_begin) || self.head.len() == HEAD_BYTES;
        (added, is_bad.then_some(Step::Bad))
    }

    /// Whether what was added can be part of a head.
    fn is_text(&self, before: usize, may_begin: &impl Fn(u8) -> bool) -> bool {
        let first = self.head.iter().find(|byte| !b"\r\n".contains(byte));
        first.is_none_or(|first| may_begin(*first))
            && self.head[before..].iter().all(|byte| *byte >= b' ' || b"\t\r\n".contains(byte))
    }
}
