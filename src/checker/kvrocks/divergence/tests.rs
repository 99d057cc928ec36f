//! Nodes of a shard that hold different values in the end: by hand, and against a naive search.

use std::collections::BTreeMap;

use expect_test::expect;

use super::super::told::{check, checks, register};
use super::ReplicaDivergence;
use crate::checker::text::history;
use crate::checker::{Budget, Checker, Verdict};
use crate::rng::Rng;

fn checker() -> ReplicaDivergence {
    ReplicaDivergence { checks: checks(Some(register())) }
}

fn verdict(text: &str) -> Verdict {
    checker().finish(&history(text), &Budget::UNBOUNDED).verdict
}

/// What each node answers in a round of dumps at this second.
fn round(at: u64, held: &[(usize, &str)]) -> String {
    let lines = held.iter().map(|(node, json)| {
        format!(
            "{at} {node}@kvrocks{node} invoke dump nil\n{at}.1 {node}@kvrocks{node} ok dump {json}"
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn rounds(from: u64, to: u64, held: &[(usize, &str)]) -> String {
    (from..=to).map(|at| round(at, held)).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_replica_that_never_catches_up_is_found() {
    let text = rounds(60, 66, &[(1, r#"{"1":5,"2":7,"3":4}"#), (2, r#"{"1":5,"2":6,"3":null}"#)]);
    check(
        &mut checker(),
        &history(&text),
        expect![[r#"
            invalid: 3 keys compared: 2 differ
            replica-divergence: of key 2 kvrocks1 holds 7, kvrocks2 holds 6 at 66.100 s, and have done so for 6.000 s: they are one shard, and nothing is written any more
              2 keys of this shard differ
              [kvrocks1 kvrocks2; key 2; ops [24, 26]; 60100 to 66100 ms]
            replica-divergence: of key 3 kvrocks1 holds 4, kvrocks2 holds null at 66.100 s, and have done so for 6.000 s: they are one shard, and nothing is written any more
              2 keys of this shard differ
              [kvrocks1 kvrocks2; key 3; ops [24, 26]; 60100 to 66100 ms]
        "#]],
    );
}

#[test]
fn a_replica_that_may_just_be_late_is_not_blamed() {
    let differ = [(1, r#"{"1":5}"#), (2, r#"{"1":4}"#)];
    let agree = [(1, r#"{"1":5}"#), (2, r#"{"1":5}"#)];
    assert_eq!(verdict(&round(60, &agree)), Verdict::Valid);
    assert_eq!(verdict(&round(60, &differ)), Verdict::Unknown);
    let caught_up = format!("{}\n{}", rounds(60, 66, &differ), round(67, &agree));
    assert_eq!(verdict(&caught_up), Verdict::Valid);
    // It still moves.
    let moving = (60..=66).map(|at| {
        let held = format!(r#"{{"1":{at}}}"#);
        round(at, &[(1, r#"{"1":99}"#), (2, &held)])
    });
    assert_eq!(verdict(&moving.collect::<Vec<_>>().join("\n")), Verdict::Unknown);
    assert_eq!(verdict("60 nemesis phase drain"), Verdict::Unknown, "nobody was asked");
    // Nodes of different shards hold different slots; one that refuses a key by now tells nothing of it.
    let apart = rounds(60, 66, &[(1, r#"{"1":5}"#), (2, r#"{"1":5}"#), (3, r#"{"1":4}"#)]);
    assert_eq!(verdict(&apart), Verdict::Valid);
    let refused = format!(
        "{}\n{}",
        rounds(60, 66, &differ),
        rounds(67, 70, &[(1, r#"{"1":5}"#), (2, "{}"), (3, r#"{"2":1}"#), (4, r#"{"2":1}"#)])
    );
    assert_eq!(verdict(&refused), Verdict::Valid);
    // In the order of the elements, too.
    let lists = rounds(60, 66, &[(3, r#"{"1":[1,2]}"#), (4, r#"{"1":[2,1]}"#)]);
    assert_eq!(verdict(&lists), Verdict::Invalid);
}

#[test]
fn random_dumps_are_judged_as_a_naive_search_does() {
    let rng = Rng::from_seed(4);
    let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
    for number in 0..2_000 {
        let mut rng = rng.fork(&number.to_string());
        let count = rng.between(1, 9);
        let change = *rng.pick(&[0.0, 0.1, 0.3]).expect("a chance");
        let mut held = [[1_u64, 1], [1, 1]];
        let mut lines = Vec::new();
        let mut told: Vec<[[u64; 2]; 2]> = Vec::new();
        for at in 0..count {
            for (node, keys) in held.iter_mut().enumerate() {
                for key in keys.iter_mut() {
                    *key = if rng.chance(change) { rng.between(1, 2) } else { *key };
                }
                let json = format!(r#"{{"1":{},"2":{}}}"#, keys[0], keys[1]);
                lines.push(round(60 + at, &[(node + 1, json.as_str())]));
            }
            told.push(held);
        }
        // A key differs for good where it has been held as in the end for five seconds.
        let verdict_of = |key: usize| {
            let last = told.last().expect("a round");
            if last[0][key] == last[1][key] {
                return Verdict::Valid;
            }
            let same = |round: &&[[u64; 2]; 2]| {
                round[0][key] == last[0][key] && round[1][key] == last[1][key]
            };
            match told.iter().rev().take_while(same).count() {
                6.. => Verdict::Invalid,
                _ => Verdict::Unknown,
            }
        };
        let expected = verdict_of(0).max(verdict_of(1));
        assert_eq!(verdict(&lines.join("\n")), expected, "{told:?}");
        *counts.entry(expected).or_default() += 1;
    }
    assert!(counts.len() == 3 && counts.values().all(|count| *count > 50), "{counts:?}");
}
