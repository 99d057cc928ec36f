//! The watches that a client has set, and who waits for them.

use std::collections::BTreeMap;

use tokio::sync::oneshot;

use crate::cluster::{WatchEvent, WatchKind};
use crate::sim::zookeeper::Zxid;
use crate::sim::zookeeper::message::{Path, WatchList};

/// What the watch was set on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchedThing {
    /// A znode that was there.
    Present,
    /// A path without znode.
    Missing,
    Children,
}

#[derive(Debug)]
struct Watcher {
    thing: WatchedThing,
    sender: oneshot::Sender<WatchEvent>,
}

impl Watcher {
    fn waits_for(&self, kind: WatchKind) -> bool {
        match kind {
            WatchKind::Created | WatchKind::DataChanged => self.thing != WatchedThing::Children,
            WatchKind::ChildrenChanged => self.thing == WatchedThing::Children,
            WatchKind::Deleted | WatchKind::SessionLost => true,
        }
    }
}

#[derive(Debug, Default)]
pub struct Watchers(BTreeMap<Path, Vec<Watcher>>);

impl Watchers {
    /// Remembers a watch that the server has taken.
    pub fn add(&mut self, path: Path, thing: WatchedThing) -> oneshot::Receiver<WatchEvent> {
        let (sender, receiver) = oneshot::channel();
        let watchers = self.0.entry(path).or_default();
        watchers.retain(|watcher| !watcher.sender.is_closed());
        watchers.push(Watcher { thing, sender });
        receiver
    }

    pub fn fire(&mut self, kind: WatchKind, path: &Path) {
        let Some(watchers) = self.0.remove(path) else { return };
        let (fired, kept): (Vec<_>, Vec<_>) =
            watchers.into_iter().partition(|watcher| watcher.waits_for(kind));
        for watcher in fired {
            // Whoever watched may have gone away.
            drop(watcher.sender.send(WatchEvent { kind, path: path.to_string() }));
        }
        if !kept.is_empty() {
            self.0.insert(path.clone(), kept);
        }
    }

    /// The session is over: every watch ends.
    pub fn lose_all(&mut self) {
        for (path, watchers) in std::mem::take(&mut self.0) {
            for watcher in watchers {
                let event = WatchEvent { kind: WatchKind::SessionLost, path: path.to_string() };
                // Whoever watched may have gone away.
                drop(watcher.sender.send(event));
            }
        }
    }

    /// All watches still wanted, for a server that must set them anew; `None` if there are none.
    pub fn list(&mut self, since: Zxid) -> Option<WatchList> {
        let mut list = WatchList { since, ..WatchList::default() };
        self.0.retain(|path, watchers| {
            watchers.retain(|watcher| !watcher.sender.is_closed());
            let has = |thing| watchers.iter().any(|watcher| watcher.thing == thing);
            for (thing, paths) in [
                (WatchedThing::Present, &mut list.data),
                (WatchedThing::Missing, &mut list.missing),
                (WatchedThing::Children, &mut list.children),
            ] {
                if has(thing) {
                    paths.push(path.clone());
                }
            }
            !watchers.is_empty()
        });
        (!self.0.is_empty()).then_some(list)
    }
}
