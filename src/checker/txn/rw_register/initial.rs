//! Which versions were there before the history began.

use super::versions::{Registers, Writer};
use crate::checker::txn::table::NONE;

/// Which unwritten versions were there at first: the stated one, nil, and 0 where nil was never read.
///
/// Any other value that nobody wrote may come from outside the history, and then says nothing.
#[derive(Debug)]
pub(crate) struct InitialVersions {
    is_initial: Vec<bool>,
}

impl InitialVersions {
    /// `stated` is the number of the value that every key is said to hold at first.
    pub fn of(registers: &Registers, stated: u32) -> InitialVersions {
        let zero = registers.table.values.find(crate::history::Datum::Int(0));
        let mut has_nil = vec![false; registers.table.keys.len()];
        for version in &registers.versions {
            has_nil[version.key as usize] |= version.value == NONE;
        }
        let is_initial = registers.versions.iter().map(|version| {
            let value = version.value;
            version.writer == Writer::Nobody
                && (value == stated
                    || value == NONE
                    || Some(value) == zero && !has_nil[version.key as usize])
        });
        InitialVersions { is_initial: is_initial.collect() }
    }

    pub fn is(&self, version: u32) -> bool {
        self.is_initial[version as usize]
    }
}
