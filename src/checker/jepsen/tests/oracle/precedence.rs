//! `comments` and `causal-reverse`: each read against all writes that came before those it sees.

use super::super::random::{self, Store, list};
use super::*;
use crate::checker::jepsen::COMMENTS;
use crate::rng::Rng;

/// A log of writes whose reads may lack one.
pub(in crate::checker::jepsen::tests) struct Log {
    pub next: i64,
    pub held: Vec<i64>,
    pub wrong: f64,
}

impl Store for Log {
    fn ask(&mut self, rng: &mut Rng) -> (&'static str, Value) {
        if rng.chance(0.4) {
            return ("read", Value::Nil);
        }
        self.next += 1;
        ("write", Value::Int(self.next))
    }

    fn act(&mut self, rng: &mut Rng, f: &'static str, asked: &Value) -> Value {
        if f == "write" {
            self.held.push(Op::int(asked));
            return asked.clone();
        }
        let mut seen = self.held.clone();
        if rng.chance(self.wrong) && !seen.is_empty() {
            seen.remove(rng.below(seen.len() as u64) as usize);
        }
        list(&seen)
    }
}

fn oracle(events: &[Event], finding: &Finding) -> Verdict {
    let ops = ops(events);
    let writes: Vec<&Op> = ops.iter().filter(|op| op.f == "write").collect();
    let is_bad = |read: &&Op| {
        let seen = read.seen();
        let expected = seen
            .iter()
            .filter_map(|value| writes.iter().find(|write| Op::int(&write.asked) == *value));
        expected.flat_map(|write| writes.iter().map(move |before| (before, write))).any(
            |(before, write)| {
                let completed = before.kind == Kind::Ok && before.done() < write.invoke;
                completed && !seen.contains(&Op::int(&before.asked))
            },
        )
    };
    let bad = ops.iter().filter(|op| op.is_ok("read")).filter(is_bad).count() as u64;
    assert_eq!(count(finding, "causal-reverse"), bad, "{}", shown(events));
    verdict(bad > 0, false)
}

#[test]
fn the_checker_and_the_definition_agree() {
    let history = |seed| {
        let mut rng = Rng::from_seed(seed);
        let steps = rng.between(2, 30);
        random::history(&mut rng, &mut Log { next: 0, held: Vec::new(), wrong: 0.3 }, steps)
    };
    let wanted = [Verdict::Valid, Verdict::Invalid];
    compare(&COMMENTS, &ModelOptions::default(), 2000, &wanted, history, oracle);
}
