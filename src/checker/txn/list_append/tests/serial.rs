//! Brute force: is there an order of the transactions that explains every read?

use super::random::{Case, Op, Txn};
use crate::op::Kind;

/// Which orders an explanation must keep to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Any,
    Process,
    Realtime,
}

/// Whether the transactions can have been done one after the other. Those that failed did nothing,
/// indeterminate ones all or nothing.
pub fn serializable(case: &Case, order: Order) -> bool {
    let all: Vec<&Txn> = case.txns.iter().filter(|txn| txn.kind != Kind::Fail).collect();
    place(&all, &mut vec![false; all.len()], &[Vec::new(), Vec::new()], order)
}

/// Whether the transactions that are not `done` can follow.
fn place(all: &[&Txn], done: &mut [bool], lists: &[Vec<u32>], order: Order) -> bool {
    let left = |done: &[bool], number: usize| !done[number] && all[number].kind == Kind::Ok;
    if !(0..all.len()).any(|number| left(done, number)) {
        return true;
    }
    for number in 0..all.len() {
        let blocked =
            |other: usize| left(done, other) && comes_first(all[other], all[number], order);
        if done[number] || (0..all.len()).any(blocked) {
            continue;
        }
        let mut after = lists.to_vec();
        if !apply(all[number], &mut after) {
            continue;
        }
        done[number] = true;
        if place(all, done, &after, order) {
            return true;
        }
        done[number] = false;
    }
    false
}

fn comes_first(one: &Txn, other: &Txn, order: Order) -> bool {
    let over = one.kind == Kind::Ok && one.completed.is_some_and(|end| end < other.invoked);
    match order {
        Order::Any => false,
        Order::Process => over && one.process == other.process,
        Order::Realtime => over,
    }
}

/// Does what a transaction did; false if it cannot have seen what it saw.
fn apply(txn: &Txn, lists: &mut [Vec<u32>]) -> bool {
    txn.ops.iter().all(|op| match op {
        Op::Append { key, value } => {
            lists[*key].push(*value);
            true
        }
        Op::Read { key, list } => txn.kind != Kind::Ok || lists[*key] == *list,
    })
}

/// Whether each transaction can have read from one earlier state and been committed at a moment at which
/// nobody had written what it wrote since that state.
pub fn snapshot_isolated(case: &Case) -> bool {
    let all: Vec<&Txn> = case.txns.iter().filter(|txn| txn.kind != Kind::Fail).collect();
    commit(&all, &mut vec![false; all.len()], &mut vec![vec![Vec::new(); 2]])
}

/// `states`: after each commit.
fn commit(all: &[&Txn], done: &mut [bool], states: &mut Vec<Vec<Vec<u32>>>) -> bool {
    if !(0..all.len()).any(|number| !done[number] && all[number].kind == Kind::Ok) {
        return true;
    }
    for number in 0..all.len() {
        if done[number] {
            continue;
        }
        let now = states.len() - 1;
        for snapshot in 0..=now {
            let mut after = states[snapshot].clone();
            if !apply(all[number], &mut after) {
                continue;
            }
            let wrote = |key: usize| after[key] != states[snapshot][key];
            if (0..2).any(|key| wrote(key) && states[snapshot][key] != states[now][key]) {
                continue;
            }
            let next = (0..2)
                .map(|key| if wrote(key) { after[key].clone() } else { states[now][key].clone() });
            states.push(next.collect());
            done[number] = true;
            if commit(all, done, states) {
                return true;
            }
            done[number] = false;
            states.pop();
        }
    }
    false
}
