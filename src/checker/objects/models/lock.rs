//! Locks: one holder at a time.

use serde_json::Value as Json;

use crate::checker::objects::atom::Atom;
use crate::checker::objects::object::Object;
use crate::checker::objects::seen::Seen;
use crate::op::Value;

/// Which promises a lock makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Anybody may release it.
    Mutex,
    /// Whoever holds it releases it, where the history names owners.
    Lock,
    /// Whoever holds it releases it: an owner by name, or the process.
    OwnerMutex,
    /// Its holder may acquire it again, and releases it as often.
    ReentrantMutex,
    /// As an owner mutex, and each acquisition comes with a larger token than those before.
    FencedLock,
}

/// A lock that is free at first.
#[derive(Clone, Debug)]
pub struct Lock {
    pub(in crate::checker::objects) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Acquire {
        owner: Atom,
        token: Option<i64>,
    },
    Release {
        owner: Atom,
    },
    /// It was not given to the owner, for somebody held it.
    Refused {
        owner: Atom,
    },
    /// It was not taken from the owner, who did not hold it.
    NotHeld {
        owner: Atom,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Held {
    /// Who, and how often.
    by: Option<(Atom, u32)>,
    /// The last token that came with it.
    token: Option<i64>,
}

impl Lock {
    pub fn new(kind: Kind) -> Result<Lock, String> {
        Ok(Lock { kind })
    }

    /// The value by itself, or its client; the process where that counts.
    fn owner(&self, seen: &Seen) -> Atom {
        match self.kind {
            Kind::Mutex => Atom::Nil,
            Kind::Lock => named_owner(seen).unwrap_or(Atom::Nil),
            _ => named_owner(seen).unwrap_or_else(|| process(seen)),
        }
    }

    /// The token that came with an acquisition.
    fn token(&self, seen: &Seen) -> Option<i64> {
        let token = match seen.answer().filter(|_| self.kind == Kind::FencedLock)? {
            Value::Int(token) => Some(*token),
            Value::Json(json) => field(json, &["fence", "token"]).and_then(Json::as_i64),
            Value::Nil | Value::Pair(..) => None,
        };
        // By convention, -1 is none.
        token.filter(|token| *token >= 0)
    }

    fn acquire(&self, held: &Held, owner: &Atom, token: Option<i64>) -> Option<Held> {
        let is_newer = token.is_none_or(|token| held.token.is_none_or(|last| token > last));
        let times = match &held.by {
            None => 1,
            Some((by, times)) if self.kind == Kind::ReentrantMutex && by == owner => times + 1,
            Some(_) => return None,
        };
        is_newer.then(|| Held { by: Some((owner.clone(), times)), token: token.or(held.token) })
    }

    fn release(&self, held: &Held, owner: &Atom) -> Option<Held> {
        let (by, times) = held.by.as_ref().filter(|(by, _)| by == owner)?;
        let by = (*times > 1).then(|| (by.clone(), times - 1));
        Some(Held { by, token: held.token })
    }
}

/// A whole value that is a text, or one of these fields of it.
fn field<'a>(json: &'a Json, names: &[&str]) -> Option<&'a Json> {
    match json {
        Json::Object(fields) => names.iter().find_map(|name| fields.get(*name)),
        other => Some(other),
    }
}

/// The owner that the operation names.
pub(super) fn named_owner(seen: &Seen) -> Option<Atom> {
    let named = match seen.asked() {
        Value::Json(json) => field(json, &["client", "owner", "node"]).map(Atom::of_json),
        other => Some(Atom::of(other)),
    };
    named.filter(|owner| *owner != Atom::Nil)
}

/// Who is the owner where none is named.
pub(super) fn process(seen: &Seen) -> Atom {
    Atom::Text(format!("process {}", seen.invocation().process).into())
}

/// An `ok` with `false`.
pub(super) fn is_refusal(seen: &Seen) -> bool {
    matches!(seen.answer(), Some(Value::Json(json)) if **json == Json::Bool(false))
}

impl Object for Lock {
    type State = Held;
    type Operation = Operation;

    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Mutex => "mutex",
            Kind::Lock => "lock",
            Kind::OwnerMutex => "owner-mutex",
            Kind::ReentrantMutex => "reentrant-mutex",
            Kind::FencedLock => "fenced-lock",
        }
    }

    fn init(&self) -> Held {
        Held::default()
    }

    fn parse(&self, seen: &Seen) -> Result<Option<Operation>, String> {
        let owner = self.owner(seen);
        Ok(Some(match (seen.f(), is_refusal(seen)) {
            ("acquire" | "lock", false) => Operation::Acquire { owner, token: self.token(seen) },
            ("acquire" | "lock", true) => Operation::Refused { owner },
            ("release" | "unlock", false) => Operation::Release { owner },
            ("release" | "unlock", true) => Operation::NotHeld { owner },
            _ => return Err(seen.foreign("acquire, release")),
        }))
    }

    fn step(&self, held: &Held, operation: &Operation) -> Option<Held> {
        match operation {
            Operation::Acquire { owner, token } => self.acquire(held, owner, *token),
            Operation::Release { owner } => self.release(held, owner),
            Operation::Refused { owner } => {
                self.acquire(held, owner, None).is_none().then(|| held.clone())
            }
            Operation::NotHeld { owner } => {
                self.release(held, owner).is_none().then(|| held.clone())
            }
        }
    }

    fn describe(&self, operation: &Operation) -> String {
        let of = |owner: &Atom| match owner {
            Atom::Nil => String::new(),
            owner => format!(" for {owner}"),
        };
        match operation {
            Operation::Acquire { owner, token: None } => format!("acquire{}", of(owner)),
            Operation::Acquire { owner, token: Some(token) } => {
                format!("acquire{} with token {token}", of(owner))
            }
            Operation::Release { owner } => format!("release{}", of(owner)),
            Operation::Refused { owner } => format!("refused acquire{}", of(owner)),
            Operation::NotHeld { owner } => format!("refused release{}", of(owner)),
        }
    }

    fn describe_state(&self, held: &Held) -> String {
        let by = match &held.by {
            None => "nobody holds the lock".to_owned(),
            Some((Atom::Nil, _)) => "the lock is held".to_owned(),
            Some((owner, 1)) => format!("{owner} holds the lock"),
            Some((owner, times)) => format!("{owner} holds the lock {times} times"),
        };
        match held.token {
            None => by,
            Some(token) => format!("{by} and its last token was {token}"),
        }
    }

    fn observes(&self, operation: &Operation) -> bool {
        matches!(operation, Operation::Refused { .. } | Operation::NotHeld { .. })
    }
}
