//! Znodes in memory: what requests do to them and whose watches that fires.

use std::collections::BTreeMap;

use tokio::sync::oneshot;

use crate::cluster::{
    CoordinationError, CreateMode, MultiOp, MultiResult, Stat, WatchEvent, WatchKind,
};

#[derive(Clone)]
struct Znode {
    data: Vec<u8>,
    stat: Stat,
}

struct Watching {
    path: String,
    session: i64,
    sender: oneshot::Sender<WatchEvent>,
}

#[derive(Default)]
pub struct Tree {
    znodes: BTreeMap<String, Znode>,
    zxid: i64,
    watches: Vec<Watching>,
}

type Done<T> = Result<T, CoordinationError>;

fn above(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(above, _)| above).filter(|above| !above.is_empty())
}

impl Tree {
    pub fn get(&self, path: &str) -> Done<(Vec<u8>, Stat)> {
        let znode = self.znodes.get(path).ok_or(CoordinationError::NoNode)?;
        Ok((znode.data.clone(), znode.stat))
    }

    pub fn children(&self, path: &str) -> Done<Vec<String>> {
        self.get(path)?;
        let below = format!("{path}/");
        let names = self.znodes.keys().filter_map(|path| path.strip_prefix(&below));
        Ok(names.filter(|name| !name.contains('/')).map(str::to_owned).collect())
    }

    /// The znodes of all depths, as `ls -R` shows them.
    pub fn paths(&self) -> Vec<String> {
        self.znodes.keys().cloned().collect()
    }

    pub fn watch(&mut self, session: i64, path: &str) -> oneshot::Receiver<WatchEvent> {
        let (sender, receiver) = oneshot::channel();
        self.watches.push(Watching { path: path.to_owned(), session, sender });
        receiver
    }

    /// All or nothing.
    pub fn perform(
        &mut self,
        session: i64,
        parts: &[MultiOp],
    ) -> Result<Vec<MultiResult>, (usize, CoordinationError)> {
        let before = self.znodes.clone();
        self.zxid += 1;
        let (mut results, mut events) = (Vec::new(), Vec::new());
        for (index, part) in parts.iter().enumerate() {
            match self.one(session, part, &mut events) {
                Ok(result) => results.push(result),
                Err(error) => {
                    self.znodes = before;
                    return Err((index, error));
                }
            }
        }
        events.into_iter().for_each(|(kind, path)| self.fire(kind, path));
        Ok(results)
    }

    fn one(
        &mut self,
        session: i64,
        part: &MultiOp,
        events: &mut Vec<(WatchKind, String)>,
    ) -> Done<MultiResult> {
        match part {
            MultiOp::Create { path, data, mode } => {
                if self.znodes.contains_key(path) {
                    return Err(CoordinationError::NodeExists);
                }
                if above(path).is_some_and(|above| !self.znodes.contains_key(above)) {
                    return Err(CoordinationError::NoNode);
                }
                let owner = if *mode == CreateMode::Ephemeral { session } else { 0 };
                let zxid = self.zxid;
                let stat =
                    Stat { czxid: zxid, mzxid: zxid, ephemeral_owner: owner, ..Stat::default() };
                self.znodes.insert(path.clone(), Znode { data: data.clone(), stat });
                events.push((WatchKind::Created, path.clone()));
                Ok(MultiResult::Create { path: path.clone() })
            }
            MultiOp::Set { path, data, version } => {
                let zxid = self.zxid;
                let znode = self.checked(path, *version)?;
                znode.data = data.clone();
                znode.stat.version += 1;
                znode.stat.mzxid = zxid;
                let stat = znode.stat;
                events.push((WatchKind::DataChanged, path.clone()));
                Ok(MultiResult::Set { stat })
            }
            MultiOp::Delete { path, version } => {
                self.checked(path, *version)?;
                if !self.children(path)?.is_empty() {
                    return Err(CoordinationError::NotEmpty);
                }
                self.znodes.remove(path);
                events.push((WatchKind::Deleted, path.clone()));
                Ok(MultiResult::Delete)
            }
            MultiOp::Check { path, version } => {
                self.checked(path, Some(*version)).map(|_| MultiResult::Check)
            }
        }
    }

    fn checked(&mut self, path: &str, version: Option<i32>) -> Done<&mut Znode> {
        let znode = self.znodes.get_mut(path).ok_or(CoordinationError::NoNode)?;
        match version {
            Some(version) if version != znode.stat.version => Err(CoordinationError::BadVersion),
            _ => Ok(znode),
        }
    }

    fn fire(&mut self, kind: WatchKind, path: String) {
        let fired = self.watches.extract_if(.., |watching| watching.path == path);
        for watching in fired.collect::<Vec<_>>() {
            let _ = watching.sender.send(WatchEvent { kind, path: path.clone() });
        }
    }

    /// The session is over: its ephemeral znodes go.
    pub fn expire(&mut self, session: i64) {
        let owned = self.znodes.iter().filter(|(_, znode)| znode.stat.ephemeral_owner == session);
        for path in owned.map(|(path, _)| path.clone()).collect::<Vec<_>>() {
            let _ = self.perform(0, &[MultiOp::Delete { path, version: None }]);
        }
    }

    /// Nobody waits for this session's watches any more; their holders learn that it is over.
    pub fn forget_watches(&mut self, session: i64) {
        self.watches.retain(|watching| watching.session != session);
    }
}
