//! Read atomic, causal consistency, prefix and parallel snapshot isolation, against their axioms.

use super::random::{Case, Op, Txn, case};
use super::{asking, judge, kinds, seeds, spelled};
use crate::checker::Verdict;
use crate::op::Kind;
use crate::rng::Rng;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axioms {
    ReadAtomic,
    Causal,
    Prefix,
    Parallel,
}

const LEVELS: [(&str, Axioms); 4] = [
    ("read-atomic", Axioms::ReadAtomic),
    ("causal", Axioms::Causal),
    ("prefix", Axioms::Prefix),
    ("parallel-snapshot-isolation", Axioms::Parallel),
];

/// Whether some order of all that took effect explains every read, each of the least that must be visible.
fn explained(case: &Case, axioms: Axioms) -> bool {
    let ids = |kind: Kind| {
        let all = case.txns.iter().enumerate().filter(move |(_, txn)| txn.kind == kind);
        all.map(|(id, _)| id).collect::<Vec<usize>>()
    };
    let (ok, info) = (ids(Kind::Ok), ids(Kind::Info));
    (0..1_u32 << info.len()).any(|chosen| {
        let taken = (0..info.len()).filter(|at| chosen >> at & 1 == 1).map(|at| info[at]);
        let mut order: Vec<usize> = ok.iter().copied().chain(taken).collect();
        let count = order.len();
        permuted(&mut order, count, &mut |order| holds(case, order, axioms))
    })
}

fn permuted(order: &mut Vec<usize>, left: usize, holds: &mut dyn FnMut(&[usize]) -> bool) -> bool {
    if left == 0 {
        return holds(order);
    }
    for at in 0..left {
        order.swap(at, left - 1);
        if permuted(order, left - 1, holds) {
            return true;
        }
        order.swap(at, left - 1);
    }
    false
}

fn appended(txn: &Txn, key: usize) -> Vec<u32> {
    let ops = txn.ops.iter().filter_map(|op| match op {
        Op::Append { key: other, value } if *other == key => Some(*value),
        _ => None,
    });
    ops.collect()
}

fn holds(case: &Case, order: &[usize], axioms: Axioms) -> bool {
    let txns: Vec<&Txn> = order.iter().map(|id| &case.txns[*id]).collect();
    let lists: Vec<Vec<u32>> =
        (0..2).map(|key| txns.iter().flat_map(|txn| appended(txn, key)).collect()).collect();
    if !txns.iter().all(|txn| sees_itself(txn, &lists)) {
        return false;
    }
    let mut visible = vec![vec![false; txns.len()]; txns.len()];
    for one in 0..txns.len() {
        for other in (0..txns.len()).filter(|other| *other != one) {
            let in_session = txns[one].kind == Kind::Ok
                && txns[one].process == txns[other].process
                && txns[one].invoked < txns[other].invoked;
            let both_wrote = (0..2).any(|key| {
                !appended(txns[one], key).is_empty() && !appended(txns[other], key).is_empty()
            });
            let follows = axioms == Axioms::Parallel && one < other && both_wrote;
            visible[one][other] = in_session || follows || saw(txns[other], txns[one]);
        }
    }
    close(&mut visible, axioms);
    let pairs = || (0..txns.len()).flat_map(|one| (0..txns.len()).map(move |other| (one, other)));
    pairs()
        .filter(|(one, other)| visible[*one][*other])
        .all(|(one, other)| one < other && !misses(txns[other], txns[one]))
}

fn close(visible: &mut [Vec<bool>], axioms: Axioms) {
    if axioms == Axioms::ReadAtomic {
        return;
    }
    let count = visible.len();
    for _ in 0..count {
        for middle in 0..count {
            for one in 0..count {
                let leads = match axioms {
                    Axioms::Prefix => one < middle || visible[one][middle],
                    _ => visible[one][middle],
                };
                for other in (0..count).filter(|_| leads) {
                    visible[one][other] |= visible[middle][other];
                }
            }
        }
    }
}

fn reads(txn: &Txn) -> impl Iterator<Item = (usize, &Vec<u32>)> {
    let ops = txn.ops.iter().filter(|_| txn.kind == Kind::Ok);
    ops.filter_map(|op| match op {
        Op::Read { key, list } => Some((*key, list)),
        Op::Append { .. } => None,
    })
}

fn saw(reader: &Txn, writer: &Txn) -> bool {
    reads(reader).any(|(key, list)| appended(writer, key).iter().any(|value| list.contains(value)))
}

fn misses(reader: &Txn, writer: &Txn) -> bool {
    reads(reader).any(|(key, list)| appended(writer, key).iter().any(|value| !list.contains(value)))
}

