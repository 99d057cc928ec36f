//! Faults in force as the nemeses of other tools leave them: `start-partition` and `stop-partition`, `kill`
//! and `restart`, with no record of what was done.

use super::{FaultWindow, NemesisStep};
use crate::cluster::FaultId;
use crate::op::Nanos;
use crate::report::fault_kind::Family;

/// What begins a fault and what may end it.
const PAIRS: &[(&str, &[&str])] = &[
    ("start", &["stop"]),
    ("partition", &["heal", "recover"]),
    ("kill", &["restart", "start"]),
    ("pause", &["resume"]),
    ("stop-node", &["start-node"]),
    ("bump", &["reset"]),
    ("strobe", &["reset"]),
];

/// Windows by the names of the nemesis's operations. Each operation stands there twice, as it was begun
/// and as it was done.
pub(super) fn windows(steps: &[NemesisStep], end: Nanos) -> Vec<FaultWindow> {
    let mut windows: Vec<FaultWindow> = Vec::new();
    let mut before = "";
    for step in steps.iter().filter(|step| step.record.is_none()) {
        let (f, time) = (step.event.f.as_str(), step.event.time);
        let is_second = std::mem::replace(&mut before, f) == f;
        // To stop once more, long after, what has been stopped ends nothing.
        let may_end =
            |window: &&mut FaultWindow| ends(&window.name, f) && (!window.ended || is_second);
        if let Some(window) = windows.iter_mut().rfind(may_end) {
            (window.to, window.ended) = (time, true);
        } else if begins(f) && !windows.iter().any(|window| window.name == f && !window.ended) {
            windows.push(window(f, windows.len(), time, end));
        }
    }
    windows
}

fn begins(f: &str) -> bool {
    f.starts_with("start-") || PAIRS.iter().any(|(begin, _)| *begin == f)
}

fn ends(begin: &str, f: &str) -> bool {
    let of_prefix = begin.strip_prefix("start-").zip(f.strip_prefix("stop-"));
    let of_pair = PAIRS.iter().any(|(name, ends)| *name == begin && ends.contains(&f));
    of_prefix.is_some_and(|(begun, ended)| begun == ended) || of_pair
}

fn window(f: &str, number: usize, from: Nanos, end: Nanos) -> FaultWindow {
    let is_of = |words: &[&str]| words.iter().any(|word| f.contains(word));
    let family = if is_of(&["kill", "pause", "node", "crash"]) {
        Family::Processes
    } else if is_of(&["clock", "skew", "bump", "strobe"]) {
        Family::Clocks
    } else {
        Family::Links
    };
    FaultWindow {
        id: FaultId(u32::try_from(number + 1).unwrap_or(u32::MAX)),
        name: f.to_owned(),
        verb: f.to_owned(),
        family,
        targets: Vec::new(),
        from,
        to: end,
        proven: false,
        ended: false,
        momentary: false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Digest;
    use crate::history::{History, parse_line};
    use crate::op::SECOND;

    #[test]
    fn starts_and_stops_of_the_same_name_are_one_window() {
        let names = [
            "start-partition",
            "start-partition",
            "add-server",
            "stop-partition",
            "stop-partition",
            "kill",
            "stop-partition",
            "start-partition",
        ];
        let event = |(f, second): (&&str, u64)| {
            let time = second * SECOND;
            let line = format!(r#"{{"type":"info","process":"nemesis","f":"{f}","time":{time}}}"#);
            parse_line(&line, second).expect(&line)
        };
        let history = History::new(names.iter().zip(0..).map(event).collect());
        let windows = Digest::of(&history).windows;
        let told: Vec<_> = windows
            .iter()
            .map(|one| (one.name.as_str(), one.from / SECOND, one.to / SECOND, one.ended))
            .collect();
        assert_eq!(
            told,
            [
                ("start-partition", 0, 4, true),
                ("kill", 5, 7, false),
                ("start-partition", 7, 7, false)
            ]
        );
    }
}
