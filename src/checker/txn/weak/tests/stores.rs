//! Stores that keep their promise by construction, at sizes that no oracle follows: any anomaly is
//! a false alarm.

use super::plain::{Plain, Sessions, table};
use super::*;
use crate::rng::Rng;

/// Replicas that take in each other's transactions in order; a session keeps to one of them. Each
/// replica sees a transaction whole, and after what its own replica had seen.
fn causal_store(rng: &mut Rng, replicas: usize, txns: usize, keys: u64) -> Sessions {
    /// What a transaction wrote, with a stamp of all that it had seen.
    type Update = (u64, usize, Vec<(i64, i64)>);
    let mut log: Vec<Vec<Update>> = vec![Vec::new(); replicas];
    let mut stores: Vec<Vec<(u64, usize, i64)>> = vec![vec![(0, 0, 0); keys as usize]; replicas];
    let mut seen = vec![vec![0; replicas]; replicas];
    let mut clocks = vec![0_u64; replicas];
    // What each replica had taken in of the others when it made an update.
    let mut needs: Vec<Vec<Vec<usize>>> = vec![Vec::new(); replicas];
    let mut sessions: Sessions = vec![Vec::new(); replicas];
    let mut next = 0;
    for _ in 0..txns {
        let at = rng.below(replicas as u64) as usize;
        let other = rng.below(replicas as u64) as usize;
        if other != at && rng.below(2) == 0 {
            while let Some((clock, origin, writes)) = log[other].get(seen[at][other]) {
                let need = &needs[other][seen[at][other]];
                if (0..replicas).any(|r| r != other && r != at && seen[at][r] < need[r]) {
                    break;
                }
                clocks[at] = clocks[at].max(*clock);
                for (key, value) in writes {
                    let slot = &mut stores[at][*key as usize];
                    // The later stamp wins everywhere, so that replicas converge.
                    if (slot.0, slot.1) < (*clock, *origin) {
                        *slot = (*clock, *origin, *value);
                    }
                }
                seen[at][other] += 1;
            }
        }
        let mut own: Vec<(i64, i64)> = Vec::new();
        let mut txn: Plain = Vec::new();
        for _ in 0..1 + rng.below(5) {
            let key = rng.below(keys) as i64;
            if rng.below(2) == 0 {
                next += 1;
                own.retain(|(other, _)| *other != key);
                own.push((key, next));
                txn.push((true, key, next));
            } else {
                let mine = own.iter().find(|(other, _)| *other == key).map(|(_, value)| *value);
                txn.push((false, key, mine.unwrap_or(stores[at][key as usize].2)));
            }
        }
        clocks[at] += 1;
        for (key, value) in &own {
            stores[at][*key as usize] = (clocks[at], at, *value);
        }
        let need = seen[at].clone();
        needs[at].push(need);
        log[at].push((clocks[at], at, own));
        sessions[at].push(txn);
    }
    sessions
}

#[test]
fn a_causal_store_is_causal_at_every_size() {
    for (seed, txns) in [(1, 30), (2, 300), (3, 3_000), (4, 10_000)] {
        for replicas in [2, 3, 8] {
            let history =
                causal_store(&mut Rng::from_seed(seed), replicas, txns, 1 + txns as u64 / 20);
            let table = table(&history, true);
            for level in Level::ALL {
                let found = wrong(&table, level);
                assert!(found.is_empty(), "seed {seed}, {txns} on {replicas}: {level:?} {found:?}");
            }
        }
    }
}

#[test]
fn a_session_that_goes_back_is_caught_at_every_size() {
    for (seed, txns) in [(1, 300), (2, 3_000)] {
        let mut history = causal_store(&mut Rng::from_seed(seed), 3, txns, 5);
        let last = history[0].len() - 1;
        let key = history[0][last - 1].iter().find(|access| access.0).map_or(0, |access| access.1);
        // It writes a key, and then reads it as it was at the very beginning.
        history[0].push(vec![(true, key, 1_000_000)]);
        history[0].push(vec![(false, key, 0)]);
        let table = table(&history, true);
        assert!(
            !wrong(&table, Level::Causal).is_empty()
                && !wrong(&table, Level::ReadAtomic).is_empty()
        );
        assert!(wrong(&table, Level::ReadCommitted).is_empty());
    }
}
