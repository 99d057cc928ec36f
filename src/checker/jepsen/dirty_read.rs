//! What a read saw must be there in the end, and every write too. As the `dirty-read` of Jepsen's
//! Elasticsearch and Crate tests.
//!
//! `read` says which element it saw, nil if none; `strong-read` has all elements, on one node each, and
//! all of them must agree.

use super::elements::Elements;
use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::checker::Shows;
use crate::history::Datum;
use crate::op::Kind;

#[derive(Clone, Copy, Default)]
struct Seen {
    written: Option<Moment>,
    read: Option<Moment>,
    /// How many strong reads have it, and the last of them.
    strong: u32,
    strong_read: u32,
}

#[derive(Clone, Default)]
pub(super) struct DirtyRead {
    elements: Elements,
    seen: Vec<Seen>,
    strong_reads: u32,
}

impl DirtyRead {
    fn of(&mut self, element: Datum) -> &mut Seen {
        let position = self.elements.number(element) as usize;
        if self.seen.len() <= position {
            self.seen.resize(position + 1, Seen::default());
        }
        &mut self.seen[position]
    }

    fn strong_read(&mut self, step: &Step, tally: &mut Tally) {
        let Some(items) = step.value.items() else {
            let index = step.event.index;
            tally.broken(|| format!("event {index}: a strong read that is no list"));
            return;
        };
        tally.count("strong-reads", 1);
        self.strong_reads += 1;
        let read = self.strong_reads;
        for item in items {
            let seen = self.of(item);
            seen.strong += u32::from(seen.strong_read != read);
            seen.strong_read = read;
        }
    }

    fn judge(&self, number: u32, tally: &mut Tally) {
        let Seen { written, read, strong, .. } = self.seen[number as usize];
        let (name, all) = (self.elements.name(number), self.strong_reads);
        let told = |what: String, proof: Option<Moment>| Told {
            summary: what,
            proof: proof.into_iter().collect(),
            ..Told::default()
        };
        let who = |moment: Moment| format!("process {} at {}", moment.process, at(moment));
        let none = "and no strong read has it";
        if let (0, Some(read)) = (strong, read) {
            let what = || format!("{name} was read by {}, {none}", who(read));
            tally.report("dirty-read", || told(what(), Some(read)));
        }
        if let (0, Some(written)) = (strong, written) {
            let what = || format!("{name} was written by {}, {none}", who(written));
            tally.report("lost", || told(what(), Some(written)));
        }
        if strong > 0 && strong < all {
            let what = || format!("{strong} of {all} strong reads have {name}, the others do not");
            tally.report("not-on-all", || told(what(), written.or(read)));
        }
    }
}

impl Workload for DirtyRead {
    const NAME: &'static str = "dirty-read";
    const OPS: &'static [&'static str] = &["write", "read", "strong-read", "refresh"];
    const PAIRED: bool = false;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        if step.kind() != Kind::Ok {
            return;
        }
        match step.f {
            "strong-read" => self.strong_read(step, tally),
            "write" => {
                tally.count("writes", 1);
                self.of(step.value).written.get_or_insert(step.now());
            }
            "read" if !step.value.is_nil() => {
                tally.count("reads", 1);
                self.of(step.value).read.get_or_insert(step.now());
            }
            _ => {}
        }
    }

    fn shows(&self) -> Shows {
        Shows::AtTheEnd
    }

    fn finish(&mut self, tally: &mut Tally) {
        if self.strong_reads == 0 {
            tally.open(|| "there was no strong read, so nobody knows what is there".to_owned());
            return;
        }
        for number in 0..self.seen.len() {
            self.judge(number as u32, tally);
        }
    }

    fn bytes(&self) -> usize {
        self.elements.bytes() + self.seen.capacity() * size_of::<Seen>()
    }
}
