//! Registers of different values, watched while the run goes on: the zones of Gibbons and Korach 1997,
//! event by event.
//!
//! A value's zone reaches from the first completion of an operation on it to the last invocation of one.
//! The first is settled when it happens; so only a read that was invoked later than all before it on its
//! value can bring two values into each other's way, and it does so when it completes. What has to come
//! before something that was over before all that is in flight began can never be read again and is
//! forgotten: memory is what is in flight and the values that may still be read. A completion costs one
//! look at each value first seen since the oldest operation in flight began.
//!
//! A compare-and-set counts as a read and a write of its own, at any two moments while it ran: what has no
//! order then has none at all. Besides, a value is replaced by one of them but once, and not seen after that.
//! What longer chains of them forbid is seen by the check of all alone, which also decides where values
//! repeat: here such a key is passed over in silence.

mod key;
mod told;

use rustc_hash::FxHashMap;

use crate::checker::{Anomaly, RegisterModel};
use crate::op::{Event, Key, Kind, Process, Value};
use key::{Mark, Register};

/// A value as it is compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Name {
    Integer(i64),
    /// Nil, and whatever is no integer.
    Text(String),
}

impl Name {
    fn of(value: &Value) -> Name {
        match value {
            Value::Int(value) => Name::Integer(*value),
            Value::Nil => Name::Text("null".to_owned()),
            Value::Pair(one, other) => Name::Text(format!("[{one},{other}]")),
            Value::Json(json) => match json.as_i64() {
                Some(value) => Name::Integer(value),
                None => Name::Text(json.to_string()),
            },
        }
    }
}

/// An operation in flight.
#[derive(Clone, Debug)]
struct InFlight {
    key: Option<Key>,
    invoked: Mark,
    /// What it writes; a read writes nothing.
    writes: Option<Name>,
}

/// All keys of a run so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Online {
    keys: FxHashMap<Option<Key>, Register>,
    in_flight: FxHashMap<u32, InFlight>,
}

impl Online {
    /// Takes in the next event. The violation that it closes, if it does; only the first of a key.
    pub fn observe(&mut self, event: &Event, model: &RegisterModel) -> Option<Anomaly> {
        let Process::Client(process) = event.process else { return None };
        if event.kind == Kind::Invoke {
            self.invoke(event, process, model);
            return None;
        }
        let operation = self.in_flight.remove(&process)?;
        let register = self.keys.get_mut(&operation.key)?;
        let completed = Mark::of(event, process, operation.invoked.invocation);
        let found = match (event.kind, &operation.writes) {
            (Kind::Fail, Some(name)) => register.unwrite(name, completed),
            (Kind::Ok, Some(name)) => register.written(name, completed),
            (Kind::Ok, None) if !(model.nil_is_wildcard && event.value == Value::Nil) => {
                register.read(Name::of(&event.value), operation.invoked, completed)
            }
            _ => None,
        };
        register.leave(operation.invoked);
        found.map(|violation| told::anomaly(&violation, operation.key.as_ref()))
    }

    fn invoke(&mut self, event: &Event, process: u32, model: &RegisterModel) {
        let key = event.key.clone();
        let register = self.keys.entry(key.clone());
        let register = register.or_insert_with(|| Register::new(Name::of(&model.initial)));
        let invoked = Mark::of(event, process, event.index);
        let (expects, writes) = match (&*event.f, &event.value) {
            ("read", _) => (None, None),
            ("write", value) => (None, Some(Name::of(value))),
            ("cas", Value::Pair(from, to)) if model.cas => {
                (Some(Name::Integer(*from)), Some(Name::Integer(*to)))
            }
            _ => return register.give_up(),
        };
        register.enter(invoked, writes.clone(), expects);
        self.in_flight.insert(process, InFlight { key, invoked, writes });
    }

    /// Values remembered, of all keys.
    #[cfg(test)]
    pub fn remembered(&self) -> usize {
        self.keys.values().map(Register::remembered).sum()
    }
}
