//! Locks: two holders are found only where no moments of the operations explain what was answered.

use super::oracle::{Object, Op, compare, pick};
use crate::checker::kvrocks::KvrocksObject;
use crate::op::MILLISECOND;
use crate::rng::Rng;

const TTL: u64 = 200;

#[derive(Clone, Debug)]
enum Act {
    /// Owner and token.
    Acquire(i64, i64),
    Release(i64),
    /// Token and value.
    Store(i64, i64),
}

struct Lock;

#[derive(Clone, Debug, Default)]
struct State {
    /// Owner, and until when.
    held: Option<(i64, u64)>,
    token: i64,
    seen: i64,
}

impl Object for Lock {
    type Act = Act;
    type State = State;

    fn step(state: &State, act: &Act, now: u64) -> Option<(u64, State)> {
        let mut next = state.clone();
        match *act {
            Act::Acquire(owner, token) => {
                let free = state.held.map_or(now, |(_, until)| until.max(now));
                // Refused requests count as well.
                if token <= state.token {
                    return None;
                }
                next = State { held: Some((owner, free + TTL)), token, ..next };
                return Some((free, next));
            }
            Act::Release(owner) => {
                // It may have been given back at an earlier moment, while it had not run out yet.
                state.held.filter(|(holder, _)| *holder == owner)?;
                next.held = None;
            }
            Act::Store(token, _) if token < state.seen => return None,
            Act::Store(token, _) => next.seen = token,
        }
        Some((now, next))
    }

    fn answer(state: &State, act: &Act, _now: u64) -> Act {
        match *act {
            Act::Acquire(owner, _) => Act::Acquire(owner, state.token + 1),
            Act::Release(_) => Act::Release(state.held.map_or(0, |(owner, _)| owner)),
            Act::Store(_, value) => Act::Store(state.token, value),
        }
    }

    fn invoke(act: &Act) -> String {
        match act {
            Act::Acquire(owner, _) => format!("acquire {owner} key=1"),
            Act::Release(owner) => format!("release {owner} key=1"),
            Act::Store(token, value) => format!("store {token}>{value} key=1"),
        }
    }

    fn complete(act: &Act) -> String {
        match act {
            Act::Acquire(_, token) => format!("acquire {token} key=1"),
            other => Lock::invoke(other),
        }
    }
}

fn acts(rng: &mut Rng) -> Vec<Act> {
    let count = rng.between(2, 7) as i64;
    let act = |number: i64, rng: &mut Rng| match rng.below(10) {
        0..=4 => Act::Acquire(100 + number, 0),
        5 | 6 => Act::Release(0),
        _ => Act::Store(0, number),
    };
    (0..count).map(|number| act(number, rng)).collect()
}

#[test]
fn locks_are_impossible_only_where_no_moments_explain_them() {
    let lock = KvrocksObject::Lock { ttl: TTL * MILLISECOND };
    let change = |ops: &mut [Op<Act>], rng: &mut Rng| match rng.below(3) {
        // It was answered at another time.
        0 | 1 => {
            let Some(op) = pick(ops, rng, |act| matches!(act, Act::Acquire(..))) else { return };
            let (start, length) = (op.start, op.end - op.start);
            op.start = start.saturating_sub(rng.below(TTL) / 16 * 16);
            op.end = op.start + length;
        }
        _ => {
            let Some(op) = pick(ops, rng, |act| !matches!(act, Act::Release(_))) else { return };
            match &mut op.act {
                Act::Acquire(_, token) | Act::Store(token, _) => {
                    *token += *rng.pick(&[-2, -1, 1]).expect("a shift");
                }
                Act::Release(_) => {}
            }
        }
    };
    let tally = compare::<Lock>(&lock, 1_200, false, 5, acts, change);
    // Releases that cannot have been, and tokens given out twice at the same time, are not looked for.
    assert!(tally.caught > 40 && tally.sound > 300, "{tally:?}");
}

#[test]
fn a_second_holder_is_found() {
    let lock = KvrocksObject::Lock { ttl: TTL * MILLISECOND };
    let rng = Rng::from_seed(6);
    for round in 0..300 {
        let mut rng = rng.fork(&round.to_string());
        let start = rng.below(1_000);
        let taken = start + 1 + rng.below(40);
        let again = taken + 1 + rng.below(50);
        let first = Op { start, end: taken, kind: super::oracle::End::Ok, act: Act::Acquire(1, 1) };
        let end = again + 1 + rng.below(40);
        let second = Op { start: again, end, act: Act::Acquire(2, 2), ..first.clone() };
        let kinds = super::oracle::judged::<Lock>(&lock, &[first, second]);
        assert_eq!(kinds, ["two-holders"]);
    }
}
