//! Lists in transactions: what is changed in a read is found wherever no order explains it.

use std::collections::BTreeMap;

use super::oracle::{End, Object, Op, compare, pick};
use crate::checker::kvrocks::KvrocksObject;
use crate::rng::Rng;

#[derive(Clone, Debug)]
enum Part {
    Append(i64, i64),
    Read(i64, Option<Vec<i64>>),
}

struct Lists;

impl Object for Lists {
    type Act = Vec<Part>;
    type State = BTreeMap<i64, Vec<i64>>;

    fn step(state: &Self::State, act: &Vec<Part>, now: u64) -> Option<(u64, Self::State)> {
        let mut next = state.clone();
        for part in act {
            match part {
                Part::Append(key, value) => next.entry(*key).or_default().push(*value),
                Part::Read(key, Some(told)) if next.entry(*key).or_default() != told => {
                    return None;
                }
                Part::Read(..) => {}
            }
        }
        Some((now, next))
    }

    fn answer(state: &Self::State, act: &Vec<Part>, _now: u64) -> Vec<Part> {
        let mut next = state.clone();
        let told = act.iter().map(|part| match part {
            Part::Append(key, value) => {
                next.entry(*key).or_default().push(*value);
                part.clone()
            }
            Part::Read(key, _) => Part::Read(*key, Some(next.entry(*key).or_default().clone())),
        });
        told.collect()
    }

    fn invoke(act: &Vec<Part>) -> String {
        let asked = act.iter().map(|part| match part {
            Part::Read(key, _) => Part::Read(*key, None),
            append => append.clone(),
        });
        Lists::complete(&asked.collect())
    }

    fn complete(act: &Vec<Part>) -> String {
        let parts = act.iter().map(|part| match part {
            Part::Append(key, value) => format!(r#"["append",{key},{value}]"#),
            Part::Read(key, None) => format!(r#"["r",{key},null]"#),
            Part::Read(key, Some(told)) => {
                let told: Vec<String> = told.iter().map(ToString::to_string).collect();
                format!(r#"["r",{key},[{}]]"#, told.join(","))
            }
        });
        format!("txn [{}]", parts.collect::<Vec<_>>().join(","))
    }
}

fn acts(parts: u64, keys: u64) -> impl Fn(&mut Rng) -> Vec<Vec<Part>> {
    move |rng| {
        let mut value = 0;
        let mut part = |rng: &mut Rng| {
            value += 1;
            let key = rng.below(keys) as i64;
            match rng.chance(0.5) {
                true => Part::Append(key, value),
                false => Part::Read(key, None),
            }
        };
        let mut act = |rng: &mut Rng| (0..rng.between(1, parts)).map(|_| part(rng)).collect();
        (0..rng.between(2, 6)).map(|_| act(rng)).collect()
    }
}

/// What those of unknown fate read nobody knows.
fn forget(ops: &mut [Op<Vec<Part>>]) {
    for op in ops.iter_mut().filter(|op| op.kind != End::Ok) {
        for part in &mut op.act {
            if let Part::Read(_, told) = part {
                *told = None;
            }
        }
    }
}

fn change(ops: &mut [Op<Vec<Part>>], rng: &mut Rng) {
    forget(ops);
    let is_read = |act: &Vec<Part>| act.iter().any(|part| matches!(part, Part::Read(..)));
    let Some(op) = pick(ops, rng, is_read) else { return };
    let mut reads: Vec<&mut Vec<i64>> = Vec::new();
    for part in &mut op.act {
        if let Part::Read(_, Some(told)) = part {
            reads.push(told);
        }
    }
    let place = rng.below(reads.len() as u64) as usize;
    let told = &mut reads[place];
    let at = rng.below(told.len() as u64 + 1) as usize;
    match rng.below(5) {
        0 if at < told.len() => {
            told.remove(at);
        }
        1 if told.len() > 1 => {
            let other = rng.below(told.len() as u64) as usize;
            told.swap(at.min(other), other);
        }
        2 if at < told.len() => told.push(told[at]),
        3 => told.truncate(at),
        _ => told.insert(at, rng.between(1, 9) as i64),
    }
}

#[test]
fn a_single_list_is_impossible_only_where_no_order_explains_it_and_changes_are_found() {
    let list = KvrocksObject::List;
    let tally = compare::<Lists>(&list, 1_200, false, 3, acts(1, 1), change);
    assert!(tally.caught > 210 && tally.sound > 90, "{tally:?}");
    assert!(tally.missed * 50 < tally.caught, "{tally:?}");
}

#[test]
fn transactions_on_two_lists_are_impossible_only_where_no_order_explains_them() {
    let list = KvrocksObject::List;
    let tally = compare::<Lists>(&list, 1_200, false, 4, acts(4, 2), change);
    assert!(tally.caught > 450 && tally.sound > 60, "{tally:?}");
    // Cycles over several lists are not looked for.
    assert!(tally.missed * 10 < tally.caught, "{tally:?}");
}
