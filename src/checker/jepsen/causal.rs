//! One site at a time reads a register and counts it up; each step sees the one before. As Jepsen's
//! `causal`, by values alone: its histories tell positions too, which other readers drop.
//!
//! Steps are `read-init` (0), `write` of 1, 2, ... and `read`. A key is an event's own, or the first
//! of a pair.

use rustc_hash::FxHashMap;

use super::elements::Elements;
use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::history::Datum;
use crate::op::Kind;

#[derive(Clone, Copy, Default)]
struct Register {
    value: i64,
    written: Option<Moment>,
}

#[derive(Clone, Default)]
pub(super) struct Causal {
    keys: Elements,
    registers: FxHashMap<Option<u32>, Register>,
}

impl Causal {
    /// The key's number, where the value is a pair, and what is left of the value.
    fn part<'a>(&mut self, value: Datum<'a>) -> (Option<u32>, Datum<'a>) {
        let pair = value.items().and_then(|mut items| Some((items.next()?, items.next()?)));
        match pair {
            Some((key, value)) => (Some(self.keys.number(key)), value),
            None => (None, value),
        }
    }

    fn judge(&mut self, step: &Step, tally: &mut Tally) {
        let (key, value) = self.part(step.value);
        let name = key.map_or(String::new(), |key| format!("key {}: ", self.keys.name(key)));
        let register = self.registers.entry(key).or_default();
        let (found, expected) = (value.as_i64(), register.value);
        if found.is_none() && (!value.is_nil() || step.f == "write") {
            let (index, text) = (step.event.index, value.to_text());
            tally.broken(|| format!("event {index}: {name}{text:.40}, expected a number"));
            return;
        }
        let Some(found) = found else { return };
        let now = step.now();
        let told = |what: String| {
            let before = register.written.map_or(String::new(), |written| {
                format!("; written last by process {} at {}", written.process, at(written))
            });
            Told {
                summary: format!("{name}process {} {what} at {}{before}", now.process, at(now)),
                proof: register.written.into_iter().chain([now]).collect(),
                ..Told::default()
            }
        };
        if step.f == "write" {
            if found != expected + 1 {
                let what = || format!("wrote {found} where {} was next", expected + 1);
                tally.report("noncausal", || told(what()));
            }
            *register = Register { value: found, written: Some(now) };
        } else if found != expected {
            tally.report("noncausal", || told(format!("read {found} instead of {expected}")));
        }
    }
}

impl Workload for Causal {
    const NAME: &'static str = "causal";
    const OPS: &'static [&'static str] = &["read-init", "read", "write"];
    const PAIRED: bool = false;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        if step.kind() == Kind::Ok {
            tally.count("steps", 1);
            self.judge(step, tally);
        }
    }

    fn finish(&mut self, _tally: &mut Tally) {}

    fn bytes(&self) -> usize {
        self.keys.bytes() + self.registers.capacity() * 64
    }
}
