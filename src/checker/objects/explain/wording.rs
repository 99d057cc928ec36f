//! Puts operations into words: who, what, where and when.

use std::collections::BTreeSet;

use crate::checker::moment::seconds;
use crate::checker::objects::object::Object;
use crate::checker::objects::seen::Timed;
use crate::checker::objects::split::Pair;
use crate::op::{Event, Kind, Nanos};

pub(super) struct Wording<'a, O> {
    pub object: &'a O,
    pub pairs: &'a [Pair<'a>],
    /// Whether the history tells times; old histories only tell the order.
    pub timed: bool,
}

pub(super) fn is_timed(pairs: &[Pair]) -> bool {
    pairs.iter().any(|(invocation, _)| invocation.time > 0)
}

impl<'a, O: Object> Wording<'a, O> {
    fn pair(&self, timed: &Timed<O::Operation>) -> Pair<'a> {
        self.pairs[timed.origin as usize]
    }

    /// The index of the invocation.
    pub fn index(&self, timed: &Timed<O::Operation>) -> u64 {
        self.pair(timed).0.index
    }

    fn moment(&self, event: &Event) -> String {
        match self.timed {
            true => seconds(event.time),
            false => format!("event {}", event.index),
        }
    }

    /// When the invocation or completion at this place in time was.
    pub fn event(&self, core: &[Timed<O::Operation>], event: u32) -> String {
        let found = core.iter().find_map(|timed| {
            let (invocation, completion) = self.pair(timed);
            match (timed.invoke == event, timed.complete == event) {
                (true, _) => Some(invocation),
                (_, true) => completion,
                _ => None,
            }
        });
        found.map_or("the end".to_owned(), |event| self.moment(event))
    }

    /// `process 4 on zookeeper2`.
    fn who(&self, timed: &Timed<O::Operation>) -> String {
        let (invocation, completion) = self.pair(timed);
        let process = invocation.process;
        match completion.unwrap_or(invocation).answered_by() {
            Some(node) => format!("process {process} on {node}"),
            None => format!("process {process}"),
        }
    }

    /// `get of "a" by process 4 at 2.100 s`.
    pub fn seen(&self, timed: &Timed<O::Operation>) -> String {
        let (invocation, completion) = self.pair(timed);
        let at = self.moment(completion.unwrap_or(invocation));
        format!("{} by {} at {at}", self.object.describe(&timed.operation), self.who(timed))
    }

    /// All but one, in few words.
    pub fn others(&self, core: &[Timed<O::Operation>], last: &Timed<O::Operation>) -> String {
        let others = core.iter().filter(|timed| *timed != last).map(|timed| {
            let unknown = if timed.is_open() { " (outcome unknown)" } else { "" };
            format!(
                "the {} by {}{unknown}",
                self.object.describe(&timed.operation),
                self.who(timed)
            )
        });
        others.collect::<Vec<_>>().join(", ")
    }

    /// A line for each operation, numbered; the middle of many is left out.
    pub fn operations(&self, core: &[Timed<O::Operation>], most: usize) -> Vec<String> {
        let mut lines: Vec<String> =
            core.iter().enumerate().map(|(at, timed)| self.line(at, timed)).collect();
        if lines.len() > most {
            let left_out = lines.len() - most;
            let note = format!("{left_out} more operations of the same proof are left out here");
            lines.splice(most / 2..most / 2 + left_out, [note]);
        }
        lines
    }

    /// `(1) 12.050 s to 12.101 s: process 1 on zookeeper1: put of "a": ok`.
    fn line(&self, at: usize, timed: &Timed<O::Operation>) -> String {
        let (invocation, completion) = self.pair(timed);
        let outcome = completion.map_or(Kind::Info.name(), |event| event.kind.name());
        let error = completion.and_then(|event| event.error.as_ref());
        let error = error.map_or(String::new(), |error| format!(" ({error})"));
        let until = completion.map_or("the end".to_owned(), |event| self.moment(event));
        let (from, who) = (self.moment(invocation), self.who(timed));
        let what = self.object.describe(&timed.operation);
        format!("({}) {from} to {until}: {who}: {what}: {outcome}{error}", at + 1)
    }

    /// From the first invocation to the last completion.
    pub fn span(&self, core: &[Timed<O::Operation>]) -> (Nanos, Nanos) {
        let times = core.iter().flat_map(|timed| {
            let (invocation, completion) = self.pair(timed);
            // An operation of unknown outcome may go on for long after all that matters.
            let certain = completion.filter(|event| event.kind != Kind::Info);
            [Some(invocation.time), certain.map(|event| event.time)]
        });
        times.flatten().fold((Nanos::MAX, 0), |(from, to), time| (from.min(time), to.max(time)))
    }

    /// In name order.
    pub fn nodes(&self, core: &[Timed<O::Operation>]) -> Vec<String> {
        let nodes = core.iter().filter_map(|timed| {
            let (invocation, completion) = self.pair(timed);
            completion.unwrap_or(invocation).answered_by()
        });
        nodes.map(|node| node.to_string()).collect::<BTreeSet<_>>().into_iter().collect()
    }
}
