//! Long histories of a simulated container: right as they are, wrong after a change, and decided without a search.

use super::oracle::has_order;
use crate::checker::ModelOptions;
use crate::checker::objects::decide::{Decision, Method, by_search, decide};
use crate::checker::objects::models::container::{Operation, Taken};
use crate::checker::objects::models::queue::Queue;
use crate::checker::objects::models::stack::Stack;
use crate::checker::objects::search::Limits;
use crate::checker::objects::seen::NEVER;
use crate::checker::objects::shrink::shrink;
use crate::checker::objects::{Atom, Timed};
use crate::rng::Rng;

/// No search may be needed.
const LIMITS: Limits = Limits { exhausted: &|| false, memory: 1 << 26, steps: 0 };

/// What a client is about; all that counts of one that is never heard of again is what it did.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Idle,
    /// The operation of this number is invoked.
    Begun(usize),
    /// It took effect.
    Done(usize),
}

struct Simulated {
    takes: fn(&mut Vec<i64>) -> Option<i64>,
    operations: Vec<Timed<Operation>>,
    held: Vec<i64>,
    now: u32,
    pushed: i64,
}

impl Simulated {
    /// The client's next step: it invokes an operation, that takes effect, or it hears of it.
    fn step(&mut self, rng: &mut Rng, stage: Stage, unknown: f64) -> Stage {
        match stage {
            Stage::Idle => {
                let pushes = rng.chance(if self.held.len() < 40 { 0.55 } else { 0.45 });
                self.pushed += 1;
                let operation = match pushes {
                    // All different, and in no order.
                    true => Operation::Put(Atom::Int(self.pushed * 7_919 % 1_000_003)),
                    false => Operation::Take(Taken::Unknown),
                };
                self.now += 1;
                let origin = self.operations.len() as u32;
                let timed = Timed { operation, invoke: self.now, complete: NEVER, origin };
                self.operations.push(timed);
                // Whoever is not heard of again has had no effect half the time.
                match rng.chance(unknown / 2.0) {
                    true => Stage::Idle,
                    false => Stage::Begun(origin as usize),
                }
            }
            Stage::Begun(number) => {
                let is_lost = rng.chance(unknown / 2.0);
                let operation = &mut self.operations[number].operation;
                if let Operation::Put(Atom::Int(value)) = operation {
                    self.held.push(*value);
                } else {
                    let taken = (self.takes)(&mut self.held);
                    let taken = taken.map_or(Taken::Empty, |v| Taken::Value(Atom::Int(v)));
                    *operation = Operation::Take(if is_lost { Taken::Unknown } else { taken });
                }
                if is_lost { Stage::Idle } else { Stage::Done(number) }
            }
            Stage::Done(number) => {
                self.now += 1;
                self.operations[number].complete = self.now;
                Stage::Idle
            }
        }
    }
}

fn least(held: &mut Vec<i64>) -> Option<i64> {
    let place = (0..held.len()).min_by_key(|place| held[*place])?;
    Some(held.remove(place))
}

/// A stack's, or what `takes` makes it.
fn simulated(
    seed: u64,
    operations: usize,
    clients: usize,
    unknown: f64,
    takes: fn(&mut Vec<i64>) -> Option<i64>,
) -> Vec<Timed<Operation>> {
    let mut rng = Rng::from_seed(seed);
    let mut stages = vec![Stage::Idle; clients];
    let mut stack =
        Simulated { takes, operations: Vec::new(), held: Vec::new(), now: 0, pushed: 0 };
    while stack.operations.len() < operations || stages.iter().any(|stage| *stage != Stage::Idle) {
        let client = rng.below(clients as u64) as usize;
        if stages[client] != Stage::Idle || stack.operations.len() < operations {
            stages[client] = stack.step(&mut rng, stages[client], unknown);
        }
    }
    stack.operations
}

