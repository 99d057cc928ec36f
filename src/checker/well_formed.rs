//! Whether the history is one at all, told while its events go by. A flawed history is refused, never
//! guessed at.

mod owners;

pub use owners::Owners;

use rustc_hash::FxHashMap;

use crate::checker::{Finding, Verdict};
use crate::name::Name;
use crate::op::{Event, Key, Kind, Process};

/// Flaws told in full; the rest are counted.
const TOLD: usize = 10;

/// An operation that has not completed yet.
struct Open {
    f: Name,
    key: Option<Key>,
    index: u64,
}

/// The form of a history: takes in its events in order, and knows of each completion whose it is.
///
/// Times are not looked at: histories of older tools take them on each client's own thread, and
/// what most checkers need is the order of the events. A process may go on after an `info`.
/// Costs a table of the open operations, whatever the history.
#[derive(Default)]
pub struct Form {
    open: FxHashMap<u32, Open>,
    overlaps: Overlaps,
    previous: Option<u64>,
    /// An index did not grow.
    is_astray: bool,
    events: u64,
    invocations: u64,
    completions: u64,
    /// Completions before any invocation: flaws only if one comes.
    orphans: Flaws,
    flaws: Flaws,
}

/// How many operations are under way of each process that ever had more than one.
#[derive(Default)]
struct Overlaps {
    running: FxHashMap<u32, u32>,
    /// More was completed than invoked.
    is_unmatched: bool,
}

impl Overlaps {
    fn invoke(&mut self, process: u32, is_busy: bool) {
        if let Some(running) = self.running.get_mut(&process) {
            *running += 1;
        } else if is_busy {
            self.running.insert(process, 2);
        }
    }

    fn complete(&mut self, process: u32) {
        if let Some(running) = self.running.get_mut(&process) {
            match running.checked_sub(1) {
                Some(rest) => *running = rest,
                None => self.is_unmatched = true,
            }
        }
    }

    fn are_all_over(&self) -> bool {
        let mut running = self.running.values();
        !self.running.is_empty() && !self.is_unmatched && running.all(|running| *running == 0)
    }
}

/// The first flaws, and how many there are.
#[derive(Default)]
struct Flaws {
    told: Vec<String>,
    all: u64,
}

impl Flaws {
    fn push(&mut self, index: u64, what: impl FnOnce() -> String) {
        self.all += 1;
        if self.told.len() < TOLD {
            self.told.push(format!("event {index}: {}", what()));
        }
    }
}

impl Form {
    /// Events are told by their index, as everywhere.
    pub fn observe(&mut self, event: &Event) {
        self.events += 1;
        let index = event.index;
        if self.previous.is_some_and(|previous| previous >= index) {
            let what = || "its index does not come after the one before it".to_owned();
            self.flaws.push(index, what);
            self.is_astray = true;
        }
        self.previous = Some(index);
        let Process::Client(process) = event.process else { return };
        match event.kind {
            Kind::Invoke => self.invoke(process, event),
            _ => self.complete(process, event),
        }
    }

    fn invoke(&mut self, process: u32, event: &Event) {
        self.invocations += 1;
        let open = Open { f: event.f, key: event.key.clone(), index: event.index };
        let busy = self.open.insert(process, open);
        self.overlaps.invoke(process, busy.is_some());
        if let Some(busy) = busy {
            let (f, began) = (busy.f, busy.index);
            let what =
                || format!("process {process} invokes while its {f} of event {began} is open");
            self.flaws.push(event.index, what);
        }
    }

    fn complete(&mut self, process: u32, event: &Event) {
        self.completions += 1;
        self.overlaps.complete(process);
        if let Some(open) = self.open.remove(&process) {
            if let Some(what) = mismatch(&open, event) {
                self.flaws.push(event.index, || what);
            }
            return;
        }
        let (kind, f) = (event.kind.name(), event.f);
        let what = || format!("process {process} completes ({kind} {f}) what it never invoked");
        match self.invocations {
            0 => self.orphans.push(event.index, what),
            _ => self.flaws.push(event.index, what),
        }
    }

    /// Takes in what keeps an event from being judged, whatever it is.
    pub fn refuse(&mut self, event: &Event, why: String) {
        self.events += 1;
        self.flaws.push(event.index, || why);
    }

    /// Whether there is no invocation at all: each completion then stands for its own.
    pub fn is_completions_alone(&self) -> bool {
        self.invocations == 0 && self.completions > 0
    }

    /// Whether all events so far stand where they can stand.
    pub fn is_sound(&self) -> bool {
        self.flaws.all == 0 && (self.orphans.all == 0 || self.invocations == 0)
    }

