//! Adds and reads of a whole set, element by element. As Jepsen's `set-full`.
//!
//! An element is known from the moment its add was acknowledged or a read that has it completed,
//! whichever is earlier. It is *lost* if the last read to begin that saw it began before the last to
//! begin that did not, and that one began after it was known; *stable* if every read from some
//! moment on has it; *never read* otherwise. A stable element is *stale* if reads missed it that
//! began after it was known.
//!
//! Jepsen goes through every element at every read. Here a read costs as much as it is long: what it
//! lacks is looked up when an element is next seen, or at the end, in [`Misses`]. If no read may miss what
//! is known, how many elements it must have is enough to tell when it completes.

mod misses;
mod verdict;

use rustc_hash::FxHashMap;

use super::elements::Elements;
use super::promise;
use super::streaming::{self, Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::checker::{Checker, ModelOptions, Shows};
use crate::op::Kind;
use misses::Misses;

/// The life of one element.
#[derive(Clone, Copy, Default)]
struct Life {
    /// Whether an add of it has begun: reads before that say nothing.
    added: bool,
    /// The number of reads when it was last seen, or when its first add began.
    reads: u32,
    known: Option<Moment>,
    /// Of the reads that have it, the last to begin.
    present: Option<Moment>,
    /// Of the reads that lack it, the last to begin, among those up to `reads`.
    absent: Option<Moment>,
}

#[derive(Clone, Default)]
pub(super) struct SetFull {
    linearizable: bool,
    elements: Elements,
    lives: Vec<Life>,
    misses: Misses,
    /// How many added elements are known, and how many were when each open read began.
    known: u32,
    reading: FxHashMap<u32, u32>,
    is_warned: bool,
}

pub(super) fn checkers(options: &ModelOptions) -> Result<Vec<Box<dyn Checker>>, String> {
    let linearizable = promise::linearizable(options)?;
    streaming::with(SetFull { linearizable, ..SetFull::default() }, options)
}

/// The later to begin of two reads.
fn later(one: Option<Moment>, other: Option<Moment>) -> Option<Moment> {
    one.into_iter().chain(other).max_by_key(|read| read.index)
}

impl SetFull {
    fn of(&mut self, number: u32) -> &mut Life {
        let position = number as usize;
        if self.lives.len() <= position {
            self.lives.resize(position + 1, Life::default());
        }
        &mut self.lives[position]
    }

    fn add(&mut self, step: &Step) {
        let number = self.elements.number(step.value);
        let reads = self.misses.reads();
        let life = self.of(number);
        if !life.added {
            *life = Life { added: true, reads, ..Life::default() };
        }
        if step.kind() == Kind::Ok && life.known.is_none() {
            life.known = Some(step.now());
            self.known += 1;
        }
    }

    fn read(&mut self, step: &Step, tally: &mut Tally) {
        let Some(items) = step.value.items() else {
            tally.broken(|| format!("event {}: a read that is no list", step.event.index));
            return;
        };
        let (before, begun) = (self.misses.reads(), step.begun());
        let mut owed = 0;
        for item in items {
            let number = self.elements.number(item);
            owed += u32::from(
                self.lives.get(number as usize).is_some_and(|l| l.is_owed(before, begun)),
            );
            self.see(number, before, step, tally);
        }
        let expected = self.reading.remove(&step.process).unwrap_or(0);
        if owed < expected && !self.is_warned {
            self.warn(before, begun, tally);
        }
        self.misses.complete(begun);
    }

    /// Tells of one element that this read lacks though it was known before: it is stale, if not lost.
    fn warn(&mut self, before: u32, begun: Moment, tally: &mut Tally) {
        let missing = self.lives.iter().position(|life| life.is_owed(before, begun));
        if let (Some(number), true) = (missing, self.linearizable) {
            self.is_warned = true;
            let life = Life { absent: Some(begun), ..self.lives[number] };
            tally.warn(["stale", "lost"], || verdict::missed(self, number as u32, &life));
        }
    }

    /// The read that comes after so many has this element.
    fn see(&mut self, number: u32, before: u32, step: &Step, tally: &mut Tally) {
        let life = *self.of(number);
        if life.reads > before {
            let name = self.elements.name(number);
            tally.report("duplicated", || duplicated(name, step));
            return;
        }
        let missed = self.misses.since(life.reads);
        self.known += u32::from(life.added && life.known.is_none());
        let life = self.of(number);
        life.absent = later(life.absent, missed);
        life.reads = before + 1;
        life.known.get_or_insert(step.now());
        life.present = later(life.present, Some(step.begun()));
    }
}

impl Life {
    /// Whether a read that began then, after so many, must have it, and has not shown it yet.
    fn is_owed(&self, before: u32, begun: Moment) -> bool {
        let is_known = self.known.is_some_and(|known| known.index < begun.index);
        self.added && is_known && self.reads <= before
    }
}

fn duplicated(name: &impl std::fmt::Display, step: &Step) -> Told {
    let read = step.now();
    Told {
        summary: format!("process {} read {name} twice in one read at {}", read.process, at(read)),
        proof: vec![read],
        ..Told::default()
    }
}

impl Workload for SetFull {
    const NAME: &'static str = "set-full";
    const OPS: &'static [&'static str] = &["add", "read"];

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        match (step.kind(), step.f) {
            (_, "add") => self.add(step),
            (Kind::Invoke, _) => drop(self.reading.insert(step.process, self.known)),
            (Kind::Ok, "read") => self.read(step, tally),
            _ => {}
        }
    }

    fn shows(&self) -> Shows {
        if self.linearizable { Shows::AtOnce } else { Shows::AtTheEnd }
    }

    fn finish(&mut self, tally: &mut Tally) {
        verdict::judge(self, tally);
    }

    fn bytes(&self) -> usize {
        let reading = self.reading.capacity() * 9;
        self.elements.bytes() + self.lives.capacity() * size_of::<Life>() + reading
    }
}
