//! The nemesis's steps as rows for people: what was done to whom, and how it came out.

use std::collections::BTreeSet;

use super::digest::NemesisStep;
use super::fault_kind::Family;
use super::hits::fate;
use super::words;
use crate::cluster::{Action, Applied, FaultId, NodeState, NodeView, View};
use crate::nemesis::{Deed, FaultRecord};
use crate::op::{Nanos, NodeName};

const WHAT_CHARACTERS: usize = 240;

/// One row: what was done, how it came out, and what proves it.
pub(super) struct Step<'a> {
    pub(super) at: Nanos,
    pub(super) fault: String,
    pub(super) name: &'static str,
    pub(super) what: String,
    pub(super) outcome: String,
    pub(super) is_bad: bool,
    pub(super) deeds: &'a [Deed],
    /// What the deeds act on.
    pub(super) family: Option<Family>,
}

/// `begin` and `end` are written ahead of what they announce: where that was recorded too, its row says
/// it all, and the announcement has none. A view that repeats the one before has none either.
pub(super) fn steps<'a>(recorded: &'a [NemesisStep]) -> Vec<Step<'a>> {
    let (begun, ended) = finished(recorded);
    let mut last_view = None;
    let mut rows = Vec::new();
    for step in recorded {
        let is_told_elsewhere = match &step.record {
            Some(FaultRecord::Begin { fault, .. }) => begun.contains(fault),
            Some(FaultRecord::End { fault, .. }) => ended.contains(fault),
            Some(FaultRecord::View { view }) => last_view.replace(view) == Some(view),
            _ => false,
        };
        if !is_told_elsewhere {
            rows.push(row(step));
        }
    }
    rows
}

fn finished(recorded: &[NemesisStep]) -> (BTreeSet<FaultId>, BTreeSet<FaultId>) {
    let (mut begun, mut ended) = (BTreeSet::new(), BTreeSet::new());
    for step in recorded {
        match &step.record {
            Some(FaultRecord::Began { fault, .. }) => begun.insert(*fault),
            Some(FaultRecord::Ended { fault, .. }) => ended.insert(*fault),
            _ => false,
        };
    }
    (begun, ended)
}

fn row<'a>(step: &'a NemesisStep) -> Step<'a> {
    let plain = |name, what: String| Step {
        at: step.event.time,
        fault: fault_of(step),
        name,
        what: words::shorten(&what, WHAT_CHARACTERS),
        outcome: String::new(),
        is_bad: false,
        deeds: &[],
        family: None,
    };
    let lost = |row: Step<'a>| Step { outcome: "no result recorded".into(), is_bad: true, ..row };
    let Some(record) = &step.record else {
        return plain("–", format!("{} {}", step.event.f, step.event.value));
    };
    match record {
        FaultRecord::Begin { targets, actions, .. } => {
            lost(plain("begin", format!("{} on {}", listed(actions), targets.join(", "))))
        }
        FaultRecord::End { actions, .. } => lost(plain("end", listed(actions))),
        FaultRecord::Began { deeds, .. } => done(plain("begin", listed(actions(deeds))), deeds),
        FaultRecord::Ended { deeds, .. } => done(plain("end", listed(actions(deeds))), deeds),
        FaultRecord::Skipped { why, .. } => {
            Step { outcome: why.clone(), ..plain("skipped", String::new()) }
        }
        FaultRecord::Triggered { by, happened, learned, .. } => {
            let late_ms = learned.saturating_sub(*happened) as f64 / 1e6;
            let outcome = format!("learned {late_ms:.1} ms later");
            Step { outcome, ..plain("trigger", by.clone()) }
        }
        FaultRecord::Hit { node, message, .. } => {
            let reply = message.reply.as_deref().unwrap_or("no reply seen");
            let outcome = format!("{reply}; {}", fate(message.form));
            Step { outcome, ..plain("hit", format!("{} at {node}", message.request)) }
        }
        FaultRecord::Verified { check, .. } => Step {
            outcome: check.seen.clone(),
            is_bad: !check.holds,
            ..plain("verified", check.what.clone())
        },
        FaultRecord::Phase { phase } => plain("phase", format!("{} begins", phase.name())),
        FaultRecord::View { view } => plain("view", describe_view(view)),
        FaultRecord::Dropped { node, count } => plain(
            "dropped",
            format!("{} arrivals found no free process on {node}", words::count(*count)),
        ),
        FaultRecord::Interrupted { count } => {
            let times = if *count == 1 { "once" } else { "again" };
            plain("interrupt", format!("asked {times} to stop"))
        }
        FaultRecord::Violation { kind, summary } => {
            Step { outcome: summary.clone(), is_bad: true, ..plain("violation", kind.clone()) }
        }
        FaultRecord::Harness { error } => {
            Step { outcome: error.clone(), is_bad: true, ..plain("harness", "failed".into()) }
        }
    }
}

