//! From the script's names to a world's, and back.

use std::collections::BTreeMap;

use stormglass::cluster::{Cluster, CoordinationError, MultiOp, MultiResult, Stat, WatchEvent};

use super::Player;
use crate::differential::script::{Change, Place, Version};
use crate::differential::trace::{Answer, Reply, Serial};

/// Written by sessions that want to be up to date.
pub const BARRIER: &str = "/barrier";
/// Below this lies what is written while servers are killed.
pub const RISK: &str = "/risk";
/// Below this lie the ephemeral znodes whose end shows that a session has expired.
pub const MARKERS: &str = "/markers";

/// The owner of an ephemeral znode that no session of the script owns.
const STRANGER: Serial = -1;

/// A check that any version passes.
const ANY: i32 = -1;

/// Where the script lives in this world, and who is who.
pub struct Labels {
    root: String,
    serials: BTreeMap<i64, Serial>,
}

impl Labels {
    pub fn new(root: String) -> Labels {
        Labels { root, serials: BTreeMap::new() }
    }

    /// The serial number of a new session, or `None` if its id is known already.
    pub fn add(&mut self, id: i64) -> Option<Serial> {
        let serial = self.serials.len() as Serial + 1;
        self.serials.insert(id, serial).is_none().then_some(serial)
    }

    /// A path that does not even begin like one stays as it is.
    pub fn absolute(&self, path: &str) -> String {
        if path.starts_with('/') { format!("{}{path}", self.root) } else { path.to_owned() }
    }

    pub fn root(&self) -> &str {
        &self.root
    }

    fn relative(&self, path: String) -> String {
        path.strip_prefix(&self.root).map(str::to_owned).unwrap_or(path)
    }

    pub fn stat(&self, stat: Stat) -> Stat {
        let ephemeral_owner = match stat.ephemeral_owner {
            0 => 0,
            owner => self.serials.get(&owner).copied().unwrap_or(STRANGER),
        };
        Stat { ephemeral_owner, ..stat }
    }

    pub fn event(&self, event: WatchEvent) -> WatchEvent {
        WatchEvent { kind: event.kind, path: self.relative(event.path) }
    }

    /// Texts for people are each world's own.
    pub fn error(&self, error: CoordinationError) -> CoordinationError {
        match error {
            CoordinationError::BadArguments(_) => CoordinationError::BadArguments(String::new()),
            other => other,
        }
    }

    pub fn reply(&self, reply: Reply) -> Reply {
        match reply {
            Ok(answer) => Ok(self.answer(answer)),
            Err((index, error)) => Err((index, self.error(error))),
        }
    }

    fn answer(&self, answer: Answer) -> Answer {
        match answer {
            Answer::Path(path) => Answer::Path(self.relative(path)),
            Answer::Data(data, stat) => Answer::Data(data, self.stat(stat)),
            Answer::Stat(stat) => Answer::Stat(stat.map(|stat| self.stat(stat))),
            Answer::Changed(stat) => Answer::Changed(self.stat(stat)),
            Answer::Multi(results) => {
                Answer::Multi(results.into_iter().map(|result| self.result(result)).collect())
            }
            Answer::Names(_) | Answer::Done => answer,
        }
    }

    fn result(&self, result: MultiResult) -> MultiResult {
        match result {
            MultiResult::Create { path } => MultiResult::Create { path: self.relative(path) },
            MultiResult::Set { stat } => MultiResult::Set { stat: self.stat(stat) },
            MultiResult::Delete | MultiResult::Check => result,
        }
    }
}

impl<C: Cluster> Player<'_, C> {
    pub fn path(&self, place: &Place) -> String {
        place.path(&self.tree)
    }

    /// The change with this world's path and the version of the moment.
    pub fn resolve(&self, change: &Change) -> MultiOp {
        let path = |place: &Place| self.labels.absolute(&self.path(place));
        match change {
            Change::Create { place, data, mode } => {
                MultiOp::Create { path: path(place), data: data.clone(), mode: *mode }
            }
            Change::Set { place, data, version } => {
                let version = self.version(place, *version);
                MultiOp::Set { path: path(place), data: data.clone(), version }
            }
            Change::Delete { place, version } => {
                MultiOp::Delete { path: path(place), version: self.version(place, *version) }
            }
            Change::Check { place, version } => {
                let version = self.version(place, *version).unwrap_or(ANY);
                MultiOp::Check { path: path(place), version }
            }
        }
    }

    fn version(&self, place: &Place, version: Version) -> Option<i32> {
        match version {
            Version::Any => None,
            Version::Exactly(version) => Some(version),
            Version::Right(more) => {
                let znode = self.tree.get(&self.path(place));
                Some(znode.map_or(0, |znode| znode.stat.version) + more)
            }
        }
    }
}
