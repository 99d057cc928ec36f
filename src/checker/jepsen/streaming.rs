//! Runs a workload's checker over events: one state for each key, invocations and completions paired.

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::tally::Tally;
use crate::checker::{ANOMALIES, Anomaly, Budget, Checker, Finding, ModelOptions, Shows};
use crate::history::{Datum, History};
use crate::op::{Event, Key, Kind, Nanos, Process};

/// How often the size of all tables is looked at, in events.
const BETWEEN_LOOKS: u64 = 1 << 16;

/// What the tables may take while events come in, when no budget is known yet.
const MOST_BYTES: usize = Budget::UNBOUNDED.memory;

/// Judges the operations on one key.
pub(super) trait Workload: Clone + Send {
    /// The model's name, and the checker's.
    const NAME: &'static str;
    /// Its operations; `ModelOptions::ops` may give others in the same order. None: any.
    const OPS: &'static [&'static str];
    /// Whether it must know which invocation a completion belongs to.
    const PAIRED: bool = true;
    /// Whether it looks at the history as a whole, not at each key by itself.
    const WHOLE: bool = false;
    /// Whether completions without any invocation say enough.
    const TAKES_COMPLETIONS: bool = !Self::PAIRED;

    fn step(&mut self, step: &Step, tally: &mut Tally);

    /// Whether `step` reports all that is ever reported.
    fn shows(&self) -> Shows {
        Shows::AtOnce
    }

    /// What can only be said when nothing more comes.
    fn finish(&mut self, tally: &mut Tally);

    /// About how much it holds.
    fn bytes(&self) -> usize;
}

/// A client's event as a workload looks at it.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub event: &'a Event,
    pub process: u32,
    /// The operation by the workload's own name for it.
    pub f: &'a str,
    pub value: Datum<'a>,
    /// Of a completion whose invocation was seen.
    pub invoked: Option<Moment>,
}

/// When an operation began or completed, and who did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// Of this event.
    pub index: u64,
    /// Of the operation's invocation.
    pub operation: u64,
    pub time: Nanos,
    pub process: u32,
}

impl Step<'_> {
    pub fn kind(&self) -> Kind {
        self.event.kind
    }

    pub fn is(&self, kind: Kind, f: &str) -> bool {
        self.event.kind == kind && self.f == f
    }

    pub fn now(&self) -> Moment {
        let Event { index, time, .. } = *self.event;
        let operation = self.invoked.map_or(index, |invoked| invoked.index);
        Moment { index, operation, time, process: self.process }
    }

    /// When the operation began, as far as is known.
    pub fn begun(&self) -> Moment {
        self.invoked.unwrap_or(self.now())
    }
}

/// A workload's checker.
pub(super) struct Streaming<W> {
    fresh: W,
    objects: IndexMap<Option<Key>, W, FxBuildHasher>,
    open: FxHashMap<u32, Moment>,
    names: Vec<String>,
    tally: Tally,
    events: u64,
    full: bool,
}

/// The checkers of a model that has no options of its own.
pub(super) fn checkers<W: Workload + Default + 'static>(
    options: &ModelOptions,
) -> Result<Vec<Box<dyn Checker>>, String> {
    with(W::default(), options)
}

/// The checkers of a model whose objects all begin as this one.
pub(super) fn with<W: Workload + 'static>(
    fresh: W,
    options: &ModelOptions,
) -> Result<Vec<Box<dyn Checker>>, String> {
    Ok(vec![Box::new(Streaming::new(fresh, options)?)])
}

/// A name that is misspelt would let everything pass.
pub(super) fn known_anomalies(options: &ModelOptions) -> Result<(), String> {
    let is_known = |name: &&String| ANOMALIES.iter().any(|kind| kind.name == **name);
    match options.anomalies.iter().find(|name| !is_known(name)) {
        Some(name) => {
            Err(format!("no anomaly is named `{name}`; `stormglass list anomalies` names them all"))
        }
        None => Ok(()),
    }
}

impl<W: Workload> Streaming<W> {
    pub fn new(fresh: W, options: &ModelOptions) -> Result<Streaming<W>, String> {
        let given = options.ops.len();
        if given != 0 && given != W::OPS.len() {
            let (count, names) = (W::OPS.len(), W::OPS.join(","));
            return Err(format!(
                "ops: expected {count} names, for {names} of {} in this order, found {given}",
                W::NAME
            ));
        }
        known_anomalies(options)?;
        Ok(Streaming {
            fresh,
            objects: IndexMap::default(),
            open: FxHashMap::default(),
            names: options.ops.clone(),
            tally: Tally::new(&options.anomalies),
            events: 0,
            full: false,
        })
    }

