//! Whether the history is one at all. A flawed history is refused, never guessed at.

use rustc_hash::FxHashMap;

use crate::checker::{Budget, Checker, Finding, Verdict};
use crate::history::History;
use crate::op::{Event, Kind, Process};

/// Flaws told in full; the rest are counted.
const TOLD: usize = 10;

/// One event that cannot stand where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Line in the history's text, from 1.
    pub line: u64,
    pub what: String,
}

/// All structural flaws, in order of lines.
///
/// Times are not looked at: histories of older tools take them on each client's own thread, and
/// what checkers need is the order of the events. A process may go on after an `info`.
pub fn flaws(history: &History) -> Vec<Flaw> {
    let mut found = Vec::new();
    let mut open: FxHashMap<u32, &Event> = FxHashMap::default();
    let mut previous: Option<u64> = None;
    for (event, line) in history.events().iter().zip(1..) {
        let mut flaw = |what: String| found.push(Flaw { line, what });
        if previous.is_some_and(|index| index >= event.index) {
            flaw(format!("index {} does not come after the one before it", event.index));
        }
        previous = Some(event.index);
        let Process::Client(process) = event.process else { continue };
        if event.kind == Kind::Invoke {
            if let Some(busy) = open.insert(process, event) {
                let (f, index) = (&busy.f, busy.index);
                flaw(format!("process {process} invokes while its {f} of index {index} is open"));
            }
        } else if let Some(invocation) = open.remove(&process) {
            mismatch(invocation, event).into_iter().for_each(flaw);
        } else {
            let kind = event.kind.name();
            flaw(format!("process {process} completes ({kind} {}) what it never invoked", event.f));
        }
    }
    found
}

/// How a completion contradicts its invocation.
fn mismatch(invocation: &Event, completion: &Event) -> Option<String> {
    let process = completion.process;
    if invocation.f != completion.f {
        let (invoked, completed) = (&invocation.f, &completion.f);
        return Some(format!("process {process} invoked {invoked} and completes {completed}"));
    }
    // Foreign histories leave the key out of completions.
    if completion.key.is_some() && invocation.key != completion.key {
        return Some(format!("process {process} completes {} on another key", completion.f));
    }
    None
}

/// Refuses histories that are none.
#[derive(Clone, Copy, Debug, Default)]
pub struct WellFormed;

impl Checker for WellFormed {
    fn name(&self) -> &'static str {
        "well-formed"
    }

    fn finish(&mut self, history: &History, _budget: &Budget) -> Finding {
        let found = flaws(history);
        let verdict = if found.is_empty() { Verdict::Valid } else { Verdict::Unknown };
        Finding {
            name: self.name().to_owned(),
            verdict,
            why: told(&found, history.len()),
            anomalies: Vec::new(),
            figures: [("events".to_owned(), history.len() as f64)].into(),
            consistency: None,
        }
    }
}

fn told(found: &[Flaw], events: usize) -> String {
    if found.is_empty() {
        return format!("{events} events, each in its place");
    }
    let lines: Vec<String> =
        found.iter().take(TOLD).map(|flaw| format!("line {}: {}", flaw.line, flaw.what)).collect();
    let more = match found.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("the history is damaged or edited, so nothing is judged: {}{more}", lines.join("; "))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::checker::text::history;

    fn check(text: &str, expected: Expect) {
        let finding = WellFormed.finish(&history(text), &Budget::UNBOUNDED);
        expected.assert_eq(&format!("{}: {}", finding.verdict.name(), finding.why));
    }

    #[test]
    fn a_history_with_open_and_indeterminate_operations_is_well_formed() {
        check(
            "
            0.1 0@n1 invoke write 1
            0.2 1@n2 invoke read nil
            0.3 0@n1 info write 1
            0.4 0@n1 invoke read nil
            ",
            expect!["valid: 4 events, each in its place"],
        );
    }

    #[test]
    fn each_flaw_is_told_with_its_line() {
        check(
            "
            0.1 0@n1 invoke write 1
            0.2 0@n1 invoke write 2
            0.3 1@n2 ok read 1
            0.4 0@n1 ok read 2
            0.5 0@n1 invoke read nil key=1
            0.6 0@n1 ok read 5 key=2
            ",
            expect![
                "unknown: the history is damaged or edited, so nothing is judged: line 2: process 0 invokes while its write of index 0 is open; line 3: process 1 completes (ok read) what it never invoked; line 4: process 0 invoked write and completes read; line 6: process 0 completes read on another key"
            ],
        );
    }

    #[test]
    fn repeated_indices_are_a_flaw_and_many_flaws_are_counted() {
        let one = history("0.1 0@n1 invoke write 1").events()[0].clone();
        let finding = WellFormed.finish(&History::new(vec![one; 14]), &Budget::UNBOUNDED);
        assert_eq!(finding.verdict, Verdict::Unknown);
        assert!(finding.why.contains("line 2: index 0 does not come after"), "{}", finding.why);
        assert!(finding.why.ends_with("; and 16 more"), "{}", finding.why);
    }
}
