//! Which faults were in force in the span of each anomaly.

use super::digest::{FaultWindow, fault_windows};
use super::words;
use crate::checker::{Anomaly, Finding};
use crate::op::{Event, Nanos};

/// Faults that are named; the others are counted.
const NAMED: usize = 6;
const TARGETS: usize = 5;

/// Names in each anomaly the faults in force, from the nemesis's events of a history that ended at `end`.
pub fn name_faults<'a>(
    findings: &mut [Finding],
    events: impl IntoIterator<Item = &'a Event>,
    end: Nanos,
) {
    let Some(windows) = fault_windows(events, end) else { return };
    for anomaly in findings.iter_mut().flat_map(|finding| &mut finding.anomalies) {
        // An anomaly without times may have been at any.
        if (anomaly.from, anomaly.to) != (0, 0) {
            anomaly.faults = Some(in_force(&windows, anomaly));
        }
    }
}

fn in_force(windows: &[FaultWindow], anomaly: &Anomaly) -> Vec<String> {
    let overlaps = |window: &&FaultWindow| window.from <= anomaly.to && window.to >= anomaly.from;
    let all = windows.iter().filter(overlaps);
    let mut named: Vec<String> = all.clone().take(NAMED).map(told).collect();
    let more = all.count() - named.len();
    if more > 0 {
        named.push(words::plural(more, "other", "others"));
    }
    named
}

/// `kill f3 on n1, 12.000 s to 20.000 s`.
fn told(window: &FaultWindow) -> String {
    let targets = &window.targets;
    let mut named: Vec<String> = targets.iter().take(TARGETS).map(ToString::to_string).collect();
    if targets.len() > TARGETS {
        named.push(format!("{} more", targets.len() - TARGETS));
    }
    let on = if named.is_empty() { String::new() } else { format!(" on {}", named.join(" ")) };
    let from = words::moment(window.from);
    let when = match (window.momentary, window.ended) {
        (true, _) => format!("at {from}"),
        (false, true) => format!("{from} to {}", words::moment(window.to)),
        (false, false) => format!("from {from} to the end"),
    };
    format!("{} {}{on}, {when}", window.name, window.id)
}

/// One line: `faults in force: ...`, or that there was none; nothing where nobody knows.
pub(super) fn line(anomaly: &Anomaly) -> Option<String> {
    Some(match anomaly.faults.as_deref()? {
        [] => "no fault was in force then".to_owned(),
        faults => format!("faults in force: {}", faults.join("; ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::Verdict;
    use crate::history::parse_line;
    use crate::op::SECOND;

    fn anomaly(from: u64, to: u64) -> Anomaly {
        Anomaly {
            kind: "stale-read".into(),
            summary: String::new(),
            details: Vec::new(),
            key: None,
            nodes: Vec::new(),
            ops: Vec::new(),
            from: from * SECOND,
            to: to * SECOND,
            faults: None,
            cycle: None,
        }
    }

    fn events(names: &[&str]) -> Vec<Event> {
        let event = |(f, second): (&&str, u64)| {
            let time = second * SECOND;
            let line = format!(r#"{{"type":"info","process":"nemesis","f":"{f}","time":{time}}}"#);
            parse_line(&line, second).expect(&line)
        };
        names.iter().zip(1..).map(event).collect()
    }

    fn named(events: &[Event], from: u64, to: u64) -> Option<String> {
        let mut finding = Finding::new("model", Verdict::Invalid, "");
        finding.anomalies.push(anomaly(from, to));
        let mut findings = [finding];
        name_faults(&mut findings, events, 60 * SECOND);
        line(&findings[0].anomalies[0])
    }

    #[test]
    fn what_was_in_force_is_named_and_so_is_that_nothing_was() {
        let events = events(&["start-partition", "stop-partition", "kill"]);
        let line = named(&events, 0, 1).expect("faults");
        assert_eq!(line, "faults in force: start-partition f1, 1.000 s to 2.000 s");
        let line = named(&events, 50, 55).expect("faults");
        assert_eq!(line, "faults in force: kill f2, from 3.000 s to the end");
        let line = named(&self::events(&["start", "stop"]), 9, 9).expect("a line");
        assert_eq!(line, "no fault was in force then");
    }

    #[test]
    fn where_nobody_knows_nothing_is_said() {
        assert_eq!(named(&[], 1, 2), None);
        assert_eq!(named(&events(&["kill"]), 0, 0), None);
    }

    #[test]
    fn many_faults_are_counted() {
        let names: Vec<String> = (0..20).map(|number| format!("start-{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let line = named(&events(&names), 30, 31).expect("faults");
        assert!(line.ends_with("; 14 others") && line.len() < 400, "{line}");
    }
}
