//! Small histories by hand, an oracle, stores that keep their promise, and recorded ones.

mod by_hand;
mod oracle;
mod plain;
mod recorded;
mod stores;

use super::*;
use crate::checker::txn::rw_register::direct::direct;
use crate::checker::txn::rw_register::footprint::Footprints;
use crate::checker::txn::rw_register::initial::InitialVersions;
use crate::checker::txn::rw_register::versions::Registers;
use crate::checker::txn::table::{NONE, Table};

/// What is wrong with a history at a level: the names of single reads' anomalies, and the cycles' lengths.
pub(super) fn wrong(table: &Table, level: Level) -> Vec<String> {
    let registers = Registers::of(table);
    let prints = Footprints::of(&registers);
    let found = direct(&registers, &prints).into_iter().filter(|direct| level.forbids(direct));
    let mut wrong: Vec<String> = found.map(|direct| direct.kind.name().to_owned()).collect();
    let initial = InitialVersions::of(&registers, NONE);
    let committed = Committed::of(&registers, &prints, &initial);
    match judge(&committed, level, &Budget::UNBOUNDED) {
        Judged::Known { cycles, .. } => {
            for cycle in cycles {
                closes(&committed, &cycle, level);
                wrong.push(format!("cycle of {}", cycle.steps.len()));
            }
        }
        Judged::Unknown(why) => panic!("{why}"),
    }
    wrong
}

/// Every step of a cycle must hold by itself, and lead to the next.
fn closes(committed: &Committed, cycle: &Cycle, level: Level) {
    let steps = &cycle.steps;
    assert!(steps.len() >= 2, "{cycle:?}");
    for (step, next) in steps.iter().zip(steps.iter().cycle().skip(1)) {
        let to = match step {
            Step::Session { from, to } => {
                assert!(committed.is_in_session_before(*from, *to), "{step:?}");
                *to
            }
            Step::ReadFrom { from, to, version } => {
                let mut reads = committed.reads(*to).iter();
                assert!(reads.any(|read| read.writer == *from && read.version == *version));
                *to
            }
            Step::Inferred(inferred) => {
                let allowed = match level {
                    Level::ReadCommitted => Rule::ReadBefore,
                    Level::ReadAtomic => Rule::ReadFrom,
                    Level::Causal => Rule::Causal,
                };
                assert!(rule(committed, inferred) <= allowed, "{inferred:?} at {level:?}");
                assert!(committed.wrote(inferred.from, inferred.key));
                inferred.to
            }
        };
        assert_eq!(to, next.from());
    }
}
