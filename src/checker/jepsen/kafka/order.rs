//! Who polled or sent out of the log's order, within one operation and from one to the next.

use rustc_hash::{FxHashMap, FxHashSet};

use super::log::Logs;
use super::{Entry, Kafka, Op, Task};
use crate::checker::jepsen::streaming::Moment;
use crate::checker::jepsen::tally::{Tally, Told, listed};
use crate::op::Kind;

/// Two entries of one key, one after the other.
struct Pair<'a> {
    key: u32,
    before: (&'a Op, u32),
    after: (&'a Op, u32),
    distance: i64,
}

pub(super) fn judge(kafka: &Kafka, logs: &Logs, tally: &mut Tally) {
    let mut last_polls: FxHashMap<u32, Lasts> = FxHashMap::default();
    let mut last_sends: FxHashMap<u32, Lasts> = FxHashMap::default();
    for op in &kafka.ops {
        let (polls, sends) = (
            last_polls.entry(op.done.process).or_default(),
            last_sends.entry(op.done.process).or_default(),
        );
        if op.task == Task::Assign {
            // What is no longer assigned may go on anywhere when it is assigned again.
            let keys: FxHashSet<u32> = kafka.sends(op).iter().map(|entry| entry.key).collect();
            polls.retain(|key, _| keys.contains(key));
            sends.retain(|key, _| keys.contains(key));
            continue;
        }
        within(kafka, logs, op, tally);
        across_polls(kafka, logs, op, polls, tally);
        if op.kind != Kind::Fail {
            across_sends(kafka, logs, op, sends, tally);
        }
    }
}

/// Of each key, the last message and whose it was.
type Lasts = FxHashMap<u32, (Op, u32)>;

/// The entries of each key in order, keys in the order of their first entry.
fn by_key(entries: &[Entry]) -> Vec<(u32, Vec<u32>)> {
    let mut keys: indexmap::IndexMap<u32, Vec<u32>, rustc_hash::FxBuildHasher> = Default::default();
    for entry in entries {
        keys.entry(entry.key).or_default().push(entry.message);
    }
    keys.into_iter().collect()
}

fn within(kafka: &Kafka, logs: &Logs, op: &Op, tally: &mut Tally) {
    for (polls, entries) in [(true, kafka.polls(op)), (false, kafka.sends(op))] {
        if entries.len() < 2 {
            continue;
        }
        for (key, messages) in by_key(entries) {
            for two in messages.windows(2) {
                let distance = logs.distance(key, two[0], two[1]);
                if distance == 1 {
                    continue;
                }
                let pair = Pair { key, before: (op, two[0]), after: (op, two[1]), distance };
                tell_within(kafka, logs, polls, &pair, tally);
            }
        }
    }
}

fn tell_within(kafka: &Kafka, logs: &Logs, polls: bool, pair: &Pair, tally: &mut Tally) {
    match (polls, pair.distance > 1) {
        (false, true) => {
            tally.count_or_report("int-send-skip", 1, || told(kafka, logs, "sent", pair));
        }
        (false, false) => {
            tally.report("int-nonmonotonic-send", || told(kafka, logs, "sent", pair));
        }
        (true, skips) if kafka.subscribes && !tally.names(internal(skips)) => tally.open(|| {
            let words = told(kafka, logs, "polled", pair).summary;
            format!("{words}, which a change of its assignment may explain")
        }),
        (true, skips) => tally.report(internal(skips), || told(kafka, logs, "polled", pair)),
    }
}

/// What one operation's own polls do that are not one right after the other.
fn internal(skips: bool) -> &'static str {
    if skips { "int-poll-skip" } else { "int-nonmonotonic-poll" }
}

/// Only a poll that was `ok` moves on; each is compared with the last one that did.
fn across_polls(kafka: &Kafka, logs: &Logs, op: &Op, last: &mut Lasts, tally: &mut Tally) {
    for (key, messages) in by_key(kafka.polls(op)) {
        let (Some(first), Some(end)) = (messages.first(), messages.last()) else { continue };
        if let Some((before, message)) = last.get(&key) {
            let distance = logs.distance(key, *message, *first);
            let pair = Pair { key, before: (before, *message), after: (op, *first), distance };
            let kind = if distance > 1 { "poll-skip" } else { "nonmonotonic-poll" };
            match (distance, kafka.subscribes) {
                (1, _) => {}
                (_, true) => tally.count_or_report(kind, 1, || told(kafka, logs, "polled", &pair)),
                (_, false) => tally.report(kind, || told(kafka, logs, "polled", &pair)),
            }
        }
        if op.kind == Kind::Ok {
            last.insert(key, (*op, *end));
        }
    }
}

fn across_sends(kafka: &Kafka, logs: &Logs, op: &Op, last: &mut Lasts, tally: &mut Tally) {
    for (key, messages) in by_key(kafka.sends(op)) {
        let (Some(first), Some(end)) = (messages.first(), messages.last()) else { continue };
        if let Some((before, message)) = last.get(&key) {
            let distance = logs.distance(key, *message, *first);
            if distance < 1 {
                let pair = Pair { key, before: (before, *message), after: (op, *first), distance };
                tally.report("nonmonotonic-send", || told(kafka, logs, "sent", &pair));
            }
        }
        last.insert(key, (*op, *end));
    }
}

/// `process 3 polled 4 of key x at 2.1 s right after 2 at 1.9 s, and skipped 3`.
fn told(kafka: &Kafka, logs: &Logs, verb: &str, pair: &Pair) -> Told {
    let Pair { key, before, after, distance } = pair;
    let name = |message: u32| kafka.messages.name(message);
    let (who, earlier) = (Kafka::who(after.0), Kafka::who(before.0));
    let since = if after.0.done == before.0.done { String::new() } else { format!(" ({earlier})") };
    let key_name = kafka.keys.name(*key);
    let outcome = if *distance > 1 {
        let log = &logs.logs[*key as usize];
        let place = log.place_of.get(&before.1).map_or(0, |place| *place as usize);
        let skipped = log.places[place + 1..].iter().take(*distance as usize - 1);
        format!("skipping {}", listed(skipped.map(|(_, messages)| name(messages[0]))))
    } else {
        format!("{} places back in the log", -distance)
    };
    let proof: Vec<Moment> = vec![before.0.done, after.0.done];
    Told {
        summary: format!(
            "{who} {verb} {} of key {key_name} right after {}{since}, {outcome}",
            name(after.1),
            name(before.1)
        ),
        proof,
        ..Told::default()
    }
}
