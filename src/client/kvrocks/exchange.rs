//! One operation at one node: its requests on one connection, and what they come to.
//!
//! A second request of an operation follows only where the first changes nothing.

use std::time::Duration;

use futures::io::{AsyncRead, AsyncWrite};

use super::command::{self, Answer, request};
use super::connection::{Connection, Request, Trouble};
use super::kind::CasMode;
use crate::key_space::KeySpace;
use crate::op::{Call, Outcome};
use crate::resp::Value as Reply;

/// How an operation is asked for.
pub struct Asking<'a> {
    pub keys: &'a KeySpace,
    pub cas: CasMode,
    /// Say `ASKING` first: the node still imports the slot.
    pub asking: bool,
    pub limit: Duration,
}

impl Asking<'_> {
    /// Performs the operation here. Whether the connection can be used again comes with the answer.
    pub async fn perform<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        connection: &mut Connection<S>,
        call: &Call,
    ) -> (Answer, bool) {
        let guarded = match call {
            Call::Cas { key, from, to } if self.cas == CasMode::Watch => {
                Guarded::cas(self.keys.name(*key), *from, *to)
            }
            Call::Store { key, token, value } => Guarded::store(self.keys, *key, *token, *value),
            _ => return self.simple(connection, call).await,
        };
        self.guarded(connection, call, &guarded).await
    }

    async fn simple<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        connection: &mut Connection<S>,
        call: &Call,
    ) -> (Answer, bool) {
        let Some(requests) = command::requests(call, self.keys) else {
            let why = format!("a data node has no `{}`", call.f());
            return (Answer::Settled(Outcome::Fail(why)), true);
        };
        match self.ask(connection, requests).await {
            Ok(replies) => {
                let answer = command::answer(call, &replies);
                let is_sound = !matches!(answer, Answer::Broken { .. });
                (answer, is_sound)
            }
            Err(trouble) => (broken(trouble, command::changes(call)), false),
        }
    }

    async fn ask<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        connection: &mut Connection<S>,
        mut requests: Vec<Request>,
    ) -> Result<Vec<Reply>, Trouble> {
        if self.asking {
            requests.insert(0, request(&["ASKING"]));
        }
        let mut replies = connection.ask(&requests, self.limit).await?;
        if self.asking {
            replies.remove(0);
        }
        Ok(replies)
    }

    /// Looks at a key under `WATCH`, and sets others only if nobody wrote to it meanwhile.
    async fn guarded<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        connection: &mut Connection<S>,
        call: &Call,
        guarded: &Guarded,
    ) -> (Answer, bool) {
        let watch = vec![request(&["WATCH", &guarded.key]), request(&["GET", &guarded.key])];
        let replies = match self.ask(connection, watch).await {
            Ok(replies) => replies,
            Err(trouble) => return (broken(trouble, false), false),
        };
        // The connection may watch from here on, so after a refusal it is given up.
        if let Some(error) = command::first_error(&replies) {
            return (Answer::Refused(error.to_owned()), false);
        }
        if let Err(why) = (guarded.allows)(replies.last().unwrap_or(&Reply::Null)) {
            let unwatched = connection.ask(&[request(&["UNWATCH"])], self.limit).await;
            return (Answer::Settled(Outcome::Fail(why)), unwatched == Ok(vec![Reply::ok()]));
        }
        let mut requests = vec![request(&["MULTI"])];
        requests.extend(guarded.sets.iter().cloned());
        requests.push(request(&["EXEC"]));
        match self.ask(connection, requests).await {
            Ok(replies) => match guarded.answer(call, &replies) {
                answer @ Answer::Settled(_) => (answer, true),
                answer => (answer, false),
            },
            Err(trouble) => (broken(trouble, true), false),
        }
    }
}

/// What a broken exchange means. A queueing error before it broke is still a refusal of it all.
fn broken(trouble: Trouble, changes: bool) -> Answer {
    match trouble {
        Trouble::NotSent { why } => Answer::Broken { why, perhaps_done: false },
        Trouble::Sent { why, replies } => match command::first_error(&replies) {
            Some(error) if command::is_begun_transaction(&replies) => {
                Answer::Refused(error.to_owned())
            }
            _ => Answer::Broken { why, perhaps_done: changes },
        },
    }
}

/// What a key must hold for other keys to be set.
type Allows = Box<dyn Fn(&Reply) -> Result<(), String>>;

struct Guarded {
    key: String,
    allows: Allows,
    sets: Vec<Request>,
}

impl Guarded {
    fn cas(key: String, from: i64, to: i64) -> Guarded {
        let allows = move |found: &Reply| match found {
            Reply::Bulk(text) if text == from.to_string().as_bytes() => Ok(()),
            Reply::Null => Err(format!("expected {from}, found nothing")),
            _ => Err(format!("expected {from}, found another")),
        };
        let sets = vec![request(&["SET", &key, &to.to_string()])];
        Guarded { key, allows: Box::new(allows), sets }
    }

    /// A store that takes no token older than one that it has seen.
    fn store(keys: &KeySpace, key: i64, token: i64, value: i64) -> Guarded {
        let seen = keys.part(key, "seen");
        let allows = move |found: &Reply| match found {
            Reply::Null => Ok(()),
            Reply::Bulk(text) => match std::str::from_utf8(text).unwrap_or_default().parse() {
                Ok(seen) if token >= seen => Ok(()),
                Ok::<i64, _>(seen) => Err(format!("token {token} is older than {seen}")),
                Err(_) => Err(format!("the token seen last is none: {}", text.escape_ascii())),
            },
            _ => Err("the token seen last is no string".to_owned()),
        };
        let sets = vec![
            request(&["SET", &seen, &token.to_string()]),
            request(&["SET", &keys.name(key), &value.to_string()]),
        ];
        Guarded { key: seen, allows: Box::new(allows), sets }
    }

    fn answer(&self, call: &Call, replies: &[Reply]) -> Answer {
        let broken = |why: &str| Answer::Broken { why: why.to_owned(), perhaps_done: true };
        if !command::is_one_transaction(replies) {
            return broken("a command of the transaction was executed outside of it");
        }
        if let Some(error) = command::first_error(replies) {
            return Answer::Refused(error.to_owned());
        }
        match replies.last() {
            Some(Reply::Null | Reply::NullArray) => {
                Answer::Settled(Outcome::Fail("somebody wrote meanwhile".to_owned()))
            }
            Some(Reply::Array(results)) if results.iter().all(|one| *one == Reply::ok()) => {
                Answer::Settled(Outcome::Ok(call.value()))
            }
            _ => broken("a transaction with other results than its own"),
        }
    }
}
