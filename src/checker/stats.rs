//! How many operations ended how, and whether that is enough for a verdict to mean anything.

mod changes;

use std::collections::{BTreeMap, BTreeSet};

pub use changes::WantedChanges;

use crate::checker::phases::Phases;
use crate::checker::{Budget, Checker, Finding, Shows, Verdict};
use crate::generator::Crew;
use crate::history::History;
use crate::name::Name;
use crate::nemesis::Phase;
use crate::op::{Event, Kind, Nanos, Process, SECOND};
use crate::report::OpCounts;

/// `ok`s of each kind that must precede the first fault.
const ENOUGH_BEFORE_FAULT: u64 = 20;

/// Counts client operations by kind. Open operations count as `info`.
pub fn count_operations(history: &History) -> BTreeMap<String, OpCounts> {
    let mut counts: BTreeMap<&str, OpCounts> = BTreeMap::new();
    for (invocation, completion) in history.operations() {
        let count = counts.entry(&invocation.f).or_default();
        match completion.map(|event| event.kind) {
            Some(Kind::Ok) => count.ok += 1,
            Some(Kind::Fail) => count.fail += 1,
            _ => count.info += 1,
        }
    }
    counts.into_iter().map(|(f, count)| (f.to_owned(), count)).collect()
}

/// Judges whether the workload worked enough.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Kinds that the workload performs all along; where unknown, those seen in the history.
    pub kinds: Vec<Name>,
    /// Client threads of the run; where unknown they are not counted.
    pub crew: Crew,
    /// Replaces the standard rule: so many `ok`s of each kind over the whole run.
    pub min_ok: Option<u64>,
    /// Changes of the topology without which the run shows nothing.
    pub changes: WantedChanges,
    /// Operators have asked for a first change after this long at the latest; 0 where there are none.
    pub first_change: Nanos,
}

impl Checker for Stats {
    fn name(&self) -> &'static str {
        "stats"
    }

    fn shows(&self) -> Shows {
        Shows::AtTheEnd
    }

    fn finish(&mut self, history: &History, _budget: &Budget) -> Finding {
        let counts = count_operations(history);
        let phases = Phases::of(history);
        let mut lacks = changes::lacks(self.changes, history, self.too_short(history, &phases));
        match self.min_ok {
            Some(least) => lacks.extend(self.few(history.events(), &counts, least, "in all")),
            // A history of another tool marks no phases, and its faults are not ours to judge.
            None if phases.is_foreign() && self.crew.data == 0 => {}
            None => {
                let end = phases.first_fault.map_or(history.len(), |mark| mark.position);
                let events = &history.events()[..end];
                let when = "before the first fault";
                lacks.extend(self.few(events, &counts, ENOUGH_BEFORE_FAULT, when));
                lacks.extend(self.idle_in_recover(history, &phases));
            }
        }
        finding(self.name(), &counts, &lacks)
    }
}

impl Stats {
    /// Why nobody could ask for a change, if the main phase left no time for that.
    fn too_short(&self, history: &History, phases: &Phases) -> Option<String> {
        let main = phases.start(Phase::Main)?.time;
        let last = || history.events().last().map(|event| event.time);
        let end = phases.start(Phase::Heal).map(|mark| mark.time).or_else(last)?;
        let lasted = end.saturating_sub(main);
        (lasted < self.first_change).then(|| {
            let seconds = |time: Nanos| time as f64 / SECOND as f64;
            format!(
                "none was asked for: the main phase took {:.3} s, and operators first ask within {:.3} s; \
                 raise `time`",
                seconds(lasted),
                seconds(self.first_change)
            )
        })
    }

