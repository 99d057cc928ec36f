//! Pairs of inserts under one key, each of which looks for the other first: only one may succeed.
//! As the G2 checker of Jepsen's `adya`.
//!
//! An insert is `[key [a b]]`, with nil for the table that it does not insert into.

use super::elements::Elements;
use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::op::Kind;

#[derive(Clone, Default)]
pub(super) struct AdyaG2 {
    keys: Elements,
    /// The insert that succeeded first under each key.
    first: Vec<Option<Moment>>,
}

impl Workload for AdyaG2 {
    const NAME: &'static str = "adya-g2";
    const OPS: &'static [&'static str] = &["insert"];
    const PAIRED: bool = false;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        let named = step.event.key.is_some();
        let key = if named { None } else { step.value.items().and_then(|mut items| items.next()) };
        let number = match key {
            Some(key) => self.keys.number(key),
            None if named => 0,
            None => {
                let (index, found) = (step.event.index, step.value.to_text());
                tally.broken(|| format!("event {index}: {found:.40}, expected [key [a b]]"));
                return;
            }
        };
        let position = number as usize;
        if self.first.len() <= position {
            self.first.resize(position + 1, None);
            tally.count("keys", 1);
        }
        if step.kind() != Kind::Ok {
            return;
        }
        tally.count("inserts", 1);
        let now = step.now();
        let Some(first) = self.first[position] else {
            self.first[position] = Some(now);
            return;
        };
        let name = key.map_or(String::new(), |_| format!(" of key {}", self.keys.name(number)));
        tally.report("predicate-g2", || Told {
            summary: format!(
                "both inserts{name} succeeded, that of process {} at {} and that of process {} at {}",
                first.process,
                at(first),
                now.process,
                at(now)
            ),
            proof: vec![first, now],
            ..Told::default()
        });
    }

    fn finish(&mut self, _tally: &mut Tally) {}

    fn bytes(&self) -> usize {
        self.keys.bytes() + self.first.capacity() * size_of::<Option<Moment>>()
    }
}
