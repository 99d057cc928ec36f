//! Read committed, read atomic and causal consistency of transactions on registers, in polynomial time.
//!
//! After AWDIT (Møldrup and Pavlogiannis, PLDI 2025, arXiv 2504.06975): a history satisfies a level if
//! some order of commits has session order and who read from whom in it, and every read is of the last
//! write among those that the level makes visible. What must be in such an order is inferred; the
//! history is consistent if that has no cycle.

pub(crate) mod causal;
pub(crate) mod committed;
pub(crate) mod explain;
pub(crate) mod order;
pub(crate) mod plainest;
pub(crate) mod read_atomic;
pub(crate) mod read_committed;

use causal::{Clocks, NoClocks, WritersOf};
use committed::Committed;
use order::{Inferred, Order, Rule, Step};

use crate::checker::Budget;
use crate::checker::txn::rw_register::direct::{Direct, Kind};

/// A weak isolation level, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    ReadCommitted,
    ReadAtomic,
    Causal,
}

/// A cycle that no order of commits can contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cycle {
    pub steps: Vec<Step>,
}

/// What the commit order of a level came to.
pub(crate) enum Judged {
    /// Cycles, one for each knot, and how many knots there are beyond those told.
    Known {
        cycles: Vec<Cycle>,
        untold: usize,
    },
    Unknown(&'static str),
}

/// Knots whose cycles are told.
const TOLD: usize = 20;

impl Level {
    pub const ALL: [Level; 3] = [Level::ReadCommitted, Level::ReadAtomic, Level::Causal];

    pub fn name(self) -> &'static str {
        match self {
            Level::ReadCommitted => "read-committed",
            Level::ReadAtomic => "read-atomic",
            Level::Causal => "causal",
        }
    }

    pub fn by_name(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }

    /// What cycles that break it are called. Session order counts at each of the levels.
    pub fn cycles(self) -> &'static [&'static str] {
        const CYCLES: &[&str] = &[
            "G1c",
            "session-cycle",
            "non-monotonic-read",
            "non-monotonic-read-process",
            "fractured-read",
            "fractured-read-process",
            "causality-violation",
            "causality-violation-process",
        ];
        match self {
            Level::ReadCommitted => &CYCLES[..4],
            Level::ReadAtomic => &CYCLES[..6],
            Level::Causal => CYCLES,
        }
    }

    /// A cycle that this level and stronger ones forbid, and weaker ones do not; session order does not count.
    pub fn own(self) -> &'static str {
        match self {
            // Not `non-monotonic-read`, which only some definitions of the level forbid.
            Level::ReadCommitted => "G1c",
            Level::ReadAtomic => "fractured-read",
            Level::Causal => "causality-violation",
        }
    }

    /// Whether a read that is wrong by itself breaks the level.
    pub fn forbids(self, direct: &Direct) -> bool {
        match direct.kind {
            Kind::NotRepeatable => self != Level::ReadCommitted,
            // Which may as well be stale.
            Kind::LateInProcess | Kind::LateInRealTime => false,
            _ => true,
        }
    }
}

/// Looks for a commit order that satisfies a level.
pub(crate) fn judge(committed: &Committed, level: Level, budget: &Budget) -> Judged {
    let inferred = match infer(committed, level, budget) {
        // Session order and reads alone have a cycle. There may be others that do without sessions.
        Err(NoClocks::Cycle) => infer(committed, Level::ReadAtomic, budget),
        inferred => inferred,
    };
    let inferred = match inferred {
        Ok(inferred) => inferred,
        Err(NoClocks::Cycle) => Vec::new(),
        Err(NoClocks::TooLarge) => return Judged::Unknown("the memory budget is too small"),
        Err(NoClocks::OutOfTime) => return Judged::Unknown("the time budget ended"),
    };
    let (cycles, knots) = plainest::cycles(Order::of(committed, inferred), TOLD);
    let untold = knots - cycles.len();
    Judged::Known { cycles, untold }
}

fn infer(committed: &Committed, level: Level, budget: &Budget) -> Result<Vec<Inferred>, NoClocks> {
    match level {
        Level::ReadCommitted => read_committed(committed, budget),
        Level::ReadAtomic => read_atomic(committed, budget),
        Level::Causal => {
            let mut inferred = causal(committed, budget)?;
            // All of it follows from the former, but some of that only by the order of sessions.
            inferred.extend(read_atomic(committed, budget)?);
            Ok(inferred)
        }
    }
}

fn read_committed(committed: &Committed, budget: &Budget) -> Result<Vec<Inferred>, NoClocks> {
    let mut inferred = Vec::new();
    for node in 1..committed.len() as u32 {
        in_time(node, budget)?;
        read_committed::infer(committed, node, &mut inferred);
    }
    Ok(inferred)
}

fn read_atomic(committed: &Committed, budget: &Budget) -> Result<Vec<Inferred>, NoClocks> {
    let mut inferred = Vec::new();
    for session in &committed.sessions {
        in_time(0, budget)?;
        read_atomic::infer_session(committed, session, &mut inferred);
    }
    Ok(inferred)
}

fn causal(committed: &Committed, budget: &Budget) -> Result<Vec<Inferred>, NoClocks> {
    let clocks = Clocks::new(committed, budget.memory, budget.exhausted)?;
    let writers = WritersOf::of(committed);
    let mut inferred = Vec::new();
    for node in 1..committed.len() as u32 {
        in_time(node, budget)?;
        causal::infer(committed, &clocks, &writers, node, &mut inferred);
    }
    Ok(inferred)
}

/// Looks at the clock now and then.
fn in_time(step: u32, budget: &Budget) -> Result<(), NoClocks> {
    match step.is_multiple_of(4096) && (budget.exhausted)() {
        true => Err(NoClocks::OutOfTime),
        false => Ok(()),
    }
}

/// By which rule an inferred step holds, the weakest that does.
pub(crate) fn rule(committed: &Committed, step: &Inferred) -> Rule {
    let reads = committed.reads(step.reader);
    let read = reads.iter().rposition(|read| read.key == step.key && read.writer == step.to);
    let seen = reads.iter().position(|read| read.writer == step.from);
    match (seen, read) {
        (Some(seen), Some(read)) if seen < read => Rule::ReadBefore,
        _ if committed.is_in_session_before(step.from, step.reader) => Rule::Session,
        (Some(_), _) => Rule::ReadFrom,
        (None, _) => Rule::Causal,
    }
}

#[cfg(test)]
mod tests;
