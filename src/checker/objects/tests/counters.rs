//! Counters.

use super::soundness::Family;
use crate::checker::ModelOptions;
use crate::checker::objects::models::counter::{Counter, Operation};
use crate::rng::Rng;

fn amount(rng: &mut Rng) -> i64 {
    rng.below(5) as i64 - 1
}

fn draw(rng: &mut Rng, state: &i64) -> Operation {
    let amount = amount(rng);
    match rng.below(4) {
        0 | 1 => Operation::Read(*state),
        2 => Operation::Add { amount, sum: None },
        _ => Operation::Add { amount, sum: Some(state + amount) },
    }
}

fn spoil(rng: &mut Rng) -> Operation {
    let sum = rng.below(6) as i64;
    match rng.chance(0.6) {
        true => Operation::Read(sum),
        false => Operation::Add { amount: amount(rng), sum: Some(sum) },
    }
}

#[test]
fn counters_are_decided_as_by_trying_all_orders() {
    let object = Counter::new(&ModelOptions::default()).expect("no options");
    let forget = |operation| match operation {
        Operation::Read(_) => None,
        Operation::Add { amount, .. } => Some(Operation::Add { amount, sum: None }),
    };
    Family { object, draw, spoil, forget, histories: 8_000 }.agrees_with_the_oracle();
}
