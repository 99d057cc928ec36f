//! Histories of a register that is simulated, so that they are linearizable by construction, and the
//! same with a lie in them.

use std::collections::BTreeSet;

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
            key: Some(call.key()),
            value,
            error: None,
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

/// Makes one `ok` read answer a value that was surely replaced before the read began: one whose every
/// write completed before another write began that completed before the read. False if none can lie.
pub(super) fn make_stale(history: &mut History, rng: &mut Rng) -> bool {
    let mut lies: Vec<(u64, Value)> = Vec::new();
    let pairs = history.operations();
    let completed = |(_, completion): &(&Event, Option<&Event>)| {
        completion.filter(|event| event.kind == Kind::Ok).map(|event| event.index)
    };
    let written = |(invocation, completion): &(&Event, Option<&Event>)| {
        let certain = completion.is_none_or(|event| event.kind != Kind::Fail);
        certain.then(|| made(invocation)).flatten()
    };
    let values: BTreeSet<i64> = pairs.iter().filter_map(written).collect();
    for (invocation, completion) in pairs.iter().filter(|(i, _)| &*i.f == "read") {
        let Some(completion) = completion.filter(|event| event.kind == Kind::Ok) else { continue };
        for value in &values {
            let writes = || pairs.iter().filter(|pair| written(pair) == Some(*value));
            // An open write, or one in flight, may have been the last.
            let last = writes().map(|pair| completed(pair).unwrap_or(u64::MAX)).max();
            let replaced = pairs.iter().any(|pair| {
                let other = written(pair).is_some_and(|other| other != *value);
                other
                    && last.is_some_and(|last| pair.0.index > last)
                    && completed(pair).is_some_and(|index| index < invocation.index)
            });
            if replaced {
                lies.push((completion.index, Value::Int(*value)));
            }
        }
    }
    let Some((index, lie)) = rng.pick(&lies).cloned() else { return false };
    let mut events = history.events().to_vec();
    events[index as usize].value = lie;
    *history = History::new(events);
    true
}

fn made(invocation: &Event) -> Option<i64> {
    match invocation.value {
        Value::Int(value) if &*invocation.f == "write" => Some(value),
        Value::Pair(_, to) => Some(to),
        _ => None,
    }
}
