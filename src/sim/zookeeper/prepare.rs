//! The leader's first step with a write: check it against the state that all proposals under way
//! will have produced, and turn it into a transaction.
//!
//! The order of checks is ZooKeeper's, because it decides which error a client sees.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::message::{Part, Path, Refusal, Write};
use super::tree::{SPECIAL_PATHS, Tree, split};
use super::txn::{Change, Step};
use super::{SessionId, Variant, Zxid};
use crate::cluster::CreateMode;

/// A znode as it will be: all that checks need.
#[derive(Clone, Copy, Debug)]
struct Record {
    exists: bool,
    version: i32,
    creates: i32,
    children: usize,
    owner: SessionId,
}

/// Znodes changed by proposals that are not applied yet.
#[derive(Debug, Default)]
pub struct Outstanding {
    records: FxHashMap<Path, (Zxid, Record)>,
    order: VecDeque<(Zxid, Path)>,
}

/// One write being prepared.
struct Preparation<'a> {
    outstanding: &'a Outstanding,
    tree: &'a Tree,
    session: SessionId,
    variant: Variant,
    staged: Vec<(Path, Record)>,
}

impl Outstanding {
    /// Makes a transaction of the write. What it will change is remembered until it is applied.
    pub fn prepare(
        &mut self,
        tree: &Tree,
        (zxid, session, variant): (Zxid, SessionId, Variant),
        write: &Write,
    ) -> Change {
        let mut preparation =
            Preparation { outstanding: self, tree, session, variant, staged: Vec::new() };
        let change = preparation.change(write);
        for (path, record) in preparation.staged {
            self.records.insert(path.clone(), (zxid, record));
            self.order.push_back((zxid, path));
        }
        change
    }

    /// Forgets what has been applied up to this zxid.
    pub fn applied(&mut self, zxid: Zxid) {
        while self.order.front().is_some_and(|(first, _)| *first <= zxid) {
            let Some((first, path)) = self.order.pop_front() else { return };
            if self.records.get(&path).is_some_and(|(last, _)| *last == first) {
                self.records.remove(&path);
            }
        }
    }
}

impl Preparation<'_> {
    fn change(&mut self, write: &Write) -> Change {
        match write {
            Write::CreateSession { timeout } => Change::CreateSession { timeout: *timeout },
            Write::CloseSession => Change::CloseSession { ephemerals: self.ephemerals() },
            Write::Single(part) => match self.part(part) {
                Ok(step) => Change::Single(step),
                Err(refusal) => Change::Refused(refusal),
            },
            Write::Multi(parts) => {
                let mut steps = Vec::with_capacity(parts.len());
                for (index, part) in parts.iter().enumerate() {
                    match self.part(part) {
                        Ok(step) => steps.push(step),
                        Err(refusal) => {
                            self.staged.clear();
                            return Change::MultiFailed { index, refusal };
                        }
                    }
                }
                Change::Multi(steps)
            }
        }
    }

    fn part(&mut self, part: &Part) -> Result<Step, Refusal> {
        match part {
            Part::Create { path, data, mode } => {
                let (path, creates) = self.create(path, *mode)?;
                let owner = if mode.is_ephemeral() { self.session } else { 0 };
                Ok(Step::Create { path, data: data.clone(), owner, creates })
            }
            Part::Set { path, data, version } => {
                let mut record = self.record(path)?;
                if self.variant == Variant::CasRaces
                    && let Some(znode) = self.tree.znode(path)
                {
                    record.version = znode.version;
                }
                record.version = next_version(record.version, *version)?;
                self.staged.push((path.clone(), record));
                let version = record.version;
                Ok(Step::Set { path: path.clone(), data: data.clone(), version })
            }
            Part::Delete { path, .. } if SPECIAL_PATHS.contains(&&**path) => {
                Err(Refusal::SpecialPath)
            }
            Part::Delete { path, version } => {
                let (parent_path, _) = split(path);
                let mut parent = self.record(parent_path)?;
                let record = self.record(path)?;
                next_version(record.version, *version)?;
                if record.children > 0 {
                    return Err(Refusal::NotEmpty);
                }
                parent.children = parent.children.saturating_sub(1);
                self.staged.push((parent_path.into(), parent));
                self.staged.push((path.clone(), Record { exists: false, ..record }));
                Ok(Step::Delete { path: path.clone() })
            }
            Part::Check { path, version } => {
                next_version(self.record(path)?.version, *version)?;
                Ok(Step::Check)
            }
        }
    }

    fn create(&mut self, path: &Path, mode: CreateMode) -> Result<(Path, i32), Refusal> {
        let (parent_path, _) = split(path);
        let mut parent = self.record(parent_path)?;
        let path: Path = if mode.is_sequential() {
            format!("{path}{:010}", parent.creates).into()
        } else {
            Rc::clone(path)
        };
        if self.record(&path).is_ok() {
            return Err(Refusal::NodeExists);
        }
        if parent.owner != 0 {
            return Err(Refusal::NoChildrenForEphemerals);
        }
        parent.creates += 1;
        parent.children += 1;
        self.staged.push((parent_path.into(), parent));
        let owner = if mode.is_ephemeral() { self.session } else { 0 };
        let record = Record { exists: true, version: 0, creates: 0, children: 0, owner };
        self.staged.push((path.clone(), record));
        Ok((path, parent.creates))
    }

    /// The session's znodes, those included that are still being created, in order of path.
    fn ephemerals(&mut self) -> Vec<Path> {
        let mut paths: std::collections::BTreeSet<Path> =
            self.tree.ephemerals_of(self.session).cloned().collect();
        for (_, path) in &self.outstanding.order {
            let Some((_, record)) = self.outstanding.records.get(path) else { continue };
            if !record.exists {
                paths.remove(path);
            } else if record.owner == self.session {
                paths.insert(path.clone());
            }
        }
        for path in &paths {
            let gone = Record { exists: false, version: 0, creates: 0, children: 0, owner: 0 };
            if let Ok(mut parent) = self.record(split(path).0) {
                parent.children = parent.children.saturating_sub(1);
                self.staged.push((split(path).0.into(), parent));
            }
            self.staged.push((path.clone(), gone));
        }
        paths.into_iter().collect()
    }

    fn record(&self, path: &str) -> Result<Record, Refusal> {
        let staged = self.staged.iter().rev().find(|(staged, _)| **staged == *path);
        let record = staged
            .map(|(_, record)| record)
            .or_else(|| self.outstanding.records.get(path).map(|(_, record)| record));
        match record {
            Some(record) if record.exists => Ok(*record),
            Some(_) => Err(Refusal::NoNode),
            None => {
                let znode = self.tree.znode(path).ok_or(Refusal::NoNode)?;
                Ok(Record {
                    exists: true,
                    version: znode.version,
                    creates: znode.creates,
                    children: znode.children.len(),
                    owner: znode.owner,
                })
            }
        }
    }
}

/// The version after the change. An expected version of -1 fits any.
fn next_version(current: i32, expected: i32) -> Result<i32, Refusal> {
    if expected != -1 && expected != current {
        return Err(Refusal::BadVersion);
    }
    Ok(current.wrapping_add(1))
}
