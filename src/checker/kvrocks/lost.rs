//! Lost writes: what was acknowledged is there at the end, unless a failover of its own shard took it.
//!
//! Replication is asynchronous, so a master that is deposed may take its last writes with it. That is
//! counted, not blamed; every other acknowledged write that reads prove gone is a violation, one acknowledged
//! by the destination of a migration above all.
//!
//! A slot that the topology gives to another shard takes its writes there. What a failover of that shard then
//! takes is permitted as well, and told apart: its master had them, and replicates as asynchronously. What
//! the topology never gave to the node's shard no failover of it excuses.

mod excuse;
mod gone;
mod told;

use std::collections::BTreeSet;

use super::KvrocksChecks;
use super::answers::{Answer, Pair};
use super::evidence::Evidence;
use super::wording::{counted, figures, milliseconds};
use crate::checker::{Budget, Checker, Finding, Verdict};
use crate::history::History;
use crate::op::Nanos;
pub(super) use excuse::Blame;
use excuse::{Acquittal, Excuses};
pub(super) use gone::Gone;

/// Demands that no acknowledged write is lost but by a failover.
#[derive(Clone, Debug)]
pub(super) struct LostWrites {
    pub checks: KvrocksChecks,
}

/// All that is gone, judged.
#[derive(Default)]
pub(super) struct Losses<'a> {
    pub blamed: Vec<(Gone<'a>, Blame<'a>)>,
    excused: Vec<(Gone<'a>, Acquittal)>,
    /// The longest time from an excused loss to the last acknowledgement of the deposed master.
    window: Nanos,
    acknowledged: usize,
    /// Keys with acknowledged writes that were read at the end, and those that were not.
    keys: usize,
    unjudged: usize,
}

/// Judges what the final reads of a history prove. `None` if it never came to them.
pub(super) fn losses<'a>(
    pairs: &[Pair<'a>],
    evidence: &Evidence,
    checks: &KvrocksChecks,
) -> Option<Losses<'a>> {
    let object = checks.object.as_ref()?;
    let search = gone::search(pairs, evidence, object)?;
    let writes: Vec<Answer> =
        pairs.iter().filter_map(Answer::of).filter(Answer::is_write).collect();
    let excuses = Excuses::new(evidence, &search.survived);
    let mut losses = Losses {
        acknowledged: search.acknowledged,
        keys: search.keys,
        unjudged: search.unjudged,
        ..Losses::default()
    };
    for gone in search.gone(|gone| excuses.judge(gone).is_ok()) {
        match excuses.judge(&gone) {
            Ok(acquittal) => losses.excused.push((gone, acquittal)),
            Err(blame) => losses.blamed.push((gone, blame)),
        }
    }
    losses.window = losses.window(&writes, evidence);
    Some(losses)
}

/// The invocations of the writes that are lost without leave.
pub(in crate::checker) fn lost_writes(
    pairs: &[Pair],
    evidence: &Evidence,
    checks: &KvrocksChecks,
) -> BTreeSet<u64> {
    let losses = losses(pairs, evidence, checks).unwrap_or_default();
    losses.blamed.iter().map(|(gone, _)| gone.write.invocation.index).collect()
}

impl Losses<'_> {
    fn window(&self, writes: &[Answer], evidence: &Evidence) -> Nanos {
        let reach = |(gone, _): &(Gone, Acquittal)| {
            let lost = &gone.write;
            let again = evidence.promotions.all.iter().filter(|p| p.to == lost.node);
            let again = again.map(|p| p.seen).filter(|seen| *seen > lost.end).min();
            let own = writes.iter().filter(|write| write.node == lost.node);
            let same_term = own.filter(|write| again.is_none_or(|again| write.end < again));
            same_term.map(|write| write.end).max().unwrap_or(0).saturating_sub(lost.end)
        };
        // The first loss of each node reaches back the furthest.
        let mut firsts: Vec<&(Gone, Acquittal)> = Vec::new();
        for excused in self.excused.iter().filter(|(_, acquittal)| !acquittal.is_moved()) {
            let same = |first: &&&(Gone, Acquittal)| {
                (first.0.write.node, first.1) == (excused.0.write.node, excused.1)
            };
            match firsts.iter().position(|first| same(&first)) {
                Some(place) if firsts[place].0.write.end > excused.0.write.end => {
                    firsts[place] = excused;
                }
                Some(_) => {}
                None => firsts.push(excused),
            }
        }
        firsts.into_iter().map(reach).max().unwrap_or(0)
    }

    fn why(&self) -> String {
        let unjudged = match self.unjudged {
            0 => String::new(),
            keys => format!("; {} not judged, for want of a final read", counted(keys, "key")),
        };
        let keys = counted(self.keys, "key");
        let acknowledged = counted(self.acknowledged, "acknowledged write");
        let found = match (self.blamed.len(), self.excused.len()) {
            (0, 0) => ": none is lost".to_owned(),
            (0, permitted) => self.permitted(permitted),
            (lost, 0) => format!(": {lost} lost"),
            (lost, permitted) => format!(": {lost} lost{}", self.permitted(permitted)),
        };
        format!("{acknowledged} of {keys}{found}{unjudged}")
    }

    fn permitted(&self, count: usize) -> String {
        let reach = milliseconds(self.window);
        let moved = self.excused.iter().filter(|(_, acquittal)| acquittal.is_moved()).count();
        let mut told = String::new();
        if count > moved {
            let own = count - moved;
            told += &format!(
                ", {own} lost as failovers may, within {reach} ms of the last acknowledgement"
            );
        }
        if moved > 0 {
            told += &format!(", {moved} lost by failovers of the shards that their slots went to");
        }
        told
    }
}

impl Checker for LostWrites {
    fn name(&self) -> &'static str {
        "lost-writes"
    }

    fn finish(&mut self, history: &History, _budget: &Budget) -> Finding {
        let pairs = history.operations();
        let evidence = Evidence::of(history, &pairs, &self.checks.shards);
        let Some(losses) = losses(&pairs, &evidence, &self.checks) else {
            return Finding {
                name: self.name().to_owned(),
                verdict: Verdict::Unknown,
                why: "the run never came to its final reads".to_owned(),
                anomalies: Vec::new(),
                figures: figures([]),
                consistency: None,
                keys: None,
            };
        };
        let nothing_read = losses.keys == 0 && losses.unjudged > 0;
        let anomalies = told::anomalies(&losses.blamed);
        let verdict = match (anomalies.is_empty(), nothing_read) {
            (false, _) => Verdict::Invalid,
            (true, true) => Verdict::Unknown,
            (true, false) => Verdict::Valid,
        };
        Finding {
            name: self.name().to_owned(),
            verdict,
            why: losses.why(),
            anomalies,
            figures: figures([
                ("acknowledged", losses.acknowledged as f64),
                ("lost", losses.blamed.len() as f64),
                ("permitted-lost", losses.excused.len() as f64),
                ("permitted-lost-window-ms", milliseconds(losses.window)),
                ("unjudged-keys", losses.unjudged as f64),
            ]),
            consistency: None,
            keys: None,
        }
    }
}

#[cfg(test)]
mod tests;
