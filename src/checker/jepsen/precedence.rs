//! Who sees a write sees every write that had completed before it began. As Jepsen's
//! `causal-reverse`, and the `comments` of its CockroachDB tests.
//!
//! Writes are numbered as they complete, and each remembers how many had completed when it began. A
//! read must have all of the first n completed, where n is the most that any write it sees follows;
//! that is a matter of counting: a read costs as much as it is long.

use super::elements::Elements;
use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, Told, at, listed};
use crate::op::Kind;

/// A value and its write.
#[derive(Clone, Copy, Default)]
struct Write {
    begun: Option<Moment>,
    /// How many writes had completed when it began.
    follows: u32,
    /// Its place among the completed ones, counted from 1.
    completed: Option<u32>,
    /// The latest read that has it, counted from 1.
    read: u32,
}

#[derive(Clone, Default)]
pub(super) struct Precedence {
    elements: Elements,
    writes: Vec<Write>,
    completed: Vec<(u32, Moment)>,
    reads: u32,
}

impl Precedence {
    fn of(&mut self, number: u32) -> &mut Write {
        let position = number as usize;
        if self.writes.len() <= position {
            self.writes.resize(position + 1, Write::default());
        }
        &mut self.writes[position]
    }

    fn write(&mut self, step: &Step, tally: &mut Tally) {
        let number = self.elements.number(step.value);
        let completed = self.completed.len() as u32;
        let index = step.event.index;
        let write = self.of(number);
        if step.kind() == Kind::Invoke {
            if write.begun.is_some() || write.read > 0 {
                let what = if write.read > 0 { "read before" } else { "written twice" };
                let name = self.elements.name(number);
                tally.broken(|| {
                    format!("event {index}: value {name} is {what}; expected each once")
                });
                return;
            }
            *write = Write { begun: Some(step.now()), follows: completed, ..*write };
        } else if step.kind() == Kind::Ok && write.completed.is_none() {
            write.completed = Some(completed + 1);
            self.completed.push((number, step.now()));
            tally.count("writes", 1);
        }
    }

    fn read(&mut self, step: &Step, tally: &mut Tally) {
        let Some(items) = step.value.items() else {
            let index = step.event.index;
            tally.broken(|| format!("event {index}: a read that is no list"));
            return;
        };
        tally.count("reads", 1);
        self.reads += 1;
        let read = self.reads;
        let mut seen = Vec::new();
        for item in items {
            let number = self.elements.number(item);
            let write = self.of(number);
            if write.read != read {
                write.read = read;
                seen.push(number);
            }
        }
        self.judge(step, &seen, tally);
    }

    fn judge(&self, step: &Step, seen: &[u32], tally: &mut Tally) {
        let Some(latest) = seen.iter().max_by_key(|number| self.writes[**number as usize].follows)
        else {
            return;
        };
        let expected = self.writes[*latest as usize].follows;
        let early = |number: &&u32| {
            self.writes[**number as usize].completed.is_some_and(|place| place <= expected)
        };
        if seen.iter().filter(early).count() < expected as usize {
            tally.report("causal-reverse", || self.told(step, *latest));
        }
    }

    /// The read has `latest` and lacks writes that had completed before that one began.
    fn told(&self, step: &Step, latest: u32) -> Told {
        let write = &self.writes[latest as usize];
        let expected = &self.completed[..write.follows as usize];
        let missing: Vec<&(u32, Moment)> = expected
            .iter()
            .filter(|(number, _)| self.writes[*number as usize].read != self.reads)
            .collect();
        let names = listed(missing.iter().map(|(number, _)| self.elements.name(*number)));
        let first = missing.first().map(|(_, completed)| *completed);
        let read = step.now();
        let times = |what: &str, moment: Option<Moment>| {
            moment
                .map_or(String::new(), |m| format!("{what} by process {} at {}", m.process, at(m)))
        };
        Told {
            summary: format!(
                "process {} read {} at {}, {}, without {names}, {}",
                read.process,
                self.elements.name(latest),
                at(read),
                times("whose write was begun", write.begun),
                times("which had been written before (the first", first) + ")",
            ),
            proof: [Some(read), write.begun, first].into_iter().flatten().collect(),
            ..Told::default()
        }
    }

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        match (step.kind(), step.f) {
            (Kind::Invoke | Kind::Ok, "write") => self.write(step, tally),
            (Kind::Ok, "read") => self.read(step, tally),
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        self.elements.bytes()
            + self.writes.capacity() * size_of::<Write>()
            + self.completed.capacity() * size_of::<(u32, Moment)>()
    }
}

/// By the name that it has among CockroachDB's tests, and in elle-cli.
#[derive(Clone, Default)]
pub(super) struct Comments(Precedence);

/// By its name among Jepsen's own tests.
#[derive(Clone, Default)]
pub(super) struct CausalReverse(Precedence);

impl Workload for Comments {
    const NAME: &'static str = "comments";
    const OPS: &'static [&'static str] = &["write", "read"];
    const PAIRED: bool = false;
    const TAKES_COMPLETIONS: bool = false;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        self.0.step(step, tally);
    }

    fn finish(&mut self, _tally: &mut Tally) {}

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

impl Workload for CausalReverse {
    const NAME: &'static str = "causal-reverse";
    const OPS: &'static [&'static str] = Comments::OPS;
    const PAIRED: bool = false;
    const TAKES_COMPLETIONS: bool = false;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        self.0.step(step, tally);
    }

    fn finish(&mut self, _tally: &mut Tally) {}

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}
