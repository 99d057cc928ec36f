//! What is plain to see, as the quadratic definition has it: no more is found, and no less.

use super::simulated::{Plan, Simulation};
use super::soundness::rounds;
use super::*;
use crate::checker::linearizability::evident::{self, Evident};
use crate::checker::linearizability::operation::{Effect, INITIAL, Operation};
use crate::rng::Rng;

fn is_write(operation: &Operation) -> bool {
    matches!(operation.effect, Effect::Write(_))
}

/// The other operations that may have made what this one saw.
fn makers(operations: &[Operation], seen: Operation) -> Vec<Operation> {
    let makes = |o: &Operation| o.effect.produces() == seen.effect.observes();
    let others = operations.iter().filter(|o| **o != seen && o.invoke < seen.complete);
    others.filter(|o| makes(o)).copied().collect()
}

/// What was over before this operation began, and had begun when all that may have made what it saw
/// was over: none may be, unless it held the same.
fn replaced_by(operations: &[Operation], seen: Operation) -> Option<Vec<Operation>> {
    let value = seen.effect.observes()?;
    let made = makers(operations, seen).iter().map(|o| o.complete).max();
    let settled = made.or((value == INITIAL).then_some(0))?;
    let held = |o: &Operation| o.effect.produces().or(o.effect.observes());
    let replaces = |o: &Operation| {
        o.complete < seen.invoke && o.invoke > settled && held(o).is_some_and(|v| v != value)
    };
    Some(operations.iter().filter(|o| replaces(o)).copied().collect())
}

/// Of those who saw what cannot have been there by `counts`, the one that was over first.
fn first_wrong(operations: &[Operation], counts: impl Fn(&Operation) -> bool) -> Option<Operation> {
    let certain = operations.iter().filter(|o| !o.is_open() && o.effect.observes().is_some());
    let wrong = certain.filter(|seen| match replaced_by(operations, **seen) {
        None => true,
        Some(others) => others.iter().any(&counts),
    });
    wrong.min_by_key(|seen| seen.complete).copied()
}

/// A proof has all that may have made the value, who saw it, and one that replaced it; writes alone.
fn assert_proof(operations: &[Operation], evident: &Evident, told: &str) {
    let seen = evident.seen;
    let makers = makers(operations, seen);
    let others = replaced_by(operations, seen);
    let Some(proof) = &evident.proof else {
        let others = others.unwrap_or_default();
        assert!(!makers.iter().all(is_write) || !others.iter().any(is_write), "{told}");
        return;
    };
    let rest: Vec<Operation> =
        proof.iter().filter(|o| **o != seen && !makers.contains(o)).copied().collect();
    assert!(proof.contains(&seen) && makers.iter().all(|o| proof.contains(o)), "{told}");
    assert!(proof.iter().all(|o| *o == seen || is_write(o)), "{told}");
    match others {
        None => assert_eq!(rest, [], "{told}"),
        Some(others) => assert!(rest.len() == 1 && others.contains(&rest[0]), "{told}"),
    }
}

#[test]
fn what_is_plainly_wrong_is_found_and_is_what_shows_first() {
    let rng = Rng::from_seed(31);
    let (mut plain, mut others, mut proofs, mut right) = (0, 0, 0, 0);
    for round in 0..rounds(15_000) {
        let mut rng = rng.fork(&round.to_string());
        let plan = Plan {
            operations: rng.between(2, 12) as usize,
            clients: rng.between(1, 4) as usize,
            domain: *rng.pick(&[0, 2, 3, 5]).expect("a domain"),
            cas: *rng.pick(&[0, 30, 60]).expect("a share"),
            info: *rng.pick(&[0, 10, 40]).expect("a share"),
            lies: *rng.pick(&[20, 50]).expect("a share"),
            initial_is_zero: rng.chance(0.5),
        };
        let initial = if plan.initial_is_zero { Value::Int(0) } else { Value::Nil };
        let model = RegisterModel {
            initial,
            failed_cas_is_evidence: rng.chance(0.3),
            ..RegisterModel::CAS_REGISTER
        };
        let Register { operations, values } =
            register(&Simulation::run(plan, rng.fork("run")), &model);
        let found = evident::find(&operations, values);
        let told = format!("round {round}, {plan:?}: {found:#?} of {operations:#?}");
        let by_writes = first_wrong(&operations, is_write);
        let expected = by_writes.or_else(|| first_wrong(&operations, |_| true));
        assert_eq!(found.as_ref().map(|evident| evident.seen), expected, "{told}");
        match (&found, by_writes) {
            (None, _) => right += 1,
            (Some(_), Some(_)) => plain += 1,
            (Some(_), None) => others += 1,
        }
        if let Some(evident) = found {
            assert_proof(&operations, &evident, &told);
            proofs += usize::from(evident.proof.is_some());
        }
    }
    let least = plain.min(proofs).min(right).min(10 * others);
    assert!(least > rounds(2_000), "{plain} and {others} wrong, {proofs} proofs, {right} right");
}
