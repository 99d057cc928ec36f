//! Which errors operations ended with, and how often. As Jepsen's `unhandled-exceptions`; never a
//! verdict.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, at};
use crate::checker::Shows;
use crate::op::Kind;

/// How many different errors are told apart, and how many are told.
const MOST: usize = 1000;
const TOLD: usize = 8;

/// How much of an error's text tells it from others.
const LENGTH: usize = 80;

#[derive(Clone, Copy)]
struct Seen {
    count: u64,
    first: Moment,
}

#[derive(Clone, Default)]
pub(super) struct Errors {
    /// By kind and text, numbers left out.
    seen: IndexMap<(Kind, String), Seen, FxBuildHasher>,
    others: u64,
}

/// Errors that differ in a number alone are the same.
fn class(text: &str) -> String {
    let mut class = String::new();
    for letter in text.chars().take(LENGTH) {
        match letter {
            digit if digit.is_ascii_digit() => {
                if !class.ends_with('#') {
                    class.push('#');
                }
            }
            letter => class.push(letter),
        }
    }
    class
}

impl Workload for Errors {
    const NAME: &'static str = "errors";
    const OPS: &'static [&'static str] = &[];
    const PAIRED: bool = false;
    const WHOLE: bool = true;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        if !matches!(step.kind(), Kind::Fail | Kind::Info) {
            return;
        }
        tally.count(if step.kind() == Kind::Fail { "fail" } else { "info" }, 1);
        let text = step.event.error.as_deref().unwrap_or("no reason told");
        let key = (step.kind(), class(text));
        if self.seen.len() >= MOST && !self.seen.contains_key(&key) {
            self.others += 1;
            return;
        }
        self.seen.entry(key).or_insert(Seen { count: 0, first: step.now() }).count += 1;
    }

    fn shows(&self) -> Shows {
        Shows::AtTheEnd
    }

    fn finish(&mut self, tally: &mut Tally) {
        tally.count("different-errors", self.seen.len() as u64);
        tally.count("others", self.others);
        let mut seen: Vec<_> = self.seen.iter().collect();
        seen.sort_by_key(|((kind, text), seen)| {
            (std::cmp::Reverse(seen.count), *kind, (*text).clone())
        });
        let told = seen.iter().take(TOLD).map(|((kind, text), Seen { count, first })| {
            format!(
                "{count} times {} `{text}` (first: process {}, {})",
                kind.name(),
                first.process,
                at(*first)
            )
        });
        let told: Vec<String> = told.collect();
        if !told.is_empty() {
            tally.note(0, || told.join("; "));
        }
    }

    fn bytes(&self) -> usize {
        self.seen.len() * (LENGTH * 4 + 64)
    }
}
