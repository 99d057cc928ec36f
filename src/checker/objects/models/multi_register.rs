//! Registers that transactions read and write together, at one moment.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::checker::ModelOptions;
use crate::checker::objects::atom::Atom;
use crate::checker::objects::object::Object;
use crate::checker::objects::seen::Seen;
use crate::history::Datum;
use crate::op::Value;

/// A register by name. Registers that no transaction touches together are judged apart.
#[derive(Clone, Debug)]
pub struct MultiRegister {
    /// What each register holds at first.
    init: BTreeMap<Atom, Atom>,
    /// What those hold that `init` does not name.
    other: Atom,
    nil_is_unknown: bool,
}

/// One part of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// `None`: what was read is not known.
    Read(Atom, Option<Atom>),
    Write(Atom, Atom),
}

type Transaction = Vec<Step>;

impl MultiRegister {
    pub fn new(options: &ModelOptions) -> Result<MultiRegister, String> {
        let (init, other) = match options.initial() {
            Json::Object(registers) => {
                let each =
                    registers.iter().map(|(name, value)| (named(name), Atom::of_json(value)));
                (each.collect(), Atom::Nil)
            }
            value => (BTreeMap::new(), Atom::of(&Datum::Json(value).to_value())),
        };
        Ok(MultiRegister { init, other, nil_is_unknown: options.nil_read_is_unknown })
    }

    fn read(&self, register: Atom, value: &Json, is_certain: bool) -> Step {
        let is_known = is_certain && !(self.nil_is_unknown && value.is_null());
        Step::Read(register, is_known.then(|| Atom::of_json(value)))
    }

    /// `[read, x, 1]`, `[write, x, 1]`.
    fn micro(&self, step: &Json, is_certain: bool) -> Option<Step> {
        let [f, register, rest @ ..] = step.as_array()?.as_slice() else { return None };
        let value = match rest {
            [] => &Json::Null,
            [value] => value,
            _ => return None,
        };
        let register = register_of(register);
        match f.as_str()?.trim_start_matches(':') {
            "read" | "r" => Some(self.read(register, value, is_certain)),
            "write" | "w" => Some(Step::Write(register, Atom::of_json(value))),
            _ => None,
        }
    }

    /// `{x: 1, y: 2}`, of the operations `read` and `write`.
    fn all(
        &self,
        f: &str,
        registers: &serde_json::Map<String, Json>,
        certain: bool,
    ) -> Transaction {
        let step = |(name, value): (&String, &Json)| match f {
            "write" => Step::Write(named(name), Atom::of_json(value)),
            _ => self.read(named(name), value, certain),
        };
        registers.iter().map(step).collect()
    }

    fn steps(&self, f: &str, value: &Json, is_certain: bool) -> Option<Transaction> {
        match value {
            Json::Object(registers) => Some(self.all(f, registers, is_certain)),
            Json::Array(steps) => steps.iter().map(|step| self.micro(step, is_certain)).collect(),
            Json::Null => Some(Vec::new()),
            _ => None,
        }
    }
}

impl Object for MultiRegister {
    type State = Registers;
    type Operation = Transaction;

    fn name(&self) -> &'static str {
        "multi-register"
    }

    fn init(&self) -> Registers {
        Registers { others: self.other.clone(), named: self.init.clone() }
    }

    fn parse(&self, seen: &Seen) -> Result<Option<Transaction>, String> {
        let f = seen.f();
        if !["txn", "read", "write"].contains(&f) {
            return Err(seen.foreign("txn, read, write"));
        }
        let asked = json(seen.asked());
        let answered = seen.answer().map(json).filter(|answer| !answer.is_null());
        let is_certain = answered.is_some();
        let steps = self.steps(f, &answered.unwrap_or(asked), is_certain);
        let steps = steps.ok_or_else(|| {
            seen.malformed("[[read x nil] [write y 1] ...], or a value for each register by name")
        })?;
        let says_something = |step: &Step| !matches!(step, Step::Read(_, None));
        Ok(steps.iter().any(says_something).then_some(steps))
    }

    fn step(&self, state: &Registers, transaction: &Transaction) -> Option<Registers> {
        let mut next = None;
        for step in transaction {
            let now = next.as_ref().unwrap_or(state);
            match step {
                Step::Read(_, None) => {}
                Step::Read(register, Some(seen)) if now.get(register) == seen => {}
                Step::Read(..) => return None,
                Step::Write(register, value) => {
                    let registers: &mut Registers = next.get_or_insert_with(|| state.clone());
                    registers.set(register, value);
                }
            }
        }
        Some(next.unwrap_or_else(|| state.clone()))
    }

    fn describe(&self, transaction: &Transaction) -> String {
        const TOLD: usize = 6;
        let told = transaction.iter().take(TOLD).map(|step| match step {
            Step::Read(register, Some(seen)) => format!("read {register} = {seen}"),
            Step::Read(register, None) => format!("read {register}"),
            Step::Write(register, value) => format!("write {register} = {value}"),
        });
        let told = told.collect::<Vec<_>>().join(", ");
        match transaction.len() {
            0..=TOLD => format!("transaction [{told}]"),
            more => format!("transaction [{told}, ...] ({more} parts)"),
        }
    }

    fn describe_state(&self, state: &Registers) -> String {
        const TOLD: usize = 8;
        let told = state.named.iter().take(TOLD).map(|(name, value)| format!("{name} = {value}"));
        match state.named.len() {
            0 => format!("every register holds {}", state.others),
            _ => told.collect::<Vec<_>>().join(", "),
        }
    }

    fn observes(&self, transaction: &Transaction) -> bool {
        transaction.iter().all(|step| matches!(step, Step::Read(..)))
    }

    fn parts(&self, transaction: &Transaction) -> Vec<u64> {
        transaction.iter().map(|step| step.register().digest()).collect()
    }

    /// What nobody read might as well not have been written.
    fn may_tell(&self, by: &Transaction, open: &Transaction) -> bool {
        let is_seen = |step: &Step| {
            match step {
            Step::Read(..) => false,
            Step::Write(register, value) => by.iter().any(|seen| {
                matches!(seen, Step::Read(at, Some(read)) if at == register && read == value)
            }),
        }
        };
        open.iter().any(is_seen)
    }

    fn weight(&self, state: &Registers) -> usize {
        size_of::<Registers>() + state.named.len() * ENTRY
    }
}

/// Bytes of one register, with its share of the map.
const ENTRY: usize = 96;

impl Step {
    fn register(&self) -> &Atom {
        match self {
            Step::Read(register, _) | Step::Write(register, _) => register,
        }
    }
}

/// What registers hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Registers {
    named: BTreeMap<Atom, Atom>,
    others: Atom,
}

impl Registers {
    pub(in crate::checker::objects) fn get(&self, register: &Atom) -> &Atom {
        self.named.get(register).unwrap_or(&self.others)
    }

    pub(in crate::checker::objects) fn set(&mut self, register: &Atom, value: &Atom) {
        self.named.insert(register.clone(), value.clone());
    }
}

fn json(value: &Value) -> Json {
    match value {
        Value::Nil => Json::Null,
        Value::Int(value) => (*value).into(),
        Value::Pair(one, other) => vec![*one, *other].into(),
        Value::Json(json) => (**json).clone(),
    }
}

/// A register's name: numbers as numbers, though maps in JSON only have texts.
fn named(name: &str) -> Atom {
    name.parse().map_or_else(|_| Atom::Text(name.trim_start_matches(':').into()), Atom::Int)
}

fn register_of(name: &Json) -> Atom {
    match name.as_str() {
        Some(text) => named(text),
        None => Atom::of_json(name),
    }
}
