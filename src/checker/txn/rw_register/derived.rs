//! Orders of versions that follow from what is asked, and need no trust.
//!
//! If no read of committed writes may go in a circle (`G1c`), what a transaction wrote comes after what it
//! had read of the key; if none may in the order of processes or in real time, it comes after all that was
//! met of the key by who was over before it began. Were it otherwise, that would be the circle. So these
//! orders add nothing to who wrote after whom, but tell which reads were stale: a short proof that takes
//! linear time, where trying orders of all transactions would not end.

use rustc_hash::FxHashMap;

use super::dependencies::Users;
use super::justify::Evidence;
use super::realtime::{Span, reduce, spans_of};
use super::touches::Touch;
use super::version_order::{Source, VersionEdge};
use super::versions::{Registers, Writer};
use crate::checker::txn::consistency::Wanted;
use crate::checker::txn::cycles::Tag;

/// A source, and what cycles are called at least that need it.
pub(super) struct Derivation {
    pub tag: Tag,
    pub edges: for<'a> fn(&Evidence<'a>) -> Vec<VersionEdge>,
}

/// Those that hold if the history is what is wanted, the plainest first.
pub(super) fn derivations(wanted: &Wanted) -> Vec<Derivation> {
    let all = [
        ("G-single-item", Derivation { tag: Tag::Plain, edges: own_reads }),
        ("G-single-item-process", Derivation { tag: Tag::Process, edges: in_process }),
        ("G-single-item-realtime", Derivation { tag: Tag::Realtime, edges: in_real_time }),
    ];
    let orders = wanted.orders();
    let is_held = |tag| tag == Tag::Process && !orders.process;
    let holds = all.into_iter().filter(|(kind, one)| wanted.prohibits(kind) && !is_held(one.tag));
    holds.map(|(_, derivation)| derivation).collect()
}

/// What a transaction wrote follows what it read before of the key.
fn own_reads(evidence: &Evidence) -> Vec<VersionEdge> {
    let keys = 0..evidence.touches.keys();
    let touches = keys.flat_map(|key| evidence.touches.of_key(key));
    let updates = touches.filter(|touch| touch.first != touch.last && evidence.wrote(touch));
    let updates = updates.filter(|touch| evidence.registers.table.txn(touch.txn).is_ok());
    let edge = |touch: &Touch| evidence.edge(touch.first, touch.last, Source::OwnRead);
    updates.filter_map(edge).collect()
}

/// What a transaction wrote follows all that its process had met of the key.
fn in_process(evidence: &Evidence) -> Vec<VersionEdge> {
    let mut edges = Vec::new();
    // Since the process last wrote the key itself, that write among them.
    let mut met: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for key in 0..evidence.touches.keys() {
        met.clear();
        for touch in evidence.touches.of_key(key) {
            let txn = evidence.registers.table.txn(touch.txn);
            let met = met.entry(txn.process).or_default();
            if evidence.wrote(touch) {
                let edge = |from: u32| evidence.edge(from, touch.last, Source::Process);
                edges.extend(met.drain(..).filter_map(edge));
            }
            // An indeterminate one may act late.
            if txn.is_ok() && met.last() != Some(&touch.last) {
                met.push(touch.last);
            }
        }
    }
    edges
}

/// What a transaction wrote follows all that was met of the key by who was over before it began.
///
/// Only the nearest are given: the others come after these by real time.
fn in_real_time(evidence: &Evidence) -> Vec<VersionEdge> {
    let mut edges = Vec::new();
    for key in 0..evidence.touches.keys() {
        let spans = written_spans(evidence.registers, evidence.touches.of_key(key), evidence.users);
        reduce(&spans, Source::RealTime, &mut edges);
    }
    edges.retain(|edge| evidence.edge(edge.from, edge.to, edge.source).is_some());
    edges
}

/// Spans that end with the beginning of who wrote the version.
pub(super) fn written_spans(registers: &Registers, touches: &[Touch], users: &Users) -> Vec<Span> {
    let written = |touch: &Touch| (users.writer(touch.last) == touch.txn).then_some(touch.last);
    spans_of(registers, touches, written)
}

impl Evidence<'_> {
    fn wrote(&self, touch: &Touch) -> bool {
        self.users.writer(touch.last) == touch.txn
    }

    /// Unless several wrote the former, so that nobody knows which of them was met, or nobody, and so
    /// maybe more often than once; what was there at first is before all anyway.
    fn edge(&self, from: u32, to: u32, source: Source) -> Option<VersionEdge> {
        let is_known = matches!(self.registers.versions[from as usize].writer, Writer::One(_));
        (is_known && from != to).then_some(VersionEdge { from, to, source })
    }
}
