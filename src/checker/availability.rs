//! How long clients went without an `ok`, and which part of what they asked for was answered. Figures for
//! the report; it judges nothing.

mod answered;

use std::collections::BTreeMap;

use crate::checker::phases::Phases;
use crate::checker::{Budget, Checker, Finding, Shows, Verdict};
use crate::history::History;
use crate::nemesis::Phase;
use crate::op::{Event, Kind, MILLISECOND, Nanos, NodeName, Process, SECOND};
use answered::Answered;
pub(super) use answered::is_answer;

/// The longest stretch without an `ok` during main, overall and by node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Availability;

/// One stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gap {
    from: Nanos,
    length: Nanos,
}

/// Follows the `ok`s of one source through the window.
struct Longest {
    last: Nanos,
    gap: Gap,
}

impl Longest {
    fn new(from: Nanos) -> Longest {
        Longest { last: from, gap: Gap { from, length: 0 } }
    }

    fn ok_at(&mut self, time: Nanos) {
        let length = time.saturating_sub(self.last);
        if length > self.gap.length {
            self.gap = Gap { from: self.last, length };
        }
        self.last = time;
    }
}

impl Checker for Availability {
    fn name(&self) -> &'static str {
        "availability"
    }

    fn shows(&self) -> Shows {
        Shows::AtTheEnd
    }

    fn finish(&mut self, history: &History, _budget: &Budget) -> Finding {
        let (from, to) = main_window(history);
        let mut overall = Longest::new(from);
        let mut nodes: BTreeMap<NodeName, Longest> = BTreeMap::new();
        for event in clients(history).filter(|event| (from..=to).contains(&event.time)) {
            let ok = event.kind == Kind::Ok;
            if ok {
                overall.ok_at(event.time);
            }
            if let Some(node) = &event.node {
                let longest = nodes.entry(*node).or_insert_with(|| Longest::new(from));
                if ok {
                    longest.ok_at(event.time);
                }
            }
        }
        overall.ok_at(to);
        nodes.values_mut().for_each(|longest| longest.ok_at(to));
        told(self.name(), overall.gap, &nodes, &Answered::of(history, (from, to)))
    }
}

fn clients(history: &History) -> impl Iterator<Item = &Event> {
    history.events().iter().filter(|event| matches!(event.process, Process::Client(_)))
}

/// The main phase where it is marked, else the time in which clients were at work.
fn main_window(history: &History) -> (Nanos, Nanos) {
    let phases = Phases::of(history);
    let first = clients(history).map(|event| event.time).min().unwrap_or(0);
    let last = clients(history).map(|event| event.time).max().unwrap_or(0);
    let from = phases.start(Phase::Main).map_or(first, |mark| mark.time);
    let to = phases.start(Phase::Heal).map_or(last, |mark| mark.time);
    (from, to.max(from))
}

fn told(
    name: &str,
    overall: Gap,
    nodes: &BTreeMap<NodeName, Longest>,
    answered: &Answered,
) -> Finding {
    let milliseconds = |gap: Gap| gap.length as f64 / MILLISECOND as f64;
    let mut figures = BTreeMap::from([("longest-gap-ms".to_owned(), milliseconds(overall))]);
    for (node, longest) in nodes {
        figures.insert(format!("longest-gap-ms.{node}"), milliseconds(longest.gap));
    }
    let mut why = format!("longest time without an ok in main: {}", seconds(overall));
    // The first of the worst, so that ties do not depend on anything but the names.
    let worst = nodes.iter().rev().max_by_key(|(_, longest)| longest.gap.length);
    if let Some((node, longest)) = worst {
        why += &format!(" overall, {} on {node}", seconds(longest.gap));
    }
    let share = answered.all;
    why += &format!("; {} of {} operations were answered", share.answered, share.asked);
    figures.extend(answered.figures());
    Finding { figures, ..Finding::new(name, Verdict::Valid, why) }
}

fn seconds(gap: Gap) -> String {
    let second = |time: Nanos| time as f64 / SECOND as f64;
    format!("{:.3} s (from {:.3} s)", second(gap.length), second(gap.from))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::checker::text::{history, merge, record};

    const WORK: &str = "
        1.0 0@n1 invoke read nil
        1.5 0@n1 ok read nil
        2.0 1@n2 invoke read nil
        2.5 1@n2 info read nil
        4.0 0@n1 invoke read nil
        4.5 0@n1 ok read nil";

    #[test]
    fn gaps_are_measured_overall_and_by_node_within_main() {
        let phase = |seconds, phase| record(seconds, "phase", &FaultRecord::Phase { phase });
        use crate::nemesis::FaultRecord;
        let marks = vec![phase(0.9, Phase::Main), phase(6.0, Phase::Heal)];
        let finding = Availability.finish(&merge(&history(WORK), marks), &Budget::UNBOUNDED);
        expect![[r#"
            longest time without an ok in main: 3.000 s (from 1.500 s) overall, 5.100 s (from 0.900 s) on n2; 2 of 3 operations were answered
            {"answered": 0.6666666666666666, "answered.n1": 1.0, "answered.n2": 0.0, "longest-gap-ms": 3000.0, "longest-gap-ms.n1": 3000.0, "longest-gap-ms.n2": 5100.0}
        "#]]
        .assert_eq(&format!("{}\n{:?}\n", finding.why, finding.figures));
    }

    #[test]
    fn without_marks_the_clients_own_time_counts() {
        let finding = Availability.finish(&history(WORK), &Budget::UNBOUNDED);
        assert_eq!(finding.verdict, Verdict::Valid);
        assert_eq!(finding.figures["longest-gap-ms"], 3000.0);
        assert_eq!(finding.figures["longest-gap-ms.n2"], 3500.0);
        let empty = Availability.finish(&History::default(), &Budget::UNBOUNDED);
        assert_eq!(empty.figures["longest-gap-ms"], 0.0);
    }

    #[test]
    fn what_was_asked_for_is_told_by_node_key_and_fault() {
        let work = "
            1.0 0@n1 invoke cas 1>2 key=7
            1.1 0@n1 fail cas 1>2 key=7 error=precondition
            2.0 nemesis strike f1 pause n2
            3.0 0@n1 invoke read nil key=8
            3.1 0@n1 ok read nil key=8
            3.2 1@n2 invoke read nil key=8
            3.3 2@n2 invoke read nil key=9
            3.4 2@n2 fail read nil key=9 error=refused
            4.0 nemesis heal f1 pause n2
            5.0 0@n1 invoke read nil key=7
            5.1 0@n1 ok read nil key=7";
        let finding = Availability.finish(&history(work), &Budget::UNBOUNDED);
        let mut told: Vec<String> =
            finding.figures.iter().map(|(name, part)| format!("{name} {part:.2}")).collect();
        told.retain(|figure| figure.starts_with("answered"));
        expect![[r#"
            answered 0.60
            answered.key.8 0.50
            answered.key.9 0.00
            answered.n1 1.00
            answered.n2 0.00
            answered.under-no-fault 1.00
            answered.under.pause 0.33
        "#]]
        .assert_eq(&(told.join("\n") + "\n"));
    }
}