/// Each read is a beginning of the list, the same of others' as before, and of its own all it has done.
fn sees_itself(txn: &Txn, lists: &[Vec<u32>]) -> bool {
    let mut own: [Vec<u32>; 2] = Default::default();
    let mut others: [Option<Vec<u32>>; 2] = Default::default();
    for op in &txn.ops {
        match op {
            Op::Append { key, value } => own[*key].push(*value),
            Op::Read { .. } if txn.kind != Kind::Ok => {}
            Op::Read { key, list } => {
                let all = appended(txn, *key);
                let (mine, rest): (Vec<u32>, Vec<u32>) =
                    list.iter().partition(|value| all.contains(value));
                let same = others[*key].get_or_insert_with(|| rest.clone()) == &rest;
                if !same || mine != own[*key] || !lists[*key].starts_with(list) {
                    return false;
                }
            }
        }
    }
    true
}

/// Of two appends that nobody saw it is not known which came first, and parallel snapshot isolation asks it.
#[test]
fn a_history_is_valid_exactly_if_the_axioms_hold() {
    let mut valid = 0;
    let seeds = seeds(200);
    for seed in 0..seeds {
        let mut rng = Rng::from_seed(seed);
        let txns = 2 + rng.below(4) as usize;
        let end = rng.chance(0.5);
        let case = case(&mut rng, txns, end);
        for (model, axioms) in LEVELS {
            let finding = judge(&case.events(), &asking(&[model], &[]));
            let explained = explained(&case, axioms);
            let judged_valid = finding.verdict != Verdict::Invalid;
            if axioms == Axioms::Parallel && !end && judged_valid {
                continue;
            }
            assert_eq!(judged_valid, explained, "seed {seed}, {model}: {}\n{case:#?}", finding.why);
            valid += explained as u64;
        }
    }
    let share = valid as f64 / (seeds * LEVELS.len() as u64) as f64;
    assert!((0.2..0.95).contains(&share), "valid: {share}");
}

/// A history, and what of it is told where these models are asked for; of the others it is valid.
fn breaks(history: &str, expected: [&[&str]; 4]) {
    let models = ["read-atomic", "causal", "prefix", "parallel-snapshot-isolation"];
    for (model, expected) in models.into_iter().zip(expected) {
        let finding = judge(&spelled::history(history), &asking(&[model], &[]));
        assert_eq!(kinds(&finding), expected, "{model} of {history}: {}", finding.why);
        let consistency = finding.consistency.expect("of transactions");
        let name = if model == "causal" { "causal-cerone" } else { model };
        let violated = consistency.violates.iter().any(|other| other == name);
        assert_eq!(violated, !expected.is_empty(), "{model} of {history}: {consistency:?}");
        assert!(violated || !consistency.survives.is_empty(), "{model} of {history}");
    }
}

#[test]
fn half_of_a_transaction_is_seen() {
    const TORN: &[&str] = &["fractured-read"];
    const SINGLE: &[&str] = &["G-single-item", "fractured-read"];
    breaks("0 pair ax1 ay1\n 1 pair rx1 ry", [TORN, TORN, TORN, SINGLE]);
    // Whoever saw 2 saw 1 too, which the list shows.
    breaks("0 pair ax1 ay1\n 2 pair ax2\n 1 pair rx12 ry", [TORN, TORN, TORN, SINGLE]);
    breaks("0 pair ax1 ay1\n 1 pair rx1 ry1", [&[], &[], &[], &[]]);
    breaks("0 pair ax1 ay1\n 1 pair rx ry", [&[], &[], &[], &[]]);
}

#[test]
fn a_process_forgets_what_it_did() {
    const OWN: &[&str] = &["fractured-read-process"];
    const SINGLE: &[&str] = &["G-single-item-process", "fractured-read-process"];
    breaks("0 pair ax1\n 0 pair rx", [OWN, OWN, OWN, SINGLE]);
    // What an indeterminate transaction appended may come late.
    breaks("0 info ax1\n 0 pair rx\n 1 pair rx1", [&[], &[], &[], &[]]);
}

#[test]
fn what_happened_before_is_missed() {
    const MISSED: &[&str] = &["causality-violation"];
    const SINGLE: &[&str] = &["G-single-item", "causality-violation"];
    breaks("0 pair ax1\n 1 pair rx1 ay1\n 2 pair ry1 rx", [&[], MISSED, MISSED, SINGLE]);
    const SESSION: &[&str] = &["causality-violation-process"];
    const SINGLE_SESSION: &[&str] = &["G-single-item-process", "causality-violation-process"];
    let history = "0 pair ax1\n 1 pair rx1\n 1 pair ay1\n 2 pair ry1 rx";
    breaks(history, [&[], SESSION, SESSION, SINGLE_SESSION]);
}

#[test]
fn a_long_fork_has_no_prefix_and_a_lost_update_no_snapshots_of_all() {
    let fork = "0 pair ax1\n 1 pair ay1\n 2 pair rx1 ry\n 3 pair ry1 rx";
    breaks(fork, [&[], &[], &["prefix-violation"], &[]]);
    let lost = "0 pair rx ax1\n 1 pair rx ax2\n 2 pair rx12";
    breaks(lost, [&[], &[], &[], &["G-single-item", "lost-update"]]);
    let skew = "0 pair rx ay1\n 1 pair ry ax1\n 2 pair rx1 ry1";
    breaks(skew, [&[], &[], &[], &[]]);
}
