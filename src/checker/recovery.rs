//! Liveness after the heal: a healthy view, and an `ok` for the clients of every node, in time.

use std::collections::{BTreeMap, BTreeSet};

use crate::checker::phases::{Mark, Phases};
use crate::checker::{Anomaly, Budget, Checker, Finding, Shows, Verdict};
use crate::cluster::{NodeState, Role, View};
use crate::generator::Crew;
use crate::history::History;
use crate::nemesis::{FaultRecord, Phase};
use crate::op::{Kind, Nanos, NodeName, Process, SECOND};

/// Demands that the cluster serves again within a bound.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    /// From the start of recover, that is, from the moment the heal was proven.
    pub recover_within: Nanos,
    /// Of whom an answer is awaited; where unknown, of everybody.
    pub crew: Crew,
}

/// What was seen between the heal and the deadline.
#[derive(Default)]
struct Seen {
    view: Option<View>,
    healthy_at: Option<Nanos>,
    /// Nodes whose clients were at work at any time, and their first `ok` after the heal.
    first_ok: BTreeMap<NodeName, Option<Nanos>>,
    end: Nanos,
}

impl Checker for Recovery {
    fn name(&self) -> &'static str {
        "recovery"
    }

    fn shows(&self) -> Shows {
        Shows::AtTheEnd
    }

    fn finish(&mut self, history: &History, _budget: &Budget) -> Finding {
        let phases = Phases::of(history);
        let Some(recover) = phases.start(Phase::Recover) else {
            let (verdict, why) = match phases.is_foreign() {
                true => (Verdict::Valid, "not judged: the history marks no phases"),
                false => (Verdict::Unknown, "the run never reached recover"),
            };
            return self.finding(verdict, why.to_owned(), Vec::new());
        };
        let deadline = recover.time.saturating_add(self.recover_within);
        let seen = self.look(history, recover, deadline);
        let lacking = seen.lacking();
        if lacking.is_empty() {
            return self.recovered(recover, &seen);
        }
        let why = lacking.join("; ");
        if seen.end < deadline {
            let watched = seconds(seen.end.saturating_sub(recover.time));
            let why = format!("the run ended {watched} after the heal, and so far {why}");
            return self.finding(Verdict::Unknown, why, Vec::new());
        }
        let anomaly = self.anomaly(recover, deadline, &seen, &why);
        self.finding(Verdict::Invalid, anomaly.summary.clone(), vec![anomaly])
    }
}

impl Seen {
    /// What is still missing, in words.
    fn lacking(&self) -> Vec<String> {
        let mut lacking = Vec::new();
        match &self.view {
            None => lacking.push("no view of the cluster was taken".to_owned()),
            Some(view) if self.healthy_at.is_none() => lacking.push(ailing(view)),
            Some(_) => {}
        }
        let silent: Vec<&str> = self.silent().map(|node| &**node).collect();
        if !silent.is_empty() {
            lacking.push(format!("clients of {} got no ok", silent.join(", ")));
        }
        lacking
    }

    fn silent(&self) -> impl Iterator<Item = &NodeName> {
        self.first_ok.iter().filter(|(_, first)| first.is_none()).map(|(node, _)| node)
    }
}

fn state(state: NodeState) -> &'static str {
    match state {
        NodeState::Serving => "serving",
        NodeState::Running => "running without serving",
        NodeState::Paused => "paused",
        NodeState::Down => "down",
    }
}

/// Why a view is not healthy.
fn ailing(view: &View) -> String {
    let mut words: Vec<String> = view
        .nodes
        .iter()
        .filter(|(_, node)| node.state != NodeState::Serving)
        .map(|(name, node)| format!("{name} was {}", state(node.state)))
        .collect();
    let roles: BTreeSet<Role> = view.nodes.values().map(|node| node.role).collect();
    for role in roles.into_iter().filter(|role| role.elects()) {
        match view.leaders(role).map(|node| &**node).collect::<Vec<_>>().as_slice() {
            [_] => {}
            [] => words.push(format!("no {role} led")),
            many => words.push(format!("{} all claimed to lead", many.join(" and "))),
        }
    }
    words.join(", ")
}

fn seconds(time: Nanos) -> String {
    format!("{:.3} s", time as f64 / SECOND as f64)
}

impl Recovery {
    fn finding(&self, verdict: Verdict, why: String, anomalies: Vec<Anomaly>) -> Finding {
        let name = self.name().to_owned();
        Finding {
            name,
            verdict,
            why,
            anomalies,
            figures: BTreeMap::new(),
            consistency: None,
            keys: None,
        }
    }

    fn look(&self, history: &History, recover: Mark, deadline: Nanos) -> Seen {
        let mut seen = Seen::default();
        let mut invoked: BTreeSet<u32> = BTreeSet::new();
        for (position, event) in history.events().iter().enumerate() {
            seen.end = seen.end.max(event.time);
            let after = position >= recover.position && event.time <= deadline;
            if let (true, Some(FaultRecord::View { view })) = (after, FaultRecord::of(event)) {
                seen.healthy_at = match view.is_healthy() {
                    true => seen.healthy_at.or(Some(event.time)),
                    false => None,
                };
                seen.view = Some(view);
            }
            let (Process::Client(process), Some(node)) = (event.process, &event.node) else {
                continue;
            };
            if self.crew.thread_of(process).is_some_and(|thread| !self.crew.is_awaited(thread)) {
                continue;
            }
            let first_ok = seen.first_ok.entry(*node).or_insert(None);
            if !after {
                continue;
            }
            // Only an operation invoked after the heal shows that the healed cluster answers.
            match event.kind {
                Kind::Invoke => {
                    invoked.insert(process);
                }
                Kind::Ok if invoked.contains(&process) => {
                    first_ok.get_or_insert(event.time);
                }
                _ => {}
            }
        }
        seen
    }

    fn recovered(&self, recover: Mark, seen: &Seen) -> Finding {
        let healthy = seen.healthy_at.unwrap_or(recover.time);
        let last_ok = seen.first_ok.values().flatten().copied().max().unwrap_or(healthy);
        let took = |time: Nanos| time.saturating_sub(recover.time);
        let why = format!(
            "healthy {} after the heal, every node's clients had an ok after {}",
            seconds(took(healthy)),
            seconds(took(last_ok))
        );
        let mut finding = self.finding(Verdict::Valid, why, Vec::new());
        let millis = took(healthy.max(last_ok)) as f64 / crate::op::MILLISECOND as f64;
        finding.figures.insert("recovered-ms".to_owned(), millis);
        finding
    }

    fn anomaly(&self, recover: Mark, deadline: Nanos, seen: &Seen, why: &str) -> Anomaly {
        let mut nodes: BTreeSet<String> = seen.silent().map(|node| node.to_string()).collect();
        let mut details = Vec::new();
        for (name, node) in seen.view.iter().flat_map(|view| &view.nodes) {
            let leads = if node.leads { ", leading" } else { "" };
            details.push(format!("{name}: {}{leads}: {}", state(node.state), node.detail));
            if node.state != NodeState::Serving {
                nodes.insert(name.to_string());
            }
        }
        let within = seconds(self.recover_within);
        Anomaly {
            kind: "no-recovery".to_owned(),
            summary: format!("{within} after every fault was healed, {why}"),
            details,
            key: None,
            nodes: nodes.into_iter().collect(),
            ops: Vec::new(),
            from: recover.time,
            to: deadline,
            faults: None,
            cycle: None,
        }
    }
}

#[cfg(test)]
mod tests;
