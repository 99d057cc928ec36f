//! A cycle in the order of commits, for a drawing.

use super::hops::hops;
use super::{TOLD, name, overlooked};
use crate::checker::txn::explain::cycle_txn;
use crate::checker::txn::rw_register::words::Cast;
use crate::checker::txn::weak::Cycle;
use crate::checker::txn::weak::committed::{Committed, INITIAL};
use crate::checker::txn::weak::order::{Inferred, Step};
use crate::checker::{CycleEdge, CycleEdgeKind, TxnCycle};

/// None of a long one. The initial state is no transaction; where it takes part, somebody read it who must
/// have seen what replaced it, and that is a shorter cycle.
pub(super) fn drawn(
    committed: &Committed,
    cycle: &Cycle,
    names: &[String],
    reasons: &[String],
    cast: &mut Cast,
) -> Option<TxnCycle> {
    let registers = committed.registers;
    let count = cycle.steps.len();
    if let Some(inferred) = overlooked(cycle) {
        return missed(committed, inferred, cast);
    }
    if count > TOLD || cycle.steps.iter().any(|step| step.from() == INITIAL) {
        return None;
    }
    let met: Vec<_> = cycle.steps.iter().map(|step| met(committed, step)).collect();
    let edge = |from: usize| {
        let (kind, version) = met[from];
        let (key, value) = described(committed, version);
        let why = reasons.get(from).cloned().unwrap_or_default();
        CycleEdge { from, to: (from + 1) % count, kind, key, value, why }
    };
    let txn = |place: usize| {
        let around = [met[place].1, met[(place + count - 1) % count].1];
        let keys: Vec<u32> = around.into_iter().flatten().map(|met| registers.key(met)).collect();
        let id = committed.txns[cycle.steps[place].from() as usize];
        cycle_txn(registers.table, id, names[place].clone(), &keys)
    };
    Some(TxnCycle {
        txns: (0..count).map(txn).collect(),
        edges: (0..count).map(edge).collect(),
        left_out: 0,
    })
}

/// What kind of edge a step is, and which version of a register it is about.
fn met(committed: &Committed, step: &Step) -> (CycleEdgeKind, Option<u32>) {
    match step {
        Step::Session { .. } => (CycleEdgeKind::Process, None),
        Step::ReadFrom { version, .. } => (CycleEdgeKind::Wr, Some(*version)),
        Step::Inferred(inferred) => {
            let mut reads = committed.reads(inferred.reader).iter();
            let read = reads.rfind(|r| r.key == inferred.key && r.writer == inferred.to);
            (CycleEdgeKind::Ww, read.map(|read| read.version))
        }
    }
}

/// Who read what a key held at first, and the way by which it must have seen who wrote it.
fn missed(committed: &Committed, inferred: &Inferred, cast: &mut Cast) -> Option<TxnCycle> {
    let registers = committed.registers;
    let mut way = hops(committed, inferred.from, inferred.reader, false);
    if way.is_empty() {
        way = hops(committed, inferred.from, inferred.reader, true);
    }
    if way.is_empty() || way.len() >= TOLD {
        return None;
    }
    let nodes: Vec<u32> = way.iter().map(Step::from).chain([inferred.reader]).collect();
    let names: Vec<String> = nodes.iter().map(|node| name(committed, *node, cast)).collect();
    let mut edges: Vec<CycleEdge> = Vec::new();
    let mut keys = vec![inferred.key];
    for (from, step) in way.iter().enumerate() {
        let (kind, version) = met(committed, step);
        keys.extend(version.map(|version| registers.key(version)));
        let (one, other) = (&names[from], &names[from + 1]);
        let why = match version {
            Some(version) => format!("{other} read {} from {one}", registers.told(version)),
            None => format!("{one} was before {other} in its process"),
        };
        let (key, value) = described(committed, version);
        edges.push(CycleEdge { from, to: from + 1, kind, key, value, why });
    }
    edges.push(closing(committed, inferred, &names));
    let txns = nodes.iter().zip(names);
    let txns = txns.map(|(node, name)| {
        cycle_txn(registers.table, committed.txns[*node as usize], name, &keys)
    });
    Some(TxnCycle { txns: txns.collect(), edges, left_out: 0 })
}

/// From the last, which read what was there at first, to the first, which wrote the key.
fn closing(committed: &Committed, inferred: &Inferred, names: &[String]) -> CycleEdge {
    let registers = committed.registers;
    let accesses = registers.accesses(committed.txns[inferred.from as usize]);
    let is_write = |version: &u32| registers.key(*version) == inferred.key;
    let writes = accesses.iter().filter(|access| access.is_write());
    let written = writes.map(|access| access.version()).rfind(is_write);
    let mut reads = committed.reads(inferred.reader).iter();
    let read = reads.rfind(|read| read.key == inferred.key && read.writer == INITIAL);
    let read = read.map_or(String::new(), |read| registers.told(read.version));
    let (key, value) = described(committed, written);
    let (one, last) = (&names[0], names.len() - 1);
    let wrote = value.as_deref().unwrap_or("it");
    let why =
        format!("{} read {read}, as it was at first, though {one} wrote {wrote}", names[last]);
    CycleEdge { from: last, to: 0, kind: CycleEdgeKind::Rw, key, value, why }
}

fn described(committed: &Committed, version: Option<u32>) -> (Option<String>, Option<String>) {
    let registers = committed.registers;
    let key = version.map(|version| registers.table.key_text(registers.key(version)).into_owned());
    (key, version.map(|version| registers.value_text(version).into_owned()))
}
