//! What every way of judging registers looks at, and what it tells first and last.

use super::direct::{Direct, Kind};
use super::footprint::Footprints;
use super::initial::InitialVersions;
use super::singles;
use super::versions::{Registers, Writer};
use crate::checker::txn::judgement::Judgement;
use crate::checker::txn::weak::committed::Committed;
use crate::checker::txn::weak::{self, Judged, Level};
use crate::checker::{Budget, Consistency, Finding, Verdict};

/// Causal consistency of transactions, as the catalogue of models calls it.
pub(super) const CAUSAL: &str = "causal-cerone";

/// A history as transactions on versions.
pub(super) struct Case<'a> {
    pub registers: &'a Registers<'a>,
    pub prints: &'a Footprints,
    pub initial: InitialVersions,
    pub budget: &'a Budget<'a>,
}

impl Case<'_> {
    pub fn tell_singles(&self, direct: &[Direct], level: Option<Level>, judgement: &mut Judgement) {
        let registers = self.registers;
        for found in direct {
            // Which Elle does not ask of read committed, and the axioms of the level do.
            let forgotten = found.kind == Kind::NotOwnWrite && level == Some(Level::ReadCommitted);
            let name = if forgotten { "forgotten-write" } else { found.kind.name() };
            judgement.tell(name, || singles::explain_direct(registers, found, name));
        }
        for lost in singles::lost_updates(registers, self.prints) {
            judgement.tell("lost-update", || singles::explain_lost(registers, &lost));
        }
        for dirty in singles::dirty_updates(registers, self.prints, direct) {
            judgement.tell("dirty-update", || singles::explain_dirty(registers, dirty));
        }
    }

    pub fn judge_weakly(&self, level: Level, judgement: &mut Judgement) {
        let committed = Committed::of(self.registers, self.prints, &self.initial);
        match weak::judge(&committed, level, self.budget) {
            Judged::Unknown(why) => {
                judgement.doubt(format!("{why} before the commits were ordered"))
            }
            Judged::Known { cycles, untold } => {
                for cycle in &cycles {
                    let kind = weak::explain::kind(&committed, cycle);
                    judgement.tell(kind, || weak::explain::explain(&committed, cycle, level));
                }
                if untold > 0 {
                    judgement.figures.insert("further-cycles".to_owned(), untold as f64);
                }
            }
        }
    }

    /// What a weak level that was decided says of the others: only they were looked at.
    pub fn weak_consistency(
        &self,
        level: Level,
        finding: &Finding,
        direct: &[Direct],
    ) -> Option<Consistency> {
        let mut consistency = finding.consistency.clone()?;
        if consistency.violates.iter().any(|model| model == CAUSAL) {
            consistency.violates.push(Level::Causal.name().to_owned());
        }
        let holds = |other: &Level| match finding.verdict {
            Verdict::Valid => *other == level,
            Verdict::Unknown => false,
            Verdict::Invalid => *other < level && self.holds(*other, direct),
        };
        let strongest = Level::ALL.into_iter().rev().find(holds);
        consistency.survives = strongest.iter().map(|level| level.name().to_owned()).collect();
        Some(consistency)
    }

    fn holds(&self, level: Level, direct: &[Direct]) -> bool {
        let committed = Committed::of(self.registers, self.prints, &self.initial);
        let judged = weak::judge(&committed, level, self.budget);
        let is_ordered = matches!(judged, Judged::Known { cycles, .. } if cycles.is_empty());
        is_ordered && !direct.iter().any(|direct| level.forbids(direct))
    }

    /// Values that several transactions wrote: who read which write cannot be known.
    pub fn tell_doubts(&self, judgement: &mut Judgement) {
        let versions = 0..self.registers.versions.len() as u32;
        let mut ambiguous = versions.filter(|version| {
            let writer = self.registers.versions[*version as usize].writer;
            writer == Writer::Several && self.prints.observed[*version as usize]
        });
        if let Some(first) = ambiguous.next() {
            judgement.doubt(format!(
                "{} values were written more than once and read, {} first: who read which write \
                 cannot be known; write each value of a key once",
                1 + ambiguous.count(),
                self.registers.told(first)
            ));
        }
    }
}
