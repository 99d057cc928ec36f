//! The levels' axioms word for word, over every order of commits, against the algorithms.

use super::plain::{Plain, Sessions, table};
use super::*;
use crate::rng::Rng;

/// Node 0 is the initial state.
struct Small {
    txns: Vec<(usize, Plain)>,
}

impl Small {
    fn of(sessions: &Sessions) -> Small {
        let mut txns = vec![(usize::MAX, Vec::new())];
        for (session, of_session) in sessions.iter().enumerate() {
            txns.extend(of_session.iter().map(|txn| (session, txn.clone())));
        }
        Small { txns }
    }

    fn writes(&self, t: usize, key: i64) -> Option<i64> {
        if t == 0 {
            return Some(0);
        }
        let mut writes = self.txns[t].1.iter().rev().filter(|access| access.0 && access.1 == key);
        writes.next().map(|access| access.2)
    }

    fn so(&self, one: usize, other: usize) -> bool {
        one < other && (one == 0 || self.txns[one].0 == self.txns[other].0)
    }

    /// Reads from others: place, key, writer; or nothing if a read is wrong by itself.
    fn reads(&self, t: usize) -> Option<Vec<(usize, i64, usize)>> {
        let accesses = &self.txns[t].1;
        let mut reads = Vec::new();
        for (place, (write, key, value)) in accesses.iter().enumerate() {
            if *write {
                continue;
            }
            let own = accesses[..place].iter().rev().find(|access| access.0 && access.1 == *key);
            match own {
                Some(own) if own.2 == *value => {}
                Some(_) => return None,
                None => {
                    let mut all = 0..self.txns.len();
                    let writer =
                        all.find(|other| *other != t && self.writes(*other, *key) == Some(*value));
                    reads.push((place, *key, writer?));
                }
            }
        }
        Some(reads)
    }

    fn satisfies(&self, level: Level) -> bool {
        let reads: Option<Vec<_>> = (0..self.txns.len()).map(|t| self.reads(t)).collect();
        let Some(reads) = reads else { return false };
        let n = self.txns.len();
        let wr = |one: usize, other: usize| reads[other].iter().any(|read| read.2 == one);
        let follows = |one| (0..n).map(move |other| self.so(one, other) || wr(one, other));
        let mut hb: Vec<Vec<bool>> = (0..n).map(|one| follows(one).collect()).collect();
        for middle in 0..n {
            for one in 0..n {
                for other in 0..n {
                    hb[one][other] |= hb[one][middle] && hb[middle][other];
                }
            }
        }
        let visible = |t2: usize, t3: usize, place: usize| match level {
            Level::ReadCommitted => reads[t3].iter().any(|read| read.2 == t2 && read.0 < place),
            Level::ReadAtomic => self.so(t2, t3) || wr(t2, t3),
            Level::Causal => hb[t2][t3],
        };
        let mut before = vec![vec![false; n]; n];
        for (t3, seen) in reads.iter().enumerate() {
            for &(place, key, t1) in seen {
                for t2 in (0..n).filter(|t2| *t2 != t1 && *t2 != t3) {
                    before[t2][t1] |= self.writes(t2, key).is_some() && visible(t2, t3, place);
                }
            }
        }
        let must = |one: usize, other: usize| hb[one][other] || before[one][other];
        has_order(n, &must, &mut Vec::new())
    }
}

fn has_order(n: usize, must: &dyn Fn(usize, usize) -> bool, chosen: &mut Vec<usize>) -> bool {
    if chosen.len() == n {
        let pairs = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j)));
        return pairs.into_iter().all(|(i, j)| !must(chosen[i], chosen[j]));
    }
    for next in 0..n {
        if !chosen.contains(&next) && chosen.iter().all(|before| !must(next, *before)) {
            chosen.push(next);
            if has_order(n, must, chosen) {
                return true;
            }
            chosen.pop();
        }
    }
    false
}

fn random(rng: &mut Rng) -> Sessions {
    let (keys, sessions) = (1 + rng.below(3) as i64, 1 + rng.below(3) as usize);
    let count = 1 + rng.below(5);
    let mut written = vec![vec![0]; keys as usize];
    let mut history: Sessions = vec![Vec::new(); sessions];
    for _ in 0..count {
        let txn: Plain = (0..1 + rng.below(4))
            .map(|_| {
                let key = rng.below(keys as u64) as i64;
                let of_key = &mut written[key as usize];
                if rng.below(2) == 0 {
                    of_key.push(of_key.len() as i64);
                    return (true, key, of_key.len() as i64 - 1);
                }
                (false, key, -1)
            })
            .collect();
        history[rng.below(sessions as u64) as usize].push(txn);
    }
    // Late values are read too, the last ones more often than chance has it.
    for access in history.iter_mut().flatten().flatten().filter(|access| !access.0) {
        let of_key = &written[access.1 as usize];
        access.2 = rng.below(of_key.len() as u64) as i64;
    }
    history
}

#[test]
fn the_algorithms_agree_with_the_axioms() {
    let rounds = match std::env::var("STORMGLASS_SEEDS") {
        Ok(_) => 200_000,
        Err(_) => 6_000,
    };
    let mut satisfied = [0; 3];
    for seed in 0..rounds {
        let history = random(&mut Rng::from_seed(seed));
        let small = Small::of(&history);
        let table = table(&history, true);
        for level in Level::ALL {
            let (expected, found) = (small.satisfies(level), wrong(&table, level));
            assert_eq!(
                found.is_empty(),
                expected,
                "seed {seed}: {level:?}: {found:?}: {history:?}"
            );
            satisfied[level as usize] += usize::from(expected);
        }
    }
    assert!(satisfied.iter().all(|count| count * 10 > rounds as usize), "{satisfied:?}");
    assert!(satisfied[0] > satisfied[1] && satisfied[1] > satisfied[2], "{satisfied:?}");
}