    /// Kinds with fewer `ok`s than `least` among these events.
    fn few(
        &self,
        events: &[Event],
        counts: &BTreeMap<String, OpCounts>,
        least: u64,
        when: &str,
    ) -> Vec<String> {
        let mut ok: BTreeMap<&str, u64> = BTreeMap::new();
        ok.extend(self.kinds.iter().map(|kind| (&**kind, 0)));
        if self.kinds.is_empty() {
            ok.extend(counts.keys().map(|kind| (kind.as_str(), 0)));
        }
        for event in events.iter().filter(|event| is_client_ok(event)) {
            if let Some(count) = ok.get_mut(&*event.f) {
                *count += 1;
            }
        }
        ok.into_iter()
            .filter(|(_, count)| *count < least)
            .map(|(kind, count)| format!("{count} of {least} {kind} operations were ok {when}"))
            .collect()
    }

    /// Client threads without an `ok` from recover on, of those of which one is awaited.
    fn idle_in_recover(&self, history: &History, phases: &Phases) -> Option<String> {
        let Some(recover) = phases.start(Phase::Recover) else {
            return Some("the run never reached recover".to_owned());
        };
        let mut idle: BTreeSet<usize> = self.crew.awaited().collect();
        let all = idle.len();
        for event in history.events()[recover.position..].iter().filter(|e| is_client_ok(e)) {
            if let Process::Client(process) = event.process
                && let Some(thread) = self.crew.thread_of(process)
            {
                idle.remove(&thread);
            }
        }
        let first = idle.first()?;
        let count = idle.len();
        Some(format!("{count} of {all} clients (first: thread {first}) got no ok after the heal"))
    }
}

fn is_client_ok(event: &Event) -> bool {
    event.kind == Kind::Ok && matches!(event.process, Process::Client(_))
}

