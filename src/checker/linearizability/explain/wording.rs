//! Puts operations into words: who, what, where and when.

use std::collections::BTreeSet;

use super::attempts::Attempt;
use super::pattern::Stale;
use crate::checker::linearizability::operation::{Effect, Operation, Pair, Register};
use crate::checker::moment::Clock;
use crate::op::{Event, Kind, MILLISECOND, Nanos, NodeName, Value};

const MICROSECOND: Nanos = 1_000;

pub(super) struct Wording<'a> {
    pairs: &'a [Pair<'a>],
    members: &'a [u32],
    /// None of an old history, which only tells the order.
    clock: Option<Clock>,
}

impl<'a> Wording<'a> {
    pub fn new(pairs: &'a [Pair<'a>], members: &'a [u32]) -> Wording<'a> {
        let timed = pairs.iter().any(|(invocation, _)| invocation.time > 0);
        let its_own = members.iter().map(|member| pairs[*member as usize].0.time);
        Wording { pairs, members, clock: timed.then(|| Clock::of(its_own)) }
    }

    fn pair(&self, operation: &Operation) -> Pair<'a> {
        self.pairs[operation.origin as usize]
    }

    /// The index of the invocation.
    pub fn index(&self, operation: &Operation) -> u64 {
        self.pair(operation).0.index
    }

    fn moment(&self, event: &Event) -> String {
        match self.clock {
            Some(clock) => clock.told(event.time),
            None => format!("event {}", event.index),
        }
    }

    /// These words, but finer where the one began as the other was over, it would seem.
    fn apart(&self, later: &Operation, earlier: &Operation) -> Wording<'a> {
        let clock = match self.invoked(later) == self.completed(earlier) {
            true => self.clock.map(|_| Clock::Fine),
            false => self.clock,
        };
        Wording { clock, ..*self }
    }

    fn invoked(&self, operation: &Operation) -> String {
        self.moment(self.pair(operation).0)
    }

    fn completed(&self, operation: &Operation) -> String {
        let (invocation, completion) = self.pair(operation);
        self.moment(completion.unwrap_or(invocation))
    }

    /// `process 4 on zookeeper2`, `process 4 (answered by kvrocks1)`.
    fn who(&self, operation: &Operation) -> String {
        let (invocation, completion) = self.pair(operation);
        let process = invocation.process;
        let routed = completion.filter(|event| event.route.is_some());
        match (routed.and_then(Event::answered_by), invocation.node) {
            (Some(node), _) if operation.is_open() => {
                format!("process {process} (last asked {node})")
            }
            (Some(node), _) => format!("process {process} (answered by {node})"),
            (None, Some(node)) => format!("process {process} on {node}"),
            (None, None) => format!("process {process}"),
        }
    }

    /// Who answered.
    fn node(&self, operation: &Operation) -> Option<NodeName> {
        let (invocation, completion) = self.pair(operation);
        completion.unwrap_or(invocation).answered_by()
    }

    /// `process 4 on zookeeper2 read 17 at 12.405 s`.
    fn saw(&self, operation: &Operation) -> String {
        let (who, at) = (self.who(operation), self.invoked(operation));
        let did = match operation.effect {
            Effect::Read(_) => format!("read {}", self.value_seen(operation)),
            _ => format!("{} successfully", self.cas(operation)),
        };
        format!("{who} {did} at {at}")
    }

    fn value_seen(&self, operation: &Operation) -> String {
        let (invocation, completion) = self.pair(operation);
        match operation.effect {
            Effect::Read(_) if &*invocation.f == "read" => {
                completion.map_or(String::new(), |event| event.value.to_string())
            }
            _ => ends(&invocation.value).0,
        }
    }

    fn value_made(&self, operation: &Operation) -> String {
        let (invocation, _) = self.pair(operation);
        match operation.effect {
            Effect::Write(_) => invocation.value.to_string(),
            _ => ends(&invocation.value).1,
        }
    }

    fn cas(&self, operation: &Operation) -> String {
        let (from, to) = ends(&self.pair(operation).0.value);
        format!("set {from} to {to}")
    }

    /// `process 1's write of 18 had completed at 12.101 s`.
    fn had_happened(&self, operation: &Operation) -> String {
        let (who, at) = (self.who(operation), self.completed(operation));
        match operation.effect {
            Effect::Write(_) => {
                let value = self.value_made(operation);
                format!("the write of {value} by {who} had completed at {at}")
            }
            Effect::Cas { .. } => format!("{who} had {} by {at}", self.cas(operation)),
            Effect::Read(_) => format!("{who} had read {} by {at}", self.value_seen(operation)),
            Effect::Differs(_) => {
                let value = self.value_seen(operation);
                format!("{who} had found something else than {value} by {at}")
            }
        }
    }

    pub fn unwritten(&self, seen: &Operation, written_later: &Option<Operation>) -> String {
        let value = self.value_seen(seen);
        let aside = match (written_later, self.failed_write_of(&value)) {
            (Some(later), _) => {
                let (who, at) = (self.who(later), self.invoked(later));
                format!(": {who} was the first to try, at {at}")
            }
            (None, Some((invocation, failure))) => {
                let (process, at) = (invocation.process, self.moment(failure));
                format!(": the write of it by process {process} had failed, at {at}")
            }
            (None, None) => String::new(),
        };
        format!("{}, but nothing had written {value} by then{aside}", self.saw(seen))
    }

    /// A write of this value that surely did not happen.
    fn failed_write_of(&self, value: &str) -> Option<(&'a Event, &'a Event)> {
        self.members.iter().find_map(|member| {
            let (invocation, completion) = self.pairs[*member as usize];
            let failure = completion.filter(|event| event.kind == Kind::Fail)?;
            let made = match &*invocation.f {
                "write" => invocation.value.to_string(),
                "cas" => ends(&invocation.value).1,
                _ => return None,
            };
            (made == value).then_some((invocation, failure))
        })
    }

    pub fn replaced_twice(&self, one: &Operation, other: &Operation) -> String {
        let value = self.value_seen(one);
        format!("{} and {}, but {value} was there only once", self.saw(one), self.saw(other))
    }

    pub fn stale(&self, stale: &Stale) -> String {
        let value = self.value_seen(&stale.seen);
        let again = if value == "nil" { "emptied it" } else { &format!("wrote {value} again") };
        let wording = self.apart(&stale.seen, &stale.evidence);
        let (saw, happened) = (wording.saw(&stale.seen), wording.had_happened(&stale.evidence));
        format!("{saw}, but {happened} and nothing {again}")
    }

    pub fn lost(&self, stale: &Stale) -> String {
        let lost = self.value_made(&stale.evidence);
        let (who, at) = (self.who(&stale.evidence), self.completed(&stale.evidence));
        let what = match stale.evidence.effect {
            Effect::Cas { .. } => format!("change to {lost}"),
            _ => format!("write of {lost}"),
        };
        let saw = self.saw(&stale.seen);
        format!(
            "the {what} by {who} was acknowledged at {at}, but {saw} and nobody ever saw {lost}"
        )
    }

    pub fn torn(&self, sights: &[Operation], beginning: &str) -> String {
        let sights: Vec<String> = sights.iter().map(|sight| self.saw(sight)).collect();
        format!(
            "{}, but {beginning} neither was written, and only one can have been left from before",
            sights.join(" and ")
        )
    }

    pub fn tangled(&self, last: &Operation, shown: usize) -> String {
        let what = match last.effect {
            Effect::Read(_) => format!("reading {}", self.value_seen(last)),
            Effect::Write(_) => format!("writing {}", self.value_made(last)),
            Effect::Cas { .. } => format!("a successful {}", self.cas(last)),
            Effect::Differs(_) => format!("failing to {}", self.cas(last)),
        };
        let (who, at) = (self.who(last), self.completed(last));
        format!("no order of these {shown} operations explains {who} {what} at {at}")
    }

    /// `tried: write of 18 by process 1; then the register holds 18, which leaves no read of 17 by process 3
    /// until 12.405 s`.
    pub fn attempt(&self, attempt: &Attempt, core: &[Operation]) -> String {
        let steps: Vec<String> = attempt.order.iter().map(|o| self.step(o)).collect();
        let tried = match steps.is_empty() {
            true => "at the beginning".to_owned(),
            false => format!("{}; then", steps.join(", ")),
        };
        let holder = core.iter().rev().find_map(|operation| {
            let made = operation.effect.produces().filter(|made| Some(*made) == attempt.state);
            made.map(|_| self.value_made(operation)).or_else(|| {
                let seen = operation.effect.observes().filter(|seen| Some(*seen) == attempt.state);
                seen.map(|_| self.value_seen(operation))
            })
        });
        let holds = match (holder, attempt.state) {
            (Some(value), _) => format!("the register holds {value}"),
            (None, Some(_)) => "the register holds what it held at first".to_owned(),
            (None, None) => "the register holds what was there before".to_owned(),
        };
        let at = self.completed(&attempt.stuck);
        format!("tried: {tried} {holds}, which leaves no {} until {at}", self.step(&attempt.stuck))
    }

    /// `write of 18 by process 1`.
    fn step(&self, operation: &Operation) -> String {
        let process = self.pair(operation).0.process;
        let what = match operation.effect {
            Effect::Read(_) => format!("read of {}", self.value_seen(operation)),
            Effect::Write(_) => format!("write of {}", self.value_made(operation)),
            Effect::Cas { .. } => {
                let (from, to) = ends(&self.pair(operation).0.value);
                format!("cas from {from} to {to}")
            }
            Effect::Differs(_) => format!("cas failing on {}", self.value_seen(operation)),
        };
        format!("{what} by process {process}")
    }

    /// `12.050 s to 12.101 s: process 1 on zookeeper1: write 18: ok`.
    pub fn line(&self, operation: &Operation) -> String {
        let (invocation, completion) = self.pair(operation);
        let what = match &*invocation.f {
            "read" => format!("read {}", self.value_seen(operation)),
            "write" => format!("write {}", invocation.value),
            _ => format!("cas {}", invocation.value),
        };
        let outcome = completion.map_or(Kind::Info.name(), |event| event.kind.name());
        let error = completion.and_then(|event| event.error.as_ref());
        let error = error.map_or(String::new(), |error| format!(" ({error})"));
        let until = completion.map_or("the end".to_owned(), |event| self.moment(event));
        let (from, who) = (self.invoked(operation), self.who(operation));
        format!("{from} to {until}: {who}: {what}: {outcome}{error}")
    }

    pub fn staleness(&self, stale: &Stale) -> String {
        let newer = match stale.newer {
            0 => String::new(),
            1 => ", 1 newer value had been written".to_owned(),
            more => format!(", {more} newer values had been written"),
        };
        let (_, completion) = self.pair(&stale.evidence);
        let replaced = completion.map_or(0, |event| event.time);
        let late = self.pair(&stale.seen).0.time.saturating_sub(replaced);
        // Whole microseconds: what is finer is the clock's noise, unless all is.
        let late = match late {
            0..MICROSECOND => format!("{late} ns"),
            _ => {
                let late_ms = (late / MICROSECOND) as f64 / (MILLISECOND / MICROSECOND) as f64;
                format!("{late_ms} ms")
            }
        };
        match self.clock {
            Some(_) => format!("stale by at least {late}{newer}"),
            None => format!("stale{newer}"),
        }
    }

    /// From the first invocation to the last completion.
    pub fn span(&self, shown: &[Operation]) -> (Nanos, Nanos) {
        let events = shown.iter().map(|operation| self.pair(operation));
        let times = events.flat_map(|(invocation, completion)| {
            // An operation of unknown outcome may go on for long after all that matters.
            let certain = completion.filter(|event| event.kind != Kind::Info);
            [Some(invocation.time), certain.map(|event| event.time)]
        });
        times.flatten().fold((Nanos::MAX, 0), |(from, to), time| (from.min(time), to.max(time)))
    }

    /// In name order.
    pub fn nodes(&self, shown: &[Operation]) -> Vec<String> {
        let nodes = shown.iter().filter_map(|operation| self.node(operation));
        nodes.map(|node| node.to_string()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Whether the write that `stale` missed is lost rather than late: nobody ever saw it, and up
    /// to the next write its own node, or all of several nodes, answered without it.
    pub fn is_lost(&self, register: &Register, stale: &Stale) -> bool {
        let evidence = &stale.evidence;
        let Some(lost) = evidence.effect.produces() else { return false };
        let operations = &register.operations;
        if operations.iter().any(|operation| operation.effect.observes() == Some(lost)) {
            return false;
        }
        let later_write = operations.iter().find(|operation| {
            operation.effect.produces().is_some() && operation.invoke > evidence.complete
        });
        let until = later_write.map_or(u32::MAX, |operation| operation.invoke);
        let answers = operations.iter().filter(|operation| {
            let within = operation.invoke > evidence.complete && operation.complete < until;
            within && operation.effect.observes() == Some(stale.value)
        });
        let its_own = self.node(evidence);
        let nodes: BTreeSet<_> = answers.filter_map(|answer| self.node(answer)).collect();
        its_own.is_some_and(|node| nodes.contains(&node)) || nodes.len() > 1
    }
}

/// Both values of a compare-and-set.
fn ends(value: &Value) -> (String, String) {
    match value {
        Value::Pair(from, to) => (from.to_string(), to.to_string()),
        Value::Json(json) => match json.as_array().map(Vec::as_slice) {
            Some([from, to]) => (from.to_string(), to.to_string()),
            _ => (value.to_string(), value.to_string()),
        },
        _ => (value.to_string(), value.to_string()),
    }
}
