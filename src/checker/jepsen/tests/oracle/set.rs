//! `set`: the last read against all adds.

use super::super::random::{self, Store, list};
use super::*;
use crate::checker::jepsen::SET;
use crate::rng::Rng;

/// A set whose reads may lack an element or have a strange one.
pub(in crate::checker::jepsen::tests) struct Sets {
    pub next: i64,
    pub held: Vec<i64>,
    /// How often a read is wrong.
    pub wrong: f64,
    pub reads: f64,
}

impl Store for Sets {
    fn ask(&mut self, rng: &mut Rng) -> (&'static str, Value) {
        if rng.chance(self.reads) {
            return ("read", Value::Nil);
        }
        self.next += 1;
        ("add", Value::Int(self.next))
    }

    fn act(&mut self, rng: &mut Rng, f: &'static str, asked: &Value) -> Value {
        if f == "add" {
            self.held.push(Op::int(asked));
            return asked.clone();
        }
        let mut seen = self.held.clone();
        if rng.chance(self.wrong) && !seen.is_empty() {
            seen.remove(rng.below(seen.len() as u64) as usize);
        }
        if rng.chance(self.wrong / 4.0) {
            seen.push(1000 + rng.below(3) as i64);
        }
        list(&seen)
    }
}

fn oracle(events: &[Event], finding: &Finding) -> Verdict {
    let ops = ops(events);
    let reads = ops.iter().filter(|op| op.is_ok("read"));
    let Some(last) = reads.max_by_key(|op| op.complete) else { return Verdict::Unknown };
    let seen = last.seen();
    let adds = || ops.iter().filter(|op| op.f == "add");
    let attempted = |value: &i64| adds().any(|add| Op::int(&add.asked) == *value);
    let missing = adds().filter(|add| add.kind == Kind::Ok && !seen.contains(&Op::int(&add.asked)));
    let (lost, unread): (Vec<&Op>, Vec<&Op>) = missing.partition(|add| add.done() < last.invoke);
    let unexpected: std::collections::BTreeSet<&i64> =
        seen.iter().filter(|value| !attempted(value)).collect();
    assert_eq!(count(finding, "lost"), lost.len() as u64);
    assert_eq!(count(finding, "unexpected"), unexpected.len() as u64);
    verdict(!lost.is_empty() || !unexpected.is_empty(), !unread.is_empty())
}

#[test]
fn the_checker_and_the_definition_agree() {
    let history = |seed| {
        let mut rng = Rng::from_seed(seed);
        let mut store = Sets { next: 0, held: Vec::new(), wrong: 0.4, reads: 0.3 };
        let steps = rng.between(2, 24);
        random::history(&mut rng, &mut store, steps)
    };
    let wanted = [Verdict::Valid, Verdict::Invalid, Verdict::Unknown];
    compare(&SET, &ModelOptions::default(), 1500, &wanted, history, oracle);
}
