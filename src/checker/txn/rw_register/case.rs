//! What every way of judging registers looks at, and what it tells first and last.

use super::asked::Asks;
use super::direct::{Direct, Kind, direct};
use super::footprint::Footprints;
use super::initial::InitialVersions;
use super::versions::{Registers, Writer};
use super::{singles, unwritten};
use crate::checker::txn::consistency::Orders;
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

    /// Reads that are wrong by themselves. `said`: the value that every key is said to hold at first.
    ///
    /// Where a transaction may have written anything, what nobody wrote is a doubt and no more.
    pub fn direct(
        &self,
        said: Option<u32>,
        orders: Orders,
        judgement: &mut Judgement,
    ) -> Vec<Direct> {
        let mut found = direct(self.registers, self.prints);
        if said.is_some() {
            found.retain(|direct| direct.kind != Kind::Unwritten);
        }
        found.extend(match said {
            Some(said) => unwritten::other(self.registers, said),
            None => unwritten::late(self.registers, &self.initial, orders),
        });
        let Some(index) = self.registers.table.blind() else { return found };
        let all = found.len();
        found.retain(|direct| !direct.kind.is_garbage());
        if found.len() < all {
            judgement.doubt(format!(
                "values were read that nobody is known to have written, and it is nowhere told what the \
                 transaction at index {index} wrote"
            ));
        }
        found
    }

    /// The models that the finding rules out, and what is left.
    ///
    /// Who violates something has often not been judged for all that is weaker, so that then only weak
    /// levels that were decided are left.
    pub fn with_consistency(&self, finding: Finding, asks: &Asks, direct: &[Direct]) -> Finding {
        let mut finding = finding;
        let Some(mut consistency) = finding.consistency.take() else { return finding };
        if consistency.violates.iter().any(|model| model == CAUSAL) {
            consistency.violates.push(Level::Causal.name().to_owned());
        }
        match (finding.verdict, asks.level) {
            (Verdict::Valid, Some(level)) if !asks.more => {
                consistency.survives = vec![level.name().to_owned()];
            }
            // The orders tried are those of the models that were asked for, and say nothing of stronger ones.
            (Verdict::Valid, _) => {
                let name = |model: &&'static str| {
                    if *model == CAUSAL { Level::Causal.name() } else { *model }
                };
                let models = asks.wanted.models.iter().map(|model| name(model).to_owned());
                consistency.survives = models.collect();
            }
            (Verdict::Unknown, _) => consistency.survives.clear(),
            (Verdict::Invalid, _) => consistency.survives = self.survives(&consistency, direct),
        }
        if let Some(level) = asks.level.filter(|_| finding.verdict == Verdict::Invalid) {
            finding.why += sessions(level, &finding);
        }
        finding.consistency = Some(consistency);
        finding
    }

    fn survives(&self, found: &Consistency, direct: &[Direct]) -> Vec<String> {
        let violated = |name: &str| found.violates.iter().any(|model| model == name);
        let mut levels = Level::ALL.into_iter().rev();
        let level = levels.find(|level| !violated(level.name()) && self.holds(*level, direct));
        let weakest = "read-uncommitted";
        let name = level.map(Level::name).or((!violated(weakest)).then_some(weakest));
        name.into_iter().map(str::to_owned).collect()
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

/// That session order made the difference, where it did.
fn sessions(level: Level, finding: &Finding) -> &'static str {
    let needs_process = |kind: &str| kind == "session-cycle" || kind.ends_with("-process");
    let kinds = || finding.anomalies.iter().map(|anomaly| anomaly.kind.as_str());
    let of_level = kinds().filter(|kind| level.cycles().contains(kind)).any(needs_process);
    if of_level {
        "; weak levels are decided as AWDIT does, with the order of each session, and only what does \
         without it rules out models without sessions"
    } else {
        ""
    }
}
