//! Sets.

use std::collections::BTreeSet;

use super::soundness::Family;
use crate::checker::ModelOptions;
use crate::checker::objects::Atom;
use crate::checker::objects::models::set::{Operation, Set};
use crate::rng::Rng;

fn element(rng: &mut Rng) -> Atom {
    Atom::Int(rng.below(3) as i64)
}

fn draw(rng: &mut Rng, state: &BTreeSet<Atom>) -> Operation {
    let element = element(rng);
    let is_there = state.contains(&element);
    match rng.below(8) {
        0..=2 => Operation::Read(state.clone()),
        3 => Operation::Contains(element, is_there),
        4 => Operation::Add(element, Some(!is_there)),
        5 => Operation::Remove(element, Some(is_there)),
        6 => Operation::Remove(element, None),
        _ => Operation::Add(element, None),
    }
}

fn draw_growing(rng: &mut Rng, state: &BTreeSet<Atom>) -> Operation {
    match rng.chance(0.5) {
        true => Operation::Read(state.clone()),
        false => Operation::Add(Atom::Int(rng.below(4) as i64), None),
    }
}

fn spoil(rng: &mut Rng) -> Operation {
    let count = rng.below(4);
    match rng.chance(0.7) {
        true => Operation::Read((0..count).map(|_| element(rng)).collect()),
        false => Operation::Contains(element(rng), rng.chance(0.5)),
    }
}

fn spoil_growing(rng: &mut Rng) -> Operation {
    let count = rng.below(4);
    Operation::Read((0..count).map(|_| element(rng)).collect())
}

fn forget(operation: Operation) -> Option<Operation> {
    match operation {
        Operation::Add(element, _) => Some(Operation::Add(element, None)),
        Operation::Remove(element, _) => Some(Operation::Remove(element, None)),
        Operation::Contains(..) | Operation::Read(_) => None,
    }
}

#[test]
fn sets_are_decided_as_by_trying_all_orders() {
    let object = Set::new(&ModelOptions::default()).expect("no options");
    Family { object, draw, spoil, forget, histories: 6_000 }.agrees_with_the_oracle();
}

/// What only grows and is read as a whole has an algorithm of its own.
#[test]
fn growing_sets_are_decided_as_by_trying_all_orders() {
    let object = Set::new(&ModelOptions::default()).expect("no options");
    let (draw, spoil) = (draw_growing, spoil_growing);
    Family { object, draw, spoil, forget, histories: 10_000 }.agrees_with_the_oracle();
}
