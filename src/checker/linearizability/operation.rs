//! The operations on one register, freed of all that the decision does not need.

use super::numbers::Numbers;
use crate::checker::RegisterModel;
use crate::name::Name;
use crate::op::{Event, Kind, Value};

/// A value of this register, numbered from the initial one.
pub(super) type ValueId = u32;

/// What the register holds before the first write.
pub(super) const INITIAL: ValueId = 0;

/// Completion of an operation that may take effect at any later time, or never.
pub(super) const NEVER: u32 = u32::MAX;

/// Operations whose events are looked at together.
const AHEAD: usize = 32;

/// An invocation and its completion, if there is one.
pub(super) type Pair<'a> = (&'a Event, Option<&'a Event>);

/// What an operation did or may do at its moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Effect {
    Read(ValueId),
    Write(ValueId),
    Cas {
        from: ValueId,
        to: ValueId,
    },
    /// A failed compare-and-set that proves: the register held something else.
    Differs(ValueId),
}

impl Effect {
    /// The value the register must hold for this to happen.
    pub fn observes(self) -> Option<ValueId> {
        match self {
            Effect::Read(value) | Effect::Cas { from: value, .. } => Some(value),
            Effect::Write(_) | Effect::Differs(_) => None,
        }
    }

    /// The value the register holds afterwards, where this sets it.
    pub fn produces(self) -> Option<ValueId> {
        match self {
            Effect::Write(value) | Effect::Cas { to: value, .. } => Some(value),
            Effect::Read(_) | Effect::Differs(_) => None,
        }
    }

    /// The value afterwards if it happens in `state`; `None` where it cannot happen.
    pub fn apply(self, state: ValueId) -> Option<ValueId> {
        match self {
            Effect::Read(value) => (value == state).then_some(state),
            Effect::Write(value) => Some(value),
            Effect::Cas { from, to } => (from == state).then_some(to),
            Effect::Differs(value) => (value != state).then_some(state),
        }
    }
}

/// One operation that happened (it has a completion) or may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub effect: Effect,
    /// Event indices, from 1: 0 is the moment before the history.
    pub invoke: u32,
    pub complete: u32,
    /// Position among the history's operations.
    pub origin: u32,
}

impl Operation {
    /// It may take effect at any later time, or never.
    pub fn is_open(&self) -> bool {
        self.complete == NEVER
    }
}

/// The operations on one register in order of invocation.
#[derive(Clone, Debug, Default)]
pub(super) struct Register {
    pub operations: Vec<Operation>,
    /// Values are numbered below this.
    pub values: usize,
}

impl Register {
    /// Reads the operations that are members of one key. An error says why they cannot be judged.
    ///
    /// What surely did not happen, and reads whose result nobody saw, say nothing and are left out.
    pub fn read(
        pairs: &[Pair],
        members: &[u32],
        model: &RegisterModel,
    ) -> Result<Register, String> {
        let mut numbers = Numbers::new(&model.initial, members.len());
        let mut operations = Vec::with_capacity(members.len());
        let mut heads = Vec::with_capacity(AHEAD);
        for chunk in members.chunks(AHEAD) {
            // Events lie scattered: looked at together they are waited for together.
            heads.clear();
            heads.extend(chunk.iter().map(|origin| Head::of(pairs[*origin as usize])));
            for (origin, head) in chunk.iter().zip(&heads) {
                let pair = pairs[*origin as usize];
                operations.extend(read_one(pair, *origin, head, model, &mut numbers)?);
            }
        }
        Ok(Register { operations, values: numbers.count() })
    }
}

/// What is looked at of every operation.
struct Head {
    f: Name,
    invoked: u64,
    /// The completion's kind and index.
    completed: Option<(Kind, u64)>,
}

impl Head {
    fn of((invocation, completion): Pair) -> Head {
        let completed = completion.map(|completion| (completion.kind, completion.index));
        Head { f: invocation.f, invoked: invocation.index, completed }
    }

    fn kind(&self) -> Option<Kind> {
        self.completed.map(|(kind, _)| kind)
    }
}

fn read_one(
    (invocation, completion): Pair,
    origin: u32,
    head: &Head,
    model: &RegisterModel,
    numbers: &mut Numbers,
) -> Result<Option<Operation>, String> {
    let effect = match head.kind() {
        Some(Kind::Fail) => failed_effect(invocation, completion, model, numbers)?,
        _ => effect(invocation, completion, head, model, numbers)?,
    };
    let Some(effect) = effect else { return Ok(None) };
    let complete = match head.completed {
        None | Some((Kind::Info, _)) => NEVER,
        Some((_, index)) => position(index)?,
    };
    Ok(Some(Operation { effect, invoke: position(head.invoked)?, complete, origin }))
}

fn position(index: u64) -> Result<u32, String> {
    u32::try_from(index + 1)
        .ok()
        .filter(|position| *position != NEVER)
        .ok_or_else(|| format!("index {index} is beyond what can be checked"))
}

fn effect(
    invocation: &Event,
    completion: Option<&Event>,
    head: &Head,
    model: &RegisterModel,
    numbers: &mut Numbers,
) -> Result<Option<Effect>, String> {
    let kind = head.kind();
    match &*head.f {
        "read" => {
            let Some(completion) = completion.filter(|_| kind == Some(Kind::Ok)) else {
                return Ok(None);
            };
            if model.nil_is_wildcard && completion.value == Value::Nil {
                return Ok(None);
            }
            Ok(Some(Effect::Read(numbers.of(&completion.value))))
        }
        "write" => Ok(Some(Effect::Write(numbers.of(&invocation.value)))),
        "cas" if model.cas => {
            let (from, to) = cas_values(invocation, numbers)?;
            Ok(match (from == to, kind == Some(Kind::Ok)) {
                (false, _) => Some(Effect::Cas { from, to }),
                // It changes nothing: a read, or nothing at all.
                (true, true) => Some(Effect::Read(from)),
                (true, false) => None,
            })
        }
        other => Err(format!(
            "the operation `{other}` of index {} is not one of this model's ({})",
            invocation.index,
            if model.cas { "read, write, cas" } else { "read, write" }
        )),
    }
}

/// A failed operation did not happen; a failed compare-and-set may still be evidence.
fn failed_effect(
    invocation: &Event,
    completion: Option<&Event>,
    model: &RegisterModel,
    numbers: &mut Numbers,
) -> Result<Option<Effect>, String> {
    let error = completion.and_then(|event| event.error.as_deref());
    let by_precondition = error.is_none_or(|error| error.contains("precondition"));
    if !(model.failed_cas_is_evidence && by_precondition && &*invocation.f == "cas") {
        return Ok(None);
    }
    Ok(Some(Effect::Differs(cas_values(invocation, numbers)?.0)))
}

fn cas_values(event: &Event, numbers: &mut Numbers) -> Result<(ValueId, ValueId), String> {
    if let Value::Pair(from, to) = event.value {
        return Ok((numbers.of(&Value::Int(from)), numbers.of(&Value::Int(to))));
    }
    if let Value::Json(json) = &event.value
        && let Some([from, to]) = json.as_array().map(Vec::as_slice)
    {
        return Ok((numbers.of_json(from), numbers.of_json(to)));
    }
    Err(format!(
        "the cas of index {} has the value {}, expected [from, to]",
        event.index, event.value
    ))
}