    /// Whether all that is wrong is that processes had several operations under way: then nobody knows
    /// which completion is whose, but each operation has one, so the completions tell all that happened.
    pub fn has_every_completion(&self) -> bool {
        self.overlaps.are_all_over()
            && self.open.is_empty()
            && self.invocations == self.completions
            && !self.is_astray
    }

    pub fn finding(&self) -> Finding {
        let sound = self.is_sound();
        let verdict = if sound { Verdict::Valid } else { Verdict::Unknown };
        let why = match sound {
            true if self.is_completions_alone() => {
                format!("{} events, completions without their invocations", self.events)
            }
            true => format!("{} events, each in its place", self.events),
            false => self.flaws_told(),
        };
        let mut finding = Finding::new("well-formed", verdict, why);
        finding.figures = [("events".to_owned(), self.events as f64)].into();
        finding
    }

    fn flaws_told(&self) -> String {
        let lines: Vec<&str> =
            self.orphans.told.iter().chain(&self.flaws.told).map(String::as_str).collect();
        let lines = &lines[..lines.len().min(TOLD)];
        let more = match self.orphans.all + self.flaws.all - lines.len() as u64 {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let told = lines.join("; ");
        format!("the history is damaged or edited, so nothing is judged: {told}{more}")
    }
}

/// How a completion contradicts its invocation.
fn mismatch(open: &Open, completion: &Event) -> Option<String> {
    let process = completion.process;
    if open.f != completion.f {
        let (invoked, completed) = (&open.f, &completion.f);
        return Some(format!("process {process} invoked {invoked} and completes {completed}"));
    }
    // Foreign histories leave the key out of completions.
    if completion.key.is_some() && open.key != completion.key {
        return Some(format!("process {process} completes {} on another key", completion.f));
    }
    None
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::checker::text::history;
    use crate::history::History;

    fn form(history: &History) -> Form {
        let mut form = Form::default();
        history.events().iter().for_each(|event| form.observe(event));
        form
    }

    fn check(text: &str, expected: Expect) {
        let finding = form(&history(text)).finding();
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
    fn each_flaw_is_told_with_its_event() {
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
                "unknown: the history is damaged or edited, so nothing is judged: event 1: process 0 invokes while its write of event 0 is open; event 2: process 1 completes (ok read) what it never invoked; event 3: process 0 invoked write and completes read; event 5: process 0 completes read on another key"
            ],
        );
    }

    #[test]
    fn of_operations_that_overlap_the_completions_may_tell_all() {
        let overlapping = "
            0.1 0@n1 invoke write 1
            0.2 0@n1 invoke write 2
            0.3 0@n1 ok write 1
            0.4 0@n1 ok write 2
        ";
        let has_every_completion = |text: &str| form(&history(text)).has_every_completion();
        assert!(has_every_completion(overlapping));
        assert!(!form(&history(overlapping)).is_sound());
        for worse in [
            "0.5 1@n1 invoke read nil",
            "0.5 1@n1 ok read 1",
            "0.5 0@n1 ok read 1
             0.6 0@n1 invoke read nil",
            "0.5 0@n1 invoke write 3
             0.6 0@n1 invoke write 4
             0.7 0@n1 ok write 3",
        ] {
            assert!(!has_every_completion(&format!("{overlapping} {worse}")), "{worse}");
        }
        assert!(!has_every_completion("0.1 0@n1 invoke write 1"));
        let again = history(overlapping).events()[3].clone();
        let mut repeated = history(overlapping);
        repeated.push(again);
        assert!(!form(&repeated).has_every_completion());
    }

    #[test]
    fn repeated_indices_are_a_flaw_and_many_flaws_are_counted() {
        let one = history("0.1 0@n1 invoke write 1").events()[0].clone();
        let finding = form(&History::new(vec![one; 14])).finding();
        assert_eq!(finding.verdict, Verdict::Unknown);
        assert!(finding.why.contains("event 0: its index does not come after"), "{}", finding.why);
        assert!(finding.why.ends_with("; and 16 more"), "{}", finding.why);
    }

    #[test]
    fn completions_alone_are_a_form_of_their_own_until_one_invocation_comes() {
        let alone = "
            0.1 0@n1 ok write 1
            0.2 0@n1 fail write 2
        ";
        assert!(form(&history(alone)).is_completions_alone());
        check(alone, expect!["valid: 2 events, completions without their invocations"]);
        check(
            &format!("{alone} 0.3 1@n1 invoke read nil"),
            expect![
                "unknown: the history is damaged or edited, so nothing is judged: event 0: process 0 completes (ok write) what it never invoked; event 1: process 0 completes (fail write) what it never invoked"
            ],
        );
    }
}
