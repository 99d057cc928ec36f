//! A semaphore: so many permits, each held by one owner at a time.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::checker::ModelOptions;
use crate::checker::objects::atom::Atom;
use crate::checker::objects::object::Object;
use crate::checker::objects::seen::{Seen, Timed};
use crate::op::Value;

/// A semaphore of which nobody holds permits at first.
#[derive(Clone, Debug)]
pub struct Semaphore {
    /// None where nobody said how many there are.
    pub(in crate::checker::objects) permits: Option<u64>,
}

/// Permits, and whose they are: nil where the history names no owners.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Permits {
    pub owner: Atom,
    pub count: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Acquire(Permits),
    Release(Permits),
    /// They were not given, for too few were left.
    Refused(Permits),
    /// They were not taken back from the owner, who held fewer.
    NotHeld(Permits),
}

impl Semaphore {
    pub fn new(options: &ModelOptions) -> Result<Semaphore, String> {
        match options.initial() {
            Json::Null => Ok(Semaphore { permits: None }),
            init => match init.as_u64() {
                Some(permits) => Ok(Semaphore { permits: Some(permits) }),
                None => Err(format!(
                    "a semaphore cannot have `{init}` permits at first: expected a number, such as 2"
                )),
            },
        }
    }

    fn acquire(&self, held: &Held, permits: &Permits) -> Option<Held> {
        let all: u64 = held.values().fold(0, |sum, count| sum.saturating_add(*count));
        let is_enough = all.saturating_add(permits.count) <= self.permits.unwrap_or(0);
        is_enough.then(|| {
            let mut held = held.clone();
            *held.entry(permits.owner.clone()).or_default() += permits.count;
            held
        })
    }
}

type Held = BTreeMap<Atom, u64>;

fn release(held: &Held, permits: &Permits) -> Option<Held> {
    let left = held.get(&permits.owner)?.checked_sub(permits.count)?;
    let mut held = held.clone();
    match left {
        0 => held.remove(&permits.owner),
        left => held.insert(permits.owner.clone(), left),
    };
    Some(held)
}

/// A number is how many permits, a text whose; or both by name. One, where nothing is said.
fn permits(value: &Value) -> Option<Permits> {
    let named = |fields: &[&str], json: &Json| fields.iter().find_map(|f| json.get(*f).cloned());
    let (owner, count) = match value {
        Value::Nil => (None, None),
        Value::Int(count) => (None, Some(u64::try_from(*count).ok()?)),
        Value::Json(json) => match &**json {
            Json::String(_) => (Some(Atom::of_json(json)), None),
            Json::Bool(_) => (None, None),
            Json::Object(_) => {
                let owner = named(&["client", "owner", "node"], json);
                let count = named(&["permits", "count"], json);
                let count = count.map(|count| count.as_u64().ok_or(())).transpose().ok()?;
                (owner.map(|owner| Atom::of_json(&owner)), count)
            }
            _ => return None,
        },
        Value::Pair(..) => return None,
    };
    let count = count.unwrap_or(1);
    (count > 0).then(|| Permits { owner: owner.unwrap_or(Atom::Nil), count })
}

fn is_named(value: &Value) -> bool {
    matches!(value, Value::Json(json) if json.is_object())
}

impl Object for Semaphore {
    /// By owner, none of them 0.
    type State = Held;
    type Operation = Operation;

