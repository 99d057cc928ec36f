//! A lock that is held for a lease: once that has passed, somebody else may take it over.

use std::fmt;

use super::lock::{is_refusal, named_owner, process};
use crate::checker::ModelOptions;
use crate::checker::objects::atom::Atom;
use crate::checker::objects::fast::Shortcut;
use crate::checker::objects::object::Object;
use crate::checker::objects::seen::{Seen, Timed};
use crate::op::{MILLISECOND, Nanos, SECOND};

/// A lock that is free at first.
///
/// Leases are counted in the history's time. Every operation took effect at some moment between its invocation
/// and its completion; whoever takes a lock over does so no sooner than a lease after it was acquired. All
/// that is asked of moments is that they are late enough, so each is taken to be as early as it can be.
#[derive(Clone, Debug)]
pub struct LeaseLock {
    /// None where nobody said how long it is.
    pub(in crate::checker::objects) lease: Option<Nanos>,
}

/// When an operation may have taken effect; never, if it is not known to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    pub from: Nanos,
    pub until: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deed {
    Acquire,
    Release,
    /// It was not given to the owner, for somebody held it.
    Refused,
    /// It was not taken from the owner, who did not hold it any more.
    NotHeld,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    pub deed: Deed,
    pub owner: Atom,
    pub span: Span,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Held {
    /// Who, and the earliest moment since when.
    by: Option<(Atom, Nanos)>,
    /// The earliest moment at which the last operation can have taken effect.
    now: Nanos,
}

impl LeaseLock {
    pub fn new(options: &ModelOptions) -> Result<LeaseLock, String> {
        let nanos = |lease: u64| lease.checked_mul(MILLISECOND);
        match options.lease_ms.map(nanos) {
            Some(None) => Err("a lease cannot be that long: expected milliseconds".to_owned()),
            lease => Ok(LeaseLock { lease: lease.flatten() }),
        }
    }

    /// When the lease of what was acquired at this moment has passed.
    fn passes(&self, since: Nanos) -> Nanos {
        since.saturating_add(self.lease.unwrap_or(Nanos::MAX))
    }
}

impl Object for LeaseLock {
    type State = Held;
    type Operation = Operation;

    fn name(&self) -> &'static str {
        "lease-lock"
    }

    fn init(&self) -> Held {
        Held::default()
    }

    fn parse(&self, seen: &Seen) -> Result<Option<Operation>, String> {
        if self.lease.is_none() {
            return Err("nobody said how long a lease is: say --lease-ms N".to_owned());
        }
        let deed = match (seen.f(), is_refusal(seen)) {
            ("acquire" | "lock", false) => Deed::Acquire,
            ("acquire" | "lock", true) => Deed::Refused,
            ("release" | "unlock", false) => Deed::Release,
            ("release" | "unlock", true) => Deed::NotHeld,
            _ => return Err(seen.foreign("acquire, release")),
        };
        let until = seen.completion().map_or(Nanos::MAX, |completion| completion.time);
        let span = Span { from: seen.invocation().time, until };
        let owner = named_owner(seen).unwrap_or_else(|| process(seen));
        Ok(Some(Operation { deed, owner, span }))
    }

    fn step(&self, held: &Held, operation: &Operation) -> Option<Held> {
        let Operation { deed, owner, span } = operation;
        let now = held.now.max(span.from);
        let passes = held.by.as_ref().map_or(now, |(_, since)| self.passes(*since).max(now));
        let is_holder = held.by.as_ref().is_some_and(|(by, _)| by == owner);
        let next = match deed {
            Deed::Acquire => Held { by: Some((owner.clone(), passes)), now: passes },
            Deed::Release if is_holder => Held { by: None, now },
            Deed::Refused if held.by.is_some() => Held { now, ..held.clone() },
            // The lease of who held it has passed.
            Deed::NotHeld if is_holder => Held { by: None, now: passes },
            Deed::NotHeld => Held { now, ..held.clone() },
            Deed::Release | Deed::Refused => return None,
        };
        (next.now <= span.until).then_some(next)
    }

    fn describe(&self, operation: &Operation) -> String {
        let what = match operation.deed {
            Deed::Acquire => "acquire",
            Deed::Release => "release",
            Deed::Refused => "refused acquire",
            Deed::NotHeld => "refused release",
        };
        format!("{what} for {}", operation.owner)
    }

    fn describe_state(&self, held: &Held) -> String {
        match &held.by {
            None => "nobody holds the lock".to_owned(),
            Some((owner, since)) => {
                let (since, passes) = (Moment(*since), Moment(self.passes(*since)));
                format!("{owner} holds the lock since {since} or later, so until {passes} at least")
            }
        }
    }

    /// Only who released the lock, or was refused it, needs somebody to have acquired it; only who acquired it, or
    /// did not hold it any more, somebody to have released it.
    fn may_tell(&self, by: &Operation, open: &Operation) -> bool {
        match open.deed {
            Deed::Acquire => matches!(by.deed, Deed::Release | Deed::Refused),
            Deed::Release => matches!(by.deed, Deed::Acquire | Deed::NotHeld),
            Deed::Refused | Deed::NotHeld => false,
        }
    }

    fn shortcut(&self, operations: &[Timed<Operation>]) -> Shortcut {
        match untimely(operations) {
            Some(why) => Shortcut::Refused { why },
            None => Shortcut::None,
        }
    }
}

/// Why the times of these operations say nothing.
fn untimely(operations: &[Timed<Operation>]) -> Option<&'static str> {
    let mut times: Vec<(u32, Nanos)> = Vec::with_capacity(2 * operations.len());
    for timed in operations {
        let span = timed.operation.span;
        times.push((timed.invoke, span.from));
        times.extend((!timed.is_open()).then_some((timed.complete, span.until)));
    }
    times.sort_unstable();
    if !times.is_sorted_by_key(|(_, time)| *time) {
        return Some("time goes back in the history");
    }
    let is_timed = times.last().is_none_or(|(_, last)| *last > 0);
    (!is_timed).then_some("the history tells no times, which leases need")
}

/// In seconds.
struct Moment(Nanos);

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:.3} s", self.0 as f64 / SECOND as f64)
    }
}
