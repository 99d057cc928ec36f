//! Counters: exactly those histories are found that no order explains.

use super::oracle::{Object, Op, compare, pick};
use crate::checker::kvrocks::KvrocksObject;
use crate::rng::Rng;

#[derive(Clone, Debug)]
enum Act {
    Increment(Option<i64>),
    Read(Option<i64>),
}

struct Counter;

impl Object for Counter {
    type Act = Act;
    type State = i64;

    fn step(state: &i64, act: &Act, now: u64) -> Option<(u64, i64)> {
        match act {
            Act::Increment(told) => {
                told.is_none_or(|told| told == state + 1).then_some((now, state + 1))
            }
            Act::Read(told) => told.is_none_or(|told| told == *state).then_some((now, *state)),
        }
    }

    fn answer(state: &i64, act: &Act, _now: u64) -> Act {
        match act {
            Act::Increment(_) => Act::Increment(Some(state + 1)),
            Act::Read(_) => Act::Read(Some(*state)),
        }
    }

    fn invoke(act: &Act) -> String {
        match act {
            Act::Increment(_) => "incr nil key=1".to_owned(),
            Act::Read(_) => "read nil key=1".to_owned(),
        }
    }

    fn complete(act: &Act) -> String {
        match act {
            Act::Increment(told) => format!("incr {} key=1", told.expect("an answer")),
            Act::Read(Some(0)) => "read nil key=1".to_owned(),
            Act::Read(told) => format!("read {} key=1", told.expect("an answer")),
        }
    }
}

fn acts(rng: &mut Rng) -> Vec<Act> {
    let count = rng.between(2, 6);
    let act = |rng: &mut Rng| match rng.chance(0.6) {
        true => Act::Increment(None),
        false => Act::Read(None),
    };
    (0..count).map(|_| act(rng)).collect()
}

/// What an unknown increment was answered nobody knows.
fn forget(ops: &mut [Op<Act>]) {
    for op in ops.iter_mut().filter(|op| op.kind != super::oracle::End::Ok) {
        op.act = match op.act {
            Act::Increment(_) => Act::Increment(None),
            Act::Read(_) => Act::Read(None),
        };
    }
}

#[test]
fn a_counter_is_impossible_exactly_where_no_order_explains_it() {
    let tally = compare::<Counter>(&KvrocksObject::Counter, 1_200, true, 1, acts, |ops, rng| {
        forget(ops);
        for _ in 0..rng.between(1, 2) {
            let Some(op) = pick(ops, rng, |_| true) else { return };
            let shift = *rng.pick(&[-2, -1, 1, 2, 1_000_000]).expect("a shift");
            match &mut op.act {
                Act::Increment(Some(told)) | Act::Read(Some(told)) => *told += shift,
                _ => {}
            }
        }
    });
    assert!(tally.caught > 600 && tally.sound > 90, "{tally:?}");
}
