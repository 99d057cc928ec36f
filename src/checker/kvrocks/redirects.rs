//! Redirect loops: nodes that send clients to each other for a slot that none of them serves.
//!
//! While a slot migrates or a failover spreads that is legal. It is not where it lasts: longer than the
//! cluster may take to settle, with no fault in force.

mod pointers;
#[cfg(test)]
mod tests;

use super::KvrocksChecks;
use super::evidence::Calm;
use super::wording::{bounded, counted, finding, milliseconds, seconds};
use crate::checker::phases::Phases;
use crate::checker::{Anomaly, Budget, Checker, Finding, Verdict};
use crate::history::History;
use crate::nemesis::Phase;
use crate::op::Nanos;
use pointers::{Episode, episodes};

/// Demands that redirections lead to somebody who serves.
#[derive(Clone, Debug)]
pub(super) struct RedirectLoop {
    pub checks: KvrocksChecks,
}

impl Checker for RedirectLoop {
    fn name(&self) -> &'static str {
        "redirect-loops"
    }

    fn finish(&mut self, history: &History, _budget: &Budget) -> Finding {
        let pairs = history.operations();
        let episodes = episodes(&pairs);
        let calm = Calm::of(history);
        let bound = self.checks.bounds.settle_within;
        let lasting = |one: &&Episode| one.last - since(one, &calm) >= bound;
        let anomalies: Vec<Anomaly> =
            episodes.iter().filter(lasting).map(|one| anomaly(one, &calm, bound)).collect();
        let longest = episodes.iter().map(|one| one.last - one.from).max().unwrap_or(0);
        let mut why = match episodes.len() {
            0 => "no two nodes sent clients to each other".to_owned(),
            count => format!(
                "{}, the longest for {} ms",
                counted(count, "redirect loop"),
                milliseconds(longest)
            ),
        };
        let drain = Phases::of(history).start(Phase::Drain).map(|mark| mark.time);
        let open =
            episodes.iter().find(|one| one.is_open && drain.is_some_and(|at| one.last >= at));
        let undecided = anomalies.is_empty().then_some(open).flatten();
        if let Some(open) = undecided {
            why += &format!("; one for slot {} had not ended when the run did", open.slot);
        }
        let transient = episodes.len() - anomalies.len();
        let figures = [("transient", transient as f64), ("longest-ms", milliseconds(longest))];
        let is_undecided = undecided.is_some();
        let mut finding = finding(self.name(), why, anomalies, figures);
        if is_undecided {
            finding.verdict = Verdict::Unknown;
        }
        finding
    }
}

/// From when on no fault excuses it.
fn since(episode: &Episode, calm: &Calm) -> Nanos {
    let before = calm.strikes.iter().filter(|strike| strike.from <= episode.last);
    let ends = before.map(|strike| strike.until.min(episode.last));
    ends.max().unwrap_or(0).max(episode.from)
}

fn anomaly(episode: &Episode, calm: &Calm, bound: Nanos) -> Anomaly {
    let Episode { slot, nodes, from, last, .. } = episode;
    let names: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    let calm_since = since(episode, calm);
    Anomaly {
        kind: "redirect-loop".to_owned(),
        summary: format!(
            "for slot {slot} {} sent clients on in a circle from {} to {}, for {} with no fault in force; {} are allowed",
            names.join(" and "),
            seconds(*from),
            seconds(*last),
            seconds(last - calm_since),
            seconds(bound),
        ),
        details: bounded(
            episode.said.iter().map(|(time, node, target)| {
                format!("{}: {node} said: ask {target}", seconds(*time))
            }),
        ),
        key: None,
        nodes: names,
        ops: episode.ops.clone(),
        from: *from,
        to: *last,
        faults: None,
        cycle: None,
    }
}
