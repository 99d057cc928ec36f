//! Registers in terms against trying every state that a term may begin with.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::oracle::has_order_from;
use super::simulated::{Plan, Simulation};
use super::soundness::rounds;
use super::*;
use crate::checker::linearizability::decide::weakened;
use crate::checker::linearizability::operation::{INITIAL, Operation, ValueId};
use crate::checker::linearizability::parts::divide;
use crate::rng::Rng;

/// The operations of a term: what may belong to several may have happened in each.
fn of_term(
    operations: &[Operation],
    ranges: &[RangeInclusive<usize>],
    term: usize,
) -> Vec<Operation> {
    let members = operations.iter().zip(ranges).filter(|(_, range)| range.contains(&term));
    members
        .filter_map(|(o, range)| if range.start() == range.end() { Some(*o) } else { weakened(o) })
        .collect()
}

/// What a term may begin with: nothing, what may have been written in an earlier one, or what nobody
/// tells of.
fn beginnings(register: &Register, ranges: &[RangeInclusive<usize>], term: usize) -> Vec<ValueId> {
    let unknown = register.values as ValueId;
    if term == 0 {
        return vec![INITIAL];
    }
    let earlier = register.operations.iter().zip(ranges).filter(|(_, range)| *range.start() < term);
    let written = earlier.filter_map(|(operation, _)| operation.effect.produces());
    written.chain([INITIAL, unknown]).collect()
}

/// Mostly one term, which the place among the operations tells; of unknown end: any.
fn ranges(operations: &[Operation], terms: usize, rng: &mut Rng) -> Vec<RangeInclusive<usize>> {
    let range = |(place, operation): (usize, &Operation)| {
        let term = place * terms / operations.len();
        match operation.is_open() {
            true => 0..=terms - 1,
            false if rng.chance(0.3) => term.saturating_sub(1)..=term,
            false => term..=term,
        }
    };
    operations.iter().enumerate().map(range).collect()
}

#[test]
fn a_term_is_right_if_it_is_from_some_state_that_it_may_begin_with() {
    let rng = Rng::from_seed(41);
    let mut seen: BTreeMap<(bool, bool), usize> = BTreeMap::new();
    for round in 0..rounds(6_000) {
        let mut rng = rng.fork(&round.to_string());
        let plan = Plan {
            operations: rng.between(3, 10) as usize,
            clients: rng.between(1, 3) as usize,
            domain: *rng.pick(&[0, 0, 3, 4]).expect("a domain"),
            cas: *rng.pick(&[0, 30, 60]).expect("a share"),
            info: *rng.pick(&[0, 10, 40]).expect("a share"),
            lies: *rng.pick(&[0, 20, 50]).expect("a share"),
            initial_is_zero: false,
        };
        let model = RegisterModel { failed_cas_is_evidence: rng.chance(0.2), ..cas_register() };
        let whole = register(&Simulation::run(plan, rng.fork("run")), &model);
        if whole.operations.is_empty() {
            continue;
        }
        let terms = rng.between(2, 3) as usize;
        let ranges = ranges(&whole.operations, terms, &mut rng);
        let place = |o: &Operation| whole.operations.iter().position(|other| other == o);
        let (parts, weak) =
            divide(whole.clone(), terms, |o| ranges[place(o).expect("its own")].clone());
        let uncertain =
            |(o, r): &(&Operation, &RangeInclusive<usize>)| !o.is_open() && r.start() < r.end();
        assert_eq!(weak, whole.operations.iter().zip(&ranges).filter(uncertain).count());
        for (term, part) in parts.iter().enumerate() {
            let operations = of_term(&whole.operations, &ranges, term);
            let mut states = beginnings(&whole, &ranges, term).into_iter();
            let expected = states.any(|state| has_order_from(&operations, state));
            let (decision, _, position) = part.decide(&UNLIMITED);
            let found = matches!(decision, Decision::Linearizable(_));
            let told = format!("round {round}, {plan:?}, term {term}, {ranges:?}: {whole:#?}");
            assert_eq!(found, expected, "{decision:?} by {position}; {told}");
            *seen.entry((found, part.torn.is_some())).or_default() += 1;
        }
    }
    assert!(seen.len() == 3 && seen.values().all(|count| *count > rounds(50)), "{seen:?}");
}
