//! How old, at least, a value was that a read of a register returned, where each value is written once.
//!
//! A value is known from the moment its write was acknowledged or it was read; a write that began after
//! that replaces it, at the latest when that write is known itself. What a read returns is as stale as
//! the time from then to the read's beginning. With `--consistency bounded-staleness:500` no read may
//! be more than 500 ms stale; without, the figures are told. O(operations).

use std::collections::VecDeque;

use super::elements::Elements;
use super::promise;
use super::streaming::{self, Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::checker::moment::milliseconds;
use crate::checker::{Checker, ModelOptions};
use crate::op::{Kind, Nanos};

/// The consistency model's name, up to its bound in milliseconds.
const BOUNDED: &str = "bounded-staleness:";

/// A value and its write.
#[derive(Clone, Copy, Default)]
struct Life {
    begun: Option<Moment>,
    known: Option<Moment>,
    /// When it had surely been replaced, and by which value.
    replaced: Option<(Moment, u32)>,
}

#[derive(Clone)]
pub(super) struct Staleness {
    bound: Nanos,
    values: Elements,
    lives: Vec<Life>,
    /// Values that are known and not replaced, in the order in which they came to be known.
    current: VecDeque<u32>,
}

pub(super) fn checkers(options: &ModelOptions) -> Result<Vec<Box<dyn Checker>>, String> {
    let bound = promise::bound(options, BOUNDED)?;
    streaming::with(Staleness::new(bound), options)
}

impl Staleness {
    /// At first the register holds nil, and everybody knows.
    fn new(bound: Nanos) -> Staleness {
        let mut values = Elements::default();
        let nil = values.number(crate::history::Datum::NIL);
        let lives = vec![Life::default()];
        Staleness { bound, values, lives, current: VecDeque::from([nil]) }
    }

    fn of(&mut self, step: &Step) -> u32 {
        let number = self.values.number(step.value);
        if self.lives.len() <= number as usize {
            self.lives.resize(number as usize + 1, Life::default());
        }
        number
    }

    fn begin(&mut self, step: &Step, tally: &mut Tally) {
        let number = self.of(step);
        let life = &mut self.lives[number as usize];
        if life.begun.is_some() || life.known.is_some() || number == 0 {
            let (index, name) = (step.event.index, self.values.name(number));
            tally.broken(|| format!("event {index}: a write of {name}, which was there before"));
            return;
        }
        life.begun = Some(step.now());
    }

    /// The value is there by now: what was known before its write began is replaced.
    fn know(&mut self, number: u32, now: Moment) {
        let life = &mut self.lives[number as usize];
        let (None, Some(begun)) = (life.known, life.begun) else { return };
        life.known = Some(now);
        while let Some(oldest) = self.current.front().copied() {
            let old = &mut self.lives[oldest as usize];
            if old.known.is_some_and(|known| known.index > begun.index) {
                break;
            }
            old.replaced = Some((now, number));
            self.current.pop_front();
        }
        self.current.push_back(number);
    }

    fn read(&mut self, step: &Step, tally: &mut Tally) {
        tally.count("reads", 1);
        let number = self.of(step);
        let life = self.lives[number as usize];
        if life.begun.is_none() && number != 0 {
            let name = self.values.name(number);
            tally.open(|| {
                format!("{name} was read at {}, and nobody had begun to write it", at(step.now()))
            });
            return;
        }
        self.know(number, step.now());
        let begun = step.begun();
        let Some((replaced, by)) = life.replaced.filter(|(known, _)| known.index < begun.index)
        else {
            return tally.sample("staleness", 0);
        };
        let stale = begun.time.saturating_sub(replaced.time);
        tally.sample("staleness", stale);
        tally.count("stale-reads", 1);
        if stale > self.bound {
            tally.report("too-stale", || self.told(step, number, (replaced, by), stale));
        }
        tally.note(stale, || self.told(step, number, (replaced, by), stale).summary);
    }

    fn told(&self, step: &Step, number: u32, replaced: (Moment, u32), stale: Nanos) -> Told {
        let ((known, by), begun, now) = (replaced, step.begun(), step.now());
        Told {
            summary: format!(
                "process {} read {} by a read begun at {}, at least {} after it had been replaced by {} \
                 (known to process {} at {})",
                now.process,
                self.values.name(number),
                at(begun),
                milliseconds(stale),
                self.values.name(by),
                known.process,
                at(known)
            ),
            proof: vec![known, now],
            ..Told::default()
        }
    }
}

impl Workload for Staleness {
    const NAME: &'static str = "staleness";
    const OPS: &'static [&'static str] = &["read", "write"];

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        match (step.kind(), step.f) {
            (Kind::Invoke, "write") => self.begin(step, tally),
            (Kind::Ok, "write") => {
                tally.count("writes", 1);
                let number = self.of(step);
                self.know(number, step.now());
            }
            (Kind::Ok, _) => self.read(step, tally),
            _ => {}
        }
    }

    fn finish(&mut self, _tally: &mut Tally) {}

    fn bytes(&self) -> usize {
        self.values.bytes()
            + self.lives.capacity() * size_of::<Life>()
            + self.current.capacity() * 4
    }
}
