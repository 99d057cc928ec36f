//! Locks of every kind.

use super::soundness::Family;
use crate::checker::objects::models::lock::{Held, Kind, Lock, Operation};
use crate::checker::objects::{Atom, Object};
use crate::rng::Rng;

fn operation(rng: &mut Rng, kind: Kind) -> Operation {
    let owner = match kind {
        Kind::Mutex => Atom::Nil,
        _ => Atom::Int(rng.below(2) as i64),
    };
    let token = (kind == Kind::FencedLock).then(|| rng.below(6) as i64);
    match rng.below(7) {
        0..=2 => Operation::Acquire { owner, token },
        3..=5 => Operation::Release { owner },
        _ if rng.chance(0.5) => Operation::Refused { owner },
        _ => Operation::NotHeld { owner },
    }
}

fn draw(rng: &mut Rng, kind: Kind, state: &Held) -> Operation {
    let lock = Lock::new(kind);
    let possible = |lock: &Lock, operation: &Operation| lock.step(state, operation).is_some();
    let lock = lock.expect("no options");
    loop {
        let mut drawn = operation(rng, kind);
        if possible(&lock, &drawn) {
            return drawn;
        }
        // Tokens run out where only a few can be drawn.
        if let Operation::Acquire { token, .. } = &mut drawn {
            *token = token.map(|token| token + 10 * rng.below(100) as i64);
        }
        if possible(&lock, &drawn) {
            return drawn;
        }
    }
}

fn forget(operation: Operation) -> Option<Operation> {
    match operation {
        Operation::Acquire { owner, .. } => Some(Operation::Acquire { owner, token: None }),
        Operation::Release { .. } => Some(operation),
        Operation::Refused { .. } | Operation::NotHeld { .. } => None,
    }
}

macro_rules! check {
    ($kind:expr) => {
        Family {
            object: Lock::new($kind).expect("no options"),
            draw: |rng, state| draw(rng, $kind, state),
            spoil: |rng| operation(rng, $kind),
            forget,
            histories: 2_500,
        }
        .agrees_with_the_oracle()
    };
}

#[test]
fn locks_are_decided_as_by_trying_all_orders() {
    check!(Kind::Mutex);
    check!(Kind::OwnerMutex);
    check!(Kind::ReentrantMutex);
    check!(Kind::FencedLock);
}
