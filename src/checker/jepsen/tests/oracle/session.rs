//! `session` and `monotonic`: whether there is an order at all, by trying every one.

use serde_json::json;

use super::super::random::{self, Store};
use super::*;
use crate::checker::jepsen::{MONOTONIC, SESSION};
use crate::rng::Rng;

/// All orders of so many things, until one is right.
fn some_order(things: usize, right: &dyn Fn(&[usize]) -> bool) -> bool {
    fn go(rest: &mut Vec<usize>, order: &mut Vec<usize>, right: &dyn Fn(&[usize]) -> bool) -> bool {
        if rest.is_empty() {
            return right(order);
        }
        (0..rest.len()).any(|place| {
            let thing = rest.remove(place);
            order.push(thing);
            let found = go(rest, order, right);
            order.pop();
            rest.insert(place, thing);
            found
        })
    }
    go(&mut (0..things).collect(), &mut Vec::new(), right)
}

/// A register that forgets: reads see one of the latest values.
struct Forgetful {
    written: Vec<i64>,
    held: Vec<i64>,
    depth: u64,
}

impl Store for Forgetful {
    fn ask(&mut self, rng: &mut Rng) -> (&'static str, Value) {
        if self.written.len() == 4 || rng.chance(0.6) {
            return ("read", Value::Nil);
        }
        self.written.push(self.written.len() as i64 + 1);
        ("write", Value::Int(self.written.len() as i64))
    }

    fn act(&mut self, rng: &mut Rng, f: &'static str, asked: &Value) -> Value {
        if f == "write" {
            self.held.push(Op::int(asked));
            return asked.clone();
        }
        let back = rng.below(self.depth) as usize;
        let place = self.held.len().checked_sub(back + 1);
        place.map_or(Value::Nil, |place| Value::Int(self.held[place]))
    }
}

/// By all pairs of each process's operations: values only grow, and nil is the least.
fn one_order_for_all(events: &[Event]) -> bool {
    let process = |op: &Op| events[op.invoke].process;
    let ops: Vec<Op> = ops(events).into_iter().filter(|op| op.kind == Kind::Ok).collect();
    some_order(4, &|order| {
        let rank = |op: &Op| match Datum::Value(&op.answer).as_i64() {
            None => 0,
            Some(value) => {
                1 + order.iter().position(|other| *other as i64 + 1 == value).unwrap_or(9)
            }
        };
        let pairs =
            ops.iter().enumerate().flat_map(|(n, one)| ops[n..].iter().map(move |o| (one, o)));
        pairs
            .filter(|(one, other)| process(one) == process(other))
            .all(|(one, o)| rank(one) <= rank(o))
    })
}

#[test]
fn a_history_keeps_the_session_guarantees_if_some_order_of_the_values_does() {
    let history = |seed| {
        let mut rng = Rng::from_seed(seed);
        let (steps, depth) = (rng.between(2, 24), rng.between(1, 3));
        let mut store = Forgetful { written: Vec::new(), held: Vec::new(), depth };
        random::history(&mut rng, &mut store, steps)
    };
    let oracle = |events: &[Event], _: &Finding| verdict(!one_order_for_all(events), false);
    let wanted = [Verdict::Valid, Verdict::Invalid];
    compare(&SESSION, &ModelOptions::default(), 800, &wanted, history, oracle);
}

/// Two counters, of which a read may see one a little late.
struct Two {
    held: [i64; 2],
}

impl Store for Two {
    fn ask(&mut self, rng: &mut Rng) -> (&'static str, Value) {
        let inc = rng.chance(0.5);
        (if inc { "inc" } else { "read" }, Value::Int(rng.below(2) as i64))
    }

    fn act(&mut self, rng: &mut Rng, f: &'static str, asked: &Value) -> Value {
        if f == "inc" {
            self.held[Op::int(asked) as usize] += 1;
            return Value::Json(Box::new(json!({})));
        }
        let late = rng.below(2) as usize;
        let mut seen = self.held;
        seen[late] = (seen[late] - i64::from(rng.chance(0.5))).max(0);
        Value::Json(Box::new(json!({"x": seen[0], "y": seen[1]})))
    }
}

fn numbers_only_grow(events: &[Event]) -> bool {
    let mut ops: Vec<Op> = ops(events).into_iter().filter(|op| op.kind == Kind::Ok).collect();
    ops.sort_by_key(|op| op.complete);
    let reads: Vec<(Process, usize, [i64; 2])> = ops
        .iter()
        .filter_map(|op| {
            let Value::Json(json) = &op.answer else { return None };
            Some((events[op.invoke].process, op.done(), [json["x"].as_i64()?, json["y"].as_i64()?]))
        })
        .collect();
    some_order(reads.len(), &|order| {
        order.windows(2).all(|pair| {
            let (one, other) = (&reads[pair[0]], &reads[pair[1]]);
            one.2[0] <= other.2[0] && one.2[1] <= other.2[1]
        }) && order.iter().enumerate().all(|(n, one)| {
            order[n..].iter().all(|other| {
                let (one, other) = (&reads[*one], &reads[*other]);
                one.0 != other.0 || one.1 <= other.1
            })
        })
    })
}

#[test]
fn numbers_grow_if_some_order_of_the_operations_says_so() {
    let history = |seed| {
        let mut rng = Rng::from_seed(seed);
        let steps = rng.between(8, 16);
        random::history(&mut rng, &mut Two { held: [0, 0] }, steps)
    };
    let oracle = |events: &[Event], _: &Finding| verdict(!numbers_only_grow(events), false);
    let wanted = [Verdict::Valid, Verdict::Invalid];
    compare(&MONOTONIC, &ModelOptions::default(), 400, &wanted, history, oracle);
}
