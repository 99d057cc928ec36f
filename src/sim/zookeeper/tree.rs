//! A server's copy of the znodes and sessions, as of one zxid.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::message::{Data, Path};
use super::{SessionId, Zxid};
use crate::cluster::Stat;
use crate::op::Nanos;

#[derive(Clone, Debug, PartialEq)]
pub struct Znode {
    pub data: Data,
    pub czxid: Zxid,
    pub mzxid: Zxid,
    pub pzxid: Zxid,
    pub version: i32,
    /// How many children were ever created: the next sequence number.
    pub creates: i32,
    pub owner: SessionId,
    pub children: BTreeSet<Rc<str>>,
}

impl Znode {
    pub fn new(data: Data, zxid: Zxid, owner: SessionId) -> Znode {
        Znode {
            data,
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            version: 0,
            creates: 0,
            owner,
            children: BTreeSet::new(),
        }
    }

    pub fn stat(&self) -> Stat {
        let children = self.children.len() as i32;
        Stat {
            czxid: self.czxid,
            mzxid: self.mzxid,
            pzxid: self.pzxid,
            version: self.version,
            // ZooKeeper keeps the count of creations and shows that of all changes.
            cversion: self.creates.wrapping_mul(2).wrapping_sub(children),
            ephemeral_owner: self.owner,
            data_length: self.data.len() as i32,
            num_children: children,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The last transaction applied.
    pub zxid: Zxid,
    pub(super) znodes: FxHashMap<Path, Znode>,
    /// Open sessions and their timeouts.
    pub(super) sessions: BTreeMap<SessionId, Nanos>,
    pub(super) ephemerals: BTreeMap<SessionId, BTreeSet<Path>>,
}

/// What every ensemble starts with, and nobody can delete.
pub const SPECIAL_PATHS: [&str; 4] = ["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"];

impl Default for Tree {
    fn default() -> Self {
        let mut tree = Tree {
            zxid: 0,
            znodes: FxHashMap::default(),
            sessions: BTreeMap::new(),
            ephemerals: BTreeMap::new(),
        };
        for path in SPECIAL_PATHS {
            tree.znodes.insert(path.into(), Znode::new(Data::from([]), 0, 0));
            let (parent, name) = split(path);
            if !name.is_empty()
                && let Some(parent) = tree.znodes.get_mut(parent)
            {
                parent.children.insert(name.into());
            }
        }
        tree
    }
}

impl Tree {
    pub fn znode(&self, path: &str) -> Option<&Znode> {
        self.znodes.get(path)
    }

    pub fn sessions(&self) -> &BTreeMap<SessionId, Nanos> {
        &self.sessions
    }

    pub fn ephemerals_of(&self, session: SessionId) -> impl Iterator<Item = &Path> {
        self.ephemerals.get(&session).into_iter().flatten()
    }
}

/// The parent's path and the znode's own name; the root has an empty name.
pub fn split(path: &str) -> (&str, &str) {
    match path.rfind('/') {
        Some(0) | None => ("/", path.trim_start_matches('/')),
        Some(slash) => (&path[..slash], &path[slash + 1..]),
    }
}
