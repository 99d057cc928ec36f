//! How often the triggers of each nemesis fired, by what, and how soon its fault then began.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cluster::FaultId;
use crate::history::History;
use crate::nemesis::{FaultRecord, NamedNemesis, Spread};
use crate::op::Nanos;

/// Different events that are told for each nemesis.
const EVENTS_MAX: usize = 20;

/// One event and how often it made a fault begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriggeredBy {
    pub by: String,
    pub times: u64,
}

/// The triggers of one nemesis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TriggerSummary {
    /// The nemesis's name.
    pub fault: String,
    /// What its faults wait for, as the scenario says; empty where it says nothing.
    pub waits_for: String,
    pub fired: u64,
    /// The most frequent first.
    pub by: Vec<TriggeredBy>,
    /// From the event to the moment in which the run loop knew of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned_ms: Option<Spread>,
    /// From the event to the fault in force, its own `then` included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<Spread>,
}

#[derive(Default)]
struct Fired {
    by: BTreeMap<String, u64>,
    learned: Vec<Nanos>,
    latency: Vec<Nanos>,
    /// Of faults that have been triggered and not begun yet.
    pending: BTreeMap<FaultId, Nanos>,
}

/// Those that wait for something, also if it never came, in the order named; then what else was fired.
pub fn triggers(history: &History, named: &[NamedNemesis]) -> Vec<TriggerSummary> {
    let mut fired: BTreeMap<String, Fired> = BTreeMap::new();
    for event in history.events() {
        match FaultRecord::of(event) {
            Some(FaultRecord::Triggered { fault, by, happened, learned }) => {
                let fired = fired.entry(event.f.to_string()).or_default();
                *fired.by.entry(by).or_default() += 1;
                fired.learned.push(learned.saturating_sub(happened));
                fired.pending.insert(fault, happened);
            }
            Some(FaultRecord::Began { fault, .. }) => {
                let Some(fired) = fired.get_mut(&*event.f) else { continue };
                if let Some(happened) = fired.pending.remove(&fault) {
                    fired.latency.push(event.time.saturating_sub(happened));
                }
            }
            _ => {}
        }
    }
    let mut summaries = Vec::new();
    for nemesis in named {
        let fired = fired.remove(&nemesis.fault);
        if fired.is_some() || !nemesis.when.is_empty() {
            let waits_for: Vec<String> = nemesis.when.iter().map(ToString::to_string).collect();
            let fired = fired.unwrap_or_default();
            summaries.push(fired.summary(&nemesis.fault, waits_for.join("; ")));
        }
    }
    summaries.extend(fired.into_iter().map(|(fault, fired)| fired.summary(&fault, String::new())));
    summaries
}

impl Fired {
    fn summary(self, fault: &str, waits_for: String) -> TriggerSummary {
        let told = |(by, times)| TriggeredBy { by, times };
        let fired = self.by.values().sum();
        let mut by: Vec<TriggeredBy> = self.by.into_iter().map(told).collect();
        by.sort_by_key(|event| std::cmp::Reverse(event.times));
        by.truncate(EVENTS_MAX);
        TriggerSummary {
            fault: fault.to_owned(),
            waits_for,
            fired,
            by,
            learned_ms: Spread::of(self.learned),
            latency_ms: Spread::of(self.latency),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::text::{merge, record};
    use crate::cluster::{Action, Applied};
    use crate::nemesis::{Deed, ViewChange, When};
    use crate::op::{Event, MILLISECOND, SECOND};

    /// Triggered at `at` seconds by an event `before_ms` earlier, and begun `after_ms` after it.
    fn fired(number: u32, by: &str, at: u64, before_ms: u64, after_ms: Option<u64>) -> Vec<Event> {
        let fault = FaultId(number);
        let (learned, happened) = (at * SECOND, at * SECOND - before_ms * MILLISECOND);
        let triggered = FaultRecord::Triggered { fault, by: by.into(), happened, learned };
        let action = Action::Pause { node: "n1".into() };
        let deeds = vec![Deed { action, outcome: Applied::Skipped { why: "down".into() } }];
        let began = |after: u64| {
            let time = (happened + after * MILLISECOND) as f64 / SECOND as f64;
            record(time, "storm", &FaultRecord::Began { fault, deeds: deeds.clone() })
        };
        let triggered = record(at as f64, "storm", &triggered);
        std::iter::once(triggered).chain(after_ms.map(began)).collect()
    }

    #[test]
    fn latencies_run_from_the_event_to_the_fault() {
        let events = [
            fired(1, "znode /go created", 10, 4, Some(30)),
            fired(2, "log at n1: joined", 20, 2, Some(10)),
            fired(3, "znode /go created", 30, 6, Some(20)),
            fired(4, "znode /go created", 40, 8, None),
        ];
        let history = merge(&History::default(), events.concat());
        let told = triggers(&history, &[]);
        assert_eq!(told.len(), 1);
        assert_eq!((told[0].fault.as_str(), told[0].fired), ("storm", 4));
        let by: Vec<(&str, u64)> = told[0].by.iter().map(|by| (&*by.by, by.times)).collect();
        assert_eq!(by, [("znode /go created", 3), ("log at n1: joined", 1)]);
        let spread = |spread: Option<Spread>| spread.map(|s| (s.count, s.median, s.max));
        assert_eq!(spread(told[0].latency_ms), Some((3, 20.0, 30.0)));
        assert_eq!(spread(told[0].learned_ms), Some((4, 5.0, 8.0)));
    }

    #[test]
    fn a_trigger_that_never_fired_is_told() {
        let when = When {
            view: Some(ViewChange::Leader),
            then: "200ms".parse().expect("a duration"),
            ..When::default()
        };
        let nemesis = |fault: &str, when| NamedNemesis {
            fault: fault.into(),
            when,
            ..NamedNemesis::default()
        };
        let named = [nemesis("storm", vec![when]), nemesis("kill", vec![])];
        let told = triggers(&History::default(), &named);
        assert_eq!(told.len(), 1, "what the clock begins has no trigger");
        assert_eq!((told[0].fired, told[0].latency_ms), (0, None));
        assert_eq!(told[0].waits_for, "a change of the view: leader, then 200ms (once)");
    }
}
