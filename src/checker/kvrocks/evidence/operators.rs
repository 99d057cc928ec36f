//! What operators asked of the controllers, and what controllers told of the topology.

use super::document::Document;
use super::shards::Shards;
use crate::op::{Event, Kind, Nanos, NodeName, Value};

/// A migration that was asked for and may have happened.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::checker) struct Migration {
    /// Index of the invocation.
    pub index: u64,
    pub slot: u16,
    pub target: usize,
    pub invoked: Nanos,
    /// When the controller had accepted it; `None` where nobody knows.
    pub accepted: Option<Nanos>,
    /// The version of the topology that marks it.
    pub version: Option<u64>,
    /// When it was known to be over, done or failed.
    pub over: Option<Nanos>,
    /// A version of the topology that gives the slot to its target.
    pub done: Option<u64>,
}

/// A failover that was asked for and may have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::checker) struct FailoverOrder {
    pub shard: usize,
    pub invoked: Nanos,
    /// `Nanos::MAX` where nobody knows.
    pub completed: Nanos,
}

/// A document that a controller gave.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::checker) struct Told {
    /// Index of the invocation.
    pub index: u64,
    /// The controller, where known.
    pub by: Option<NodeName>,
    pub asked: Nanos,
    pub answered: Nanos,
    /// It was asked for the topology, rather than for a change of it.
    pub is_read: bool,
    pub document: Document,
}

#[derive(Default)]
pub(super) struct Operators {
    pub told: Vec<Told>,
    pub migrations: Vec<Migration>,
    pub failovers: Vec<FailoverOrder>,
}

impl Operators {
    /// `current`: whether what is read from ZooKeeper is never older than the question.
    pub fn of(pairs: &[(&Event, Option<&Event>)], shards: &Shards, current: bool) -> Operators {
        let mut operators = Operators::default();
        for &(invocation, completion) in pairs {
            let ok = completion.filter(|event| event.kind == Kind::Ok);
            let failed = completion.is_some_and(|event| event.kind == Kind::Fail);
            let f = &*invocation.f;
            if !["migrate", "failover", "topology"].contains(&f) {
                continue;
            }
            if let Some(ok) = ok {
                operators.told.extend(told(invocation, ok));
            }
            match f {
                "migrate" if !failed => operators.migrations.extend(migration(invocation, ok)),
                "failover" if !failed => {
                    operators.failovers.extend(failover(invocation, ok));
                }
                _ => {}
            }
        }
        operators.told.sort_by_key(|told| told.answered);
        operators.add_those_only_seen(shards);
        operators.settle(current);
        operators
    }

    /// Marks in documents that no operator of this history asked for.
    fn add_those_only_seen(&mut self, shards: &Shards) {
        for told in &self.told {
            for mark in told.document.marks() {
                let Some(slot) = mark.slots.single() else { continue };
                let known = self.migrations.iter().any(|migration| {
                    (migration.slot, migration.target) == (slot, mark.target)
                        && migration.invoked <= told.answered
                });
                if !known && mark.target < shards.count {
                    self.migrations.push(Migration {
                        index: told.index,
                        slot,
                        target: mark.target,
                        invoked: 0,
                        accepted: Some(told.answered),
                        version: Some(told.document.version),
                        over: None,
                        done: None,
                    });
                }
            }
        }
        self.migrations.sort_by_key(|migration| (migration.invoked, migration.index));
    }

    /// Finds when each migration was over: its version passed, and its mark gone.
    fn settle(&mut self, current: bool) {
        for migration in &mut self.migrations {
            let Some(accepted) = migration.accepted else { continue };
            let mut gone = self.told.iter().filter(|told| {
                let later = match migration.version {
                    Some(version) => told.document.version > version,
                    None => current && told.is_read && told.asked > accepted,
                };
                later && !told.document.is_marked(migration.slot)
            });
            let first = gone.next();
            migration.over = first.map(|told| told.answered);
            // What is not done may go on at the nodes after the controllers have forgotten it.
            let mut after = first.into_iter().chain(gone);
            let done = after.find(|told| told.document.owns(migration.target, migration.slot));
            migration.done = done.map(|told| told.document.version);
        }
        // A slot is marked once at a time, so a later mark says that the one before it was over.
        for position in 0..self.migrations.len() {
            let slot = self.migrations[position].slot;
            let Some(before) = self.migrations[position].accepted else { continue };
            let later = self.migrations[position + 1..].iter().filter(|next| next.slot == slot);
            let accepted = later.filter(|next| next.invoked > before).filter_map(|m| m.accepted);
            if let Some(next) = accepted.min() {
                let over = &mut self.migrations[position].over;
                *over = Some(over.map_or(next, |known| known.min(next)));
            }
        }
    }
}

fn told(invocation: &Event, ok: &Event) -> Option<Told> {
    let answered_by = ok.route.as_ref().and_then(|route| route.last()).map(|hop| hop.node);
    Some(Told {
        index: invocation.index,
        by: answered_by.or(invocation.node),
        asked: invocation.time,
        answered: ok.time,
        is_read: &*invocation.f == "topology",
        document: Document::read(&ok.value)?,
    })
}

fn migration(invocation: &Event, ok: Option<&Event>) -> Option<Migration> {
    let field = |name| argument(invocation, name);
    let marked = ok.and_then(|ok| Document::read(&ok.value));
    let slot = u16::try_from(field("slot")?).ok()?;
    Some(Migration {
        index: invocation.index,
        slot,
        target: usize::try_from(field("target")?).ok()?,
        invoked: invocation.time,
        accepted: ok.map(|event| event.time),
        version: marked.filter(|document| document.is_marked(slot)).map(|marked| marked.version),
        over: None,
        done: None,
    })
}

fn failover(invocation: &Event, ok: Option<&Event>) -> Option<FailoverOrder> {
    Some(FailoverOrder {
        shard: usize::try_from(argument(invocation, "shard")?).ok()?,
        invoked: invocation.time,
        completed: ok.map_or(Nanos::MAX, |event| event.time),
    })
}

/// A number in what was asked for; slots are texts to some.
fn argument(event: &Event, name: &str) -> Option<u64> {
    let Value::Json(json) = &event.value else { return None };
    let field = json.get(name)?;
    field.as_u64().or_else(|| field.as_str()?.parse().ok())
}
