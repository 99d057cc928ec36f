//! Queues and stacks.

use super::oracle::has_order;
use super::soundness::{Family, swap};
use crate::checker::ModelOptions;
use crate::checker::objects::decide::relevant;
use crate::checker::objects::fast::Shortcut;
use crate::checker::objects::models::container::{Operation, Taken};
use crate::checker::objects::models::queue::Queue;
use crate::checker::objects::models::stack::Stack;
use crate::checker::objects::rope::Rope;
use crate::checker::objects::{Atom, Object};
use crate::rng::Rng;

/// Whether a value may go in more than once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    Unique,
    Few,
}

fn put(rng: &mut Rng, values: Values) -> Operation {
    let bound = if values == Values::Unique { 1_000_000 } else { 2 };
    Operation::Put(Atom::Int(rng.below(bound) as i64))
}

fn take(next: Option<&Atom>) -> Operation {
    Operation::Take(next.map_or(Taken::Empty, |value| Taken::Value(value.clone())))
}

/// Takes more often the more there is.
fn wants_to_take(rng: &mut Rng, held: usize) -> bool {
    rng.chance(if held == 0 { 0.25 } else { 0.4 + 0.1 * held as f64 })
}

fn draw_of_queue(rng: &mut Rng, state: &[Atom], values: Values, is_fifo: bool) -> Operation {
    if !wants_to_take(rng, state.len()) {
        return put(rng, values);
    }
    take(if is_fifo { state.first() } else { rng.pick(state) })
}

fn draw_of_stack(rng: &mut Rng, state: &Rope<Atom>, values: Values) -> Operation {
    let state = state.to_vec();
    if wants_to_take(rng, state.len()) { take(state.last()) } else { put(rng, values) }
}

fn spoil(rng: &mut Rng) -> Operation {
    match rng.below(3) {
        0 => Operation::Take(Taken::Empty),
        _ => Operation::Take(Taken::Value(Atom::Int(rng.below(2) as i64))),
    }
}

/// Where values are unique, only these do not bring in a value of their own.
fn spoil_unique(_rng: &mut Rng) -> Operation {
    Operation::Take(Taken::Empty)
}

fn forget(operation: Operation) -> Option<Operation> {
    Some(match operation {
        Operation::Take(_) => Operation::Take(Taken::Unknown),
        put => put,
    })
}

fn family<O: Object<Operation = Operation>>(
    object: Result<O, String>,
    draw: fn(&mut Rng, &O::State) -> Operation,
    spoil: fn(&mut Rng) -> Operation,
) -> Family<O> {
    Family { object: object.expect("no options"), draw, spoil, forget, histories: 6_000 }
}

const OPTIONS: fn() -> ModelOptions = ModelOptions::default;

#[test]
fn fifo_queues_are_decided_as_by_trying_all_orders() {
    let fifo = || Queue::fifo(&OPTIONS());
    family(fifo(), |rng, state| draw_of_queue(rng, state, Values::Few, true), spoil)
        .agrees_with_the_oracle();
    let unique =
        family(fifo(), |rng, state| draw_of_queue(rng, state, Values::Unique, true), spoil_unique);
    unique.agrees_with_the_oracle();
    Family { histories: 10_000, ..unique }.agrees_with_the_oracle_after_swaps();
}

#[test]
fn unordered_queues_are_decided_as_by_trying_all_orders() {
    let unordered = || Queue::unordered(&OPTIONS());
    family(unordered(), |rng, state| draw_of_queue(rng, state, Values::Few, false), spoil)
        .agrees_with_the_oracle();
    let unique = family(
        unordered(),
        |rng, state| draw_of_queue(rng, state, Values::Unique, false),
        spoil_unique,
    );
    unique.agrees_with_the_oracle();
    unique.agrees_with_the_oracle_after_swaps();
}

#[test]
fn priority_queues_are_decided_as_by_trying_all_orders() {
    let least = || Queue::of_priority(&OPTIONS());
    family(least(), |rng, state| draw_of_queue(rng, state, Values::Few, true), spoil)
        .agrees_with_the_oracle();
    let unique =
        family(least(), |rng, state| draw_of_queue(rng, state, Values::Unique, true), spoil_unique);
    unique.agrees_with_the_oracle();
    Family { histories: 10_000, ..unique }.agrees_with_the_oracle_after_swaps();
}

#[test]
fn stacks_are_decided_as_by_trying_all_orders() {
    let stack = || Stack::new(&OPTIONS());
    family(stack(), |rng, state| draw_of_stack(rng, state, Values::Few), spoil)
        .agrees_with_the_oracle();
    let unique =
        family(stack(), |rng, state| draw_of_stack(rng, state, Values::Unique), spoil_unique);
    unique.agrees_with_the_oracle_after_swaps();
}

/// Queues of unique values need no search, unless takings of unknown outcome may explain what was found
/// empty.
fn needs_no_search(family: &Family<Queue>) {
    let (mut valid, mut invalid, mut helped) = (0, 0, 0);
    for seed in 0..4_000 {
        let mut rng = Rng::from_seed(seed);
        let mut operations = family.history(&mut rng);
        if rng.chance(0.5) {
            swap::<Queue>(&mut rng, &mut operations);
        }
        let operations = relevant(&family.object, &operations);
        let open = operations.iter().filter(|t| t.is_open()).any(|t| t.operation.value().is_none());
        let found_empty = operations.iter().any(|timed| timed.operation.is_of_nothing());
        if open && found_empty {
            continue;
        }
        let expected = has_order(&family.object, &operations);
        match family.object.shortcut(&operations) {
            Shortcut::None => panic!("seed {seed}: undecided: {operations:#?}"),
            found => assert_eq!(found == Shortcut::Linearizable, expected, "seed {seed}"),
        }
        *(if expected { &mut valid } else { &mut invalid }) += 1;
        helped += usize::from(open);
    }
    assert!(
        valid.min(invalid).min(helped) > 200,
        "{valid} valid, {invalid} invalid, {helped} helped"
    );
}

#[test]
fn queues_of_unique_values_need_no_search() {
    let (fifo, unordered) = (Queue::fifo(&OPTIONS()), Queue::unordered(&OPTIONS()));
    needs_no_search(&family(
        fifo,
        |rng, state| draw_of_queue(rng, state, Values::Unique, true),
        spoil_unique,
    ));
    needs_no_search(&family(
        unordered,
        |rng, state| draw_of_queue(rng, state, Values::Unique, false),
        spoil_unique,
    ));
}
