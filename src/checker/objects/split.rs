//! The operations of a history, apart for each object and each part of an object that shares no operation
//! with another. That is exact: linearizability is local (Herlihy and Wing 1990).

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::object::Object;
use super::seen::{NEVER, Seen, Timed, position};
use crate::op::{Event, Key};

/// An invocation and its completion, if there is one.
pub(super) type Pair<'a> = (&'a Event, Option<&'a Event>);

/// Operations that are judged by themselves.
pub(super) struct Part<'a, T> {
    pub key: Option<&'a Key>,
    /// In order of invocation.
    pub operations: Vec<Timed<T>>,
}

/// An object whose operations cannot be judged, and why.
pub(super) struct Refused<'a> {
    pub key: Option<&'a Key>,
    pub why: String,
}

type Outcome<'a, T> = Result<Vec<Part<'a, T>>, Refused<'a>>;

/// By key in order of first appearance.
pub(super) fn split<'a, O: Object>(
    object: &O,
    pairs: &[Pair<'a>],
) -> Vec<Outcome<'a, O::Operation>> {
    let mut members: IndexMap<Option<&Key>, Vec<u32>, FxBuildHasher> = IndexMap::default();
    for (origin, (invocation, _)) in pairs.iter().enumerate() {
        members.entry(invocation.key.as_ref()).or_default().push(origin as u32);
    }
    let each = members.into_iter().map(|(key, members)| {
        let read = operations(object, pairs, &members);
        let operations = read.map_err(|why| Refused { key, why })?;
        let parts = independent(object, operations).into_iter();
        Ok(parts.map(|operations| Part { key, operations }).collect())
    });
    each.collect()
}

fn operations<O: Object>(
    object: &O,
    pairs: &[Pair],
    members: &[u32],
) -> Result<Vec<Timed<O::Operation>>, String> {
    let mut operations = Vec::with_capacity(members.len());
    for &origin in members {
        let (invocation, completion) = pairs[origin as usize];
        let Some(seen) = Seen::new(invocation, completion) else { continue };
        let Some(operation) = object.parse(&seen)? else { continue };
        let certain = completion.filter(|_| seen.answer().is_some());
        operations.push(Timed {
            operation,
            invoke: position(invocation)?,
            complete: certain.map_or(Ok(NEVER), position)?,
            origin,
        });
    }
    operations.sort_by_key(|timed| timed.invoke);
    Ok(operations)
}

/// The operations of each independent part, in order of first appearance.
fn independent<O: Object>(
    object: &O,
    operations: Vec<Timed<O::Operation>>,
) -> Vec<Vec<Timed<O::Operation>>> {
    let mut groups = Groups::default();
    let mut group_of = Vec::with_capacity(operations.len());
    for timed in &operations {
        let parts = object.parts(&timed.operation);
        let Some((first, others)) = parts.split_first() else { return vec![operations] };
        let first = groups.member(*first);
        for other in others {
            let other = groups.member(*other);
            groups.join(first, other);
        }
        group_of.push(first);
    }
    let mut divided: IndexMap<usize, Vec<Timed<O::Operation>>, FxBuildHasher> = IndexMap::default();
    for (timed, member) in operations.into_iter().zip(group_of) {
        divided.entry(groups.root(member)).or_default().push(timed);
    }
    divided.into_values().collect()
}

/// Sets of parts that some operation joins (union-find).
#[derive(Default)]
struct Groups {
    members: FxHashMap<u64, usize>,
    parents: Vec<usize>,
}

impl Groups {
    fn member(&mut self, part: u64) -> usize {
        let next = self.parents.len();
        let member = *self.members.entry(part).or_insert(next);
        if member == next {
            self.parents.push(next);
        }
        member
    }

    fn root(&mut self, mut member: usize) -> usize {
        while self.parents[member] != member {
            self.parents[member] = self.parents[self.parents[member]];
            member = self.parents[member];
        }
        member
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.parents[other] = one;
    }
}
