//! Starved failovers: a master is dead, a replica stands by, controllers are elected one after the other,
//! and none of them gets as far as to replace it, since each counts failed probes from nothing.

mod deaths;
mod reigns;
#[cfg(test)]
mod tests;

use super::KvrocksChecks;
use super::evidence::Evidence;
use super::wording::{bounded, counted, finding, milliseconds, seconds};
use crate::checker::{Anomaly, Budget, Checker, Finding};
use crate::history::History;
use crate::nemesis::role_of;
use crate::op::Nanos;
use deaths::{Death, End, deaths};
use reigns::{Reign, reigns};

/// Demands that a dead master is replaced within a bound, if anybody leads the controllers at all.
#[derive(Clone, Debug)]
pub(super) struct StarvedFailover {
    pub checks: KvrocksChecks,
}

/// What became of the death of a master that lasted too long.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    /// Nobody could have replaced it: why.
    Excused(String),
    /// By these leaders.
    Starved(Vec<Reign>),
}

impl Checker for StarvedFailover {
    fn name(&self) -> &'static str {
        "starved-failovers"
    }

    fn finish(&mut self, history: &History, _budget: &Budget) -> Finding {
        let pairs = history.operations();
        let evidence = Evidence::of(history, &pairs, &self.checks.shards);
        let reigns = reigns(history, &evidence.calm);
        let bound = self.checks.bounds.failover_within;
        let deaths: Vec<Death> = deaths(history, &self.checks.shards)
            .iter()
            .map(|death| death.up_to_replacement(&self.checks.shards[death.shard], &evidence))
            .collect();
        let long: Vec<_> = deaths.iter().filter(|death| death.until - death.from > bound).collect();
        let (mut anomalies, mut excuses, mut longest) = (Vec::new(), Vec::new(), 0);
        for death in &long {
            match self.outcome(death, &pairs, &evidence, &reigns) {
                Outcome::Excused(why) => excuses.push(format!("{}: {why}", death.master)),
                Outcome::Starved(reigns) => {
                    longest = longest.max(death.until - death.from);
                    anomalies.push(self.anomaly(death, &reigns));
                }
            }
        }
        let mut why = format!(
            "{} of masters, {} for longer than {}: {}",
            counted(deaths.len(), "death"),
            long.len(),
            seconds(bound),
            match anomalies.len() {
                0 => "no failover starved".to_owned(),
                count => format!("{} starved", counted(count, "failover")),
            }
        );
        if !excuses.is_empty() {
            why += &format!("; {}", excuses.join("; "));
        }
        let figures = [
            ("deaths", deaths.len() as f64),
            ("excused", excuses.len() as f64),
            ("longest-starved-ms", milliseconds(longest)),
        ];
        finding(self.name(), why, anomalies, figures)
    }
}

impl StarvedFailover {
    fn outcome(
        &self,
        death: &Death,
        pairs: &[super::answers::Pair],
        evidence: &Evidence,
        reigns: &[Reign],
    ) -> Outcome {
        let Death { master, shard, from, until, .. } = death;
        let own = &self.checks.shards[*shard];
        let meanwhile = |time: Nanos| (*from..=*until).contains(&time);
        let excuse = |why: &str| Outcome::Excused(why.to_owned());
        let stood_by = |node: &&crate::op::NodeName| {
            let dead = |seen: &super::evidence::Seen| {
                seen.node == **node && meanwhile(seen.time) && deaths::is_dead(seen.state)
            };
            **node != *master
                && !evidence.views.data.iter().any(dead)
                && !death.dead_besides.contains(*node)
                && !evidence.calm.is_shaken(|place| place == *node, *from, *until)
        };
        if !own.iter().any(|node| stood_by(&node)) {
            return excuse("no replica stood by untouched");
        }
        if !deaths::has_data(pairs, own, *from) {
            return excuse(
                "its shard was empty, and an empty replica (sequence 0) is never promoted",
            );
        }
        if evidence.calm.is_shaken(|place| role_of(place) == "zookeeper", *from, *until) {
            return excuse("ZooKeeper was struck as well");
        }
        let led: Vec<Reign> =
            reigns.iter().filter_map(|reign| reign.within(*from, *until)).collect();
        let altogether: Nanos = led.iter().map(|reign| reign.until - reign.from).sum();
        if altogether < self.checks.bounds.probing {
            return excuse("hardly anybody led the controllers meanwhile");
        }
        Outcome::Starved(led)
    }

    fn anomaly(&self, death: &Death, reigns: &[Reign]) -> Anomaly {
        let Death { master, shard, from, until, end, .. } = death;
        let mut lengths: Vec<Nanos> = reigns.iter().map(|reign| reign.until - reign.from).collect();
        lengths.sort_unstable();
        let leaders = match reigns {
            [one] => format!("{} led for {} and did nothing", one.leader, seconds(lengths[0])),
            many => format!(
                "leaders were replaced {}, each after {} (median; the longest led {})",
                super::wording::times(many.len()),
                seconds(lengths[lengths.len() / 2]),
                seconds(lengths[lengths.len() - 1]),
            ),
        };
        let end = match end {
            End::Alive => format!("until {}", seconds(*until)),
            End::Replaced(node) => {
                format!("until {node} was seen in its place at {}", seconds(*until))
            }
            End::Open => format!("to the end of the record at {}", seconds(*until)),
        };
        let mut nodes = vec![master.to_string()];
        nodes.extend(reigns.iter().map(|reign| reign.leader.to_string()));
        nodes.sort();
        nodes.dedup();
        Anomaly {
            kind: "starved-failover".to_owned(),
            summary: format!(
                "{master}, the master of shard {shard}, was dead from {} {end}, and for {} no replica took its place, though one stood by; {} are allowed: {leaders}",
                seconds(*from),
                seconds(until - from),
                seconds(self.checks.bounds.failover_within),
            ),
            details: bounded(reigns.iter().map(|reign| {
                let (since, to) = (seconds(reign.from), seconds(reign.until));
                format!("{} led from {since} to {to}", reign.leader)
            })),
            key: None,
            nodes,
            ops: Vec::new(),
            from: *from,
            to: *until,
            faults: None,
            cycle: None,
        }
    }
}
