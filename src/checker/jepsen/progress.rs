//! Progress after the last fault: every process that asks for something gets an `ok` within a time.
//!
//! The clock starts with the last change by the nemesis, or with the process's first operation after
//! it, and stops with the process's first `ok`. A process that ends (by `info`) within the time is not
//! judged. With `--consistency progress-within:5000` no process may wait longer than 5000 ms;
//! without, the figures are told. Nothing is final before the end: another fault may come.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::streaming::Moment;
use super::tally::{Tally, Told, at};
use crate::checker::moment::seconds;
use crate::checker::{Anomaly, Budget, Checker, Finding, ModelOptions};
use crate::history::{Datum, History};
use crate::nemesis::{FaultRecord, Phase};
use crate::op::{Event, Kind, MILLISECOND, Nanos, Process};

/// The consistency model's name, up to its bound in milliseconds.
const WITHIN: &str = "progress-within:";

/// A process since the last fault.
#[derive(Clone, Copy)]
struct Waiting {
    since: Moment,
    /// Its first `ok`, or the `info` by which it ended.
    until: Option<(Moment, Kind)>,
}

pub(super) struct Progress {
    bound: Nanos,
    /// The last event of the nemesis.
    healed: Option<Moment>,
    waiting: IndexMap<u32, Waiting, FxBuildHasher>,
    /// Of each process, whether an operation of it is open.
    open: IndexMap<u32, u64, FxBuildHasher>,
    last: Nanos,
    tally: Tally,
}

pub(super) fn checkers(options: &ModelOptions) -> Result<Vec<Box<dyn Checker>>, String> {
    let mut bounds =
        options.consistency_models.iter().filter_map(|model| model.strip_prefix(WITHIN));
    let bound = match bounds.next_back() {
        None => Nanos::MAX,
        Some(text) => {
            let milliseconds: Nanos = text.parse().map_err(|_| {
                format!("consistency: expected {WITHIN}MILLISECONDS, found `{WITHIN}{text}`")
            })?;
            milliseconds.saturating_mul(MILLISECOND)
        }
    };
    Ok(vec![Box::new(Progress {
        bound,
        healed: None,
        waiting: IndexMap::default(),
        open: IndexMap::default(),
        last: 0,
        tally: Tally::new(&options.anomalies),
    })])
}

/// Of our own records, looking on is no change, nor a phase but that of healing.
fn changes_something(event: &Event) -> bool {
    match FaultRecord::of(event) {
        Some(FaultRecord::View { .. }) => false,
        Some(FaultRecord::Phase { phase }) => phase == Phase::Heal,
        _ => true,
    }
}

impl Progress {
    /// A fault came or went: whoever waits, waits from now on.
    fn reset(&mut self, event: &Event) {
        let Event { index, time, .. } = *event;
        self.healed = Some(Moment { index, operation: index, time, process: 0 });
        self.waiting.clear();
        for (process, operation) in &self.open {
            let since = Moment { index, operation: *operation, time, process: *process };
            self.waiting.insert(*process, Waiting { since, until: None });
        }
    }

    fn take(&mut self, process: u32, event: &Event) {
        let Event { index, time, kind, .. } = *event;
        if kind == Kind::Invoke {
            self.open.insert(process, index);
            let since = Moment { index, operation: index, time, process };
            self.waiting.entry(process).or_insert(Waiting { since, until: None });
            return;
        }
        let operation = self.open.swap_remove(&process).unwrap_or(index);
        let now = Moment { index, operation, time, process };
        let waiting = self.waiting.entry(process).or_insert(Waiting { since: now, until: None });
        if waiting.until.is_none() && kind != Kind::Fail {
            waiting.until = Some((now, kind));
        }
    }

    fn judge(&mut self) {
        for (process, Waiting { since, until }) in &self.waiting {
            let answered = until.filter(|(_, kind)| *kind == Kind::Ok).map(|(moment, _)| moment);
            let end = until.map_or(self.last, |(moment, _)| moment.time);
            let waited = end.saturating_sub(since.time);
            if answered.is_some() {
                self.tally.sample("first-ok", waited);
            }
            self.tally.count(if answered.is_some() { "answered" } else { "unanswered" }, 1);
            if waited <= self.bound {
                continue;
            }
            let outcome = match answered {
                Some(ok) => format!("got its first ok at {}", at(ok)),
                None => format!("got no ok until {}", seconds(end)),
            };
            let (begun, waited) = (at(*since), seconds(waited));
            self.tally.report("no-progress", || Told {
                summary: format!("process {process}, waiting since {begun}, {outcome}: {waited}"),
                proof: [Some(*since), answered].into_iter().flatten().collect(),
                ..Told::default()
            });
        }
    }
}

impl Checker for Progress {
    fn name(&self) -> &'static str {
        "progress"
    }

    fn streams(&self) -> bool {
        true
    }

    fn observe(&mut self, event: &Event) -> Option<Anomaly> {
        self.last = self.last.max(event.time);
        match event.process {
            Process::Nemesis if changes_something(event) => self.reset(event),
            Process::Nemesis => {}
            Process::Client(process) => self.take(process, event),
        }
        None
    }

    fn observe_raw(&mut self, head: &Event, value: Datum) -> Option<Anomaly> {
        match head.process {
            Process::Client(_) => self.observe(head),
            Process::Nemesis => self.observe(&Event { value: value.to_value(), ..head.clone() }),
        }
    }

    fn finish(&mut self, _history: &History, _budget: &Budget) -> Finding {
        self.judge();
        if self.last == 0 {
            self.tally.open(|| "the history tells no times".to_owned());
        }
        if let Some(healed) = self.healed {
            let words = || format!("counted from the nemesis's last event at {}", at(healed));
            self.tally.note(0, words);
        }
        self.tally.finding("progress")
    }
}
