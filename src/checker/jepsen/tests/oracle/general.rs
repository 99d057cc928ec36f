//! `staleness` and `epochs`: every read against every write, every claim against every other.

use super::super::random::{self, Store, list};
use super::*;
use crate::checker::jepsen::{EPOCHS, STALENESS};
use crate::op::{MILLISECOND, Nanos};
use crate::rng::Rng;

/// A register whose reads may be late.
struct Late {
    written: i64,
    held: Vec<i64>,
}

impl Store for Late {
    fn ask(&mut self, rng: &mut Rng) -> (&'static str, Value) {
        if rng.chance(0.5) {
            return ("read", Value::Nil);
        }
        self.written += 1;
        ("write", Value::Int(self.written))
    }

    fn act(&mut self, rng: &mut Rng, f: &'static str, asked: &Value) -> Value {
        if f == "write" {
            self.held.push(Op::int(asked));
            return asked.clone();
        }
        let back = if rng.chance(0.5) { 1 } else { 1 + rng.below(3) as usize };
        let place = self.held.len().checked_sub(back);
        place.map_or(Value::Nil, |place| Value::Int(self.held[place]))
    }
}

/// How stale each `ok` read was at least.
fn stale(events: &[Event]) -> Vec<Nanos> {
    let ops = ops(events);
    let reads: Vec<&Op> = ops.iter().filter(|op| op.is_ok("read")).collect();
    // When a value is known: its write acknowledged, or a read of it completed.
    let known = |value: &Value| {
        let acknowledged =
            ops.iter().filter(|op| op.is_ok("write") && op.asked == *value).map(Op::done);
        let seen = reads.iter().filter(|read| read.answer == *value).map(|read| read.done());
        acknowledged.chain(seen).min()
    };
    reads
        .iter()
        .map(|read| {
            let since = match read.answer {
                Value::Nil => None,
                _ => known(&read.answer),
            };
            let after = ops
                .iter()
                .filter(|op| op.f == "write" && since.is_none_or(|known| op.invoke > known));
            let replaced = after.filter_map(|write| known(&write.asked)).min();
            let replaced = replaced.filter(|replaced| *replaced < read.invoke);
            replaced.map_or(0, |replaced| events[read.invoke].time - events[replaced].time)
        })
        .collect()
}

#[test]
fn a_read_is_as_stale_as_all_writes_together_prove() {
    let history = |seed| {
        let mut rng = Rng::from_seed(seed);
        let steps = rng.between(4, 40);
        random::history(&mut rng, &mut Late { written: 0, held: Vec::new() }, steps)
    };
    let oracle = |events: &[Event], finding: &Finding| {
        let stale = stale(events);
        let late = stale.iter().filter(|stale| **stale > 5 * MILLISECOND).count() as u64;
        assert_eq!(count(finding, "too-stale"), late, "{}", shown(events));
        let worst = stale.iter().max().map(|worst| *worst as f64 / MILLISECOND as f64);
        assert_eq!(finding.figures.get("staleness-ms.max").copied(), worst, "{}", shown(events));
        verdict(late > 0, false)
    };
    let consistency_models = vec!["bounded-staleness:5".to_owned()];
    let options = ModelOptions { consistency_models, ..ModelOptions::default() };
    compare(&STALENESS, &options, 800, &[Verdict::Valid, Verdict::Invalid], history, oracle);
}

/// Take-overs, of which some come with an old epoch.
struct Elections {
    epoch: i64,
}

impl Store for Elections {
    fn ask(&mut self, rng: &mut Rng) -> (&'static str, Value) {
        (if rng.chance(0.5) { "claim" } else { "observe" }, Value::Nil)
    }

    fn act(&mut self, rng: &mut Rng, f: &'static str, _asked: &Value) -> Value {
        let old = rng.chance(0.05);
        if f == "claim" && !old {
            self.epoch += 1;
        }
        let epoch = self.epoch - i64::from(old || (f == "observe" && rng.chance(0.3)));
        list(&[epoch, if rng.chance(0.03) { 9 } else { epoch % 3 }])
    }
}

#[test]
fn claims_grow_and_epochs_have_one_leader() {
    let history = |seed| {
        let mut rng = Rng::from_seed(seed);
        let steps = rng.between(4, 30);
        random::history(&mut rng, &mut Elections { epoch: 0 }, steps)
    };
    let oracle = |events: &[Event], _: &Finding| {
        let ops: Vec<Op> = ops(events).into_iter().filter(|op| op.kind == Kind::Ok).collect();
        let pairs = || {
            ops.iter()
                .flat_map(|one| ops.iter().map(move |other| (one.seen(), one, other.seen(), other)))
        };
        let two = pairs().any(|(a, _, b, _)| a[0] == b[0] && a[1] != b[1]);
        let back = pairs().any(|(a, one, b, other)| {
            other.f == "claim" && one.done() < other.invoke && b[0] < a[0]
        });
        verdict(two || back, false)
    };
    let wanted = [Verdict::Valid, Verdict::Invalid];
    compare(&EPOCHS, &ModelOptions::default(), 800, &wanted, history, oracle);
}
