//! Numbers for what changes a register: the same number for the same effect.

use rustc_hash::FxHashMap;

use crate::checker::linearizability::operation::{Effect, ValueId};

/// A place in the table that no effect has taken.
const UNTAKEN: u32 = u32::MAX;

/// Of few values all pairs fit a table, which beats hashing; of many they are hashed.
pub(super) struct Groups {
    values: usize,
    table: Vec<u32>,
    hashed: FxHashMap<Effect, u32>,
}

impl Groups {
    pub fn of(operations: usize, values: usize) -> Groups {
        let places = values.saturating_mul(values).saturating_add(values);
        let table = if places <= 2 * operations { vec![UNTAKEN; places] } else { Vec::new() };
        Groups { values, table, hashed: FxHashMap::default() }
    }

    /// The effect's number, which is `next` if it has none yet.
    pub fn number(&mut self, effect: Effect, next: u32) -> u32 {
        let place = match self.place(effect) {
            Some(place) => &mut self.table[place],
            None => self.hashed.entry(effect).or_insert(UNTAKEN),
        };
        if *place == UNTAKEN {
            *place = next;
        }
        *place
    }

    fn place(&self, effect: Effect) -> Option<usize> {
        let row = |from: ValueId, to: ValueId| from as usize * self.values + to as usize;
        let place = match effect {
            Effect::Cas { from, to } => row(from, to),
            Effect::Write(value) => row(self.values as ValueId, value),
            Effect::Read(_) | Effect::Differs(_) => return None,
        };
        (place < self.table.len()).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_and_hashing_tell_effects_apart_alike() {
        let cas = |from, to| Effect::Cas { from, to };
        let effects =
            [Effect::Write(0), Effect::Write(2), cas(0, 2), cas(2, 0), Effect::Read(2), cas(0, 2)];
        for operations in [0, 100] {
            let mut groups = Groups::of(operations, 3);
            let numbers =
                effects.iter().zip(0..).map(|(effect, next)| groups.number(*effect, next));
            assert_eq!(numbers.collect::<Vec<_>>(), [0, 1, 2, 3, 4, 2]);
        }
    }
}
