//! Progress: while no fault is in force, every process that asks for something gets an answer in time.
//!
//! A process waits from its first invocation since its last answer, or from the last change by the nemesis
//! if that is later, until it is answered; who asks for nothing as long as the bound has given up. One that
//! ends by `info` leaves its wait to the clients of its node, until one of these is answered. With `--consistency progress-within:5000` no wait may be longer
//! than 5000 ms; without, the figures of the first answers after the last change are told.
//!
//! Our own records tell when faults are in force: then no wait counts, and a wait that is too long is told
//! as soon as time shows it. Of other nemeses nobody knows which of their events heal: so only what comes
//! after the last one counts, and is told at the end. Memory: the processes at work.

mod calm;
mod waits;

use super::promise;
use super::streaming::{self, Moment};
use super::tally::{Tally, Told, at};
use crate::checker::availability::is_answer;
use crate::checker::moment::seconds;
use crate::checker::{Anomaly, Budget, Checker, Finding, ModelOptions, Shows};
use crate::history::{Datum, History};
use crate::op::{Event, Kind, Nanos, Process};
use calm::{Calm, Change};
use waits::{Overdue, Waits, Who};

/// The consistency model's name, up to its bound in milliseconds.
const WITHIN: &str = "progress-within:";

/// Waits that are remembered until it is known whether they count.
const HELD: usize = 20;

pub(super) struct Progress {
    bound: Nanos,
    calm: Calm,
    /// The last event of the nemesis.
    healed: Option<Moment>,
    waits: Waits,
    /// Waits that were too long, if nothing changes any more; and how many more there were.
    held: Vec<Overdue>,
    more: u64,
    last: Nanos,
    tally: Tally,
}

pub(super) fn checkers(options: &ModelOptions) -> Result<Vec<Box<dyn Checker>>, String> {
    streaming::known_anomalies(options)?;
    Ok(vec![Box::new(Progress::new(promise::bound(options, WITHIN)?, &options.anomalies))])
}

impl Progress {
    pub(super) fn new(bound: Nanos, anomalies: &[String]) -> Progress {
        Progress {
            bound,
            calm: Calm::default(),
            healed: None,
            waits: Waits::new(bound),
            held: Vec::new(),
            more: 0,
            last: 0,
            tally: Tally::new(anomalies),
        }
    }

    /// A fault came or went: whoever waits, waits from now on.
    fn reset(&mut self, event: &Event) {
        let Event { index, time, .. } = *event;
        let now = Moment { index, operation: index, time, process: 0 };
        self.healed = Some(now);
        self.held.clear();
        self.more = 0;
        self.waits.reset(now);
    }

    /// Time goes on to this moment, and nothing was answered meanwhile.
    fn pass(&mut self, time: Nanos) {
        self.last = self.last.max(time);
        if self.calm.is_disturbed() {
            return;
        }
        for overdue in self.waits.overdue(self.last) {
            if self.calm.is_certain() {
                self.report(&overdue);
            } else if self.held.len() < HELD {
                self.held.push(overdue);
            } else {
                self.more += 1;
            }
        }
    }

    fn report(&mut self, overdue: &Overdue) {
        let Overdue { who, since, seen } = *overdue;
        let (bound, limit) = (self.bound, seconds(self.bound));
        self.tally.report("no-progress", || Told {
            summary: format!(
                "{who}, waiting since {}, had no answer by {}: more than {limit}",
                at(since),
                seconds(seen.min(since.time.saturating_add(bound)))
            ),
            details: match who {
                Who::Process(_) => Vec::new(),
                Who::Clients(_) => vec!["their processes ended one after the other".to_owned()],
            },
            proof: vec![since],
        });
    }

    fn take(&mut self, process: u32, event: &Event) {
        let Event { index, time, kind, node, .. } = *event;
        let now = Moment { index, operation: index, time, process };
        match kind {
            Kind::Invoke => self.waits.ask(now, node),
            Kind::Info => self.waits.end(now),
            Kind::Ok | Kind::Fail if is_answer(event) => self.waits.answer(now),
            Kind::Ok | Kind::Fail => drop(self.waits.complete(now)),
        }
    }

    fn told(&mut self) {
        for overdue in std::mem::take(&mut self.held) {
            self.report(&overdue);
        }
        if self.more > 0 {
            self.tally.count("further-long-waits", self.more);
        }
        for waited in self.waits.first_answers() {
            self.tally.sample("first-ok", *waited);
        }
        self.tally.count("answered", self.waits.answered());
        self.tally.count("unanswered", self.waits.unanswered());
    }
}

#[cfg(test)]
impl Progress {
    /// How many processes and nodes are remembered.
    pub(super) fn held(&self) -> usize {
        self.waits.held()
    }
}

impl Checker for Progress {
    fn name(&self) -> &'static str {
        "progress"
    }

    fn streams(&self) -> bool {
        true
    }

    fn shows(&self) -> Shows {
        Shows::AtOnce
    }

    fn observe(&mut self, event: &Event) -> Option<Anomaly> {
        self.pass(event.time);
        match event.process {
            Process::Nemesis => {
                if self.calm.take(event) == Change::Something {
                    self.reset(event);
                }
            }
            Process::Client(process) => self.take(process, event),
        }
        self.tally.take_new()
    }

    fn observe_raw(&mut self, head: &Event, value: Datum) -> Option<Anomaly> {
        match head.process {
            Process::Client(_) => self.observe(head),
            Process::Nemesis => self.observe(&Event { value: value.to_value(), ..head.clone() }),
        }
    }

    fn finish(&mut self, _history: &History, _budget: &Budget) -> Finding {
        self.told();
        if self.last == 0 {
            self.tally.open(|| "the history tells no times".to_owned());
        } else if self.bound < Nanos::MAX && self.calm.is_disturbed() {
            self.tally.open(|| "the history ends with a fault in force".to_owned());
        }
        if let Some(healed) = self.healed {
            let words = || format!("counted from the nemesis's last event at {}", at(healed));
            self.tally.note(0, words);
        }
        self.tally.finding("progress")
    }
}
