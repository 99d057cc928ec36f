//! A refutation as a cycle of transactions that can be drawn.

use super::explain::Teller;
use super::known::{begin, commit};
use super::precedence::{Edge, Why, path};
use crate::checker::txn::explain::{cycle_txn, omitted, outline};
use crate::checker::txn::weak::committed::INITIAL;
use crate::checker::{CycleEdge, CycleEdgeKind, TxnCycle};

/// From one transaction to the next.
struct Hop {
    from: u32,
    to: u32,
    edge: Edge,
}

/// Nothing where the initial state takes part in another way than as what was read.
pub(super) fn drawn(teller: &mut Teller) -> Option<TxnCycle> {
    let cycle = teller.refuted.cycle.clone();
    let to_initial = cycle.iter().find_map(|edge| match edge.why {
        Why::Visible { key, reader } if teller.node(edge.to) == INITIAL => {
            Some((edge, key, reader))
        }
        _ => None,
    });
    let hops = match to_initial {
        Some((edge, key, reader)) => missed(teller, edge, key, reader),
        None => hops(teller, &cycle),
    };
    let is_closed =
        hops.len() > 1 && hops.iter().all(|hop| hop.from != INITIAL && hop.to != INITIAL);
    is_closed.then(|| draw(teller, &hops))
}

/// Who read what was there at first, and what it must have seen: there is no need to draw the initial state.
fn missed(teller: &Teller, edge: &Edge, key: u32, reader: u32) -> Vec<Hop> {
    let goal = teller.refuted.asked.goal;
    let from = teller.node(edge.from);
    let edges = teller.known_before(edge);
    let mut hops = hops(teller, &path(edges, commit(goal, from), begin(goal, reader), |_| true));
    let why = Why::Anti { key, from: INITIAL };
    let edge = Edge { from: begin(goal, reader), to: commit(goal, from), why };
    hops.push(Hop { from: reader, to: from, edge });
    hops
}

/// Moments of one transaction are one, those of real time between two are none.
fn hops(teller: &Teller, edges: &[Edge]) -> Vec<Hop> {
    let Some(first) = edges.iter().position(|edge| teller.is_txn(edge.from)) else {
        return Vec::new();
    };
    let mut hops = Vec::new();
    let mut from = teller.node(edges[first].from);
    for edge in edges[first..].iter().chain(&edges[..first]).filter(|edge| teller.is_txn(edge.to)) {
        let to = teller.node(edge.to);
        if to != from {
            hops.push(Hop { from, to, edge: *edge });
        }
        from = to;
    }
    hops
}

fn draw(teller: &mut Teller, hops: &[Hop]) -> TxnCycle {
    let shown = outline(hops.len());
    let names: Vec<String> = shown.iter().map(|at| teller.name_node(hops[*at].from)).collect();
    let mut keys: Vec<Vec<u32>> = vec![Vec::new(); shown.len()];
    let mut edges = Vec::with_capacity(shown.len());
    for (from, at) in shown.iter().enumerate() {
        let to = (from + 1) % shown.len();
        let left_out = shown[to].saturating_sub(at + 1);
        if left_out > 0 {
            edges.push(omitted(from, to, left_out));
            continue;
        }
        let hop = &hops[*at];
        let key = teller.key(&hop.edge);
        keys[from].extend(key);
        keys[to].extend(key);
        edges.push(CycleEdge {
            from,
            to,
            kind: kind(hop.edge.why),
            key: key.map(|key| teller.table().key_text(key).into_owned()),
            value: key.and_then(|_| teller.value(hop.to, &hop.edge)),
            why: teller.hop_reason(hop.from, hop.to, &hop.edge),
        });
    }
    let txns = shown.iter().zip(names).zip(&keys);
    let txns = txns.map(|((at, name), keys)| {
        let txn = teller.scene.committed.txns[hops[*at].from as usize];
        cycle_txn(teller.table(), txn, name, keys)
    });
    TxnCycle { txns: txns.collect(), edges, left_out: hops.len() - shown.len() }
}

fn kind(why: Why) -> CycleEdgeKind {
    match why {
        Why::Read { .. } => CycleEdgeKind::Wr,
        Why::Anti { .. } => CycleEdgeKind::Rw,
        Why::Process => CycleEdgeKind::Process,
        Why::RealTime => CycleEdgeKind::Realtime,
        Why::Initial
        | Why::Begin
        | Why::Version { .. }
        | Why::Overwrite { .. }
        | Why::Visible { .. }
        | Why::Chosen { .. } => CycleEdgeKind::Ww,
    }
}
