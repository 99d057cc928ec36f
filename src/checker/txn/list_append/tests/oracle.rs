//! Verdicts against brute force, on small random histories.

use super::random::{Case, case};
use super::serial::{Order, serializable, snapshot_isolated};
use super::{asking, judge, seeds};
use crate::checker::Verdict;
use crate::rng::Rng;

/// Judged so, and whether there is an explanation.
type Level = (&'static str, fn(&Case) -> bool);

const LEVELS: &[Level] = &[
    ("serializable", |case| serializable(case, Order::Any)),
    ("strong-session-serializable", |case| serializable(case, Order::Process)),
    ("strict-serializable", |case| serializable(case, Order::Realtime)),
    ("snapshot-isolation", snapshot_isolated),
];

/// The order of every key's versions is known from the longest read, and those that no read has seen come
/// after it in any order: so there is an explanation exactly where there is no anomaly. Snapshot isolation
/// asks more of those that no read has seen; it is held to this where a last transaction reads all.
#[test]
fn a_history_is_valid_exactly_if_brute_force_explains_it() {
    let mut valid = 0;
    let seeds = seeds(500);
    for seed in 0..seeds {
        let mut rng = Rng::from_seed(seed);
        let txns = 1 + rng.below(4) as usize;
        let end = rng.chance(0.5);
        let case = case(&mut rng, txns, end);
        for (model, explained) in LEVELS {
            let finding = judge(&case.events(), &asking(&[model], &[]));
            let explained = explained(&case);
            let judged_valid = finding.verdict != Verdict::Invalid;
            if *model == "snapshot-isolation" && !end && judged_valid {
                // Of two appends that nobody saw it is not known which came first.
                continue;
            }
            assert_eq!(judged_valid, explained, "seed {seed}, {model}: {}\n{case:#?}", finding.why);
            valid += explained as u64;
        }
    }
    let share = valid as f64 / (seeds * LEVELS.len() as u64) as f64;
    assert!((0.2..0.9).contains(&share), "valid: {share}");
}