fn finding(name: &str, counts: &BTreeMap<String, OpCounts>, lacks: &[String]) -> Finding {
    let total = |pick: fn(&OpCounts) -> u64| counts.values().map(pick).sum::<u64>();
    let (ok, fail, info) = (total(|c| c.ok), total(|c| c.fail), total(|c| c.info));
    let summary = format!("{} operations: {ok} ok, {fail} fail, {info} info", ok + fail + info);
    let (verdict, why) = match lacks.is_empty() {
        true => (Verdict::Valid, summary),
        false => (Verdict::Unknown, format!("too little work: {}; {summary}", lacks.join("; "))),
    };
    let figures = [("ok", ok), ("fail", fail), ("info", info)]
        .map(|(figure, count)| (figure.to_owned(), count as f64))
        .into();
    Finding {
        name: name.to_owned(),
        verdict,
        why,
        anomalies: Vec::new(),
        figures,
        consistency: None,
        keys: None,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::checker::text::{history, merge, record};
    use crate::cluster::FaultId;
    use crate::nemesis::FaultRecord;

    /// `before` reads and writes that are ok, a fault at 100 s, recover at 200 s, one ok per
    /// client.
    fn run(before: usize, recovered: &[u32]) -> History {
        let mut text = String::new();
        for n in 0..before {
            let process = n % 2;
            text +=
                &format!("{n} {process}@n1 invoke write {n}\n{n}.1 {process}@n1 ok write {n}\n");
            text +=
                &format!("{n}.2 {process}@n1 invoke read nil\n{n}.3 {process}@n1 ok read {n}\n");
        }
        text += "150 0@n1 invoke write 7\n151 0@n1 info write 7\n";
        text += "152 1@n1 invoke write 8\n153 1@n1 fail write 8\n154 9@n1 invoke read nil\n";
        for process in recovered {
            text += &format!("201 {process}@n1 invoke read nil\n202 {process}@n1 ok read 1\n");
        }
        let mark = |seconds, phase| record(seconds, "phase", &FaultRecord::Phase { phase });
        let begin =
            FaultRecord::Begin { fault: FaultId(1), targets: Vec::new(), actions: Vec::new() };
        let marks = vec![
            mark(0.0, Phase::Main),
            record(100.0, "kill", &begin),
            mark(190.0, Phase::Heal),
            mark(200.0, Phase::Recover),
        ];
        merge(&history(&text), marks)
    }

    fn check(mut stats: Stats, history: &History, expected: Expect) {
        let finding = stats.finish(history, &Budget::UNBOUNDED);
        expected.assert_eq(&format!("{}: {}", finding.verdict.name(), finding.why));
    }

    fn two_clients() -> Stats {
        Stats { crew: Crew::new(Vec::new(), 2), ..Stats::default() }
    }

    #[test]
    fn enough_before_the_fault_and_in_recover_is_valid() {
        // Process 2 is thread 0, replaced after its info.
        check(
            two_clients(),
            &run(20, &[2, 1]),
            expect!["valid: 45 operations: 42 ok, 1 fail, 2 info"],
        );
    }

    #[test]
    fn too_few_before_the_fault_is_unknown() {
        check(
            two_clients(),
            &run(19, &[2, 1]),
            expect![
                "unknown: too little work: 19 of 20 read operations were ok before the first fault; 19 of 20 write operations were ok before the first fault; 43 operations: 40 ok, 1 fail, 2 info"
            ],
        );
    }

    #[test]
    fn a_client_without_ok_after_the_heal_is_unknown() {
        check(
            two_clients(),
            &run(20, &[1]),
            expect![
                "unknown: too little work: 1 of 2 clients (first: thread 0) got no ok after the heal; 44 operations: 41 ok, 1 fail, 2 info"
            ],
        );
    }

    #[test]
    fn a_kind_that_never_came_is_missed() {
        let stats = Stats { kinds: vec!["cas".into()], ..two_clients() };
        check(
            stats,
            &run(20, &[2, 1]),
            expect![
                "unknown: too little work: 0 of 20 cas operations were ok before the first fault; 45 operations: 42 ok, 1 fail, 2 info"
            ],
        );
    }

    #[test]
    fn min_ok_replaces_the_rule() {
        let stats = |least| Stats { min_ok: Some(least), ..two_clients() };
        assert_eq!(stats(3).finish(&run(3, &[]), &Budget::UNBOUNDED).verdict, Verdict::Valid);
        assert_eq!(stats(4).finish(&run(3, &[]), &Budget::UNBOUNDED).verdict, Verdict::Unknown);
    }

    #[test]
    fn a_run_that_stopped_before_recover_is_unknown_and_a_foreign_history_is_only_counted() {
        let full = run(20, &[]);
        let cut = History::new(full.events()[..60].to_vec());
        let finding = two_clients().finish(&cut, &Budget::UNBOUNDED);
        assert!(finding.why.contains("the run never reached recover"), "{}", finding.why);
        let foreign = history("0 0 invoke read nil\n1 0 ok read nil");
        check(Stats::default(), &foreign, expect!["valid: 1 operations: 1 ok, 0 fail, 0 info"]);
        let nothing = two_clients().finish(&History::default(), &Budget::UNBOUNDED);
        assert_eq!(nothing.verdict, Verdict::Unknown, "a run killed before it wrote anything");
    }

    #[test]
    fn a_time_too_short_for_the_first_change_is_told_as_that() {
        let wanted = WantedChanges::Each { migration: false, failover: true };
        let told = |first_change, heal: Nanos| {
            let marks = format!("0 nemesis phase main\n{} nemesis phase heal", heal / SECOND);
            let mut stats = Stats { changes: wanted, first_change, ..Stats::default() };
            stats.finish(&history(&marks), &Budget::UNBOUNDED).why
        };
        let short =
            "the main phase took 1.000 s, and operators first ask within 3.000 s; raise `time`";
        assert!(told(3 * SECOND, SECOND).contains(short), "{}", told(3 * SECOND, SECOND));
        for (first_change, heal) in [(3 * SECOND, 4 * SECOND), (0, SECOND)] {
            let why = told(first_change, heal);
            assert!(why.contains("none was asked for, which needs operators"), "{why}");
        }
    }
}
