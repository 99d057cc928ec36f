//! Writes of which no order is forced: only by trying shows whether there is one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::by_hand::check;
use super::*;
use crate::rng::Rng;

/// Of x and of y two writes each, of which no order is forced: each is read by somebody who saw both writes
/// of the other key begin, and the four who did cannot all be right.
const KNOTTED: &str = "0 ok wx1 wa1\n1 ok wx2 wb1\n2 ok wy1 wc1\n3 ok wy2 wd1\n\
                       4 ok rx1 rc1 rd1\n5 ok rx2 rc1 rd1\n6 ok ry1 ra1 rb1\n7 ok ry2 ra1 rb1";

/// Without the last of them they can.
fn untied() -> &'static str {
    KNOTTED.rsplit_once('\n').expect("several lines").0
}

#[test]
fn where_no_order_is_forced_all_are_tried() {
    for (model, kind) in [
        ("serializable", "no-snapshot-order"),
        ("snapshot-isolation", "no-snapshot-order"),
        ("strict-serializable", "no-snapshot-order"),
    ] {
        let json = serde_json::json!({"consistency_models": [model]});
        check(KNOTTED, json.clone(), "invalid", &[kind]);
        check(untied(), json, "valid", &[]);
    }
}

#[test]
fn whenever_the_time_ends_what_is_said_is_right() {
    let mut ended_in_search = 0;
    for polls in 0..60 {
        for (text, right) in [(KNOTTED, Verdict::Invalid), (untied(), Verdict::Valid)] {
            let json = serde_json::json!({"consistency_models": ["serializable"]});
            let mut checker = RwRegister::new(&options(json)).expect("options");
            history(text).events().iter().for_each(|event| drop(checker.observe(event)));
            let seen = AtomicU64::new(0);
            let exhausted = || seen.fetch_add(1, Relaxed) >= polls;
            let budget = Budget { exhausted: &exhausted, ..Budget::UNBOUNDED };
            let finding = checker.finish(&History::default(), &budget);
            let is_right = finding.verdict == right || finding.verdict == Verdict::Unknown;
            assert!(is_right, "{polls}: {finding:#?}");
            ended_in_search +=
                usize::from(finding.why.contains("still open when the search ended"));
        }
    }
    assert!(ended_in_search > 0);
}

/// Whether some order of the transactions explains what each read.
fn has_order(transactions: &[Vec<&str>], done: u32, store: &BTreeMap<&str, &str>) -> bool {
    let mut left = (0..transactions.len()).filter(|at| done >> at & 1 == 0).peekable();
    left.peek().is_none()
        || left.any(|at| {
            let mut store = store.clone();
            let fits = transactions[at].iter().all(|word| {
                let (f, key, value) = (&word[..1], &word[1..2], &word[2..]);
                match f {
                    "w" => store.insert(key, value).is_none_or(|_| true),
                    _ => store.get(key).copied().unwrap_or("_") == value,
                }
            });
            fits && has_order(transactions, done | 1 << at, &store)
        })
}

#[test]
fn looser_knots_have_an_order_exactly_where_there_is_one() {
    let json = serde_json::json!({"consistency_models": ["serializable"]});
    let (mut valid, mut invalid) = (0, 0);
    for seed in 0..400 {
        let mut rng = Rng::from_seed(seed);
        let looser = *rng.pick(&[0.0, 0.05, 0.1, 0.3]).expect("a share");
        let mut lines = Vec::new();
        for line in KNOTTED.lines() {
            let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            words.retain(|word| !word.starts_with('r') || !rng.chance(looser));
            for word in words.iter_mut().filter(|word| word.starts_with('r')) {
                // Sometimes another of the two values, or none.
                if rng.chance(looser / 2.0) {
                    let value = *rng.pick(&["1", "2", "_"]).expect("a value");
                    let is_pair = word.starts_with("rx") || word.starts_with("ry");
                    let value = if is_pair || value == "_" { value } else { "1" };
                    word.replace_range(2.., value);
                }
            }
            lines.push(words.join(" "));
        }
        lines.retain(|line| line.split(' ').count() > 2);
        rng.shuffle(&mut lines);
        let transactions: Vec<Vec<&str>> =
            lines.iter().map(|line| line.split(' ').skip(2).collect()).collect();
        let expected = has_order(&transactions, 0, &BTreeMap::new());
        let text = lines.join("\n");
        let finding = find(&history(&text), &options(json.clone()));
        let verdict = if expected { Verdict::Valid } else { Verdict::Invalid };
        assert_eq!(finding.verdict, verdict, "seed {seed}: {}\n{text}", finding.why);
        *(if expected { &mut valid } else { &mut invalid }) += 1;
    }
    assert!(valid > 50 && invalid > 50, "{valid} have an order and {invalid} none");
}
