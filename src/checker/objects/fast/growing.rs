//! Sets that are added to and read as a whole, and nothing else.
//!
//! The sets that were read must grow from one to the next. So the reads have an order; each is placed as
//! early as it can be, which leaves most room to all that must come after it. A set is then right if each
//! read is placed before its end, and no element had surely been added before a read that lacks it. Linear in
//! the size of what was read, after sorting.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::Shortcut;
use crate::checker::objects::Atom;
use crate::checker::objects::models::set::Operation;
use crate::checker::objects::seen::{NEVER, Timed};

/// All additions of one element.
#[derive(Clone, Copy)]
struct Added {
    first_invoked: u32,
    first_completed: u32,
}

/// A read that says what the whole set was.
struct Read<'a> {
    invoke: u32,
    complete: u32,
    seen: &'a BTreeSet<Atom>,
}

pub(in crate::checker::objects) fn decide(
    init: &BTreeSet<Atom>,
    operations: &[Timed<Operation>],
) -> Shortcut {
    let mut added: FxHashMap<&Atom, Added> = FxHashMap::default();
    let mut reads = Vec::new();
    for timed in operations {
        match &timed.operation {
            Operation::Add(element, None) => {
                let none = Added { first_invoked: NEVER, first_completed: NEVER };
                let added = added.entry(element).or_insert(none);
                added.first_invoked = added.first_invoked.min(timed.invoke);
                added.first_completed = added.first_completed.min(timed.complete);
            }
            Operation::Read(seen) if !timed.is_open() => {
                reads.push(Read { invoke: timed.invoke, complete: timed.complete, seen });
            }
            Operation::Read(_) => {}
            _ => return Shortcut::None,
        }
    }
    reads.sort_by_key(|read| (read.seen.len(), read.invoke));
    match is_right(init, &added, &reads) {
        true => Shortcut::Linearizable,
        false => Shortcut::Violated { core: (0..operations.len()).collect() },
    }
}

fn is_right(init: &BTreeSet<Atom>, added: &FxHashMap<&Atom, Added>, reads: &[Read]) -> bool {
    let mut held = init;
    // The event after which the last read was placed.
    let mut placed = 0;
    for read in reads {
        if !held.is_subset(read.seen) {
            return false;
        }
        let mut earliest = placed.max(read.invoke);
        for element in read.seen.difference(held) {
            let Some(added) = added.get(element) else { return false };
            if added.first_completed <= placed {
                return false;
            }
            earliest = earliest.max(added.first_invoked);
        }
        if earliest >= read.complete {
            return false;
        }
        (held, placed) = (read.seen, earliest);
    }
    added.iter().all(|(element, added)| held.contains(*element) || added.first_completed > placed)
}
