//! Lists.

use super::soundness::Family;
use crate::checker::ModelOptions;
use crate::checker::objects::Atom;
use crate::checker::objects::models::list::{List, Operation};
use crate::checker::objects::rope::{Piece, Rope};
use crate::rng::Rng;

fn item(rng: &mut Rng) -> Atom {
    Atom::Int(rng.below(3) as i64)
}

fn draw(rng: &mut Rng, state: &Rope<Atom>) -> Operation {
    match rng.chance(0.5) {
        true => Operation::Read(Piece::new(state.to_vec())),
        false => Operation::Append(Piece::new(vec![item(rng)])),
    }
}

fn spoil(rng: &mut Rng) -> Operation {
    let length = rng.below(4);
    Operation::Read(Piece::new((0..length).map(|_| item(rng)).collect()))
}

#[test]
fn lists_are_decided_as_by_trying_all_orders() {
    let object = List::new(&ModelOptions::default()).expect("no options");
    let forget = |operation| match operation {
        Operation::Read(_) => None,
        append => Some(append),
    };
    Family { object, draw, spoil, forget, histories: 6_000 }.agrees_with_the_oracle();
}
