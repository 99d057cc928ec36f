//! Histories of a register that is simulated, so that they are linearizable by construction, and
//! the same with a lie in them.

use std::collections::BTreeMap;

use crate::history::History;
use crate::op::{Call, Event, Kind, MILLISECOND, Process, Value};
use crate::rng::Rng;

/// What the clients of a simulated register do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub operations: usize,
    pub clients: usize,
    /// Values to draw from; 0 for values that are all different.
    pub domain: i64,
    /// Shares, in percent.
    pub cas: u64,
    pub info: u64,
    /// Chance, in percent, of each read to answer anything.
    pub lies: u64,
    /// The register holds 0 at first, rather than nothing.
    pub initial_is_zero: bool,
}

struct Client {
    process: u32,
    call: Option<(Call, bool)>,
    result: Option<Value>,
}

/// A register, its clients, and what they have seen.
pub(super) struct Simulation {
    plan: Plan,
    rng: Rng,
    clients: Vec<Client>,
    /// Calls of unknown outcome that may still take effect.
    loose: Vec<Call>,
    state: Value,
    next_value: i64,
    events: Vec<Event>,
    invoked: usize,
}

impl Simulation {
    pub fn run(plan: Plan, rng: Rng) -> History {
        let client = |process| Client { process, call: None, result: None };
        let mut simulation = Simulation {
            plan,
            rng,
            clients: (0..plan.clients as u32).map(client).collect(),
            loose: Vec::new(),
            state: plan.initial_value(),
            next_value: 1,
            events: Vec::new(),
            invoked: 0,
        };
        while simulation.step() {}
        History::new(simulation.events)
    }

    /// One random step of one client: invoke, take effect, or complete. False when all is done.
    fn step(&mut self) -> bool {
        if self.rng.chance(0.1) && !self.loose.is_empty() {
            let which = self.rng.below(self.loose.len() as u64) as usize;
            let call = self.loose.swap_remove(which);
            self.take_effect(&call);
        }
        let may_invoke = self.invoked < self.plan.operations;
        let active = |c: &Client| c.call.is_some() || may_invoke;
        let choices: Vec<usize> =
            (0..self.clients.len()).filter(|index| active(&self.clients[*index])).collect();
        let Some(&index) = self.rng.pick(&choices) else { return false };
        match self.clients[index].call.clone() {
            None => self.invoke(index),
            Some((call, false)) => {
                let result = self.take_effect(&call);
                self.clients[index].result = result;
                self.clients[index].call = Some((call, true));
            }
            Some((call, true)) => self.complete(index, call),
        }
        true
    }

    fn invoke(&mut self, index: usize) {
        let call = match self.rng.below(100) {
            draw if draw < self.plan.cas => {
                let from = match (&self.state, self.rng.chance(0.7)) {
                    (Value::Int(value), true) => *value,
                    _ => self.old_value(),
                };
                Call::Cas { key: 0, from, to: self.new_value() }
            }
            draw if draw < self.plan.cas + (100 - self.plan.cas) / 2 => {
                Call::Write { key: 0, value: self.new_value() }
            }
            _ => Call::Read { key: 0 },
        };
        self.invoked += 1;
        self.record(index, Kind::Invoke, &call, call.value());
        self.clients[index].call = Some((call, false));
        if self.rng.below(100) < self.plan.info {
            self.lose(index);
        }
    }

    /// The client never learns the outcome; what it wanted may happen now, later, or never.
    fn lose(&mut self, index: usize) {
        let Some((call, _)) = self.clients[index].call.take() else { return };
        match self.rng.below(3) {
            0 => {
                self.take_effect(&call);
            }
            1 => self.loose.push(call.clone()),
            _ => {}
        }
        if self.rng.chance(0.7) {
            self.record(index, Kind::Info, &call, call.value());
        }
        self.clients[index].process += self.plan.clients as u32;
    }

