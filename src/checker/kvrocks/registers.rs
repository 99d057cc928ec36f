//! Registers whose values are all different: who wrote a value, what it replaced, and who saw it.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::answers::{Answer, Pair};
use crate::op::{Event, Key, Kind, Nanos, Value};

/// One operation that wrote a value, or may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written<'a> {
    pub invocation: &'a Event,
    /// What a compare-and-set replaced.
    pub replaced: Option<i64>,
    /// `None` where nobody knows whether it happened.
    pub answer: Option<Answer<'a>>,
}

impl Written<'_> {
    /// When it surely had happened; never where nobody knows.
    pub fn end(&self) -> Nanos {
        self.answer.map_or(Nanos::MAX, |answer| answer.end)
    }
}

/// All that concerns one register.
#[derive(Clone, Debug, Default)]
pub(super) struct Register<'a> {
    pub written: FxHashMap<i64, Written<'a>>,
    /// In order of invocation; `None` is a read of nothing.
    pub reads: Vec<(Answer<'a>, Option<i64>)>,
    /// A value was written more than once, so nothing can be told by values.
    pub is_ambiguous: bool,
}

/// Registers by key, in order of first appearance.
pub(super) type Registers<'a> = IndexMap<&'a Key, Register<'a>>;

pub(super) fn registers<'a>(pairs: &[Pair<'a>]) -> Registers<'a> {
    let mut registers = Registers::new();
    for pair in pairs {
        let (invocation, completion) = *pair;
        let Some(key) = invocation.key.as_ref() else { continue };
        let (value, replaced) = match (&*invocation.f, &invocation.value) {
            ("write", Value::Int(value)) => (*value, None),
            ("cas", Value::Pair(from, to)) => (*to, Some(*from)),
            ("read", _) => {
                if let Some(answer) = Answer::of(pair) {
                    let register = registers.entry(key).or_default();
                    match answer.completion.value {
                        Value::Nil => register.reads.push((answer, None)),
                        Value::Int(value) => register.reads.push((answer, Some(value))),
                        _ => {}
                    }
                }
                continue;
            }
            _ => continue,
        };
        if completion.is_some_and(|event| event.kind == Kind::Fail) {
            continue;
        }
        let written = Written { invocation, replaced, answer: Answer::of(pair) };
        let register: &mut Register = registers.entry(key).or_default();
        register.is_ambiguous |= register.written.insert(value, written).is_some();
    }
    registers
}

impl<'a> Register<'a> {
    /// When a value surely was there; nothing was there from the start. `None` for a value that
    /// nobody wrote.
    pub fn since(&self, value: Option<i64>) -> Option<Nanos> {
        match value {
            None => Some(0),
            Some(value) => self.written.get(&value).map(Written::end),
        }
    }

    /// Acknowledged writes with their values, in order of their starts.
    pub fn acknowledged(&self) -> Vec<(i64, Answer<'a>)> {
        let mut found: Vec<(i64, Answer)> =
            self.written.iter().filter_map(|(value, w)| Some((*value, w.answer?))).collect();
        found.sort_by_key(|(value, answer)| (answer.start, answer.invocation.index, *value));
        found
    }
}
