//! Transactions and cycles in words, of bounded size whatever they hold.

use crate::checker::Anomaly;
use crate::checker::txn::cycles::{Cycle, CycleStep};
use crate::checker::txn::graph::rel;
use crate::checker::txn::table::{MicroOp, Moment, NONE, Outcome, Table, Txn};
use crate::op::{Nanos, SECOND};

/// How many micro-operations of a transaction, and elements of a list, are shown.
const SHOWN: usize = 8;
const ELEMENTS: usize = 4;

/// How many steps of a cycle are told.
const STEPS: usize = 24;

/// An inference: it can say why one transaction depends on another.
pub trait Justify {
    /// One sentence on an edge of this kind (`rel::WW`, `rel::WR` or `rel::RW`) between two transactions,
    /// each with the name by which it is called.
    fn justify(&self, from: (u32, &str), to: (u32, &str), kind: u8) -> String;
}

pub fn seconds(time: Nanos) -> String {
    format!("{:.3} s", time as f64 / SECOND as f64)
}

/// A list, but of a long one only its end: `[1 2 3]`, `[.. 7 8 9 10]`.
pub fn list_text(table: &Table, elements: &[u32]) -> String {
    let start = elements.len().saturating_sub(ELEMENTS);
    let mut text = String::from(if start > 0 { "[.. " } else { "[" });
    for (position, element) in elements[start..].iter().enumerate() {
        if position > 0 {
            text.push(' ');
        }
        text += &table.value_text(*element);
    }
    text + "]"
}

/// Who did it and when, and what it did to these keys; of all keys if there are none.
pub fn txn_text(table: &Table, id: u32, keys: &[u32]) -> String {
    let txn = table.txn(id);
    let mut text = format!("process {}'s", txn.process);
    let wanted = |op: &&MicroOp| keys.is_empty() || keys.contains(&op.key());
    let all = table.micro_ops(id);
    let mut parts: Vec<String> =
        all.iter().filter(wanted).take(SHOWN).map(|op| micro_op_text(table, *op)).collect();
    if parts.len() < all.len() {
        parts.push("..".to_owned());
    }
    text += &format!(" {{{}}}", parts.join(", "));
    text + &when(txn)
}

fn when(txn: &Txn) -> String {
    let place = |moment: Moment| format!("{} (index {})", seconds(moment.time), moment.index);
    let ended = match (txn.outcome, txn.completed) {
        (Outcome::Ok, Some(at)) => format!("ok at {}", place(at)),
        (Outcome::Fail, Some(at)) => format!("failed at {}", place(at)),
        (_, Some(at)) => format!("indeterminate at {}", place(at)),
        (_, None) => "never completed".to_owned(),
    };
    match txn.invoked {
        Some(at) => format!(", invoked at {}, {ended}", place(at)),
        None => format!(", {ended}"),
    }
}

fn micro_op_text(table: &Table, op: MicroOp) -> String {
    let key = table.key_text(op.key());
    match op {
        MicroOp::Write { value, .. } if table.holds_lists() => {
            format!("append {key} {}", table.value_text(value))
        }
        MicroOp::Write { value, .. } => format!("w {key} {}", table.value_text(value)),
        MicroOp::Read { value, .. } => format!("r {key} {}", table.value_text(value)),
        MicroOp::ReadList { read, .. } => {
            format!("r {key} {}", list_text(table, table.lists.seen(read)))
        }
        MicroOp::Asked { .. } => format!("r {key} ?"),
    }
}

/// An anomaly about these transactions: its times and operations are theirs.
pub fn anomaly(table: &Table, kind: &str, ids: &[u32], summary: String) -> Anomaly {
    let txns = || ids.iter().map(|id| table.txn(*id));
    let mut events: Vec<Moment> = txns().map(Txn::event).collect();
    events.sort_by_key(|moment| moment.index);
    events.dedup();
    let ends = txns().filter_map(|txn| txn.completed).map(|moment| moment.time).max();
    let from = events.iter().map(|moment| moment.time).min().unwrap_or(0);
    Anomaly {
        kind: kind.to_owned(),
        summary,
        details: Vec::new(),
        key: None,
        nodes: Vec::new(),
        ops: events.iter().map(|moment| moment.index).collect(),
        from,
        to: ends.unwrap_or(from).max(from),
    }
}