/// `partition-halves f1`; nothing where the step belongs to no fault.
fn fault_of(step: &NemesisStep) -> String {
    match &step.record {
        Some(
            FaultRecord::Begin { fault, .. }
            | FaultRecord::Began { fault, .. }
            | FaultRecord::End { fault, .. }
            | FaultRecord::Ended { fault, .. }
            | FaultRecord::Skipped { fault, .. }
            | FaultRecord::Triggered { fault, .. }
            | FaultRecord::Hit { fault, .. }
            | FaultRecord::Verified { fault, .. },
        ) => format!("{} {fault}", step.event.f),
        _ => String::new(),
    }
}

fn done<'a>(row: Step<'a>, deeds: &'a [Deed]) -> Step<'a> {
    let mut words: Vec<&str> = Vec::new();
    for deed in deeds {
        let word = match &deed.outcome {
            Applied::Installed { .. } if row.name == "end" => "undone and proven",
            Applied::Installed { .. } if deed.action.undo().is_none() => "done and proven",
            Applied::Installed { .. } => "installed and proven",
            Applied::Skipped { .. } => "skipped",
            Applied::Indeterminate { .. } => "not proven",
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    let outcome = if words.is_empty() { "nothing to do".into() } else { words.join(", ") };
    let family = deeds.first().map(|deed| Family::of(&deed.action));
    Step { outcome, is_bad: words.contains(&"not proven"), deeds, family, ..row }
}

fn actions(deeds: &[Deed]) -> impl IntoIterator<Item = &Action> {
    deeds.iter().map(|deed| &deed.action)
}

fn listed<'a>(actions: impl IntoIterator<Item = &'a Action>) -> String {
    let named = |action| format!("{} {}", Action::name(action), action.object());
    actions.into_iter().map(named).collect::<Vec<_>>().join("; ")
}

pub(super) fn outcome(applied: &Applied) -> String {
    match applied {
        Applied::Installed { .. } => "done, and proven".into(),
        Applied::Skipped { why } => format!("skipped: {why}"),
        Applied::Indeterminate { why, .. } => format!("not proven: {why}"),
    }
}

fn describe_view(view: &View) -> String {
    let state = |state| match state {
        NodeState::Serving => "serves",
        NodeState::Running => "runs but does not serve",
        NodeState::Paused => "is paused",
        NodeState::Down => "is down",
    };
    let leads = |leads, epoch: Option<u64>| match (leads, epoch) {
        (true, Some(epoch)) => format!(" and leads in epoch {epoch}"),
        (true, None) => " and leads".to_owned(),
        (false, _) => String::new(),
    };
    let told = |(name, node): (&NodeName, &NodeView)| {
        format!("{name} {}{}", state(node.state), leads(node.leads, node.epoch))
    };
    let nodes: Vec<String> = view.nodes.iter().map(told).collect();
    nodes.join("; ")
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::cluster::Proof;
    use crate::op::{Event, Kind, Process, Value};

    fn event(value: Value) -> Event {
        Event {
            index: 0,
            time: 0,
            kind: Kind::Info,
            process: Process::Nemesis,
            node: None,
            f: crate::name::Name::from("pause"),
            key: None,
            value,
            error: None,
            route: None,
        }
    }

    /// Each row as `name: what (outcome)`, with `!` where it is bad.
    fn told(values: Vec<Value>) -> Vec<String> {
        let events: Vec<Event> = values.into_iter().map(event).collect();
        let recorded: Vec<NemesisStep> = events
            .iter()
            .map(|event| NemesisStep { event, record: FaultRecord::of(event) })
            .collect();
        let bad = |row: &Step| if row.is_bad { "!" } else { "" };
        let told = |row: &Step| format!("{}: {} ({}){}", row.name, row.what, row.outcome, bad(row));
        steps(&recorded).iter().map(told).collect()
    }

    #[test]
    fn an_announcement_without_a_result_is_shown_as_lost() {
        let pause = || Action::Pause { node: "n1".into() };
        let done = |action, outcome| vec![Deed { action, outcome }];
        let installed = Applied::Installed { proof: Proof::default() };
        let doubt = Applied::Indeterminate { why: "no answer".into(), proof: None };
        let begin = |fault| {
            let (targets, actions) = (vec!["n1".into()], vec![pause()]);
            FaultRecord::Begin { fault, targets, actions }.to_value()
        };
        let (one, two) = (FaultId(1), FaultId(2));
        let rows = told(vec![
            begin(one),
            FaultRecord::Began { fault: one, deeds: done(pause(), installed) }.to_value(),
            FaultRecord::End { fault: one, actions: vec![pause().undo().unwrap()] }.to_value(),
            FaultRecord::Ended { fault: one, deeds: done(pause().undo().unwrap(), doubt) }
                .to_value(),
            begin(two),
        ]);
        assert_eq!(
            rows,
            [
                "begin: pause n1 (installed and proven)",
                "end: resume n1 (not proven)!",
                "begin: pause n1 on n1 (no result recorded)!",
            ]
        );
    }

    #[test]
    fn repeated_views_are_told_once_and_foreign_events_as_they_are() {
        let view = || FaultRecord::View { view: View::default() }.to_value();
        assert_eq!(told(vec![view(), view()]).len(), 1);
        assert_eq!(told(vec![Value::Int(3)]), ["–: pause 3 ()"]);
    }
}
