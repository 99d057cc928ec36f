//! The order of a key's versions that follows if the key by itself is linearizable.
//!
//! Each version has a first moment at which a transaction that had met it was over, and a last moment
//! at which one began that was to meet it. One version comes before another if its first moment is
//! before the other's last. Of this order only the reduction is given: as many edges for each version
//! as transactions overlap, found in O(n log n), and there is a cycle in it just if there is one in the
//! order (for from a cycle one can always go on to the version of the earliest first moment).

use rustc_hash::FxHashMap;

use super::touches::{Touch, Touches};
use super::version_order::{Source, VersionEdge};
use super::versions::Registers;
use crate::checker::txn::table::Txn;

/// When a version was first surely there, and last not yet surely gone; indices of events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub version: u32,
    /// The first end of a transaction that last met it; `u64::MAX` if there is none.
    pub first_end: u64,
    /// The last beginning of one that first met it; 0 if none is known.
    pub last_begin: u64,
    /// The transactions of these moments.
    pub ended: u32,
    pub began: u32,
}

pub(crate) fn linearizable(registers: &Registers, touches: &Touches) -> Vec<VersionEdge> {
    let mut edges = Vec::new();
    for key in 0..touches.keys() {
        reduce(&spans(registers, touches.of_key(key)), Source::Linearizable, &mut edges);
    }
    edges
}

/// By their last beginning.
pub(crate) fn spans(registers: &Registers, touches: &[Touch]) -> Vec<Span> {
    spans_of(registers, touches, |touch| Some(touch.first))
}

/// The same; `begun` tells with which version, if any, a transaction is the later one of two.
pub(crate) fn spans_of(
    registers: &Registers,
    touches: &[Touch],
    begun: impl Fn(&Touch) -> Option<u32>,
) -> Vec<Span> {
    let mut place: FxHashMap<u32, usize> = FxHashMap::default();
    let mut spans: Vec<Span> = Vec::new();
    let mut span = |version: u32, spans: &mut Vec<Span>| {
        *place.entry(version).or_insert_with(|| {
            let (ended, began) = (u32::MAX, u32::MAX);
            spans.push(Span { version, first_end: u64::MAX, last_begin: 0, ended, began });
            spans.len() - 1
        })
    };
    for touch in touches {
        let txn = registers.table.txn(touch.txn);
        let at = span(touch.last, &mut spans);
        if end(txn) < spans[at].first_end {
            (spans[at].first_end, spans[at].ended) = (end(txn), touch.txn);
        }
        let Some(version) = begun(touch) else { continue };
        let at = span(version, &mut spans);
        if begin(txn) > spans[at].last_begin {
            (spans[at].last_begin, spans[at].began) = (begin(txn), touch.txn);
        }
    }
    spans.sort_by_key(|span| span.last_begin);
    spans
}

/// One beyond the event's index, so that 0 is before all.
fn begin(txn: &Txn) -> u64 {
    txn.invoked.map_or(0, |moment| moment.index + 1)
}

fn end(txn: &Txn) -> u64 {
    let completed = txn.completed.filter(|_| txn.is_ok());
    completed.map_or(u64::MAX, |moment| moment.index + 1)
}

pub(crate) fn reduce(spans: &[Span], source: Source, edges: &mut Vec<VersionEdge>) {
    let earliest = earliest_ends(spans);
    for (at, span) in spans.iter().enumerate() {
        let from = spans.partition_point(|other| other.last_begin <= span.first_end);
        let Some([one, other]) = earliest.get(from) else { continue };
        let next = if *one == at { *other } else { *one };
        let Some(least) = spans.get(next) else { continue };
        let mut add = |to: &Span| {
            let (from, to) = (span.version, to.version);
            edges.push(VersionEdge { from, to, source });
        };
        add(least);
        // Those that begin later come after `least` too.
        for (place, to) in (from..).zip(&spans[from..]) {
            if to.last_begin > least.first_end {
                break;
            }
            if place != at && place != next {
                add(to);
            }
        }
    }
}

/// For each place, which two of the spans from there on end first; places beyond the end if there are
/// not so many.
fn earliest_ends(spans: &[Span]) -> Vec<[usize; 2]> {
    let none = spans.len();
    let end = |place: usize| spans.get(place).map_or(u64::MAX, |span| span.first_end);
    let mut earliest = vec![[none, none]; spans.len()];
    let mut best = [none, none];
    for place in (0..spans.len()).rev() {
        if best[0] == none || end(place) < end(best[0]) {
            best = [place, best[0]];
        } else if best[1] == none || end(place) < end(best[1]) {
            best[1] = place;
        }
        earliest[place] = best;
    }
    earliest
}
