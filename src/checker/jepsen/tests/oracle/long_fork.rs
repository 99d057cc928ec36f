//! `long-fork`: every read of a group against every other.

use serde_json::json;

use super::super::random::{self, Store};
use super::*;
use crate::checker::jepsen::LONG_FORK;
use crate::rng::Rng;

/// Groups of three keys, each written once; a read may lack one that is there.
struct Keys {
    next: i64,
    written: Vec<i64>,
    wrong: f64,
}

impl Store for Keys {
    fn ask(&mut self, rng: &mut Rng) -> (&'static str, Value) {
        if rng.chance(0.6) {
            let first = rng.below(2) as i64 * 3;
            let mut keys = [first, first + 1, first + 2];
            rng.shuffle(&mut keys);
            return ("read", Value::Json(Box::new(json!(keys.map(|key| json!(["r", key, null]))))));
        }
        self.next += 1;
        ("write", Value::Json(Box::new(json!([["w", self.next - 1, 1]]))))
    }

    fn act(&mut self, rng: &mut Rng, f: &'static str, asked: &Value) -> Value {
        let Value::Json(parts) = asked else { panic!("{asked}") };
        let mut parts = parts.as_array().expect("parts").clone();
        if f == "write" {
            self.written.push(parts[0][1].as_i64().expect("a key"));
            return asked.clone();
        }
        for part in &mut parts {
            let there = self.written.contains(&part[1].as_i64().expect("a key"));
            if there && !rng.chance(self.wrong) {
                part[2] = json!(1);
            }
        }
        Value::Json(Box::new(json!(parts)))
    }
}

fn oracle(events: &[Event], _finding: &Finding) -> Verdict {
    let ops = ops(events);
    let reads: Vec<Vec<(i64, bool)>> = ops
        .iter()
        .filter(|op| op.is_ok("read"))
        .map(|op| {
            let Value::Json(parts) = &op.answer else { panic!("{:?}", op.answer) };
            let parts = parts.as_array().expect("parts").iter();
            let mut seen: Vec<_> =
                parts.map(|part| (part[1].as_i64().expect("a key"), !part[2].is_null())).collect();
            seen.sort_unstable();
            seen
        })
        .collect();
    let forked = |one: &Vec<(i64, bool)>, other: &Vec<(i64, bool)>| {
        let both = || one.iter().zip(other);
        let same = both().all(|((a, _), (b, _))| a == b);
        same && both().any(|((_, a), (_, b))| a > b) && both().any(|((_, a), (_, b))| a < b)
    };
    verdict(reads.iter().any(|one| reads.iter().any(|other| forked(one, other))), false)
}

#[test]
fn the_checker_and_the_definition_agree() {
    let history = |seed| {
        let mut rng = Rng::from_seed(seed);
        let steps = rng.between(2, 50);
        let wrong = [0.0, 0.1][rng.below(2) as usize];
        random::history(&mut rng, &mut Keys { next: 0, written: Vec::new(), wrong }, steps)
    };
    let wanted = [Verdict::Valid, Verdict::Invalid];
    compare(&LONG_FORK, &ModelOptions::default(), 1200, &wanted, history, oracle);
}
