//! Operations that poll what each other sent in a circle: G1c, and with real time in it G1c-realtime.
//!
//! As in Jepsen, that messages follow each other in a log counts only if it is asked for (`ww-deps`
//! there, here by the name of G0), because writes of transactions are never isolated. Linear.

use rustc_hash::{FxHashMap, FxHashSet};

use super::log::{Logs, Message};
use super::{Kafka, Op, Task};
use crate::checker::Budget;
use crate::checker::jepsen::tally::{Tally, Told};
use crate::checker::txn::cycles::{Cycle, CycleStep, find_cycles};
use crate::checker::txn::graph::{Edges, rel};
use crate::op::Kind;

/// Steps that are told; cycles in practice are shorter.
const STEPS: usize = 12;

pub(super) fn judge(kafka: &Kafka, logs: &Logs, tally: &mut Tally) {
    let senders = senders(kafka);
    let mut edges = Edges::new(kafka.ops.len());
    polls(kafka, &senders, &mut edges);
    if edges.len() == 0 && !tally.names("G0") {
        return;
    }
    if tally.names("G0") {
        sends(logs, &senders, &mut edges);
    }
    real_time(kafka, &mut edges);
    let cycles = find_cycles(&edges.into_graph(), &Budget::UNBOUNDED);
    for cycle in &cycles.told {
        tally.report(cycle.name, || told(kafka, &senders, cycle));
    }
}

/// Who sent each message that one operation alone may have sent.
fn senders(kafka: &Kafka) -> FxHashMap<Message, u32> {
    let mut senders: FxHashMap<Message, u32> = FxHashMap::default();
    let mut several: FxHashSet<Message> = FxHashSet::default();
    for (number, op) in messages(kafka).filter(|(_, op)| op.kind != Kind::Fail) {
        for send in kafka.sends(op) {
            let message = (send.key, send.message);
            if senders.insert(message, number).is_some_and(|other| other != number) {
                several.insert(message);
            }
        }
    }
    senders.retain(|message, _| !several.contains(message));
    senders
}

fn messages(kafka: &Kafka) -> impl Iterator<Item = (u32, &Op)> {
    (0..).zip(&kafka.ops).filter(|(_, op)| op.task == Task::Messages)
}

fn polls(kafka: &Kafka, senders: &FxHashMap<Message, u32>, edges: &mut Edges) {
    for (number, op) in messages(kafka).filter(|(_, op)| op.kind == Kind::Ok) {
        for poll in kafka.polls(op) {
            if let Some(sender) = senders.get(&(poll.key, poll.message)) {
                edges.add(*sender, number, rel::WR);
            }
        }
    }
}

/// Each message of a log after the one before it.
fn sends(logs: &Logs, senders: &FxHashMap<Message, u32>, edges: &mut Edges) {
    for (key, log) in (0_u32..).zip(&logs.logs) {
        let sender = |place: &(i64, Vec<u32>)| {
            let message = place.1.first()?;
            senders.get(&(key, *message)).copied()
        };
        for two in log.places.windows(2) {
            if let (Some(one), Some(other)) = (sender(&two[0]), sender(&two[1])) {
                edges.add(one, other, rel::WW);
            }
        }
    }
}

/// What was over before another began, through a chain of moments: of completions in a row one.
fn real_time(kafka: &Kafka, edges: &mut Edges) {
    let mut events: Vec<(u64, bool, u32)> = Vec::new();
    for (number, op) in messages(kafka).filter(|(_, op)| op.kind != Kind::Fail) {
        // Where no invocation is told, nobody knows when it began.
        if op.done.operation != op.done.index {
            events.push((op.done.operation, false, number));
        }
        if op.kind == Kind::Ok {
            events.push((op.done.index, true, number));
        }
    }
    events.sort_unstable();
    let (mut now, mut fresh) = (None, false);
    for (_, is_end, number) in events {
        match (is_end, now) {
            (true, _) if !fresh => {
                let moment = edges.add_node();
                if let Some(before) = now {
                    edges.add(before, moment, rel::REALTIME);
                }
                edges.add(number, moment, rel::REALTIME);
                (now, fresh) = (Some(moment), true);
            }
            (true, Some(moment)) => edges.add(number, moment, rel::REALTIME),
            (false, Some(moment)) => {
                edges.add(moment, number, rel::REALTIME);
                fresh = false;
            }
            (true | false, None) => {}
        }
    }
}

fn told(kafka: &Kafka, senders: &FxHashMap<Message, u32>, cycle: &Cycle) -> Told {
    let steps = cycle.steps.iter().take(STEPS);
    let mut details: Vec<String> = steps.map(|step| reason(kafka, senders, step)).collect();
    if cycle.steps.len() > STEPS {
        details.push(format!("... {} steps in all", cycle.steps.len()));
    }
    Told {
        summary: format!(
            "{} operations depend on each other in a circle: {}",
            cycle.steps.len(),
            { details.iter().take(2).cloned().collect::<Vec<_>>().join("; ") }
        ),
        proof: cycle.steps.iter().map(|step| kafka.ops[step.from as usize].done).collect(),
        details,
    }
}

fn reason(kafka: &Kafka, senders: &FxHashMap<Message, u32>, step: &CycleStep) -> String {
    let (from, to) = (&kafka.ops[step.from as usize], &kafka.ops[step.to as usize]);
    let (one, other) = (Kafka::who(from), Kafka::who(to));
    match step.kind {
        rel::WR => {
            let is_of =
                |send: &&super::Entry| senders.get(&(send.key, send.message)) == Some(&step.from);
            let polled = kafka.polls(to).iter().find(is_of);
            let what = polled.map_or("what".to_owned(), |polled| {
                format!("message {}, which", kafka.message(polled))
            });
            format!("{other} polled {what} {one} sent")
        }
        rel::WW => format!("{other} sent to a log right after {one}"),
        _ => format!("{one} was over before {other} began"),
    }
}