/// A cycle: who takes part in it, and why each comes before the next.
pub fn cycle_anomaly(table: &Table, cycle: &Cycle, inference: &dyn Justify) -> Anomaly {
    let ids: Vec<u32> = cycle.steps.iter().map(|step| step.from).collect();
    let names: Vec<String> = (1..=ids.len()).map(|number| format!("T{number}")).collect();
    let mut anomaly = anomaly(table, cycle.name, &ids, summary(table, cycle, inference));
    for (id, name) in ids.iter().zip(&names).take(STEPS) {
        anomaly.details.push(format!("{name} = {}", txn_text(table, *id, &[])));
    }
    let last = cycle.steps.len().saturating_sub(1);
    for (position, step) in cycle.steps.iter().enumerate() {
        if position >= STEPS && position != last {
            continue;
        }
        let (from, to) = (&names[position], &names[(position + 1) % names.len()]);
        let why = step_text(table, step, (from, to), inference);
        anomaly.details.push(match position == last {
            true => format!("but {from} before {to}: {why}: a contradiction"),
            false => format!("{from} before {to}: {why}"),
        });
    }
    if cycle.steps.len() > STEPS {
        anomaly.details.push(format!(
            "left out: {} of {} steps",
            cycle.steps.len() - STEPS,
            cycle.steps.len()
        ));
    }
    anomaly
}

fn step_text(
    table: &Table,
    step: &CycleStep,
    (from, to): (&str, &str),
    inference: &dyn Justify,
) -> String {
    let (from, to) = ((step.from, from), (step.to, to));
    match step.kind {
        rel::PROCESS => process_text(table, from, to),
        rel::REALTIME => realtime_text(table, from, to),
        kind => inference.justify(from, to, kind),
    }
}

/// A short cycle wholly, of a long one the step that closes it.
fn summary(table: &Table, cycle: &Cycle, inference: &dyn Justify) -> String {
    let name = |id: u32| {
        let txn = table.txn(id);
        format!("process {} ({})", txn.process, seconds(txn.event().time))
    };
    let text =
        |step: &CycleStep| step_text(table, step, (&name(step.from), &name(step.to)), inference);
    match &cycle.steps[..] {
        [one, other] => format!("{}, but {}", text(one), text(other)),
        [one, .., last] => format!(
            "{}; but {} comes before {} by way of {} more transactions",
            text(last),
            name(one.from),
            name(last.from),
            cycle.steps.len() - 2
        ),
        _ => String::new(),
    }
}

fn process_text(table: &Table, (id, from): (u32, &str), (_, to): (u32, &str)) -> String {
    format!("process {} did {from} before {to}", table.txn(id).process)
}

fn realtime_text(table: &Table, (one, from): (u32, &str), (other, to): (u32, &str)) -> String {
    let (ended, began) = (table.txn(one).completed, table.txn(other).invoked);
    let (Some(ended), Some(began)) = (ended, began) else {
        return format!("{from} was over before {to} began");
    };
    if began.time > ended.time {
        let (ended, began) = (seconds(ended.time), seconds(began.time));
        return format!("{from} completed at {ended}, before {to} was invoked at {began}");
    }
    // The order of events counts; clocks may be coarser.
    let (ended, began) = (ended.index, began.index);
    format!("{from} completed at index {ended}, before {to} was invoked at index {began}")
}

/// The lists that a transaction read of a key.
pub fn lists_read(table: &Table, id: u32, key: u32) -> impl Iterator<Item = &[u32]> {
    table.micro_ops(id).iter().filter_map(move |op| match op {
        MicroOp::ReadList { key: other, read } if *other == key => Some(table.lists.seen(*read)),
        _ => None,
    })
}

/// What a transaction wrote to a key, in order.
pub fn written(table: &Table, id: u32, key: u32) -> impl Iterator<Item = u32> {
    table.micro_ops(id).iter().filter_map(move |op| match op {
        MicroOp::Write { key: other, value } if *other == key && *value != NONE => Some(*value),
        _ => None,
    })
}
