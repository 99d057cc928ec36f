//! One pass over a history's events.

use super::Judged;
use super::lines::Indices;
use super::reading::{Again, Reading};
use super::since::Since;
use crate::checker::{Budget, Budgets, Checker, Finding, Intake, Owners};
use crate::conclude::Limits;
use crate::history::{Datum, History};
use crate::op::{Event, Kind, Nanos, Process};
use crate::report::name_faults;

/// Events of the nemesis that are looked at; a run has far fewer.
const NEMESIS: usize = 100_000;

/// What is known while the events go by.
pub struct Pass<'a> {
    intake: Intake<'a>,
    /// All events, if they are to be kept.
    history: Option<History>,
    reading: Reading,
    /// Where events do not say whose they are.
    owners: Option<Owners>,
    indices: Indices,
    since: Since,
    nemesis: Vec<Event>,
    events: u64,
    asked: u64,
    answered: bool,
    end: Nanos,
}

impl<'a> Pass<'a> {
    pub fn new(
        checkers: &'a mut [Box<dyn Checker>],
        keep: bool,
        reading: Reading,
        has_processes: bool,
    ) -> Pass<'a> {
        let intake = Intake::new(checkers);
        let keep = keep || intake.needs_history();
        Pass {
            intake,
            history: keep.then(History::default),
            reading,
            owners: (!has_processes && reading != Reading::CompletionsAlone).then(Owners::default),
            indices: Indices::default(),
            since: Since::default(),
            nemesis: Vec::new(),
            events: 0,
            asked: 0,
            answered: false,
            end: 0,
        }
    }

    pub fn take(&mut self, head: &Event, value: Datum) {
        self.events += 1;
        let line = self.events;
        self.indices.observe(head.index, line);
        let Some(read) = self.reading.of(head, line) else { return };
        let head = &*self.since.of(read);
        self.end = self.end.max(head.time);
        if matches!(head.process, Process::Client(_)) {
            self.asked += 1;
            self.answered |= head.kind == Kind::Ok;
        } else if self.nemesis.len() < NEMESIS {
            self.nemesis.push(Event { value: value.to_value(), ..head.clone() });
        }
        let owners = self.owners.as_mut().filter(|_| head.process != Process::Nemesis);
        match owners.map(|owners| owners.of(head, value)) {
            Some(Err(why)) => self.intake.refuse(head, why),
            Some(Ok(process)) => {
                let process = Process::Client(process);
                self.hand_on(&Event { process, ..head.clone() }, value);
            }
            None => self.hand_on(head, value),
        }
    }

    fn hand_on(&mut self, head: &Event, value: Datum) {
        match &mut self.history {
            Some(history) => {
                let event = Event { value: value.to_value(), ..head.clone() };
                self.intake.observe(&event);
                history.push(event);
            }
            None => self.intake.observe_raw(head, value),
        }
    }

    /// What came of it, and why it is to be read otherwise.
    pub fn end(
        self,
        limits: &Limits,
        remark: impl Fn(&[Finding], bool) -> Option<String>,
    ) -> (Judged, Again) {
        let matched = self.owners.as_ref().is_some_and(Owners::matched);
        let completions_tell = self.intake.is_told_by_completions();
        let history = self.history.unwrap_or_default();
        let start = || limits.start();
        let budgets =
            Budgets { start: &start, memory: limits.memory_bytes, explained: Budget::EXPLAINED };
        let mut findings = self.intake.finish(&history, &budgets).findings;
        name_faults(&mut findings, &self.nemesis, self.end);
        let remarks: Vec<String> =
            self.since.remark().into_iter().chain(remark(&findings, matched)).collect();
        let judged = Judged {
            remark: (!remarks.is_empty()).then(|| remarks.join("; ")),
            findings,
            models: Vec::new(),
            history,
            damage: None,
            events: self.events,
            asked: self.asked,
            answered: self.answered,
        };
        (judged, Again { astray: self.indices.astray, completions_tell })
    }
}
