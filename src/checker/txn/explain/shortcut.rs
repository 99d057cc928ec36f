//! Cycles in real time with as few transactions as they need.

use crate::checker::txn::cycles::{Cycle, CycleStep};
use crate::checker::txn::graph::rel;
use crate::checker::txn::table::Table;

/// A search counts the moments between two transactions as steps, and so goes by way of others where real
/// time alone leads from the one to the other. Anti-dependencies stay, and with them the name.
pub fn shortened(table: &Table, cycle: &Cycle) -> Cycle {
    if !cycle.name.ends_with("-realtime") {
        return cycle.clone();
    }
    let all = &cycle.steps;
    let mut steps: Vec<CycleStep> = Vec::with_capacity(all.len());
    let mut at = 0;
    while at < all.len() {
        let rest = all[at..].iter().take_while(|step| step.kind != rel::RW).count();
        let last = (at + 1..at + rest).rev().find(|last| leads(table, &all[at], &all[*last]));
        steps.push(match last {
            Some(last) => CycleStep { to: all[last].to, kind: rel::REALTIME, ..all[at] },
            None => all[at],
        });
        at = last.unwrap_or(at) + 1;
    }
    Cycle { steps, ..*cycle }
}

/// Whether the one step begins with what was over before that began with which the other ends.
fn leads(table: &Table, first: &CycleStep, last: &CycleStep) -> bool {
    let ended = table.txn(first.from).completed.filter(|_| table.txn(first.from).is_ok());
    let began = table.txn(last.to).invoked;
    matches!((ended, began), (Some(ended), Some(began)) if ended.index < began.index)
}
