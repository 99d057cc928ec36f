//! One connection's messages: which are passed on, held, closed upon, delayed, doubled or dropped.
//!
//! No socket and no clock: bytes of both directions go in, deeds come out, and whoever is armed decides
//! (see [`Rules`]). While a rule is armed, a
//! message is kept back from its first byte until it can be judged; otherwise bytes pass as they come,
//! and only the messages' boundaries are followed. A request whose first bytes had passed before a rule
//! was armed is not judged.

mod direction;

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Dialogue, Mark, Reply, Request, RequestId, Sniffed, sniff};
use crate::cluster::{Concerning, Form, MessageRule, Protocol};
use direction::{Direction, pass};

/// A larger request is not doubled. ZooKeeper's servers take no more by default.
const LARGEST_DOUBLED: usize = 1 << 20;

/// What is armed on one connection, and who is told what became of its messages.
pub trait Rules {
    /// The protocol that rules expect here, where there are any.
    fn expected(&self) -> Option<Protocol>;

    /// Counts a request where it matches, tells those who watch, and finds the rule that it runs into.
    fn judge(&mut self, protocol: Protocol, request: &Request) -> Option<Hit>;

    fn is_armed(&self, by: Concerning) -> bool;

    /// What became of a request that was hit.
    fn saw(&mut self, hit: Hit, reply: Option<Reply>);

    /// One direction cannot be read as rules expect.
    fn count_unparsed(&mut self);
}

/// What a request has run into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub concerning: Concerning,
    pub rule: MessageRule,
    pub nth: u64,
    pub request: Request,
}

/// What is to be done with a direction's bytes, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    Pass(Vec<u8>),
    /// All that follows is late by this.
    Delay(Duration, Concerning),
    /// Nothing that follows ever comes, nor arrives what the client says from now on.
    Hold(Concerning),
    /// What was passed still arrives, then the connection ends.
    Close,
}

/// What awaits a request's reply.
enum Fate {
    Hit(Hit),
    /// The reply to the first of a doubled request passes.
    First {
        second: RequestId,
    },
    /// The reply to the second is swallowed.
    Second {
        hit: Hit,
        first: Option<Reply>,
    },
}

/// What is known of how both ends talk.
enum Speech {
    /// It is not yet known what is spoken; what was said so far has passed.
    Unheard(Vec<u8>),
    Read(Dialogue),
    Opaque,
}

impl Default for Speech {
    fn default() -> Speech {
        Speech::Unheard(Vec::new())
    }
}

#[derive(Default)]
pub struct Splice {
    speech: Speech,
    requests: Direction,
    replies: Direction,
    fates: BTreeMap<RequestId, Fate>,
    /// A request to be sent again once it has ended, and what of it has passed.
    doubled: Option<(RequestId, Hit, Vec<u8>)>,
    /// Nothing more passes, in either direction: a reply is lost where packets are, and then what follows
    /// the request is not acknowledged either.
    is_silent: bool,
}

impl Splice {
    /// Takes what the client sent.
    pub fn requests(&mut self, bytes: &[u8], rules: &mut impl Rules) -> Vec<Deed> {
        let mut deeds = Vec::new();
        if self.is_silent {
            return deeds;
        }
        self.listen(bytes, rules);
        let mut rest = bytes;
        while let Speech::Read(dialogue) = &mut self.speech {
            if self.requests.is_opaque {
                break;
            }
            self.requests.begin(rest, rules.expected().is_some());
            let (taken, mark) = dialogue.request(rest);
            self.requests.take(&rest[..taken], &mut deeds);
            self.copy(&rest[..taken]);
            rest = &rest[taken..];
            match mark {
                None => return deeds,
                Some(Mark::Request(id)) => self.judge(id, rules, &mut deeds),
                Some(Mark::End) => self.end_request(rules, &mut deeds),
                Some(Mark::Opaque | Mark::Reply(_)) => {
                    rules.count_unparsed();
                    self.doubled = None;
                    self.requests.give_up(&mut deeds);
                }
            }
        }
        pass(&mut deeds, rest);
        deeds
    }

    /// Finds out what is spoken: what rules expect, or what it looks like.
    fn listen(&mut self, bytes: &[u8], rules: &impl Rules) {
        let Speech::Unheard(heard) = &mut self.speech else { return };
        let before = heard.len();
        heard.extend(bytes);
        let expected = rules.expected();
        match expected.map_or_else(|| sniff(heard), Sniffed::Speaks) {
            Sniffed::TooEarly => {}
            Sniffed::Unknown => self.speech = Speech::Opaque,
            Sniffed::Speaks(protocol) => {
                heard.truncate(before);
                let mut dialogue = Dialogue::new(protocol);
                self.requests.catch_up(heard, |rest| dialogue.request(rest));
                self.speech = Speech::Read(dialogue);
            }
        }
    }

    fn copy(&mut self, bytes: &[u8]) {
        if let Some((_, _, copy)) = &mut self.doubled
            && copy.len() <= LARGEST_DOUBLED
        {
            copy.extend(bytes);
        }
    }

