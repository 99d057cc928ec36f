//! A cycle of transactions as a drawing: a box for each, in lanes by process and in order of time, and an
//! arrow from each to the one that must come after it. Bounded in size, since the cycle is.

mod arrows;
mod layout;

use maud::{Markup, html};

use self::arrows::arrow;
use self::layout::{LINE, Layout, PADDING, Place};
use super::words;
use crate::checker::{CycleEdge, CycleEdgeKind, CycleTxn, TxnCycle};
use crate::op::{Kind, MILLISECOND, Nanos};

/// What the kinds of edges say, for those that a drawing has.
const MEANINGS: &[(CycleEdgeKind, &str)] = &[
    (CycleEdgeKind::Ww, "ww: it wrote before the next one did"),
    (CycleEdgeKind::Wr, "wr: the next one read what it wrote"),
    (CycleEdgeKind::Rw, "rw: it did not see what the next one wrote"),
    (CycleEdgeKind::Process, "process: the same process did the next one later"),
    (CycleEdgeKind::Realtime, "realtime: it was over before the next one began"),
];

/// The drawing and its key. `name` makes its ids unique on the page.
pub(super) fn drawing(cycle: &TxnCycle, name: &str, title: &str) -> Markup {
    let layout = Layout::of(cycle);
    html! {
        svg.cycle viewBox=(format!("0 0 {} {}", layout.width, layout.height)) role="img"
            style=(format!("min-width: {}px; max-width: {}px", layout.width * 0.8, layout.width))
            aria-labelledby=(format!("{name}-title {name}-desc")) {
            title id=(format!("{name}-title")) { (title) }
            desc id=(format!("{name}-desc")) { (description(cycle)) }
            @for (process, y) in &layout.lanes {
                text.lane x="8" y=(y + 4.0) { "process " (process) }
                line.lane-line x1=(layout::LEFT - 8.0) x2=(layout.width - 8.0) y1=(y) y2=(y) {}
            }
            @for (edge, way) in cycle.edges.iter().zip(&layout.ways) { (arrow(edge, way)) }
            @for (txn, place) in cycle.txns.iter().zip(&layout.places) { (boxed(txn, place)) }
            @for (edge, way) in cycle.edges.iter().zip(&layout.ways) {
                (arrows::label(way, edge.kind, &label(cycle, edge)))
            }
        }
    }
}

/// What the kinds of its arrows mean.
pub(super) fn key(cycle: &TxnCycle) -> Markup {
    let has = |kind| cycle.edges.iter().any(|edge| edge.kind == kind);
    html! {
        p.quiet.key {
            span { "An arrow leads from what must come first to what must come after; they close a circle." }
            @for (kind, meaning) in MEANINGS.iter().filter(|(kind, _)| has(*kind)) {
                span.edge-key.(kind.name()) { (meaning) }
            }
        }
    }
}

/// The drawing in words, for those who do not see it.
fn description(cycle: &TxnCycle) -> String {
    let name = |place: usize| cycle.txns.get(place).map_or("", |txn| &txn.name);
    let told = cycle.edges.iter().map(|edge| {
        let (from, to) = (name(edge.from), name(edge.to));
        format!("{from} before {to} ({}): {}.", edge.kind.name(), edge.why)
    });
    words::shorten(&told.collect::<Vec<_>>().join(" "), 4_000)
}

/// The lines of a box below its name.
fn lines(txn: &CycleTxn) -> &[String] {
    &txn.did
}

/// `T1 · 2.100–2.140 s`.
fn heading(txn: &CycleTxn) -> String {
    let ended = match (txn.outcome, txn.completed) {
        (Kind::Ok, Some(at)) => seconds(at),
        (Kind::Fail, Some(at)) => format!("{} failed", seconds(at)),
        (_, Some(at)) => format!("{} unknown", seconds(at)),
        (_, None) => "never".to_owned(),
    };
    match (txn.invoked, txn.completed) {
        // Of a history without times, the place of its event says when.
        (None | Some(0), None | Some(0)) => format!("{} · index {}", txn.name, txn.op),
        (None, _) => format!("{} · {ended}", txn.name),
        (Some(from), _) => format!("{} · {} to {ended}", txn.name, seconds(from)),
    }
}

fn seconds(nanos: Nanos) -> String {
    words::moment(nanos)
}

fn boxed(txn: &CycleTxn, place: &Place) -> Markup {
    let x = place.left + PADDING;
    html! {
        g.txn.(super::timeline::outcome_class(txn.outcome)) {
            rect.box x=(place.left) y=(place.top) width=(place.width) height=(place.height) rx="4" {}
            text.name x=(x) y=(place.top + 17.0) { (heading(txn)) }
            @for (number, line) in lines(txn).iter().enumerate() {
                text x=(x) y=(place.top + 35.0 + number as f64 * LINE) {
                    (words::shorten(line, layout::CHARACTERS))
                }
            }
        }
    }
}

/// What is written at an arrow: its kind, and by what.
fn label(cycle: &TxnCycle, edge: &CycleEdge) -> [String; 2] {
    let by = match (edge.kind, &edge.key, &edge.value) {
        (CycleEdgeKind::Realtime, ..) => between(cycle, edge).unwrap_or_default(),
        (CycleEdgeKind::Process, ..) => cycle
            .txns
            .get(edge.from)
            .map_or(String::new(), |txn| format!("process {}", txn.process)),
        (CycleEdgeKind::Omitted, ..) => words::plural(cycle.left_out, "more step", "more steps"),
        (kind, Some(key), Some(value)) => {
            let verb = match kind {
                CycleEdgeKind::Rw => "missed",
                CycleEdgeKind::Wr => "read",
                _ => "then",
            };
            format!("key {}: {verb} {}", words::shorten(key, 12), words::shorten(value, 12))
        }
        _ => String::new(),
    };
    let kind = match edge.kind {
        CycleEdgeKind::Omitted => "…",
        kind => kind.name(),
    };
    [kind.to_owned(), by]
}

/// How long after the one the other began.
fn between(cycle: &TxnCycle, edge: &CycleEdge) -> Option<String> {
    let ended = cycle.txns.get(edge.from)?.completed?;
    let began = cycle.txns.get(edge.to)?.invoked?;
    let gap = began.checked_sub(ended).filter(|gap| *gap > 0)?;
    // Less than a millisecond is shown to the microsecond.
    let unit = if gap < MILLISECOND { 1_000 } else { MILLISECOND / 10 };
    Some(format!("{} later", words::duration(gap / unit * unit)))
}

#[cfg(test)]
mod tests;