    fn name(&self) -> &'static str {
        "semaphore"
    }

    fn init(&self) -> Held {
        Held::new()
    }

    fn parse(&self, seen: &Seen) -> Result<Option<Operation>, String> {
        if self.permits.is_none() {
            return Err("nobody said how many permits there are: say --init N".to_owned());
        }
        let expected = "a number of permits, an owner, or {\"client\": .., \"permits\": ..}";
        let mut asked = permits(seen.asked()).ok_or_else(|| seen.malformed(expected))?;
        let is_refused = matches!(seen.answer(), Some(Value::Json(json)) if **json == false);
        // As in Jepsen's tests of Hazelcast, only the answer may say whose they are, and how many.
        if let Some(answered) = seen.answer().filter(|answer| is_named(answer)).and_then(permits) {
            asked = match asked.owner {
                Atom::Nil if *seen.asked() == Value::Nil => answered,
                Atom::Nil => Permits { owner: answered.owner, ..asked },
                _ => asked,
            };
        }
        Ok(Some(match (seen.f(), is_refused) {
            ("acquire" | "try-acquire", false) => Operation::Acquire(asked),
            ("acquire" | "try-acquire", true) => Operation::Refused(asked),
            ("release", false) => Operation::Release(asked),
            ("release", true) => Operation::NotHeld(asked),
            _ => return Err(seen.foreign("acquire, release")),
        }))
    }

    fn step(&self, held: &Held, operation: &Operation) -> Option<Held> {
        match operation {
            Operation::Acquire(permits) => self.acquire(held, permits),
            Operation::Release(permits) => release(held, permits),
            Operation::Refused(permits) => {
                self.acquire(held, permits).is_none().then(|| held.clone())
            }
            Operation::NotHeld(permits) => release(held, permits).is_none().then(|| held.clone()),
        }
    }

    fn describe(&self, operation: &Operation) -> String {
        let (what, permits) = match operation {
            Operation::Acquire(permits) => ("acquire", permits),
            Operation::Release(permits) => ("release", permits),
            Operation::Refused(permits) => ("refused acquire", permits),
            Operation::NotHeld(permits) => ("refused release", permits),
        };
        let count = match permits.count {
            1 => String::new(),
            count => format!(" of {count} permits"),
        };
        match &permits.owner {
            Atom::Nil => format!("{what}{count}"),
            owner => format!("{what}{count} for {owner}"),
        }
    }

    fn describe_state(&self, held: &Held) -> String {
        let taken: u64 = held.values().sum();
        let all = self.permits.unwrap_or(0);
        let mut by: Vec<String> = held
            .iter()
            .filter(|(owner, _)| **owner != Atom::Nil)
            .take(8)
            .map(|(owner, count)| format!("{count} by {owner}"))
            .collect();
        if held.len() > 8 {
            by.push(format!("and by {} others", held.len() - 8));
        }
        match by.is_empty() {
            true => format!("{taken} of {all} permits are held"),
            false => format!("{taken} of {all} permits are held: {}", by.join(", ")),
        }
    }

    fn observes(&self, operation: &Operation) -> bool {
        matches!(operation, Operation::Refused(_) | Operation::NotHeld(_))
    }

    /// Where others are named, one that was not heard of again may be anybody's.
    fn alternatives(&self, operation: &Operation, all: &[Timed<Operation>]) -> Vec<Operation> {
        let as_by = |owner: &Atom, count| Permits { owner: owner.clone(), count };
        let owners: BTreeSet<&Atom> =
            all.iter().map(|timed| &timed.operation.permits().owner).collect();
        let owners = owners.into_iter();
        match operation {
            Operation::Acquire(Permits { owner: Atom::Nil, count }) => {
                owners.map(|owner| Operation::Acquire(as_by(owner, *count))).collect()
            }
            Operation::Release(Permits { owner: Atom::Nil, count }) => {
                owners.map(|owner| Operation::Release(as_by(owner, *count))).collect()
            }
            known => vec![known.clone()],
        }
    }

    /// Only who released permits or was refused some needs others to have acquired some; only who acquired
    /// permits or did not hold some, others to have released some.
    fn may_tell(&self, by: &Operation, open: &Operation) -> bool {
        match open {
            Operation::Acquire(_) => {
                matches!(by, Operation::Release(_) | Operation::Refused(_))
            }
            Operation::Release(_) => {
                matches!(by, Operation::Acquire(_) | Operation::NotHeld(_))
            }
            Operation::Refused(_) | Operation::NotHeld(_) => false,
        }
    }

    fn weight(&self, held: &Held) -> usize {
        size_of::<Held>() + held.len() * 2 * size_of::<(Atom, u64)>()
    }
}

impl Operation {
    fn permits(&self) -> &Permits {
        match self {
            Operation::Acquire(permits)
            | Operation::Release(permits)
            | Operation::Refused(permits)
            | Operation::NotHeld(permits) => permits,
        }
    }
}
