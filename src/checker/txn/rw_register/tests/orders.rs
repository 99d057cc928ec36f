//! The order of versions in real time, against its definition.

use super::random::{events, random};
use super::*;
use crate::checker::txn::rw_register::touches::Touches;
use crate::rng::Rng;
use realtime::{linearizable, spans};

/// What follows from these edges.
fn closure(versions: usize, edges: impl Iterator<Item = (u32, u32)>) -> Vec<Vec<bool>> {
    let mut closure = vec![vec![false; versions]; versions];
    edges.for_each(|(from, to)| closure[from as usize][to as usize] = true);
    for middle in 0..versions {
        for from in 0..versions {
            for to in 0..versions {
                closure[from][to] |= closure[from][middle] && closure[middle][to];
            }
        }
    }
    closure
}

#[test]
fn the_reduced_order_in_real_time_means_the_same_as_the_whole() {
    for seed in 0..600 {
        let history = events(&random(&mut Rng::from_seed(seed), true));
        let mut checker = RwRegister::new(&ModelOptions::default()).expect("options");
        history.events().iter().for_each(|event| drop(checker.observe(event)));
        let registers = Registers::of(&checker.table);
        let touches = Touches::of(&registers, &Footprints::of(&registers));
        let reduced = linearizable(&registers, &touches);
        let mut whole = Vec::new();
        for key in 0..touches.keys() {
            let spans = spans(&registers, touches.of_key(key));
            let pairs = spans.iter().flat_map(|one| spans.iter().map(move |other| (one, other)));
            let ordered = pairs.filter(|(one, other)| {
                one.version != other.version && one.first_end < other.last_begin
            });
            whole.extend(ordered.map(|(one, other)| (one.version, other.version)));
        }
        let count = registers.versions.len();
        let whole = closure(count, whole.into_iter());
        let reduced = closure(count, reduced.iter().map(|edge| (edge.from, edge.to)));
        let is_cyclic = |all: &Vec<Vec<bool>>| (0..count).any(|version| all[version][version]);
        assert_eq!(is_cyclic(&whole), is_cyclic(&reduced), "seed {seed}: {history:?}");
        if !is_cyclic(&whole) {
            assert_eq!(whole, reduced, "seed {seed}: {history:?}");
        }
    }
}