    fn complete(&mut self, index: usize, call: Call) {
        self.clients[index].call = None;
        match (self.clients[index].result.take(), &call) {
            (None, _) => self.record(index, Kind::Fail, &call, call.value()),
            (Some(_), Call::Read { .. }) if self.rng.below(100) < self.plan.lies => {
                let lie = Value::Int(self.old_value());
                self.record(index, Kind::Ok, &call, lie);
            }
            (Some(result), _) => self.record(index, Kind::Ok, &call, result),
        }
    }

    /// The result, or `None` where a compare-and-set did not find what it wanted.
    fn take_effect(&mut self, call: &Call) -> Option<Value> {
        match call {
            Call::Read { .. } => return Some(self.state.clone()),
            Call::Write { value, .. } => self.state = Value::Int(*value),
            Call::Cas { from, .. } if self.state != Value::Int(*from) => return None,
            Call::Cas { to, .. } => self.state = Value::Int(*to),
            _ => return None,
        }
        Some(call.value())
    }

    fn new_value(&mut self) -> i64 {
        if self.plan.domain > 0 {
            return self.rng.below(self.plan.domain as u64) as i64;
        }
        self.next_value += 1;
        self.next_value - 1
    }

    fn old_value(&mut self) -> i64 {
        let bound = if self.plan.domain > 0 { self.plan.domain } else { self.next_value };
        self.rng.below(bound as u64) as i64
    }

    fn record(&mut self, index: usize, kind: Kind, call: &Call, value: Value) {
        let position = self.events.len() as u64;
        self.events.push(Event {
            index: position,
            time: position * MILLISECOND,
            kind,
            process: Process::Client(self.clients[index].process),
            node: Some(format!("n{}", index + 1).into()),
            f: call.f().into(),
            key: call.key(),
            value,
            error: None,
            route: None,
        });
    }
}

impl Plan {
    fn initial_value(&self) -> Value {
        match self.initial_is_zero {
            true => Value::Int(0),
            false => Value::Nil,
        }
    }
}

/// Makes one `ok` read answer a value that was surely replaced before the read began: one whose
/// every write completed before another write began that completed before the read. False if none
/// can lie.
pub(super) fn make_stale(history: &mut History, rng: &mut Rng) -> bool {
    let writes = writes(history);
    // The last completion of a write of each value; an open one, or one in flight, may come last.
    let mut last: BTreeMap<i64, u64> = BTreeMap::new();
    for write in &writes {
        let known = last.entry(write.value).or_default();
        *known = write.complete.max(*known);
    }
    let mut lies: Vec<(u64, i64)> = Vec::new();
    for (invocation, completion) in history.operations() {
        let Some(completion) = completion.filter(|e| e.kind == Kind::Ok && &*e.f == "read") else {
            continue;
        };
        let over = || writes.iter().filter(|write| write.complete < invocation.index);
        let Some(newest) = over().max_by_key(|write| write.invoke) else { continue };
        let stale =
            last.iter().filter(|(value, last)| **value != newest.value && **last < newest.invoke);
        lies.extend(stale.map(|(value, _)| (completion.index, *value)));
    }
    let Some((index, lie)) = rng.pick(&lies).copied() else { return false };
    let mut events = history.events().to_vec();
    events[index as usize].value = Value::Int(lie);
    *history = History::new(events);
    true
}

/// A write or compare-and-set that happened or may have.
struct Written {
    value: i64,
    invoke: u64,
    /// `u64::MAX` if nobody knows.
    complete: u64,
}

fn writes(history: &History) -> Vec<Written> {
    let written = |(invocation, completion): (&Event, Option<&Event>)| {
        let value = made(invocation)?;
        let complete = match completion.map(|event| event.kind) {
            Some(Kind::Fail) => return None,
            Some(Kind::Ok) => completion?.index,
            _ => u64::MAX,
        };
        Some(Written { value, invoke: invocation.index, complete })
    };
    history.operations().into_iter().filter_map(written).collect()
}

fn made(invocation: &Event) -> Option<i64> {
    match invocation.value {
        Value::Int(value) if &*invocation.f == "write" => Some(value),
        Value::Pair(_, to) => Some(to),
        _ => None,
    }
}
