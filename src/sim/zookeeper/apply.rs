//! Applying a transaction to a tree: the same result at every server.
//!
//! It never fails: a transaction that does not fit (which only planted bugs bring about) changes nothing.

use super::message::{Data, Path, Refusal, Response};
use super::tree::{Tree, Znode, split};
use super::txn::{Change, Step, Txn};
use super::{SessionId, Zxid};
use crate::cluster::WatchKind;

/// Something that watches may wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    pub kind: WatchKind,
    pub path: Path,
}

impl Tree {
    /// Applies the transaction, notes what watches may wait for, and tells the client's answer.
    pub fn apply(&mut self, txn: &Txn, noted: &mut Vec<Noted>) -> Result<Response, Refusal> {
        self.zxid = txn.zxid;
        match &txn.change {
            Change::Single(step) => self.step(txn.zxid, step, noted),
            Change::Multi(steps) => steps
                .iter()
                .map(|step| self.step(txn.zxid, step, noted))
                .collect::<Result<_, _>>()
                .map(Response::Multi),
            Change::MultiFailed { index, refusal } => {
                Ok(Response::MultiFailed { index: *index, refusal: *refusal })
            }
            Change::Refused(refusal) => Err(*refusal),
            Change::CreateSession { timeout } => {
                self.sessions.insert(txn.session, *timeout);
                Ok(Response::Done)
            }
            Change::CloseSession { ephemerals } => {
                for path in ephemerals {
                    // The list was made when the request was prepared: one may be gone since.
                    let _ = self.delete(txn.zxid, path, noted);
                }
                self.sessions.remove(&txn.session);
                self.ephemerals.remove(&txn.session);
                Ok(Response::Done)
            }
        }
    }

    fn step(
        &mut self,
        zxid: Zxid,
        step: &Step,
        noted: &mut Vec<Noted>,
    ) -> Result<Response, Refusal> {
        match step {
            Step::Create { path, data, owner, creates } => {
                self.create(zxid, path, data, (*owner, *creates), noted)
            }
            Step::Set { path, data, version } => {
                let znode = self.znodes.get_mut(path).ok_or(Refusal::NoNode)?;
                znode.data = data.clone();
                znode.version = *version;
                znode.mzxid = zxid;
                noted.push(Noted { kind: WatchKind::DataChanged, path: path.clone() });
                Ok(Response::Stat(znode.stat()))
            }
            Step::Delete { path } => self.delete(zxid, path, noted),
            Step::Check => Ok(Response::Done),
        }
    }

    fn create(
        &mut self,
        zxid: Zxid,
        path: &Path,
        data: &Data,
        (owner, creates): (SessionId, i32),
        noted: &mut Vec<Noted>,
    ) -> Result<Response, Refusal> {
        if self.znodes.contains_key(path) {
            return Err(Refusal::NodeExists);
        }
        let (parent_path, name) = split(path);
        let parent = self.znodes.get_mut(parent_path).ok_or(Refusal::NoNode)?;
        parent.children.insert(name.into());
        if creates > parent.creates {
            parent.creates = creates;
            parent.pzxid = zxid;
        }
        self.znodes.insert(path.clone(), Znode::new(data.clone(), zxid, owner));
        if owner != 0 {
            self.ephemerals.entry(owner).or_default().insert(path.clone());
        }
        noted.push(Noted { kind: WatchKind::Created, path: path.clone() });
        noted.push(Noted { kind: WatchKind::ChildrenChanged, path: parent_path.into() });
        Ok(Response::Path(path.clone()))
    }

    fn delete(
        &mut self,
        zxid: Zxid,
        path: &Path,
        noted: &mut Vec<Noted>,
    ) -> Result<Response, Refusal> {
        let znode = self.znodes.remove(path).ok_or(Refusal::NoNode)?;
        let (parent_path, name) = split(path);
        if let Some(parent) = self.znodes.get_mut(parent_path) {
            parent.children.remove(name);
            parent.pzxid = parent.pzxid.max(zxid);
        }
        if let Some(paths) = self.ephemerals.get_mut(&znode.owner) {
            paths.remove(path);
        }
        noted.push(Noted { kind: WatchKind::Deleted, path: path.clone() });
        noted.push(Noted { kind: WatchKind::ChildrenChanged, path: parent_path.into() });
        Ok(Response::Done)
    }
}
