//! Semaphores.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use serde_json::Value as Json;

use super::soundness::Family;
use super::told::told_with;
use crate::checker::ModelOptions;
use crate::checker::objects::models::SEMAPHORE;
use crate::checker::objects::models::semaphore::{Operation, Permits, Semaphore};
use crate::checker::objects::{Atom, Object};
use crate::rng::Rng;

fn semaphore(permits: u64) -> Semaphore {
    let options = ModelOptions { init: Some(permits.into()), ..ModelOptions::default() };
    Semaphore::new(&options).expect("a number")
}

fn operation(rng: &mut Rng) -> Operation {
    let owner = Atom::Int(rng.below(2) as i64);
    let permits = Permits { owner, count: 1 + rng.below(2) };
    match rng.below(8) {
        0..=2 => Operation::Acquire(permits),
        3..=5 => Operation::Release(permits),
        6 => Operation::Refused(permits),
        _ => Operation::NotHeld(permits),
    }
}

fn draw(rng: &mut Rng, held: &BTreeMap<Atom, u64>) -> Operation {
    let semaphore = semaphore(3);
    loop {
        let drawn = operation(rng);
        if semaphore.step(held, &drawn).is_some() {
            return drawn;
        }
    }
}

/// Not even who did it is known.
fn forget(operation: Operation) -> Option<Operation> {
    let nobody = |permits: Permits| Permits { owner: Atom::Nil, ..permits };
    match operation {
        Operation::Acquire(permits) => Some(Operation::Acquire(nobody(permits))),
        Operation::Release(permits) => Some(Operation::Release(nobody(permits))),
        Operation::Refused(_) | Operation::NotHeld(_) => None,
    }
}

#[test]
fn semaphores_are_decided_as_by_trying_all_orders() {
    let object = semaphore(3);
    Family { object, draw, spoil: operation, forget, histories: 8_000 }.agrees_with_the_oracle();
}

const FULL: &str = r#"0.1 0 invoke acquire nil
                      0.2 0 ok acquire {"client":"n1"}
                      0.3 1 invoke acquire nil
                      0.4 1 ok acquire {"client":"n2"}
                      0.5 2 invoke acquire nil
                      0.6 2 ok acquire {"client":"n3"}"#;

fn check(permits: Option<u64>, lines: &str, expected: Expect) {
    let options = ModelOptions { init: permits.map(Json::from), ..ModelOptions::default() };
    expected.assert_eq(&told_with(&SEMAPHORE, &options, lines));
}

#[test]
fn no_more_permits_are_held_than_there_are() {
    check(
        Some(3),
        FULL,
        expect![[r#"
        valid: as semaphore, 1 of 1 objects are linearizable
    "#]],
    );
    check(
        Some(2),
        FULL,
        expect![[r#"
        invalid: as semaphore, 1 of 1 objects are not linearizable
        nonlinearizable: the acquire for n3 by process 2 at 0.600 s cannot be: after the acquire for n1 by process 0, the acquire for n2 by process 1, 2 of 2 permits are held: 1 by n1, 1 by n2
          (1) 0.100 s to 0.200 s: process 0: acquire for n1: ok
          (2) 0.300 s to 0.400 s: process 1: acquire for n2: ok
          (3) 0.500 s to 0.600 s: process 2: acquire for n3: ok
          after (1) (2) 2 of 2 permits are held: 1 by n1, 1 by n2, and (3), the acquire for n3, cannot follow
    "#]],
    );
    check(
        None,
        FULL,
        expect![[r#"
        unknown: as semaphore, no violation was found in 1 objects; 1 undecided, first the object: nobody said how many permits there are: say --init N
    "#]],
    );
}

/// Where it is not known who released, it may have been anybody; but not somebody who holds none.
#[test]
fn whose_permits_were_released_counts() {
    let unknown = r#"0.1 0 invoke acquire nil
                     0.2 0 ok acquire {"client":"n1"}
                     0.3 1 invoke release nil
                     0.4 1 info release nil
                     0.5 2 invoke acquire nil
                     0.6 2 ok acquire {"client":"n3"}"#;
    check(
        Some(1),
        unknown,
        expect![[r#"
        valid: as semaphore, 1 of 1 objects are linearizable
    "#]],
    );
    let others = r#"0.1 0 invoke acquire {"client":"n1","permits":2}
                    0.2 0 ok acquire {"client":"n1","permits":2}
                    0.3 1 invoke release {"client":"n2"}
                    0.4 1 ok release {"client":"n2"}"#;
    check(
        Some(2),
        others,
        expect![[r#"
        invalid: as semaphore, 1 of 1 objects are not linearizable
        nonlinearizable: the release for n2 by process 1 at 0.400 s cannot be: after the acquire of 2 permits for n1 by process 0, 2 of 2 permits are held: 2 by n1
          (1) 0.100 s to 0.200 s: process 0: acquire of 2 permits for n1: ok
          (2) 0.300 s to 0.400 s: process 1: release for n2: ok
          after (1) 2 of 2 permits are held: 2 by n1, and (2), the release for n2, cannot follow
    "#]],
    );
    let refused = "0.1 0 invoke acquire 2
                   0.2 0 ok acquire 2
                   0.3 1 invoke try-acquire 1
                   0.4 1 ok try-acquire false
                   0.5 1 invoke release 1
                   0.6 1 ok release 1
                   0.7 1 invoke try-acquire 2
                   0.8 1 ok try-acquire false";
    check(
        Some(3),
        refused,
        expect![[r#"
        invalid: as semaphore, 1 of 1 objects are not linearizable
        nonlinearizable: the refused acquire by process 1 at 0.400 s cannot be: after the acquire of 2 permits by process 0, 2 of 3 permits are held
          (1) 0.100 s to 0.200 s: process 0: acquire of 2 permits: ok
          (2) 0.300 s to 0.400 s: process 1: refused acquire: ok
          after (1) 2 of 3 permits are held, and (2), the refused acquire, cannot follow
    "#]],
    );
    check(
        Some(2),
        refused,
        expect![[r#"
        valid: as semaphore, 1 of 1 objects are linearizable
    "#]],
    );
}
