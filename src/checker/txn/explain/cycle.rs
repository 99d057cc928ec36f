//! A cycle of transactions: who takes part in it, and why each comes before the next.

use super::shortcut::shortened;
use super::{Justify, Reason, anomaly, doings, is_timed, txn_text};
use crate::checker::moment::{apart, seconds};
use crate::checker::txn::cycles::{Cycle, CycleStep};
use crate::checker::txn::graph::rel;
use crate::checker::txn::table::{Moment, Outcome, Table};
use crate::checker::{Anomaly, CycleEdge, CycleEdgeKind, CycleTxn, TxnCycle};
use crate::op::Kind;

/// How many steps of a cycle are told.
const STEPS: usize = 12;

/// A cycle in words, and as what can be drawn.
pub fn cycle_anomaly(table: &Table, cycle: &Cycle, inference: &dyn Justify) -> Anomaly {
    let cycle = &shortened(table, cycle);
    let ids: Vec<u32> = cycle.steps.iter().map(|step| step.from).collect();
    let mut anomaly = anomaly(table, cycle.name, &ids, summary(table, cycle, inference));
    let shown = outline(cycle.steps.len());
    let told = told(table, cycle, &shown, inference);
    for place in &shown {
        anomaly.details.push(format!("{} = {}", name(*place), txn_text(table, ids[*place], &[])));
    }
    for (position, edge) in told.edges.iter().enumerate() {
        let (from, to) = (&told.txns[edge.from].name, &told.txns[edge.to].name);
        anomaly.details.push(match position + 1 == told.edges.len() {
            true => format!("but {from} before {to}: {}: a contradiction", edge.why),
            false => format!("{from} before {to}: {}", edge.why),
        });
    }
    anomaly.cycle = Some(Box::new(told));
    anomaly
}

/// Which places of a cycle are told: of a long one the first, and the one that closes it.
pub fn outline(length: usize) -> Vec<usize> {
    match length {
        0..=STEPS => (0..length).collect(),
        long => (0..STEPS - 1).chain([long - 1]).collect(),
    }
}

fn name(place: usize) -> String {
    format!("T{}", place + 1)
}

fn told(table: &Table, cycle: &Cycle, shown: &[usize], inference: &dyn Justify) -> TxnCycle {
    let mut edges = Vec::with_capacity(shown.len());
    let mut keys: Vec<Vec<u32>> = vec![Vec::new(); shown.len()];
    for (from, place) in shown.iter().enumerate() {
        let to = (from + 1) % shown.len();
        let left_out = shown[to].saturating_sub(place + 1);
        if left_out > 0 {
            edges.push(omitted(from, to, left_out));
            continue;
        }
        let (one, other) = (name(*place), name(shown[to]));
        let step = &cycle.steps[*place];
        let Reason { about, text } = reason(table, step, (&one, &other), inference);
        if let Some((key, _)) = about {
            keys[from].push(key);
            keys[to].push(key);
        }
        let (key, value) = about.map(|(key, value)| (table.key_text(key).into(), value)).unzip();
        edges.push(CycleEdge { from, to, kind: edge_kind(step.kind), key, value, why: text });
    }
    let txns = shown.iter().zip(&keys);
    let txns =
        txns.map(|(place, keys)| cycle_txn(table, cycle.steps[*place].from, name(*place), keys));
    let left_out = cycle.steps.len() - shown.len();
    TxnCycle { txns: txns.collect(), edges, left_out }
}

/// Instead of the steps that are left out.
pub fn omitted(from: usize, to: usize, left_out: usize) -> CycleEdge {
    let why = format!("by way of {left_out} more transactions, each before the next");
    CycleEdge { from, to, kind: CycleEdgeKind::Omitted, key: None, value: None, why }
}

/// A transaction of a cycle, with what it did to these keys.
pub fn cycle_txn(table: &Table, id: u32, name: String, keys: &[u32]) -> CycleTxn {
    let txn = table.txn(id);
    CycleTxn {
        name,
        process: txn.process,
        op: txn.event().index,
        did: doings(table, id, keys),
        invoked: txn.invoked.map(|moment| moment.time),
        completed: txn.completed.map(|moment| moment.time),
        outcome: match txn.outcome {
            Outcome::Ok => Kind::Ok,
            Outcome::Info => Kind::Info,
            Outcome::Fail => Kind::Fail,
        },
    }
}

fn edge_kind(kind: u8) -> CycleEdgeKind {
    match kind {
        rel::WW => CycleEdgeKind::Ww,
        rel::WR => CycleEdgeKind::Wr,
        rel::PROCESS => CycleEdgeKind::Process,
        rel::REALTIME => CycleEdgeKind::Realtime,
        _ => CycleEdgeKind::Rw,
    }
}

fn reason(
    table: &Table,
    step: &CycleStep,
    (from, to): (&str, &str),
    inference: &dyn Justify,
) -> Reason {
    let (from, to) = ((step.from, from), (step.to, to));
    match step.kind {
        rel::PROCESS => Reason { about: None, text: process_text(table, from, to) },
        rel::REALTIME => Reason { about: None, text: realtime_text(table, from, to) },
        kind => inference.justify(from, to, kind),
    }
}

/// A short cycle wholly, of a long one the step that closes it.
fn summary(table: &Table, cycle: &Cycle, inference: &dyn Justify) -> String {
    let name = |id: u32| {
        let txn = table.txn(id);
        let Moment { index, time } = txn.event();
        let when = if is_timed(txn) { seconds(time) } else { format!("index {index}") };
        format!("process {} ({when})", txn.process)
    };
    let text =
        |step: &CycleStep| reason(table, step, (&name(step.from), &name(step.to)), inference).text;
    match &cycle.steps[..] {
        [one, other] => format!("{}, but {}", text(one), text(other)),
        [one, .., last] => format!(
            "{}; but {} comes before {} by way of {}",
            text(last),
            name(one.from),
            name(last.from),
            match cycle.steps.len() - 2 {
                1 => "one more transaction".to_owned(),
                more => format!("{more} more transactions"),
            }
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
        let (ended, began) = apart(ended.time, began.time);
        return format!("{from} completed at {ended}, before {to} was invoked at {began}");
    }
    // The order of events counts; clocks may be coarser.
    let (ended, began) = (ended.index, began.index);
    format!("{from} completed at index {ended}, before {to} was invoked at index {began}")
}
