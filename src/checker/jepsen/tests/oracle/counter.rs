//! `counter`: each read against the sums of the adds before it.

use super::super::random::{self, Store};
use super::*;
use crate::checker::jepsen::COUNTER;
use crate::rng::Rng;

/// A counter whose reads are off by a little, now and then.
pub(in crate::checker::jepsen::tests) struct Count {
    pub value: i64,
    pub wrong: f64,
}

impl Store for Count {
    fn ask(&mut self, rng: &mut Rng) -> (&'static str, Value) {
        match rng.chance(0.4) {
            true => ("read", Value::Nil),
            false => ("add", Value::Int(rng.between(0, 5) as i64)),
        }
    }

    fn act(&mut self, rng: &mut Rng, f: &'static str, asked: &Value) -> Value {
        if f == "add" {
            self.value += Op::int(asked);
            return asked.clone();
        }
        let off = if rng.chance(self.wrong) { rng.between(0, 4) as i64 - 2 } else { 0 };
        Value::Int(self.value + off)
    }
}

/// As Jepsen does it: what failed never was.
fn oracle(events: &[Event], _finding: &Finding) -> Verdict {
    let ops = ops(events);
    let adds = || ops.iter().filter(|op| op.f == "add" && op.kind != Kind::Fail);
    let bad = ops.iter().filter(|op| op.is_ok("read")).any(|read| {
        let acknowledged = adds().filter(|add| add.kind == Kind::Ok && add.done() < read.invoke);
        let begun = adds().filter(|add| add.invoke < read.done());
        let lower: i64 = acknowledged.map(|add| Op::int(&add.asked)).sum();
        let upper: i64 = begun.map(|add| Op::int(&add.asked)).sum();
        !(lower..=upper).contains(&Op::int(&read.answer))
    });
    verdict(bad, false)
}

#[test]
fn the_checker_and_the_definition_agree() {
    let history = |seed| {
        let mut rng = Rng::from_seed(seed);
        let steps = rng.between(2, 40);
        random::history(&mut rng, &mut Count { value: 0, wrong: 0.2 }, steps)
    };
    let wanted = [Verdict::Valid, Verdict::Invalid];
    compare(&COUNTER, &ModelOptions::default(), 3000, &wanted, history, oracle);
}
