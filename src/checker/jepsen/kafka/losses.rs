//! What the logs have that they must not, and what was not polled of them: inconsistent-offsets,
//! duplicate, G1a, precommitted-read, lost-write, unseen.

use rustc_hash::FxHashSet;

use super::log::{Log, Logs, Message};
use super::{Entry, Kafka, Op};
use crate::checker::jepsen::streaming::Moment;
use crate::checker::jepsen::tally::{Tally, Told, at, listed};
use crate::op::Kind;

pub(super) fn judge(kafka: &Kafka, logs: &Logs, tally: &mut Tally) {
    for (key, log) in (0_u32..).zip(&logs.logs) {
        inconsistent(kafka, key, log, tally);
        duplicate(kafka, logs, key, log, tally);
        lost(kafka, logs, key, log, tally);
    }
    for op in kafka.transfers() {
        aborted(kafka, logs, op, tally);
        precommitted(kafka, op, tally);
        strangers(kafka, logs, op, tally);
    }
    unseen(kafka, logs, tally);
}

fn writer(kafka: &Kafka, logs: &Logs, message: Message) -> Option<Moment> {
    logs.writers.get(&message).map(|writer| kafka.ops[writer.op as usize].done)
}

fn told(summary: String, proof: impl IntoIterator<Item = Moment>) -> Told {
    Told { summary, proof: proof.into_iter().collect(), ..Told::default() }
}

fn inconsistent(kafka: &Kafka, key: u32, log: &Log, tally: &mut Tally) {
    for (offset, messages) in log.places.iter().filter(|(_, messages)| messages.len() > 1) {
        tally.report("inconsistent-offsets", || {
            let names = listed(messages.iter().map(|message| kafka.messages.name(*message)));
            told(
                format!(
                    "offset {offset} of key {} has several messages: {names}",
                    kafka.keys.name(key)
                ),
                [],
            )
        });
    }
}

fn duplicate(kafka: &Kafka, logs: &Logs, key: u32, log: &Log, tally: &mut Tally) {
    let all =
        log.places.iter().flat_map(|(offset, messages)| messages.iter().map(|m| (*m, *offset)));
    let mut all: Vec<(u32, i64)> = all.collect();
    all.sort_unstable();
    for run in all.chunk_by(|one, other| one.0 == other.0).filter(|run| run.len() > 1) {
        tally.report("duplicate", || {
            let entry = Entry { key, message: run[0].0, offset: None };
            let offsets = listed(run.iter().map(|(_, offset)| offset));
            let what = format!("message {} is at offsets {offsets}", kafka.message(&entry));
            told(what, writer(kafka, logs, (key, run[0].0)))
        });
    }
}

/// What precedes, in the log, something that was polled must have been polled too.
///
/// A message counts at its last place, and what was polled at its first: so nothing is lost that is
/// only told of at another place, too.
fn lost(kafka: &Kafka, logs: &Logs, key: u32, log: &Log, tally: &mut Tally) {
    let (mut first, mut last) = (rustc_hash::FxHashMap::default(), Vec::new());
    for (place, (_, messages)) in log.places.iter().enumerate() {
        for message in messages {
            first.entry(*message).or_insert(place);
            last.push((*message, place));
        }
    }
    let polled = |message: &u32| logs.polled.contains(&(key, *message));
    let highest =
        first.iter().filter(|(message, _)| polled(message)).map(|(m, place)| (*place, *m)).max();
    let Some((bound, beyond)) = highest else { return };
    let final_place: rustc_hash::FxHashMap<u32, usize> = last.iter().copied().collect();
    for (message, place) in last {
        let must = place <= bound && final_place[&message] == place && !polled(&message);
        let committed = logs.writers.get(&(key, message)).is_some_and(|writer| writer.committed);
        if !must || !committed {
            continue;
        }
        tally.report("lost-write", || {
            let entry = |message| kafka.message(&Entry { key, message, offset: None });
            let sent = writer(kafka, logs, (key, message));
            let by = sent.map_or(String::new(), |sent| {
                format!(", sent by process {} at {},", sent.process, at(sent))
            });
            let offset = log.places[place].0;
            let what = format!(
                "message {}{by} is at offset {offset} and was never polled, though {} behind it was",
                entry(message),
                entry(beyond)
            );
            told(what, sent)
        });
    }
}

fn aborted(kafka: &Kafka, logs: &Logs, op: &Op, tally: &mut Tally) {
    if op.kind != Kind::Ok {
        return;
    }
    for poll in kafka.polls(op) {
        let message = (poll.key, poll.message);
        let Some(by) = logs.writers.get(&message).filter(|by| by.kind == Kind::Fail) else {
            continue;
        };
        let by = kafka.ops[by.op as usize];
        tally.report("G1a", || {
            let (name, reader, sender) = (kafka.message(poll), Kafka::who(op), Kafka::who(&by));
            let what =
                format!("message {name} was polled by {reader}, and its send failed ({sender})");
            told(what, [by.done, op.done])
        });
    }
}

fn precommitted(kafka: &Kafka, op: &Op, tally: &mut Tally) {
    let own: FxHashSet<Message> = kafka.sends(op).iter().map(|e| (e.key, e.message)).collect();
    if own.is_empty() {
        return;
    }
    if let Some(poll) = kafka.polls(op).iter().find(|poll| own.contains(&(poll.key, poll.message)))
    {
        tally.report("precommitted-read", || {
            let (who, name) = (Kafka::who(op), kafka.message(poll));
            told(format!("{who} polled message {name} in the transaction that sent it"), [op.done])
        });
    }
}

/// Messages that nobody sent say that the history lacks a part.
fn strangers(kafka: &Kafka, logs: &Logs, op: &Op, tally: &mut Tally) {
    for poll in kafka.polls(op) {
        if !logs.writers.contains_key(&(poll.key, poll.message)) {
            let (name, who) = (kafka.message(poll), Kafka::who(op));
            tally.open(|| format!("message {name}, polled by {who}, was sent by nobody"));
        }
    }
}

/// Acknowledged, and never polled until the end.
fn unseen(kafka: &Kafka, logs: &Logs, tally: &mut Tally) {
    for op in kafka.transfers().filter(|op| op.kind == Kind::Ok) {
        for send in kafka.sends(op).iter().filter(|e| !logs.polled.contains(&(e.key, e.message))) {
            tally.report("unseen", || {
                let (name, who) = (kafka.message(send), Kafka::who(op));
                told(format!("message {name}, sent by {who}, was never polled"), [op.done])
            });
        }
    }
}
