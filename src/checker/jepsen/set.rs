//! Adds, then reads: the last read must have what was added, and nothing else. As Jepsen's `set`.
//!
//! Unlike there, an element whose add completed only after the last read had begun, and which is
//! not in it, is not lost but unread: the read may have come first.

use super::elements::Elements;
use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::checker::Shows;
use crate::op::Kind;

#[derive(Clone, Copy, Default)]
struct Added {
    attempted: bool,
    /// When an add of it was acknowledged first, and by whom.
    acknowledged: Option<Moment>,
    /// The latest read that has it, counted from 1.
    read: u32,
}

#[derive(Clone, Default)]
pub(super) struct Set {
    elements: Elements,
    added: Vec<Added>,
    reads: u32,
    /// When the last read began.
    last_read: Option<Moment>,
}

impl Set {
    fn of(&mut self, number: u32) -> &mut Added {
        let position = number as usize;
        if self.added.len() <= position {
            self.added.resize(position + 1, Added::default());
        }
        &mut self.added[position]
    }

    fn read(&mut self, step: &Step, tally: &mut Tally) {
        let Some(items) = step.value.items() else {
            // A read of nothing is none, as in Jepsen.
            if !step.value.is_nil() {
                tally.broken(|| format!("event {}: a read that is no list", step.event.index));
            }
            self.last_read = None;
            return;
        };
        self.reads += 1;
        self.last_read = Some(step.begun());
        let read = self.reads;
        for item in items {
            let number = self.elements.number(item);
            self.of(number).read = read;
        }
    }

    fn judge(&self, number: u32, last: Moment, tally: &mut Tally) {
        let added = &self.added[number as usize];
        let name = self.elements.name(number);
        match (added.read == self.reads, added.attempted, added.acknowledged) {
            (true, false, _) => tally.report("unexpected", || Told {
                summary: format!(
                    "the last read (process {}, begun at {}) has {name}, which nobody added",
                    last.process,
                    at(last)
                ),
                proof: vec![last],
                ..Told::default()
            }),
            (true, true, None) => tally.count("recovered", 1),
            (false, _, Some(known)) if known.index < last.index => tally.report("lost", || Told {
                summary: format!(
                    "the last read (process {}, begun at {}) lacks {name}, whose add by process {} \
                     was acknowledged at {}",
                    last.process,
                    at(last),
                    known.process,
                    at(known)
                ),
                proof: vec![known, last],
                ..Told::default()
            }),
            (false, _, Some(known)) => tally.open(|| {
                format!(
                    "{name} was added at {}, after the last read began, and is not in it",
                    at(known)
                )
            }),
            _ => {}
        }
    }
}

impl Workload for Set {
    const NAME: &'static str = "set";
    const OPS: &'static [&'static str] = &["add", "read"];
    const PAIRED: bool = false;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        match (step.kind(), step.f) {
            (kind, "add") => {
                let number = self.elements.number(step.value);
                let added = self.of(number);
                added.attempted = true;
                if kind == Kind::Ok {
                    added.acknowledged.get_or_insert(step.now());
                }
            }
            (Kind::Ok, "read") => self.read(step, tally),
            _ => {}
        }
    }

    fn shows(&self) -> Shows {
        Shows::AtTheEnd
    }

    fn finish(&mut self, tally: &mut Tally) {
        let counted = |count: fn(&Added) -> bool| {
            self.added.iter().filter(|added| count(added)).count() as u64
        };
        tally.count("attempts", counted(|added| added.attempted));
        tally.count("acknowledged", counted(|added| added.acknowledged.is_some()));
        tally.count("reads", u64::from(self.reads));
        let Some(last) = self.last_read else {
            tally.open(|| "the set was never read, so nobody knows what it held".to_owned());
            return;
        };
        for number in 0..self.added.len() {
            self.judge(number as u32, last, tally);
        }
    }

    fn bytes(&self) -> usize {
        self.elements.bytes() + self.added.capacity() * size_of::<Added>()
    }
}
