//! Operations as requests to one node, and what its replies say of them. Pure.

use serde_json::{Value as Json, json};

use super::connection::Request;
use super::slot_map::kind;
use crate::key_space::KeySpace;
use crate::op::{Call, MicroOp, Outcome, Value};
use crate::resp::Value as Reply;

/// What a node's replies come to.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The node performed the operation, or saw that it is not to be performed.
    Settled(Outcome),
    /// It answered with this error.
    Refused(String),
    /// No reply that means anything.
    Broken {
        why: String,
        /// A request that changes something had been sent.
        perhaps_done: bool,
    },
}

/// Whether the operation would change anything.
pub fn changes(call: &Call) -> bool {
    match call {
        Call::Read { .. } | Call::ReadAll { .. } | Call::Stale(_) | Call::Dump { .. } => false,
        Call::Txn { ops } => ops.iter().any(|op| matches!(op, MicroOp::Append { .. })),
        _ => true,
    }
}

/// The key whose slot decides where the operation goes.
pub fn key_of(call: &Call) -> Option<i64> {
    match call {
        Call::Read { key }
        | Call::Write { key, .. }
        | Call::Cas { key, .. }
        | Call::Add { key, .. }
        | Call::ReadAll { key }
        | Call::Increment { key }
        | Call::Acquire { key, .. }
        | Call::Release { key, .. }
        | Call::Store { key, .. } => Some(*key),
        Call::Txn { ops } => ops.first().map(MicroOp::key),
        Call::Stale(read) => key_of(read),
        Call::Dump { .. } | Call::Manage(_) => None,
    }
}

