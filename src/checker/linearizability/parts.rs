//! A register in parts: where a failover may have taken writes back, each ownership term is judged by
//! itself, from whatever state it may have begun with.
//!
//! A term begins with one state: nothing, or something that was written in an earlier term. So all that is
//! read in it and was not written in it must be that one state; where nothing is, each state is tried that
//! somebody may have seen before something surely took its place, and one that nobody tells of.
//! Operations that may belong to several terms are weakened in each: a read says nothing then, and a write
//! may have happened. Both keep every order that there was.

use std::ops::RangeInclusive;

use crate::checker::linearizability::decide::{Decision, Method, decide, weakened};
use crate::checker::linearizability::operation::{
    Effect, INITIAL, NEVER, Operation, Register, ValueId,
};
use crate::checker::linearizability::search::Limits;
use crate::checker::linearizability::shrink::moves::from_state;

/// States that a term is tried to begin with at most.
const BEGINNINGS_MAX: usize = 64;

/// One term of a register, as a register of its own.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub term: usize,
    /// One for each state that it may have begun with; the initial value stands for that state.
    pub registers: Vec<Register>,
    /// Two reads of states of which only one can have been the term's first.
    pub torn: Option<(Operation, Operation)>,
}

impl Part {
    /// Decides it. Also says how many search steps it took, and which of its registers the decision is
    /// about: one that has an order, or the one whose violation shows last.
    pub fn decide(&self, limits: &Limits) -> (Decision, u64, usize) {
        if let Some((one, other)) = self.torn {
            return (Decision::Violated { core: vec![one, other], by: Method::Zones }, 0, 0);
        }
        let mut steps = 0;
        let mut worst: Option<(u32, Decision, usize)> = None;
        for (position, register) in self.registers.iter().enumerate() {
            let (decision, its) = decide(register, limits);
            steps += its;
            let shown = match &decision {
                Decision::Linearizable(_) => return (decision, steps, position),
                Decision::Undecided { .. } => u32::MAX,
                Decision::Violated { core, .. } => shown(core),
            };
            if worst.as_ref().is_none_or(|(last, ..)| shown > *last) {
                worst = Some((shown, decision, position));
            }
        }
        let untried = Decision::Undecided { settled: 0, why: "too many states to begin with" };
        match worst {
            Some((_, decision, position)) if self.registers.len() <= BEGINNINGS_MAX => {
                (decision, steps, position)
            }
            _ => (untried, steps, 0),
        }
    }
}

/// The moment at which a core shows.
pub(super) fn shown(core: &[Operation]) -> u32 {
    let certain = core.iter().filter(|operation| !operation.is_open());
    certain.map(|operation| operation.complete).max().unwrap_or(0)
}

/// Divides a register; `range` tells the terms that a completed operation may belong to, and how many
/// were weakened for want of knowing.
pub(super) fn divide(
    register: Register,
    terms: usize,
    range: impl Fn(&Operation) -> RangeInclusive<usize>,
) -> (Vec<Part>, usize) {
    if terms == 1 {
        return (vec![Part { term: 0, registers: vec![register], torn: None }], 0);
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
            let registers = vec![Register { operations, values }];
            return Part { term, registers, torn: None };
        }
        let mut is_made = vec![false; values];
        for value in operations.iter().filter_map(|operation| operation.effect.produces()) {
            is_made[value as usize] = true;
        }
        let mut sights = operations.iter().filter(|operation| {
            let seen = operation.effect.observes().filter(|_| !operation.is_open());
            seen.is_some_and(|value| !is_made[value as usize] && self.is_before(value, term))
        });
        let first = sights.next();
        let other = sights.find(|other| first.map(seen) != Some(seen(other)));
        let torn = first.zip(other).map(|(first, other)| (*first, *other));
        let states = match first {
            Some(first) => vec![seen(first)],
            None => {
                // A value that nobody sees stands for all that nothing tells of.
                let mut states = wanted(&operations, values);
                states.retain(|value| self.is_before(*value, term));
                states.insert(0, values as ValueId);
                states.truncate(BEGINNINGS_MAX + 1);
                states
            }
        };
        let register = |state| {
            let operations = from_state(&operations, state);
            Register { operations, values: values + 1 }
        };
        let registers = states.into_iter().map(register).collect();
        Part { term, registers, torn }
    }
}

/// Values that somebody surely saw, or that compare-and-sets of unknown end may have made those of,
/// as long as nothing surely took their place: later on, what was there at the beginning is gone.
fn wanted(operations: &[Operation], values: usize) -> Vec<ValueId> {
    let certain = operations.iter().filter(|operation| operation.effect.produces().is_some());
    let replaced = certain.map(|operation| operation.complete).min().unwrap_or(NEVER);
    let mut is_wanted = vec![false; values];
    let mut wanted = Vec::new();
    let mut want = |value: ValueId, wanted: &mut Vec<ValueId>| {
        if !std::mem::replace(&mut is_wanted[value as usize], true) {
            wanted.push(value);
        }
    };
    let mut made_from: Vec<Vec<ValueId>> = vec![Vec::new(); values];
    for operation in operations.iter().filter(|operation| operation.invoke < replaced) {
        match operation.effect {
            Effect::Cas { from, to } if operation.is_open() => made_from[to as usize].push(from),
            effect => {
                if let Some(value) = effect.observes() {
                    want(value, &mut wanted);
                }
            }
        }
    }
    let mut next = 0;
    while let Some(value) = wanted.get(next).copied() {
        for from in &made_from[value as usize] {
            want(*from, &mut wanted);
        }
        next += 1;
    }
    wanted
}

fn seen(operation: &Operation) -> ValueId {
    match operation.effect {
        Effect::Differs(value) => value,
        effect => effect.observes().unwrap_or(INITIAL),
    }
}
