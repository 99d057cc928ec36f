//! Where a value that came out of a container came from, also where values go in several times.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::Shortcut;
use crate::checker::objects::Atom;
use crate::checker::objects::models::container::{Operation, Taken};
use crate::checker::objects::seen::Timed;

/// Operations on one value, by position.
#[derive(Default)]
struct Traffic {
    put: Vec<usize>,
    taken: Vec<usize>,
}

/// A value that had come out, at some moment, more often than anybody had begun to put it in. Of whatever
/// container; says nothing where there is none. O(n log n).
pub(in crate::checker::objects) fn decide(operations: &[Timed<Operation>]) -> Shortcut {
    let mut values: IndexMap<&Atom, Traffic, FxBuildHasher> = IndexMap::default();
    for (position, timed) in operations.iter().enumerate() {
        match &timed.operation {
            Operation::Put(value) => values.entry(value).or_default().put.push(position),
            Operation::Take(Taken::Value(value)) if !timed.is_open() => {
                values.entry(value).or_default().taken.push(position);
            }
            Operation::Take(_) => {}
        }
    }
    match values.into_values().find_map(|traffic| traffic.excess(operations)) {
        Some(core) => Shortcut::Violated { core },
        None => Shortcut::None,
    }
}

impl Traffic {
    /// The first takings that are one too many, and the puttings begun by then.
    fn excess(mut self, operations: &[Timed<Operation>]) -> Option<Vec<usize>> {
        self.put.sort_by_key(|put| operations[*put].invoke);
        self.taken.sort_by_key(|taken| operations[*taken].complete);
        let begun = |moment| self.put.partition_point(|put| operations[*put].invoke < moment);
        let surplus = (0..self.taken.len()).find(|place| {
            let moment = operations[self.taken[*place]].complete;
            begun(moment) <= *place
        })?;
        let sources = begun(operations[self.taken[surplus]].complete);
        let mut core: Vec<usize> = self.put[..sources].to_vec();
        core.extend(&self.taken[..=surplus]);
        core.sort_unstable();
        Some(core)
    }
}
