//! The orders that need no look at what transactions did: of each process, and of real time.

use rustc_hash::FxHashMap;

use super::{Edges, rel};
use crate::checker::txn::table::{Outcome, Step, Table};

/// Each process did its transactions one after the other: an edge from every ok one to the next.
///
/// What comes after an indeterminate one does not have to follow it: it may still act.
pub fn process_order(table: &Table, edges: &mut Edges) {
    let mut last: FxHashMap<u32, u32> = FxHashMap::default();
    for (id, txn) in table.txns() {
        if txn.outcome == Outcome::Fail {
            continue;
        }
        if let Some(previous) = last.get(&txn.process) {
            edges.add(*previous, id, rel::PROCESS);
        }
        if txn.is_ok() {
            last.insert(txn.process, id);
        }
    }
}

/// What was over before another began comes before it, through a chain of moments: each stands for the
/// completions between two invocations, so that there are at most three edges for each transaction.
///
/// A transaction of which no invocation is known has no predecessor here.
pub fn realtime_order(table: &Table, edges: &mut Edges) {
    let mut now: Option<u32> = None;
    let mut completed: Vec<u32> = Vec::new();
    for step in table.steps() {
        match step {
            Step::Invoke(id) if table.txn(id).outcome != Outcome::Fail => {
                now = moment(edges, now, &mut completed);
                if let Some(moment) = now {
                    edges.add(moment, id, rel::REALTIME);
                }
            }
            Step::Complete(id) if table.txn(id).is_ok() => completed.push(id),
            _ => {}
        }
    }
}

/// The moment after these completions, and after the one before.
fn moment(edges: &mut Edges, before: Option<u32>, completed: &mut Vec<u32>) -> Option<u32> {
    if completed.is_empty() {
        return before;
    }
    let moment = edges.add_node();
    if let Some(before) = before {
        edges.add(before, moment, rel::REALTIME);
    }
    for id in completed.drain(..) {
        edges.add(id, moment, rel::REALTIME);
    }
    Some(moment)
}
