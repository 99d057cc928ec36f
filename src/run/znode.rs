//! Watches on znodes that faults wait for, over an ordinary session: the same in both worlds.
//!
//! ZooKeeper's watches fire once and are set anew; what changed meanwhile is found by comparing.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::FutureExt;

use super::Loop;
use crate::cluster::{
    Client, Cluster, Coordination, CoordinationError, Role, Watch, WatchKind, Watched as _,
};
use crate::nemesis::{Cause, ZnodeChange};
use crate::op::NodeName;

const SESSION_TIMEOUT: Duration = Duration::from_secs(6);

/// How long a server may take to say who owns a znode.
const OWNER_WITHIN: Duration = Duration::from_secs(1);

const TRY_AGAIN: Duration = Duration::from_millis(200);

/// One trigger's watch.
pub(super) struct ZnodeWatch {
    position: usize,
    /// The znode, or the parent of all where the trigger ends with `/*`.
    path: String,
    of_children: bool,
    change: Option<ZnodeChange>,
    nodes: Vec<NodeName>,
    turn: usize,
    known: Option<Known>,
}

/// What was there when last looked.
enum Known {
    Absent,
    /// With the transaction that last changed it; `None` where that was not read yet.
    Present(Option<(i64, i64)>),
    Children(BTreeSet<String>),
}

/// What a watch has seen, and the watch to go on with.
pub(super) struct Seen {
    watch: ZnodeWatch,
    /// One line a change.
    what: Vec<String>,
}

impl<'a, C: Cluster, K: Client + 'a> Loop<'a, C, K> {
    pub(super) fn watch_znodes(&mut self) {
        for (position, named) in self.settings.faults.iter().enumerate() {
            let Some(when) = &named.fault.when else { continue };
            let Some(path) = &when.znode else { continue };
            let (path, of_children) = match path.strip_suffix("/*") {
                Some("") => ("/", true),
                Some(parent) => (parent, true),
                None => (path.as_str(), false),
            };
            let (path, nodes) = (path.to_owned(), servers(self.cluster));
            if nodes.is_empty() {
                continue;
            }
            let change = when.change;
            let (turn, known) = (0, None);
            let watch = ZnodeWatch { position, path, of_children, change, nodes, turn, known };
            self.watching.push(see(self.cluster, watch).boxed_local());
        }
    }

    pub(super) fn znode_seen(&mut self, seen: Seen) {
        let Seen { watch, what } = seen;
        let now = self.now();
        for by in what {
            self.schedule.fire(watch.position, Cause::now(now, by));
        }
        self.watching.push(see(self.cluster, watch).boxed_local());
    }
}

/// ZooKeeper's servers.
fn servers<C: Cluster>(cluster: &C) -> Vec<NodeName> {
    cluster.topology().with_role(Role::Zookeeper).map(|node| node.name).collect()
}

/// The session that owns an ephemeral znode, as the first server says that answers in time.
pub(super) async fn owner_of<C: Cluster>(cluster: &C, path: &str) -> Option<i64> {
    for server in servers(cluster) {
        let look = async {
            let session = cluster.connect(&server, SESSION_TIMEOUT).await?;
            let stat = session.exists(path).await;
            // A session that cannot be closed expires.
            let _ = session.close().await;
            stat
        };
        if let Ok(Ok(stat)) = tokio::time::timeout(OWNER_WITHIN, look).await {
            return stat.map(|stat| stat.ephemeral_owner).filter(|owner| *owner != 0);
        }
    }
    None
}

/// Waits for a change that the trigger asks for, whatever breaks meanwhile.
async fn see<C: Cluster>(cluster: &C, mut watch: ZnodeWatch) -> Box<Seen> {
    loop {
        let node = watch.nodes[watch.turn % watch.nodes.len()];
        if let Ok(session) = cluster.connect(&node, SESSION_TIMEOUT).await {
            let found = watch.until_changed(&session).await;
            // A session that cannot be closed expires.
            let _ = session.close().await;
            if let Ok(what) = found {
                return Box::new(Seen { watch, what });
            }
        }
        watch.turn += 1;
        tokio::time::sleep(TRY_AGAIN).await;
    }
}