/// Two pops, one after the other, change their answers, where both values were there.
fn swap_two(rng: &mut Rng, operations: &mut [Timed<Operation>]) {
    let pops = pops(operations);
    let pushed = |position: usize| {
        let is_pushed =
            |timed: &&Timed<Operation>| match (&timed.operation, &operations[position].operation) {
                (Operation::Put(one), Operation::Take(Taken::Value(other))) => one == other,
                _ => false,
            };
        operations.iter().find(is_pushed).map_or(NEVER, |push| push.complete)
    };
    let first = rng.below(pops.len() as u64) as usize;
    let pairs = pops[first..].iter().flat_map(|one| pops.iter().map(|other| (*one, *other)));
    for (one, other) in pairs {
        let asked = operations[one].invoke;
        if pushed(one).max(pushed(other)) < asked
            && operations[one].complete < operations[other].invoke
        {
            let swapped = operations[one].operation.clone();
            operations[one].operation =
                std::mem::replace(&mut operations[other].operation, swapped);
            return;
        }
    }
}

fn pops(operations: &[Timed<Operation>]) -> Vec<usize> {
    let is_pop =
        |at: &usize| matches!(&operations[*at].operation, Operation::Take(Taken::Value(_)));
    (0..operations.len()).filter(is_pop).collect()
}

/// Some pop found nothing instead, so the value that it took is still there.
fn find_nothing(rng: &mut Rng, operations: &mut [Timed<Operation>]) {
    let chosen = *rng.pick(&pops(operations)).expect("a pop");
    operations[chosen].operation = Operation::Take(Taken::Empty);
}

/// What came of changed histories.
#[derive(Debug, Default)]
struct Counted {
    right: u32,
    wrong: u32,
    undecided: u32,
}

fn changed(unknown: f64) -> Counted {
    let histories = std::env::var("STORMGLASS_SEEDS").map_or(30, |_| 1_000);
    let stack = Stack::new(&ModelOptions::default()).expect("no options");
    let mut counted = Counted::default();
    for seed in 0..histories {
        let mut rng = Rng::from_seed(seed);
        let mut operations = simulated(seed, 400, 2 + seed as usize % 10, unknown, Vec::pop);
        match seed % 2 {
            0 => swap_two(&mut rng, &mut operations),
            _ => find_nothing(&mut rng, &mut operations),
        }
        match decide(&stack, &operations, &Limits { steps: 10_000, ..LIMITS }).0 {
            Decision::Linearizable(_) => counted.right += 1,
            Decision::Undecided { .. } => counted.undecided += 1,
            Decision::Violated { core } => {
                counted.wrong += 1;
                let shrunk = shrink(&stack, &core, &LIMITS).operations;
                let is_small = shrunk.len() <= 10;
                assert!(!is_small || !has_order(&stack, &shrunk), "seed {seed}: {shrunk:#?}");
                let searched = by_search(&stack, &shrunk, &Limits { steps: u64::MAX, ..LIMITS }).0;
                let is_refuted = matches!(searched, Decision::Violated { .. });
                assert!(is_refuted, "seed {seed}: {shrunk:#?}");
            }
        }
    }
    counted
}

#[test]
fn long_histories_are_decided_without_a_search() {
    let length = std::env::var("STORMGLASS_SEEDS").map_or(1_500, |_| 100_000);
    let stack = Stack::new(&ModelOptions::default()).expect("no options");
    let queue = Queue::of_priority(&ModelOptions::default()).expect("no options");
    for (seed, clients) in [(0, 1), (1, 5), (2, 30), (3, 100)] {
        for unknown in [0.0, 0.01, 0.05] {
            let operations = simulated(seed, length, clients, unknown, Vec::pop);
            let (decision, _) = decide(&stack, &operations, &LIMITS);
            let expected = Decision::Linearizable(Method::Shortcut);
            assert_eq!(decision, expected, "{clients} clients, {unknown} unknown");
        }
        for unknown in [0.0, 0.01] {
            let operations = simulated(seed, length, clients, unknown, least);
            let (decision, _) = decide(&queue, &operations, &LIMITS);
            let expected = Decision::Linearizable(Method::Shortcut);
            assert_eq!(decision, expected, "{clients} clients, {unknown} unknown");
        }
    }
}

/// What is called right has been replayed; what is called wrong must be so by search.
#[test]
fn changed_histories_are_caught() {
    let counted = changed(0.0);
    assert_eq!(counted.undecided, 0, "{counted:?}");
    assert!(counted.wrong > counted.right, "{counted:?}");
    let counted = changed(0.02);
    assert!(counted.undecided < counted.wrong && counted.wrong > 0, "{counted:?}");
}
