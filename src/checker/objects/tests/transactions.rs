//! Transactions on registers.

use super::soundness::Family;
use crate::checker::ModelOptions;
use crate::checker::objects::Atom;
use crate::checker::objects::models::multi_register::{MultiRegister, Registers, Step};
use crate::rng::Rng;

fn register(rng: &mut Rng) -> Atom {
    Atom::Text((*rng.pick(&["x", "y"]).expect("one of them")).into())
}

fn value(rng: &mut Rng) -> Atom {
    Atom::Int(rng.below(3) as i64)
}

fn draw(rng: &mut Rng, state: &Registers) -> Vec<Step> {
    let mut now = state.clone();
    let step = |_| {
        let register = register(rng);
        match rng.chance(0.6) {
            true => Step::Read(register.clone(), Some(now.get(&register).clone())),
            false => {
                let value = value(rng);
                now.set(&register, &value);
                Step::Write(register, value)
            }
        }
    };
    let count = if state.get(&Atom::Text("x".into())) == &Atom::Int(1) { 1 } else { 2 };
    (0..count).map(step).collect()
}

fn spoil(rng: &mut Rng) -> Vec<Step> {
    let read = Step::Read(register(rng), Some(value(rng)));
    match rng.chance(0.5) {
        true => vec![read],
        false => vec![read, Step::Read(register(rng), Some(value(rng)))],
    }
}

fn forget(transaction: Vec<Step>) -> Option<Vec<Step>> {
    let forgotten = transaction.into_iter().map(|step| match step {
        Step::Read(register, _) => Step::Read(register, None),
        write => write,
    });
    let steps: Vec<Step> = forgotten.collect();
    steps.iter().any(|step| matches!(step, Step::Write(..))).then_some(steps)
}

#[test]
fn transactions_are_decided_as_by_trying_all_orders() {
    let init = serde_json::json!({ "x": 0, "y": 0 });
    let options = ModelOptions { init: Some(init), ..ModelOptions::default() };
    let object = MultiRegister::new(&options).expect("good options");
    Family { object, draw, spoil, forget, histories: 8_000 }.agrees_with_the_oracle();
}
