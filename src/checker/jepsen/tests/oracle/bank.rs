//! `bank`: each read against the first.

use serde_json::json;

use super::super::random::{self, Store};
use super::*;
use crate::checker::jepsen::BANK;
use crate::rng::Rng;

/// Three accounts of which a read may be torn.
struct Accounts {
    held: [i64; 3],
}

impl Store for Accounts {
    fn ask(&mut self, rng: &mut Rng) -> (&'static str, Value) {
        if rng.chance(0.5) {
            return ("read", Value::Nil);
        }
        let (from, to) = (rng.below(3), rng.below(3));
        let transfer = json!({"from": from, "to": to, "amount": rng.between(1, 4)});
        ("transfer", Value::Json(Box::new(transfer)))
    }

    fn act(&mut self, rng: &mut Rng, f: &'static str, asked: &Value) -> Value {
        if f == "transfer" {
            let Value::Json(json) = asked else { panic!("{asked}") };
            let field = |name: &str| json[name].as_u64().expect(name);
            if self.held[field("from") as usize] >= field("amount") as i64 || rng.chance(0.02) {
                self.held[field("from") as usize] -= field("amount") as i64;
                self.held[field("to") as usize] += field("amount") as i64;
            }
            return asked.clone();
        }
        let mut seen = json!({"0": self.held[0], "1": self.held[1], "2": self.held[2]});
        match rng.below(60) {
            0 => seen["1"] = json!(self.held[1] + 1),
            1 => seen["3"] = json!(0),
            2 => seen["2"] = json!(null),
            _ => {}
        }
        Value::Json(Box::new(seen))
    }
}

fn oracle(events: &[Event], finding: &Finding) -> Verdict {
    let ops = ops(events);
    let mut reads: Vec<&Op> = ops.iter().filter(|op| op.is_ok("read")).collect();
    reads.sort_by_key(|read| read.complete);
    let balances = |read: &Op| match &read.answer {
        Value::Json(json) => json.as_object().expect("a map").clone(),
        other => panic!("{other}"),
    };
    let sum = |read: &Op| balances(read).values().filter_map(|b| b.as_i64()).sum::<i64>();
    let Some(first) = reads.first() else { return Verdict::Valid };
    let (mut strange, mut nil, mut total, mut negative) = (0, 0, 0, 0);
    for read in &reads {
        let map = balances(read);
        if map.keys().any(|account| !balances(first).contains_key(account)) {
            strange += 1;
        } else if map.values().any(serde_json::Value::is_null) {
            nil += 1;
        } else if sum(read) != sum(first) {
            total += 1;
        } else if map.values().any(|balance| balance.as_i64() < Some(0)) {
            negative += 1;
        }
    }
    let kinds = ["unexpected-key", "nil-balance", "wrong-total", "negative-value"];
    assert_eq!(kinds.map(|kind| count(finding, kind)), [strange, nil, total, negative]);
    verdict(strange + nil + total + negative > 0, false)
}

#[test]
fn the_checker_and_the_definition_agree() {
    let history = |seed| {
        let mut rng = Rng::from_seed(seed);
        let steps = rng.between(2, 40);
        random::history(&mut rng, &mut Accounts { held: [5, 0, 0] }, steps)
    };
    let wanted = [Verdict::Valid, Verdict::Invalid];
    compare(&BANK, &ModelOptions::default(), 800, &wanted, history, oracle);
}
