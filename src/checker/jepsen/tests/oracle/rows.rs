//! `monotonic-inserts`: every row of the last read against every add and the rows before it.

use serde_json::{Value as Json, json};

use super::super::random::{self, Store};
use super::*;
use crate::checker::jepsen::MONOTONIC_INSERTS;
use crate::rng::Rng;

/// A table whose reads may lack a row, have one twice, or in the wrong place.
struct Table {
    rows: Vec<i64>,
    wrong: f64,
}

impl Store for Table {
    fn ask(&mut self, rng: &mut Rng) -> (&'static str, Value) {
        (if rng.chance(0.7) { "add" } else { "read" }, Value::Nil)
    }

    fn act(&mut self, rng: &mut Rng, f: &'static str, _asked: &Value) -> Value {
        let row = |val: &i64| json!({"val": val, "sts": val / 2, "proc": val % 3});
        if f == "add" {
            self.rows.push(self.rows.len() as i64 + 1);
            return Value::Json(Box::new(self.rows.last().map(row).expect("a row")));
        }
        let mut seen = self.rows.clone();
        if rng.chance(self.wrong) && seen.len() > 1 {
            let at = rng.below(seen.len() as u64 - 1) as usize;
            match rng.below(3) {
                0 => drop(seen.remove(at)),
                1 => seen.insert(at, seen[at]),
                _ => seen.swap(at, at + 1),
            }
        }
        Value::Json(Box::new(seen.iter().map(row).collect()))
    }
}

fn number(row: &Json, name: &str) -> i64 {
    row[name].as_i64().expect(name)
}

fn oracle(events: &[Event], finding: &Finding, linearizable: bool) -> Verdict {
    let ops = ops(events);
    let reads = ops.iter().filter(|op| op.is_ok("read"));
    let Some(last) = reads.max_by_key(|op| op.complete) else { return Verdict::Unknown };
    let Value::Json(rows) = &last.answer else { return Verdict::Unknown };
    let rows = rows.as_array().expect("rows");
    let times = |val: i64| rows.iter().filter(|row| number(row, "val") == val).count();
    let acked = ops.iter().filter(|op| op.is_ok("add")).map(|op| match &op.answer {
        Value::Json(row) => (number(row, "val"), op.done() < last.invoke),
        other => panic!("{other}"),
    });
    let missing: Vec<(i64, bool)> = acked.filter(|(val, _)| times(*val) == 0).collect();
    let lost = missing.iter().filter(|(_, before)| *before).count();
    let pairs = || (0..rows.len()).flat_map(|b| (0..b).map(move |a| (&rows[a], &rows[b], b - a)));
    let doubled = rows.iter().any(|row| times(number(row, "val")) > 1);
    let by = |name: &str| pairs().any(|(a, b, gap)| gap == 1 && number(a, name) > number(b, name));
    // Of one process the next row is that which is nearest.
    let own = pairs().any(|(a, b, _)| {
        number(a, "proc") == number(b, "proc") && number(a, "val") >= number(b, "val")
    });
    assert_eq!(count(finding, "lost"), lost as u64, "{}", shown(events));
    let wrong = lost > 0 || doubled || own || by("sts") || (linearizable && by("val"));
    verdict(wrong, missing.len() > lost)
}

#[test]
fn the_checker_and_the_definition_agree() {
    let history = |seed| {
        let mut rng = Rng::from_seed(seed);
        let mut store = Table { rows: Vec::new(), wrong: 0.5 };
        let steps = rng.between(2, 30);
        random::history(&mut rng, &mut store, steps)
    };
    let wanted = [Verdict::Valid, Verdict::Invalid, Verdict::Unknown];
    let options = ModelOptions::default();
    compare(&MONOTONIC_INSERTS, &options, 800, &wanted, history, |e, f| oracle(e, f, false));
    let consistency_models = vec!["linearizable".to_owned()];
    let options = ModelOptions { consistency_models, ..options };
    compare(&MONOTONIC_INSERTS, &options, 800, &wanted, history, |e, f| oracle(e, f, true));
}
