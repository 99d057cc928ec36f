//! The algorithms for containers of different values, beyond what the other tests compare: operations at random
//! moments, so that values cross in every way.

use super::oracle::has_order;
use crate::checker::ModelOptions;
use crate::checker::objects::decide::{Decision, by_search, decide, relevant};
use crate::checker::objects::fast::Shortcut;
use crate::checker::objects::models::container::{Operation, Taken};
use crate::checker::objects::models::queue::Queue;
use crate::checker::objects::models::stack::Stack;
use crate::checker::objects::search::Limits;
use crate::checker::objects::seen::NEVER;
use crate::checker::objects::shrink::shrink;
use crate::checker::objects::{Atom, Object, Timed, certificate};
use crate::rng::Rng;

const LIMITS: Limits = Limits { exhausted: &|| false, memory: 1 << 26, steps: u64::MAX };

/// A few values that are pushed and most of them popped at random times, whatever that leads to.
fn random(rng: &mut Rng, unknown: f64) -> Vec<Timed<Operation>> {
    let mut moments: Vec<u32> = (1..=60).collect();
    rng.shuffle(&mut moments);
    let width = 2 + rng.below(20) as u32;
    let mut operations = Vec::new();
    let mut add = |rng: &mut Rng, operation: Operation, invoke: u32| {
        let is_open = rng.chance(unknown);
        let operation = match operation {
            Operation::Take(_) if is_open => Operation::Take(Taken::Unknown),
            known => known,
        };
        let complete =
            if is_open { NEVER } else { invoke + 1 + rng.below(u64::from(width)) as u32 };
        operations.push(Timed { operation, invoke, complete, origin: 0 });
    };
    for value in 0..2 + rng.below(3) as i64 {
        let (one, other) = (moments.pop().unwrap_or(0), moments.pop().unwrap_or(0));
        add(rng, Operation::Put(Atom::Int(value)), one.min(other));
        if rng.chance(0.8) {
            add(rng, Operation::Take(Taken::Value(Atom::Int(value))), one.max(other));
        }
    }
    for _ in 0..rng.below(3) {
        let moment = moments.pop().unwrap_or(0);
        add(rng, Operation::Take(Taken::Empty), moment);
    }
    apart(operations)
}

/// The same, where no two events are at the same time.
fn apart(mut operations: Vec<Timed<Operation>>) -> Vec<Timed<Operation>> {
    let count = operations.len() as u32;
    for (number, timed) in operations.iter_mut().enumerate() {
        timed.invoke = timed.invoke * 2 * count + 1 + number as u32;
        if timed.complete != NEVER {
            timed.complete = timed.complete * 2 * count + 1 + count + number as u32;
        }
        timed.origin = number as u32;
    }
    operations.sort_by_key(|timed| timed.invoke);
    operations
}

/// How the algorithm did.
#[derive(Debug, Default)]
struct Counted {
    valid: u64,
    invalid: u64,
    left_to_search: u64,
}

fn compare<O: Object<Operation = Operation>>(
    object: &O,
    seed: u64,
    operations: &[Timed<Operation>],
    counted: &mut Counted,
) {
    let kept = relevant(object, operations);
    let expected = has_order(object, &kept);
    let told = || format!("seed {seed}: expected {expected} of\n{kept:#?}");
    match object.shortcut(&kept) {
        Shortcut::Linearizable => assert!(expected, "{}", told()),
        Shortcut::Ordered { order } => {
            let order = order.iter().map(|p| (*p as u32, kept[*p].operation.clone()));
            let replayed = certificate::replay(object, &kept, &order.collect::<Vec<_>>());
            assert!(expected && replayed.is_ok(), "{replayed:?} {}", told());
        }
        Shortcut::Violated { core } => {
            let core: Vec<_> = core.into_iter().map(|position| kept[position].clone()).collect();
            assert!(!expected && !has_order(object, &core), "{core:#?} {}", told());
        }
        Shortcut::Suspected { .. } | Shortcut::None => {
            let is_open = |timed: &Timed<_>| timed.is_open();
            assert!(kept.iter().any(is_open), "{}", told());
            counted.left_to_search += 1;
        }
        Shortcut::Refused { why } => panic!("{why}: {}", told()),
    }
    let searched = by_search(object, &kept, &LIMITS).0;
    let decided = decide(object, operations, &LIMITS).0;
    for decision in [searched, decided] {
        match decision {
            Decision::Linearizable(_) => assert!(expected, "{}", told()),
            Decision::Undecided { .. } => panic!("{}", told()),
            Decision::Violated { core } => {
                assert!(!expected, "{}", told());
                let shrunk = shrink(object, &core, &LIMITS);
                let proves = !has_order(object, &shrunk.operations);
                assert!(shrunk.minimal && proves, "{shrunk:#?} {}", told());
            }
        }
    }
    *(if expected { &mut counted.valid } else { &mut counted.invalid }) += 1;
}

/// Many histories, none of whose outcomes are unknown, and as many of which some are. At most one in so many of
/// these may be left to the search.
fn fuzz<O: Object<Operation = Operation>>(object: Result<O, String>, rarely: u64) {
    let object = object.expect("no options");
    let histories = std::env::var("STORMGLASS_SEEDS").map_or(1_000, |_| 200_000);
    for (unknown, rarely) in [(0.0, u64::MAX), (0.2, rarely)] {
        let mut counted = Counted::default();
        for seed in 0..histories {
            let mut rng = Rng::from_seed(seed);
            compare(&object, seed, &random(&mut rng, unknown), &mut counted);
        }
        let rarest = histories / 10;
        assert!(counted.valid > rarest && counted.invalid > rarest, "{counted:?}");
        assert!(counted.left_to_search.saturating_mul(rarely) <= histories, "{counted:?}");
    }
}

const OPTIONS: fn() -> ModelOptions = ModelOptions::default;

#[test]
fn stacks_whose_values_cross_in_every_way() {
    fuzz(Stack::new(&OPTIONS()), 20);
}

#[test]
fn queues_whose_values_cross_in_every_way() {
    fuzz(Queue::fifo(&OPTIONS()), 20);
    fuzz(Queue::unordered(&OPTIONS()), 20);
}

#[test]
fn priority_queues_whose_values_cross_in_every_way() {
    fuzz(Queue::of_priority(&OPTIONS()), 5);
}
