//! Registers of different values: what was read had surely been there before a write that was acknowledged
//! before the read.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{Found, Stale, single_term, terms_of};
use crate::checker::kvrocks::answers::{Answer, Pair};
use crate::checker::kvrocks::evidence::Evidence;
use crate::checker::kvrocks::registers::{Register, registers};
use crate::op::Nanos;

/// The acknowledged writes of one term, in order of their starts.
#[derive(Default)]
struct Acknowledged<'a> {
    writes: Vec<Answer<'a>>,
    /// For each the one among it and all later that ended first.
    first_to_end: Vec<usize>,
    ends: Vec<Nanos>,
}

pub(super) fn search<'a>(pairs: &[Pair<'a>], evidence: &Evidence, found: &mut Found<'a>) {
    for register in registers(pairs).values().filter(|register| !register.is_ambiguous) {
        search_register(register, evidence, found);
    }
}

fn search_register<'a>(register: &Register<'a>, evidence: &Evidence, found: &mut Found<'a>) {
    let acknowledged = register.acknowledged();
    let terms = terms_of(evidence, acknowledged.iter().map(|(_, write)| write));
    let mut by_term: BTreeMap<usize, Acknowledged> = BTreeMap::new();
    for (_, write) in &acknowledged {
        if let Some(term) = single_term(&terms, write) {
            by_term.entry(term).or_default().writes.push(*write);
        }
    }
    by_term.values_mut().for_each(Acknowledged::index);
    let settled = settled(register);
    for (read, value) in &register.reads {
        let Some(term) = found.term(&terms, read) else { continue };
        let since = value.map_or(Some(0), |value| settled.get(&value).copied());
        let (Some(since), Some(acknowledged)) = (since, by_term.get(&term)) else { continue };
        found.stale.extend(acknowledged.stale(read, since));
    }
}

/// For each value the first moment at which it surely was, or had been, there.
fn settled(register: &Register) -> FxHashMap<i64, Nanos> {
    let mut settled: FxHashMap<i64, Nanos> =
        register.written.iter().map(|(value, written)| (*value, written.end())).collect();
    for (read, value) in &register.reads {
        if let Some(moment) = value.and_then(|value| settled.get_mut(&value)) {
            *moment = read.end.min(*moment);
        }
    }
    settled
}

impl<'a> Acknowledged<'a> {
    fn index(&mut self) {
        self.first_to_end = vec![0; self.writes.len()];
        let mut first = self.writes.len().saturating_sub(1);
        for position in (0..self.writes.len()).rev() {
            if self.writes[position].end < self.writes[first].end {
                first = position;
            }
            self.first_to_end[position] = first;
        }
        self.ends = self.writes.iter().map(|write| write.end).collect();
        self.ends.sort_unstable();
    }

    /// Of a read of what had been there by `since`.
    fn stale(&self, read: &Answer<'a>, since: Nanos) -> Option<Stale<'a>> {
        let older = self.writes.partition_point(|write| write.start <= since);
        let missed = self.writes[*self.first_to_end.get(older)?];
        if missed.end >= read.start {
            return None;
        }
        let over = self.ends.partition_point(|end| *end < read.start);
        let behind = over.saturating_sub(older).max(1);
        Some(Stale { read: *read, missed, late: read.start - missed.end, behind })
    }
}
