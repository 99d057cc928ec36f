//! Sets: elements that are swapped, dropped or put in are found wherever no order explains them.

use std::collections::BTreeSet;

use super::oracle::{Object, compare, pick};
use crate::checker::kvrocks::KvrocksObject;
use crate::rng::Rng;

#[derive(Clone, Debug)]
enum Act {
    Add(i64),
    Read(Option<BTreeSet<i64>>),
}

struct Set;

impl Object for Set {
    type Act = Act;
    type State = BTreeSet<i64>;

    fn step(state: &BTreeSet<i64>, act: &Act, now: u64) -> Option<(u64, BTreeSet<i64>)> {
        let mut next = state.clone();
        match act {
            Act::Add(value) => {
                next.insert(*value);
            }
            Act::Read(told) => return (told.as_ref()? == state).then_some((now, next)),
        }
        Some((now, next))
    }

    fn answer(state: &BTreeSet<i64>, act: &Act, _now: u64) -> Act {
        match act {
            Act::Add(value) => Act::Add(*value),
            Act::Read(_) => Act::Read(Some(state.clone())),
        }
    }

    fn invoke(act: &Act) -> String {
        match act {
            Act::Add(value) => format!("add {value} key=1"),
            Act::Read(_) => "read nil key=1".to_owned(),
        }
    }

    fn complete(act: &Act) -> String {
        let Act::Read(Some(told)) = act else { return Set::invoke(act) };
        let told: Vec<String> = told.iter().map(ToString::to_string).collect();
        format!("read [{}] key=1", told.join(","))
    }
}

fn acts(rng: &mut Rng) -> Vec<Act> {
    let count = rng.between(2, 7) as i64;
    let act = |value: i64, rng: &mut Rng| match rng.chance(0.5) {
        true => Act::Add(value),
        false => Act::Read(None),
    };
    (0..count).map(|value| act(value, rng)).collect()
}

#[test]
fn a_set_is_impossible_only_where_no_order_explains_it_and_changes_are_found() {
    let change = |ops: &mut [super::oracle::Op<Act>], rng: &mut Rng| {
        let Some(op) = pick(ops, rng, |act| matches!(act, Act::Read(_))) else { return };
        let Act::Read(Some(told)) = &mut op.act else { return };
        if rng.chance(0.5) && !told.is_empty() {
            let place = rng.below(told.len() as u64) as usize;
            let gone = *told.iter().nth(place).expect("an element");
            told.remove(&gone);
        } else {
            told.insert(rng.below(8) as i64);
        }
    };
    let tally = compare::<Set>(&KvrocksObject::Set, 1_200, false, 2, acts, change);
    assert!(tally.caught > 240 && tally.sound > 90, "{tally:?}");
    assert!(tally.missed * 50 < tally.caught, "{tally:?}");
}
