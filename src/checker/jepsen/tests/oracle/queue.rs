//! `unordered-queue`, `total-queue` and `unique-ids`: by counting again for every element.

use super::super::random::{self, Store, list};
use super::*;
use crate::checker::jepsen::{TOTAL_QUEUE, UNIQUE_IDS, UNORDERED_QUEUE};
use crate::rng::Rng;

/// A queue of few different elements that loses and doubles some.
struct Queue {
    held: Vec<i64>,
    wrong: f64,
    drains: f64,
}

impl Store for Queue {
    fn ask(&mut self, rng: &mut Rng) -> (&'static str, Value) {
        match rng.chance(self.drains) {
            true => ("drain", Value::Nil),
            false if rng.chance(0.5) => ("dequeue", Value::Nil),
            false => ("enqueue", Value::Int(rng.below(5) as i64)),
        }
    }

    fn act(&mut self, rng: &mut Rng, f: &'static str, asked: &Value) -> Value {
        let wrong = rng.chance(self.wrong);
        match f {
            "enqueue" => {
                if !wrong {
                    self.held.push(Op::int(asked));
                }
                asked.clone()
            }
            "drain" => list(&std::mem::take(&mut self.held)),
            _ if self.held.is_empty() => match wrong {
                true => Value::Int(rng.below(6) as i64),
                false => Value::Nil,
            },
            _ => {
                let place = rng.below(self.held.len() as u64) as usize;
                let element = self.held[place];
                if !wrong {
                    self.held.remove(place);
                }
                Value::Int(element)
            }
        }
    }
}

fn history(seed: u64, drains: f64) -> Vec<Event> {
    let mut rng = Rng::from_seed(seed);
    let steps = rng.between(2, 30);
    let wrong = [0.0, 0.15][rng.below(2) as usize];
    random::history(&mut rng, &mut Queue { held: Vec::new(), wrong, drains }, steps)
}

/// At every moment, no element may have come out more often than enqueues of it had begun which
/// had not failed.
fn unordered(events: &[Event], _finding: &Finding) -> Verdict {
    let ops = ops(events);
    let bad = (0..events.len()).any(|now| {
        (0..6).any(|element| {
            let asked = ops.iter().filter(|op| {
                let failed = op.kind == Kind::Fail && op.done() <= now;
                op.f == "enqueue" && op.invoke <= now && !failed && Op::int(&op.asked) == element
            });
            let out = ops.iter().filter(|op| {
                op.is_ok("dequeue") && op.done() <= now && op.answer == Value::Int(element)
            });
            out.count() > asked.count()
        })
    });
    verdict(bad, false)
}

#[test]
fn nothing_comes_out_that_did_not_go_in() {
    let wanted = [Verdict::Valid, Verdict::Invalid];
    let options = ModelOptions::default();
    compare(&UNORDERED_QUEUE, &options, 1000, &wanted, |seed| history(seed, 0.0), unordered);
}

fn total(events: &[Event], finding: &Finding) -> Verdict {
    let ops = ops(events);
    let (mut lost, mut unexpected) = (0, 0);
    for element in 0..6 {
        let enqueues =
            || ops.iter().filter(|op| op.f == "enqueue" && op.asked == Value::Int(element));
        let attempts = enqueues().count();
        let acknowledged = enqueues().filter(|op| op.kind == Kind::Ok).count();
        let dequeued: usize = ops
            .iter()
            .map(|op| match (op.is_ok("dequeue"), op.is_ok("drain")) {
                (true, _) => usize::from(op.answer == Value::Int(element)),
                (_, true) => op.seen().iter().filter(|other| **other == element).count(),
                _ => 0,
            })
            .sum();
        lost += acknowledged.saturating_sub(dequeued);
        unexpected += if attempts == 0 { dequeued } else { 0 };
    }
    let in_doubt = |f: &str| ops.iter().filter(|op| op.f == f && op.kind == Kind::Info).count();
    // A drain that never completed is none; one that ended without result may have taken all.
    let crashed = events.iter().any(|event| &*event.f == "drain" && event.kind == Kind::Info);
    let surely = lost > in_doubt("dequeue") && !crashed;
    assert_eq!(count(finding, "unexpected") > 0, unexpected > 0);
    verdict(surely || unexpected > 0, lost > 0)
}

#[test]
fn what_goes_in_comes_out() {
    let wanted = [Verdict::Valid, Verdict::Invalid, Verdict::Unknown];
    let options = ModelOptions::default();
    compare(&TOTAL_QUEUE, &options, 1000, &wanted, |seed| history(seed, 0.2), total);
}

/// Ids from a small range.
struct Ids;

impl Store for Ids {
    fn ask(&mut self, _rng: &mut Rng) -> (&'static str, Value) {
        ("generate", Value::Nil)
    }

    fn act(&mut self, rng: &mut Rng, _f: &'static str, _asked: &Value) -> Value {
        Value::Int(rng.below(200) as i64)
    }
}

#[test]
fn no_id_is_handed_out_twice() {
    let history = |seed| random::history(&mut Rng::from_seed(seed), &mut Ids, 60);
    let oracle = |events: &[Event], finding: &Finding| {
        let ops = ops(events);
        let mut ids: Vec<i64> =
            ops.iter().filter(|op| op.kind == Kind::Ok).map(|op| Op::int(&op.answer)).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(count(finding, "duplicated"), (all - ids.len()) as u64);
        verdict(all > ids.len(), false)
    };
    let wanted = [Verdict::Valid, Verdict::Invalid];
    compare(&UNIQUE_IDS, &ModelOptions::default(), 500, &wanted, history, oracle);
}
