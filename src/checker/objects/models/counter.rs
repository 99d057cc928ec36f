//! A counter that is added to and read.

use crate::checker::ModelOptions;
use crate::checker::objects::object::Object;
use crate::checker::objects::seen::Seen;
use crate::history::Datum;
use crate::op::Value;

/// A counter; it may go down as well.
#[derive(Clone, Debug)]
pub struct Counter {
    init: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Adds, and may have answered the sum.
    Add {
        amount: i64,
        sum: Option<i64>,
    },
    Read(i64),
}

impl Counter {
    pub fn new(options: &ModelOptions) -> Result<Counter, String> {
        let init = Datum::Json(options.initial());
        let value = if init.is_nil() { Some(0) } else { init.as_i64() };
        let refusal =
            || format!("a counter cannot be `{}` at first: expected an integer", options.initial());
        Ok(Counter { init: value.ok_or_else(refusal)? })
    }

    /// What is added: the value asked for, or one.
    fn amount(seen: &Seen, sign: i64) -> Result<i64, String> {
        let amount = match seen.asked() {
            Value::Nil => Some(1),
            Value::Int(amount) => Some(*amount),
            _ => None,
        };
        amount
            .and_then(|amount| amount.checked_mul(sign))
            .ok_or_else(|| seen.malformed("an integer, or nothing"))
    }
}

impl Object for Counter {
    type State = i64;
    type Operation = Operation;

    fn name(&self) -> &'static str {
        "linearizable-counter"
    }

    fn init(&self) -> i64 {
        self.init
    }

    fn parse(&self, seen: &Seen) -> Result<Option<Operation>, String> {
        let sign = match seen.f() {
            "add" | "incr" | "inc" | "increment" => 1,
            "decr" | "dec" | "decrement" | "sub" => -1,
            "read" | "get" => {
                return match seen.answer() {
                    None => Ok(None),
                    Some(Value::Int(value)) => Ok(Some(Operation::Read(*value))),
                    Some(Value::Nil) => Ok(Some(Operation::Read(self.init))),
                    Some(_) => Err(seen.unreadable("an integer")),
                };
            }
            _ => return Err(seen.foreign("add, incr, decr, read")),
        };
        let amount = Counter::amount(seen, sign)?;
        // An answer that only repeats what was asked for is no sum.
        let sum = match (seen.asked(), seen.answer()) {
            (Value::Nil, Some(Value::Int(sum))) => Some(*sum),
            _ => None,
        };
        Ok(Some(Operation::Add { amount, sum }))
    }

    fn step(&self, state: &i64, operation: &Operation) -> Option<i64> {
        match operation {
            Operation::Add { amount, sum } => {
                let next = state.checked_add(*amount)?;
                sum.is_none_or(|sum| sum == next).then_some(next)
            }
            Operation::Read(seen) => (seen == state).then_some(*state),
        }
    }

    fn describe(&self, operation: &Operation) -> String {
        match operation {
            Operation::Add { amount, sum: None } => format!("add of {amount}"),
            Operation::Add { amount, sum: Some(sum) } => format!("add of {amount} to make {sum}"),
            Operation::Read(seen) => format!("read of {seen}"),
        }
    }

    fn describe_state(&self, state: &i64) -> String {
        format!("the counter is {state}")
    }

    fn observes(&self, operation: &Operation) -> bool {
        matches!(operation, Operation::Read(_))
    }

    fn resets(&self, operation: &Operation) -> bool {
        matches!(operation, Operation::Add { amount, .. } if *amount < 0)
    }

    /// What only goes up does not come back.
    fn hopeless(&self, state: &i64, wanted: &Operation) -> bool {
        matches!(wanted, Operation::Read(seen) if state > seen)
    }
}
