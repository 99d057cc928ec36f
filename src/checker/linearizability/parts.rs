//! A register in parts: where a failover may have taken writes back, each ownership term is judged by
//! itself, from whatever state it may have begun with.
//!
//! A term begins with one state: nothing, or something that was written in an earlier term. So all that is
//! read in it and was not written in it must be that one state; where nothing is, any state will do.
//! Operations that may belong to several terms are weakened in each: a read says nothing then, and a write
//! may have happened. Both keep every order that there was.

use std::ops::RangeInclusive;

use crate::checker::linearizability::decide::{Decision, Method, decide, weakened};
use crate::checker::linearizability::operation::{Effect, INITIAL, Operation, Register, ValueId};
use crate::checker::linearizability::search::Limits;
use crate::checker::linearizability::shrink::moves::from_state;

/// One term of a register, as a register of its own.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub term: usize,
    pub register: Register,
    /// Two reads of states of which only one can have been the term's first.
    pub torn: Option<(Operation, Operation)>,
}

impl Part {
    /// Decides it, torn or not. Also says how many search steps it took.
    pub fn decide(&self, limits: &Limits) -> (Decision, u64) {
        match self.torn {
            Some((one, other)) => {
                (Decision::Violated { core: vec![one, other], by: Method::Zones }, 0)
            }
            None => decide(&self.register, limits),
        }
    }
}

/// Divides a register; `range` tells the terms that a completed operation may belong to, and how many
/// were weakened for want of knowing.
pub(super) fn divide(
    register: Register,
    terms: usize,
    range: impl Fn(&Operation) -> RangeInclusive<usize>,
) -> (Vec<Part>, usize) {
    if terms == 1 {
        return (vec![Part { term: 0, register, torn: None }], 0);
    }
    let mut parts: Vec<Vec<Operation>> = vec![Vec::new(); terms];
    let mut available = Available::new(register.values);
    let mut weak = 0;
    for operation in &register.operations {
        // What nobody knows the end of may happen in any term.
        let range = if operation.is_open() { 0..=terms - 1 } else { range(operation) };
        let certain = range.start() == range.end();
        weak += usize::from(!certain && !operation.is_open());
        let kept = if certain { Some(*operation) } else { weakened(operation) };
        if let Some(value) = operation.effect.produces() {
            available.note(value, *range.start());
        }
        for term in range {
            parts[term].extend(kept);
        }
    }
    let numbered = parts.into_iter().enumerate();
    let parts = numbered.map(|(term, operations)| available.part(term, operations)).collect();
    (parts, weak)
}

/// For each value the first term in which it may have been written.
struct Available {
    since: Vec<usize>,
}

impl Available {
    fn new(values: usize) -> Available {
        Available { since: vec![usize::MAX; values] }
    }

    fn note(&mut self, value: ValueId, term: usize) {
        let since = &mut self.since[value as usize];
        *since = term.min(*since);
    }

    /// Whether a term may begin with this value.
    fn is_before(&self, value: ValueId, term: usize) -> bool {
        value == INITIAL || self.since[value as usize] < term
    }

    fn part(&self, term: usize, operations: Vec<Operation>) -> Part {
        let values = self.since.len();
        if term == 0 {
            return Part { term, register: Register { operations, values }, torn: None };
        }
        let mut written = vec![false; values];
        for value in operations.iter().filter_map(|operation| operation.effect.produces()) {
            written[value as usize] = true;
        }
        let inherited = |operation: &&Operation| {
            let seen = operation.effect.observes().filter(|_| !operation.is_open());
            seen.is_some_and(|value| !written[value as usize] && self.is_before(value, term))
        };
        let mut seers = operations.iter().filter(inherited);
        let first = seers.next();
        let other = seers.find(|other| first.map(seen) != Some(seen(other)));
        let torn = first.zip(other).map(|(first, other)| (*first, *other));
        // A value that nobody sees, where nothing tells what the term began with.
        let state = first.map_or(values as ValueId, seen);
        let operations = from_state(&operations, state);
        Part { term, register: Register { operations, values: values + 1 }, torn }
    }
}

fn seen(operation: &Operation) -> ValueId {
    match operation.effect {
        Effect::Differs(value) => value,
        effect => effect.observes().unwrap_or(INITIAL),
    }
}
