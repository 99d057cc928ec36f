//! Strings under keys.

use super::soundness::Family;
use crate::checker::ModelOptions;
use crate::checker::objects::models::kv::{Kv, Operation};
use crate::checker::objects::rope::{Piece, Rope};
use crate::rng::Rng;

fn piece(text: &str) -> Piece<u8> {
    Piece::new(text.as_bytes().to_vec())
}

/// Few letters, so that values repeat and one is another's beginning.
fn letters(rng: &mut Rng) -> Piece<u8> {
    piece(rng.pick(&["a", "b", "ab", "", "ba"]).expect("one of them"))
}

fn change(rng: &mut Rng) -> Operation {
    match rng.below(3) {
        0 => Operation::Put(letters(rng)),
        _ => Operation::Append(letters(rng)),
    }
}

fn draw(rng: &mut Rng, state: &Rope<u8>) -> Operation {
    match rng.chance(0.5) {
        true => Operation::Get(Piece::new(state.to_vec())),
        false => change(rng),
    }
}

fn spoil(rng: &mut Rng) -> Operation {
    match rng.chance(0.8) {
        true => Operation::Get(letters(rng)),
        false => change(rng),
    }
}

#[test]
fn strings_are_decided_as_by_trying_all_orders() {
    let object = Kv::new(&ModelOptions::default()).expect("no options");
    let forget = |operation| match operation {
        Operation::Get(_) => None,
        other => Some(other),
    };
    Family { object, draw, spoil, forget, histories: 6_000 }.agrees_with_the_oracle();
}

/// Appends alone, where the outlook is used most.
#[test]
fn appended_strings_are_decided_as_by_trying_all_orders() {
    let object = Kv::new(&ModelOptions::default()).expect("no options");
    let forget = |operation| match operation {
        Operation::Get(_) => None,
        other => Some(other),
    };
    let draw = |rng: &mut Rng, state: &Rope<u8>| match rng.chance(0.5) {
        true => Operation::Get(Piece::new(state.to_vec())),
        false => Operation::Append(letters(rng)),
    };
    let spoil = |rng: &mut Rng| match rng.chance(0.7) {
        true => Operation::Get(letters(rng)),
        false => Operation::Append(letters(rng)),
    };
    Family { object, draw, spoil, forget, histories: 6_000 }.agrees_with_the_oracle();
}
