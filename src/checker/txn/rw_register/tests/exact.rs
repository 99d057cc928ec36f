//! The search for an order against all orders there are.

use super::random::{KEYS, Keep, Small, events, is_serializable, random};
use super::*;
use crate::rng::Rng;

/// Whether some order of beginnings and commits is one of snapshot isolation: reads see what was committed
/// when the transaction began, and its commit finds its keys as they were then.
fn is_snapshot(small: &[Small]) -> bool {
    let open = Open { snapshot: vec![None; small.len()], done: vec![false; small.len()] };
    step(small, &open, [(0, 0); KEYS])
}

#[derive(Clone)]
struct Open {
    snapshot: Vec<Option<Store>>,
    done: Vec<bool>,
}

/// By key the value, and how many commits wrote it.
type Store = [(i64, u32); KEYS];

fn step(small: &[Small], open: &Open, store: Store) -> bool {
    let is_over = |at: usize| open.done[at] || small[at].kind == EventKind::Info;
    if (0..small.len()).all(is_over) {
        return true;
    }
    (0..small.len()).filter(|at| !open.done[*at]).any(|at| {
        let mut next = open.clone();
        let mut after = store;
        match open.snapshot[at] {
            None => next.snapshot[at] = Some(store),
            Some(begun) => {
                next.done[at] = true;
                if !commit(&small[at], begun, &mut after) {
                    return false;
                }
            }
        }
        step(small, &next, after)
    })
}

fn commit(txn: &Small, begun: Store, store: &mut Store) -> bool {
    let mut own = begun;
    for (write, key, value) in &txn.accesses {
        if *write {
            own[*key].0 = *value;
        } else if txn.kind == EventKind::Ok && own[*key].0 != *value {
            return false;
        }
    }
    for (_, key, _) in txn.accesses.iter().filter(|access| access.0) {
        if store[*key].1 != begun[*key].1 {
            return false;
        }
        store[*key].0 = own[*key].0;
    }
    let mut written: Vec<usize> =
        txn.accesses.iter().filter(|access| access.0).map(|access| access.1).collect();
    written.dedup();
    written.into_iter().for_each(|key| store[key].1 = begun[key].1 + 1);
    true
}

fn compare(rounds: u64, model: &str, expected: impl Fn(&[Small]) -> bool) {
    let options = options(serde_json::json!({"consistency_models": [model]}));
    let (mut yes, mut no) = (0, 0);
    for seed in 0..rounds {
        let small = random(&mut Rng::from_seed(seed), true);
        if small.len() > 4 {
            continue;
        }
        let expected = expected(&small);
        let finding = find(&events(&small), &options);
        let nothing_known =
            finding.verdict == Verdict::Unknown && finding.why.contains("nothing can be said");
        if !nothing_known {
            let found = finding.verdict == Verdict::Valid;
            assert_eq!(found, expected, "seed {seed}: {model}: {finding:#?}\n{small:?}");
        }
        yes += u32::from(expected);
        no += u32::from(!expected);
    }
    assert!(yes > 50 && no > 50, "{yes} have an order and {no} none");
}

fn rounds() -> u64 {
    if std::env::var("STORMGLASS_SEEDS").is_ok() { 60_000 } else { 700 }
}

#[test]
fn a_serial_order_is_found_exactly_where_there_is_one() {
    compare(rounds(), "serializable", |small| is_serializable(small, Keep::Nothing));
}

#[test]
fn a_serial_order_in_real_time_is_found_exactly_where_there_is_one() {
    compare(rounds(), "strict-serializable", |small| is_serializable(small, Keep::RealTime));
}

#[test]
fn an_order_of_snapshots_is_found_exactly_where_there_is_one() {
    compare(rounds(), "snapshot-isolation", is_snapshot);
}