    fn judge(&mut self, id: RequestId, rules: &mut impl Rules, deeds: &mut Vec<Deed>) {
        let Speech::Read(dialogue) = &mut self.speech else { return };
        if !self.requests.keeps() {
            return;
        }
        let request = dialogue.describe_request();
        let Some(hit) = rules.judge(dialogue.protocol(), &request) else {
            return self.requests.release(deeds);
        };
        match hit.rule.form {
            Form::DropRequest => {
                dialogue.forget(id);
                self.requests.discard();
                return rules.saw(hit, None);
            }
            Form::Duplicate => self.doubled = Some((id, hit, self.requests.kept().to_vec())),
            _ => {
                self.fates.insert(id, Fate::Hit(hit));
            }
        }
        self.requests.release(deeds);
    }

    fn end_request(&mut self, rules: &mut impl Rules, deeds: &mut Vec<Deed>) {
        self.requests.end();
        let Some((id, hit, copy)) = self.doubled.take() else { return };
        let Speech::Read(dialogue) = &mut self.speech else { return };
        let second = if copy.len() > LARGEST_DOUBLED { None } else { dialogue.repeat(id) };
        let Some(second) = second else { return rules.saw(hit, None) };
        pass(deeds, &copy);
        self.fates.insert(id, Fate::First { second });
        self.fates.insert(second, Fate::Second { hit, first: None });
    }

    /// Takes what the server sent.
    pub fn replies(&mut self, bytes: &[u8], rules: &mut impl Rules) -> Vec<Deed> {
        let mut deeds = Vec::new();
        let mut rest = bytes;
        if matches!(self.speech, Speech::Unheard(_)) {
            // In our protocols the client speaks first, and is understood by then.
            self.speech = Speech::Opaque;
        }
        while !self.is_silent {
            let Speech::Read(dialogue) = &mut self.speech else { break };
            if self.replies.is_opaque {
                break;
            }
            self.replies.begin(rest, !self.fates.is_empty());
            let (taken, mark) = dialogue.reply(rest);
            self.replies.take(&rest[..taken], &mut deeds);
            rest = &rest[taken..];
            match mark {
                None => return deeds,
                Some(Mark::Reply(id)) => self.answer(id, rules, &mut deeds),
                Some(Mark::End) => self.replies.end(),
                Some(Mark::Opaque | Mark::Request(_)) => {
                    rules.count_unparsed();
                    self.replies.give_up(&mut deeds);
                }
            }
        }
        if !self.is_silent {
            pass(&mut deeds, rest);
        }
        deeds
    }

    fn answer(&mut self, id: Option<RequestId>, rules: &mut impl Rules, deeds: &mut Vec<Deed>) {
        let fate = id.and_then(|id| self.fates.remove(&id));
        let Speech::Read(dialogue) = &self.speech else { return };
        match fate {
            Some(Fate::Hit(hit)) if rules.is_armed(hit.concerning) => {
                let reply = dialogue.describe_reply();
                self.act(&hit, deeds);
                rules.saw(hit, Some(reply));
            }
            Some(Fate::First { second }) => {
                if let Some(Fate::Second { first, .. }) = self.fates.get_mut(&second) {
                    *first = Some(dialogue.describe_reply());
                }
                self.replies.release(deeds);
            }
            Some(Fate::Second { hit, first }) => {
                let second = dialogue.describe_reply();
                self.replies.discard();
                rules.saw(hit, Some(both(first, second)));
            }
            // Taken back before the reply came, or never hit.
            Some(Fate::Hit(_)) | None => self.replies.release(deeds),
        }
    }

    fn act(&mut self, hit: &Hit, deeds: &mut Vec<Deed>) {
        match hit.rule.form {
            Form::Hold | Form::Close => {
                self.is_silent = true;
                self.replies.discard();
                deeds.push(match hit.rule.form {
                    Form::Hold => Deed::Hold(hit.concerning),
                    _ => Deed::Close,
                });
            }
            _ => {
                let delay = hit.rule.delay.unwrap_or_default().0;
                deeds.push(Deed::Delay(delay, hit.concerning));
                self.replies.release(deeds);
            }
        }
    }

    /// Nothing more comes from the client: what was kept back of a request that stays half.
    pub fn end_of_requests(&mut self) -> Vec<Deed> {
        let mut deeds = Vec::new();
        if !self.is_silent {
            self.requests.give_up(&mut deeds);
        }
        deeds
    }

    /// Nothing more comes from the server.
    pub fn end_of_replies(&mut self) -> Vec<Deed> {
        let mut deeds = Vec::new();
        self.replies.give_up(&mut deeds);
        deeds
    }

    /// Tells of the requests that were hit and whose replies never came.
    pub fn finish(&mut self, rules: &mut impl Rules) {
        for fate in std::mem::take(&mut self.fates).into_values() {
            match fate {
                Fate::Hit(hit) | Fate::Second { hit, .. } => rules.saw(hit, None),
                Fate::First { .. } => {}
            }
        }
    }
}

/// What became of both of a doubled request.
fn both(first: Option<Reply>, second: Reply) -> Reply {
    let Some(first) = first else { return second };
    let text = format!("{}; again: {}", first.text, second.text);
    Reply { text, applied: first.applied || second.applied }
}
