//! Locks with leases. What moments an operation can have had is compared with trying them all, tick by tick.

use std::collections::HashSet;

use expect_test::{Expect, expect};

use super::told::told_with;
use crate::checker::ModelOptions;
use crate::checker::objects::decide::{Decision, decide};
use crate::checker::objects::models::LEASE_LOCK;
use crate::checker::objects::models::lease::{Deed, LeaseLock, Operation, Span};
use crate::checker::objects::search::Limits;
use crate::checker::objects::seen::NEVER;
use crate::checker::objects::shrink::shrink;
use crate::checker::objects::{Atom, Timed};
use crate::op::{MILLISECOND, Nanos};
use crate::rng::Rng;

const LIMITS: Limits = Limits { exhausted: &|| false, memory: 1 << 26, steps: u64::MAX };
const LEASE: Nanos = 12;
const LAST: Nanos = 70;

/// Whether the operations, each at some moment of its span, explain themselves: all moments are tried.
struct Ticks<'a> {
    operations: &'a [Timed<Operation>],
    /// What was tried in vain: the tick, what was done by then, and who held the lock since when.
    failed: HashSet<Tick<'a>>,
}

type Tick<'a> = (Nanos, u32, Option<(&'a Atom, Nanos)>);

fn explains(operations: &[Timed<Operation>]) -> bool {
    Ticks { operations, failed: HashSet::new() }.explain(0, 0, None)
}

impl<'a> Ticks<'a> {
    fn explain(&mut self, now: Nanos, done: u32, held: Option<(&'a Atom, Nanos)>) -> bool {
        let operations = self.operations;
        if self.failed.contains(&(now, done, held)) {
            return false;
        }
        let left = || (0..operations.len()).filter(|at| done >> at & 1 == 0);
        if left().all(|at| operations[at].is_open()) {
            return true;
        }
        let span = |at: usize| operations[at].operation.span;
        if now > LAST || left().any(|at| !operations[at].is_open() && span(at).until < now) {
            return false;
        }
        let mut takes_effect = |at: usize| {
            let Operation { deed, owner, span } = &operations[at].operation;
            // Of events at the same time, the order counts.
            let is_early = left().any(|a| operations[a].complete < operations[at].invoke);
            if now < span.from || now > span.until || is_early {
                return false;
            }
            let has_passed = held.is_none_or(|(_, since)| now >= since + LEASE);
            let is_holder = held.is_some_and(|(by, _)| by == owner);
            let next = match deed {
                Deed::Acquire if has_passed => Some((owner, now)),
                Deed::Release if is_holder => None,
                Deed::Refused if held.is_some() => held,
                Deed::NotHeld if !is_holder => held,
                Deed::NotHeld if has_passed => None,
                _ => return false,
            };
            self.explain(now, done | 1 << at, next)
        };
        let is_explained = left().any(&mut takes_effect) || self.explain(now + 1, done, held);
        if !is_explained {
            self.failed.insert((now, done, held));
        }
        is_explained
    }
}

/// Operations of three processes at random moments, many of them right.
fn random(rng: &mut Rng) -> Vec<Timed<Operation>> {
    let mut operations = Vec::new();
    for process in 0..3 {
        let mut now = rng.below(15);
        for number in 0..1 + rng.below(3) {
            let from = now + 1 + rng.below(8);
            let until = from + 1 + rng.below(10);
            now = until;
            let deed = match (number % 2, rng.below(6)) {
                (_, 0) => Deed::Refused,
                (_, 1) => Deed::NotHeld,
                (0, _) => Deed::Acquire,
                _ => Deed::Release,
            };
            let owner = Atom::Int(if rng.chance(0.9) { process as i64 } else { 0 });
            let is_open = rng.chance(0.1);
            let span = Span { from, until: if is_open { Nanos::MAX } else { until } };
            let event = |time: Nanos| (time * 3 + process) as u32 + 1;
            let complete = if is_open { NEVER } else { event(until) };
            let operation = Operation { deed, owner, span };
            operations.push(Timed { operation, invoke: event(from), complete, origin: 0 });
        }
    }
    operations.sort_by_key(|timed| timed.invoke);
    (0..).zip(&mut operations).for_each(|(origin, timed)| timed.origin = origin);
    operations
}

#[test]
fn leases_are_decided_as_by_trying_all_moments() {
    let lock = LeaseLock { lease: Some(LEASE) };
    let histories = std::env::var("STORMGLASS_SEEDS").map_or(1_000, |_| 100_000);
    let (mut valid, mut invalid) = (0, 0);
    for seed in 0..histories {
        let operations = random(&mut Rng::from_seed(seed));
        let expected = explains(&operations);
        match decide(&lock, &operations, &LIMITS).0 {
            Decision::Linearizable(_) => assert!(expected, "seed {seed}: {operations:#?}"),
            Decision::Undecided { why, .. } => panic!("seed {seed}: {why}"),
            Decision::Violated { core } => {
                assert!(!expected, "seed {seed}: {operations:#?}");
                let shrunk = shrink(&lock, &core, &LIMITS);
                let explains = explains(&shrunk.operations);
                assert!(shrunk.minimal && !explains, "seed {seed}: {shrunk:#?}");
            }
        }
        *(if expected { &mut valid } else { &mut invalid }) += 1;
    }
    assert!(valid > histories / 10 && invalid > histories / 10, "{valid} {invalid}");
}

fn check(lease_ms: Option<u64>, lines: &str, expected: Expect) {
    let options = ModelOptions { lease_ms, ..ModelOptions::default() };
    expected.assert_eq(&told_with(&LEASE_LOCK, &options, lines));
}

#[test]
fn a_lock_is_taken_over_once_its_lease_has_passed() {
    assert_eq!(MILLISECOND, 1_000_000);
    let taken_over = "0.1 0 invoke acquire alice
                      0.2 0 ok acquire alice
                      0.3 1 invoke acquire bob
                      0.9 1 ok acquire bob
                      1.0 0 invoke release alice
                      1.1 0 ok release false";
    check(
        Some(700),
        taken_over,
        expect![[r#"
        valid: as lease-lock, 1 of 1 objects are linearizable
    "#]],
    );
    check(
        Some(900),
        taken_over,
        expect![[r#"
        invalid: as lease-lock, 1 of 1 objects are not linearizable
        nonlinearizable: the acquire for bob by process 1 at 0.900 s cannot be: after the acquire for alice by process 0, alice holds the lock since 0.100 s or later, so until 1.000 s at least
          (1) 0.100 s to 0.200 s: process 0: acquire for alice: ok
          (2) 0.300 s to 0.900 s: process 1: acquire for bob: ok
          after (1) alice holds the lock since 0.100 s or later, so until 1.000 s at least, and (2), the acquire for bob, cannot follow
    "#]],
    );
    check(
        None,
        taken_over,
        expect![[r#"
        unknown: as lease-lock, no violation was found in 1 objects; 1 undecided, first the object: nobody said how long a lease is: say --lease-ms N
    "#]],
    );
    let untimed = "0 0 invoke acquire alice
                   0 0 ok acquire alice";
    check(
        Some(900),
        untimed,
        expect![[r#"
        unknown: as lease-lock, no violation was found in 1 objects; 1 undecided, first the object: the history tells no times, which leases need with 0 of 1 completed operations settled
    "#]],
    );
}