    /// The invocation of a completion; an invocation is noted.
    fn pair(&mut self, head: &Event, process: u32) -> Option<Moment> {
        if head.kind != Kind::Invoke {
            let invoked = self.open.remove(&process);
            if W::PAIRED && invoked.is_none() {
                self.tally.broken(|| {
                    format!("event {}: process {process} completes what it never began", head.index)
                });
            }
            return invoked;
        }
        let Event { index, time, .. } = *head;
        let moment = Moment { index, operation: index, time, process };
        let overlapped = self.open.insert(process, moment);
        if let (true, Some(earlier)) = (W::PAIRED, overlapped) {
            self.tally.broken(|| {
                format!(
                    "event {}: process {process} begins while its operation of event {} is open",
                    head.index, earlier.index
                )
            });
        }
        None
    }

    /// About how much is held, the operations in flight included.
    pub fn bytes(&self) -> usize {
        let objects: usize = self.objects.values().map(Workload::bytes).sum();
        objects + self.open.capacity() * size_of::<(u32, Moment)>()
    }

    fn is_full(&mut self) -> bool {
        self.events += 1;
        if self.events.is_multiple_of(BETWEEN_LOOKS) && !self.full {
            self.full = self.bytes() > MOST_BYTES;
            if self.full {
                let events = self.events;
                self.tally.broken(|| {
                    format!("out of memory: only the first {events} events were judged")
                });
            }
        }
        self.full
    }

    fn take_in(&mut self, head: &Event, value: Datum) -> Option<Anomaly> {
        let Process::Client(process) = head.process else { return None };
        if self.is_full() {
            return None;
        }
        let invoked = self.pair(head, process);
        let Some(f) = known::<W>(&self.names, &head.f) else {
            if head.kind == Kind::Ok {
                self.tally.broken(|| stranger::<W>(head, &self.names));
            }
            return None;
        };
        let of = if W::WHOLE { &None } else { &head.key };
        let position = match self.objects.get_index_of(of) {
            Some(position) => position,
            None => self.objects.insert_full(of.clone(), self.fresh.clone()).0,
        };
        let (key, object) = self.objects.get_index_mut(position)?;
        self.tally.look_at(key.as_ref());
        object.step(&Step { event: head, process, f, value, invoked }, &mut self.tally);
        self.tally.take_new()
    }
}

/// The workload's own name of an operation.
fn known<'a, W: Workload>(names: &[String], f: &'a str) -> Option<&'a str> {
    if W::OPS.is_empty() {
        return Some(f);
    }
    let position = match names.is_empty() {
        true => W::OPS.iter().position(|op| *op == f),
        false => names.iter().position(|op| op == f),
    };
    position.map(|position| W::OPS[position])
}

fn stranger<W: Workload>(head: &Event, names: &[String]) -> String {
    let expected = if names.is_empty() { W::OPS.join(", ") } else { names.join(", ") };
    let Event { index, process, f, .. } = head;
    format!("event {index}: process {process} did `{}`; {} knows {expected}", &**f, W::NAME)
}

impl<W: Workload> Checker for Streaming<W> {
    fn name(&self) -> &'static str {
        W::NAME
    }

    fn streams(&self) -> bool {
        true
    }

    fn shows(&self) -> Shows {
        self.fresh.shows()
    }

    fn takes_completions_alone(&self) -> bool {
        W::TAKES_COMPLETIONS
    }

    fn observe(&mut self, event: &Event) -> Option<Anomaly> {
        self.take_in(event, Datum::Value(&event.value))
    }

    fn observe_raw(&mut self, head: &Event, value: Datum) -> Option<Anomaly> {
        self.take_in(head, value)
    }

    fn finish(&mut self, _history: &History, budget: &Budget) -> Finding {
        let keys = self.objects.len();
        for (settled, (key, object)) in self.objects.iter_mut().enumerate() {
            if (budget.exhausted)() {
                self.tally.look_at(None);
                self.tally.open(|| format!("out of time: {settled} of {keys} keys were settled"));
                break;
            }
            self.tally.look_at(key.as_ref());
            object.finish(&mut self.tally);
        }
        self.tally.finding(W::NAME)
    }
}