pub fn request(words: &[&str]) -> Request {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The requests of an operation that takes one exchange; `None` of others.
pub fn requests(call: &Call, keys: &KeySpace) -> Option<Vec<Request>> {
    let text = |number: &i64| number.to_string();
    let one = |words: &[&str]| Some(vec![request(words)]);
    match call {
        Call::Read { key } => one(&["GET", &keys.name(*key)]),
        Call::Write { key, value } => one(&["SET", &keys.name(*key), &text(value)]),
        Call::Cas { key, from, to } => one(&["CAS", &keys.name(*key), &text(from), &text(to)]),
        Call::Add { key, value } => one(&["SADD", &keys.name(*key), &text(value)]),
        Call::ReadAll { key } => one(&["SMEMBERS", &keys.name(*key)]),
        Call::Increment { key } => one(&["INCR", &keys.name(*key)]),
        Call::Txn { ops } => Some(transaction(ops.iter().map(|op| micro(op, keys)))),
        Call::Acquire { key, owner, ttl_ms } => {
            let (lock, token) = (keys.part(*key, "lock"), keys.part(*key, "token"));
            let (owner, ttl) = (text(owner), ttl_ms.to_string());
            let take = request(&["SET", &lock, &owner, "NX", "PX", &ttl]);
            Some(transaction([take, request(&["INCR", &token])]))
        }
        Call::Release { key, owner } => one(&["CAD", &keys.part(*key, "lock"), &text(owner)]),
        Call::Stale(read) => requests(read, keys),
        Call::Dump { reads } => Some(reads.iter().map(|read| plain_read(read, keys)).collect()),
        Call::Store { .. } | Call::Manage(_) => None,
    }
}

fn transaction(commands: impl IntoIterator<Item = Request>) -> Vec<Request> {
    let commands = commands.into_iter();
    [request(&["MULTI"])].into_iter().chain(commands).chain([request(&["EXEC"])]).collect()
}

fn micro(op: &MicroOp, keys: &KeySpace) -> Request {
    match op {
        MicroOp::Append { key, value } => request(&["RPUSH", &keys.name(*key), &value.to_string()]),
        MicroOp::Read { key } => request(&["LRANGE", &keys.name(*key), "0", "-1"]),
    }
}

/// One read of a dump, without a transaction around it.
fn plain_read(read: &Call, keys: &KeySpace) -> Request {
    match read {
        Call::Txn { ops } if !ops.is_empty() => micro(&ops[0], keys),
        Call::ReadAll { key } => request(&["SMEMBERS", &keys.name(*key)]),
        other => request(&["GET", &keys.name(key_of(other).unwrap_or_default())]),
    }
}

/// What the replies to [`requests`] come to.
pub fn answer(call: &Call, replies: &[Reply]) -> Answer {
    if let Call::Dump { reads } = call {
        return Answer::Settled(Outcome::Ok(dumped(reads, replies)));
    }
    let broken = |why: String| Answer::Broken { why, perhaps_done: changes(call) };
    if replies.len() > 1 && !is_one_transaction(replies) {
        return broken("a command of the transaction was executed outside of it".to_owned());
    }
    match (first_error(replies), replies.last()) {
        (Some(error), _) => Answer::Refused(error.to_owned()),
        (None, Some(last)) => outcome(call, last).map_or_else(broken, Answer::Settled),
        (None, None) => broken("no reply".to_owned()),
    }
}

pub fn first_error(replies: &[Reply]) -> Option<&str> {
    replies.iter().find_map(|reply| match reply {
        Reply::Error(error) => Some(error.as_str()),
        _ => None,
    })
}

/// Between `MULTI` and `EXEC` everything was queued or refused. Where `MULTI` itself was refused, what
/// follows it may have been executed at once.
pub fn is_one_transaction(replies: &[Reply]) -> bool {
    let queued = |reply: &Reply| match reply {
        Reply::Simple(text) => text == "QUEUED",
        Reply::Error(_) => true,
        _ => false,
    };
    replies.get(1..replies.len() - 1).is_some_and(|between| between.iter().all(queued))
}

/// The first replies are those of a transaction, of which therefore nothing is executed once a command
/// has been refused.
pub fn is_begun_transaction(replies: &[Reply]) -> bool {
    replies.len() > 1
        && replies[0] == Reply::ok()
        && is_one_transaction(&[replies, &[Reply::Null]].concat())
}

/// What the last reply means, which is no error; else why it means nothing.
fn outcome(call: &Call, reply: &Reply) -> Result<Outcome, String> {
    let fail = |why: String| Ok(Outcome::Fail(why));
    let done = || Ok(Outcome::Ok(call.value()));
    match (call, reply) {
        (Call::Read { .. }, Reply::Null) => Ok(Outcome::Ok(Value::Nil)),
        (Call::Read { .. }, Reply::Bulk(text)) => Ok(Outcome::Ok(observed(text))),
        (Call::Write { .. }, Reply::Simple(ok)) if ok == Reply::OK => done(),
        (Call::Cas { .. }, Reply::Int(1)) => done(),
        (Call::Cas { from, .. }, Reply::Int(0)) => fail(format!("expected {from}, found another")),
        (Call::Cas { from, .. }, Reply::Int(-1)) => fail(format!("expected {from}, found nothing")),
        // Nobody else adds this value; where it was there already, it is there.
        (Call::Add { .. }, Reply::Int(0 | 1)) => done(),
        (Call::ReadAll { .. }, Reply::Array(members)) => {
            let mut members = numbers(members)?;
            members.sort_unstable();
            Ok(Outcome::Ok(Value::list(members)))
        }
        (Call::Increment { .. }, Reply::Int(count)) => Ok(Outcome::Ok(Value::Int(*count))),
        (Call::Release { .. }, Reply::Int(1)) => done(),
        (Call::Release { owner, .. }, Reply::Int(0 | -1)) => fail(format!("{owner} holds no lock")),
        (Call::Txn { ops }, Reply::Array(results)) => executed(ops, results),
        (Call::Txn { .. }, Reply::Null | Reply::NullArray) => fail("a watched key changed".into()),
        (Call::Acquire { .. }, Reply::Array(results)) => match results.as_slice() {
            [Reply::Simple(ok), Reply::Int(token)] if ok == Reply::OK => {
                Ok(Outcome::Ok(Value::Int(*token)))
            }
            [Reply::Null, Reply::Int(_)] => fail("somebody holds the lock".into()),
            _ => Err("a transaction with other results than the lock's".to_owned()),
        },
        (Call::Stale(read), reply) => outcome(read, reply),
        (call, other) => Err(format!("{} was answered by {}", call.f(), kind(other))),
    }
}

/// The results of a transaction, micro-operation by micro-operation.
fn executed(ops: &[MicroOp], results: &[Reply]) -> Result<Outcome, String> {
    if results.len() != ops.len() {
        return Err(format!("{} results of {} commands", results.len(), ops.len()));
    }
    let mut done = Vec::with_capacity(ops.len());
    for (op, result) in ops.iter().zip(results) {
        done.push(match (op, result) {
            (MicroOp::Append { key, value }, Reply::Int(_)) => json!(["append", key, value]),
            (MicroOp::Read { key }, Reply::Array(items)) => json!(["r", key, numbers(items)?]),
            (_, Reply::Error(error)) => return Err(format!("executed in part: {error}")),
            (_, other) => return Err(format!("a command was answered by {}", kind(other))),
        });
    }
    Ok(Outcome::Ok(Value::Json(Box::new(Json::Array(done)))))
}

fn numbers(items: &[Reply]) -> Result<Vec<i64>, String> {
    let number = |item: &Reply| match item {
        Reply::Bulk(text) => std::str::from_utf8(text).ok()?.parse().ok(),
        _ => None,
    };
    items.iter().map(|item| number(item).ok_or_else(|| strange(item))).collect()
}

fn strange(item: &Reply) -> String {
    match item {
        Reply::Bulk(text) => {
            format!("an element that nobody wrote: {}", text.escape_ascii())
        }
        other => format!("an element that is {}", kind(other)),
    }
}

/// What a string says. One that nobody here writes is passed on for the checker to see.
pub fn observed(text: &[u8]) -> Value {
    let text = String::from_utf8_lossy(text);
    text.parse().map_or_else(|_| Value::Json(Box::new(text.into())), Value::Int)
}

/// By key, what a node has; what it refuses is left out.
fn dumped(reads: &[Call], replies: &[Reply]) -> Value {
    let held = reads.iter().zip(replies).filter_map(|(read, reply)| {
        let key = key_of(read)?.to_string();
        let value = match reply {
            Reply::Null => Json::Null,
            Reply::Bulk(text) => match observed(text) {
                Value::Int(number) => number.into(),
                _ => String::from_utf8_lossy(text).into(),
            },
            Reply::Array(items) => {
                let mut items = numbers(items).ok()?;
                if matches!(read, Call::ReadAll { .. }) {
                    items.sort_unstable();
                }
                items.into()
            }
            _ => return None,
        };
        Some((key, value))
    });
    Value::Json(Box::new(Json::Object(held.collect())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> KeySpace {
        KeySpace::of_slots([449])
    }

    fn words(call: &Call) -> String {
        let requests = requests(call, &keys()).expect("one exchange");
        let name = keys().name(7);
        let tag = &name[..=name.find('}').expect("a tag")];
        requests.iter().map(|words| words.join(" ").replace(tag, "")).collect::<Vec<_>>().join("; ")
    }

    fn txn() -> Call {
        let ops = vec![MicroOp::Append { key: 7, value: 1 }, MicroOp::Read { key: 7 }];
        Call::Txn { ops }
    }

    const LOCK: Call = Call::Acquire { key: 7, owner: 3, ttl_ms: 2000 };

    #[test]
    fn each_operation_has_its_commands() {
        for (call, expected) in [
            (Call::Read { key: 7 }, "GET 7"),
            (Call::Write { key: 7, value: 5 }, "SET 7 5"),
            (Call::Cas { key: 7, from: 5, to: 6 }, "CAS 7 5 6"),
            (Call::Add { key: 7, value: 5 }, "SADD 7 5"),
            (Call::ReadAll { key: 7 }, "SMEMBERS 7"),
            (Call::Increment { key: 7 }, "INCR 7"),
            (txn(), "MULTI; RPUSH 7 1; LRANGE 7 0 -1; EXEC"),
            (LOCK, "MULTI; SET 7:lock 3 NX PX 2000; INCR 7:token; EXEC"),
            (Call::Release { key: 7, owner: 3 }, "CAD 7:lock 3"),
            (Call::Stale(Box::new(Call::Read { key: 7 })), "GET 7"),
            (
                Call::Dump { reads: vec![Call::ReadAll { key: 7 }, txn(), Call::Read { key: 7 }] },
                "SMEMBERS 7; RPUSH 7 1; GET 7",
            ),
        ] {
            assert_eq!(words(&call), expected);
        }
    }

    fn bulk(text: &str) -> Reply {
        Reply::bulk(text.to_owned())
    }

    fn settled(call: Call, reply: Reply, expected: &str) {
        let answer = answer(&call, &[reply]);
        assert_eq!(format!("{answer:?}"), expected);
    }

    #[test]
    fn replies_mean_what_the_server_meant() {
        let read = || Call::Read { key: 7 };
        settled(read(), Reply::Null, "Settled(Ok(Nil))");
        settled(read(), bulk("12"), "Settled(Ok(Int(12)))");
        settled(read(), bulk("zwölf"), r#"Settled(Ok(Json(String("zwölf"))))"#);
        let write = || Call::Write { key: 7, value: 12 };
        settled(write(), Reply::ok(), "Settled(Ok(Int(12)))");
        let cas = || Call::Cas { key: 7, from: 1, to: 2 };
        settled(cas(), Reply::Int(1), "Settled(Ok(Pair(1, 2)))");
        settled(cas(), Reply::Int(0), r#"Settled(Fail("expected 1, found another"))"#);
        settled(cas(), Reply::Int(-1), r#"Settled(Fail("expected 1, found nothing"))"#);
        let members = Reply::Array(vec![bulk("3"), bulk("1"), bulk("2")]);
        let all = || Call::ReadAll { key: 7 };
        settled(all(), members, "Settled(Ok(Json(Array [Number(1), Number(2), Number(3)])))");
        settled(all(), Reply::Array(vec![bulk("3"), bulk("1")]), "Settled(Ok(Pair(1, 3)))");
        settled(Call::Increment { key: 7 }, Reply::Int(4), "Settled(Ok(Int(4)))");
        settled(LOCK, Reply::Array(vec![Reply::ok(), Reply::Int(9)]), "Settled(Ok(Int(9)))");
        settled(
            LOCK,
            Reply::Array(vec![Reply::Null, Reply::Int(10)]),
            r#"Settled(Fail("somebody holds the lock"))"#,
        );
        settled(
            txn(),
            Reply::Array(vec![Reply::Int(1), Reply::Array(vec![bulk("1")])]),
            r#"Settled(Ok(Json(Array [Array [String("append"), Number(7), Number(1)], Array [String("r"), Number(7), Array [Number(1)]]])))"#,
        );
    }

    #[test]
    fn an_error_anywhere_is_a_refusal_and_the_first_tells_most() {
        let moved = || Reply::Error("MOVED 449 10.0.0.41:6666".into());
        let abort = || Reply::Error("EXECABORT Transaction discarded".into());
        let refused = Answer::Refused("MOVED 449 10.0.0.41:6666".into());
        let queued = || Reply::Simple("QUEUED".into());
        let replies = [Reply::ok(), queued(), moved(), abort()];
        assert_eq!(answer(&txn(), &replies), refused);
        assert_eq!(answer(&Call::Read { key: 7 }, &[moved()]), refused);
    }

    #[test]
    fn what_means_nothing_may_have_changed_something() {
        let odd = |call: &Call, reply: Reply| match answer(call, &[reply]) {
            Answer::Broken { perhaps_done, .. } => perhaps_done,
            other => panic!("{other:?}"),
        };
        assert!(!odd(&Call::Read { key: 7 }, Reply::Int(3)));
        assert!(!odd(&Call::ReadAll { key: 7 }, Reply::Array(vec![bulk("x")])));
        assert!(odd(&Call::Write { key: 7, value: 1 }, Reply::Int(3)));
        assert!(odd(&Call::Cas { key: 7, from: 1, to: 2 }, Reply::Int(7)));
        let part = vec![Reply::Int(1), Reply::Error("TRYAGAIN".into())];
        assert!(odd(&txn(), Reply::Array(part)), "one of two commands was executed");
    }

    #[test]
    fn what_was_executed_outside_of_its_transaction_was_perhaps_done() {
        let error = |text: &str| Reply::Error(text.into());
        let list = Reply::Array(vec![bulk("1")]);
        let replies = [error("LOADING"), Reply::Int(1), list, error("ERR EXEC without MULTI")];
        let Answer::Broken { perhaps_done: true, .. } = answer(&txn(), &replies) else {
            panic!("the append was executed")
        };
    }

    #[test]
    fn a_dump_holds_what_is_served() {
        let reads = [5, 6, 7].map(|key| Call::Read { key }).into();
        let replies = [bulk("1"), Reply::Error("MOVED 1 a:1".into()), Reply::Null];
        let Answer::Settled(Outcome::Ok(Value::Json(held))) =
            answer(&Call::Dump { reads }, &replies)
        else {
            panic!("a dump")
        };
        assert_eq!(held.to_string(), r#"{"5":1,"7":null}"#);
    }
}