impl ZnodeWatch {
    async fn until_changed<S: Coordination>(
        &mut self,
        session: &S,
    ) -> Result<Vec<String>, CoordinationError> {
        loop {
            let kind = if self.of_children { Watch::Children } else { Watch::Data };
            let watched = match session.watch(&self.path, kind).await {
                Err(CoordinationError::NoNode) => {
                    // Children that come with their parent are new.
                    self.known = Some(Known::Children(BTreeSet::new()));
                    return Err(CoordinationError::NoNode);
                }
                other => other?,
            };
            let now = self.look(session).await?;
            let mut changes =
                self.known.as_ref().map_or(Vec::new(), |known| differences(known, &now));
            self.known = Some(now);
            changes.retain(|(change, _)| self.wants(*change));
            if !changes.is_empty() {
                let told = |(change, name): &(ZnodeChange, Option<String>)| {
                    self.told(*change, name.as_deref())
                };
                return Ok(changes.iter().map(told).collect());
            }
            let fired = watched.fired().await;
            if fired.kind == WatchKind::SessionLost {
                return Err(CoordinationError::ConnectionLoss);
            }
            if let Some(change) = self.changed_to(fired.kind)
                && self.wants(change)
            {
                return Ok(vec![self.told(change, None)]);
            }
        }
    }

    /// Takes what a watch told for what is there now, so that it is not found again by comparing.
    fn changed_to(&mut self, kind: WatchKind) -> Option<ZnodeChange> {
        let (known, change) = match kind {
            WatchKind::Created => (Known::Present(None), ZnodeChange::Created),
            WatchKind::DataChanged => (Known::Present(None), ZnodeChange::Changed),
            WatchKind::Deleted if !self.of_children => (Known::Absent, ZnodeChange::Deleted),
            _ => return None,
        };
        self.known = Some(known);
        Some(change)
    }

    fn wants(&self, change: ZnodeChange) -> bool {
        self.change.is_none_or(|wanted| wanted == change)
    }

    async fn look<S: Coordination>(&self, session: &S) -> Result<Known, CoordinationError> {
        if self.of_children {
            return match session.children(&self.path).await {
                Ok(names) => Ok(Known::Children(names.into_iter().collect())),
                Err(CoordinationError::NoNode) => Ok(Known::Children(BTreeSet::new())),
                Err(error) => Err(error),
            };
        }
        let stat = session.exists(&self.path).await?;
        Ok(stat.map_or(Known::Absent, |stat| Known::Present(Some((stat.czxid, stat.mzxid)))))
    }

    fn told(&self, change: ZnodeChange, child: Option<&str>) -> String {
        let what = match change {
            ZnodeChange::Created => "created",
            ZnodeChange::Changed => "changed",
            ZnodeChange::Deleted => "deleted",
        };
        match child {
            Some(child) => format!("znode {}/{child} {what}", self.path.trim_end_matches('/')),
            None => format!("znode {} {what}", self.path),
        }
    }
}

/// What happened between two looks, and to which child.
fn differences(before: &Known, now: &Known) -> Vec<(ZnodeChange, Option<String>)> {
    let itself = |change| vec![(change, None)];
    match (before, now) {
        (Known::Absent, Known::Present(_)) => itself(ZnodeChange::Created),
        (Known::Present(_), Known::Absent) => itself(ZnodeChange::Deleted),
        (Known::Present(Some(before)), Known::Present(Some(now))) if before.0 != now.0 => {
            itself(ZnodeChange::Created)
        }
        (Known::Present(Some(before)), Known::Present(Some(now))) if before.1 != now.1 => {
            itself(ZnodeChange::Changed)
        }
        (Known::Children(before), Known::Children(now)) => {
            let created = now.difference(before).map(|name| (ZnodeChange::Created, name));
            let deleted = before.difference(now).map(|name| (ZnodeChange::Deleted, name));
            created.chain(deleted).map(|(change, name)| (change, Some(name.clone()))).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_between_two_looks_is_found() {
        let present = |czxid, mzxid| Known::Present(Some((czxid, mzxid)));
        let children =
            |names: &[&str]| Known::Children(names.iter().map(|name| (*name).to_owned()).collect());
        let found = |before: &Known, now: &Known| differences(before, now);
        let [created, changed, deleted] =
            [ZnodeChange::Created, ZnodeChange::Changed, ZnodeChange::Deleted];
        assert_eq!(found(&Known::Absent, &present(1, 1)), [(created, None)]);
        assert_eq!(found(&present(1, 1), &Known::Absent), [(deleted, None)]);
        assert_eq!(found(&present(1, 1), &present(1, 2)), [(changed, None)]);
        assert_eq!(found(&present(1, 2), &present(3, 3)), [(created, None)], "made anew");
        assert_eq!(found(&present(1, 1), &present(1, 1)), []);
        assert_eq!(found(&Known::Present(None), &present(1, 2)), [], "told by a watch already");
        let (one, two) = (children(&["a"]), children(&["a", "b"]));
        assert_eq!(found(&one, &two), [(created, Some("b".into()))]);
        assert_eq!(found(&two, &one), [(deleted, Some("b".into()))]);
        assert_eq!(found(&one, &one), []);
    }
}
