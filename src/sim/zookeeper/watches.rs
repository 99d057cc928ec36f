//! One-shot watches of the clients of one server.

use std::collections::{BTreeMap, BTreeSet};

use super::apply::Noted;
use super::message::Path;
use crate::cluster::WatchKind;
use crate::sim::network::ConnectionId;

type Table = BTreeMap<Path, BTreeSet<ConnectionId>>;

#[derive(Debug, Default)]
pub struct Watches {
    data: Table,
    children: Table,
}

impl Watches {
    pub fn watch_data(&mut self, path: Path, connection: ConnectionId) {
        self.data.entry(path).or_default().insert(connection);
    }

    pub fn watch_children(&mut self, path: Path, connection: ConnectionId) {
        self.children.entry(path).or_default().insert(connection);
    }

    pub fn is_empty(&self) -> bool {
        self.data.is_empty() && self.children.is_empty()
    }

    /// Who waited for this. Each is told once, though it may have watched data and children.
    pub fn fire(&mut self, noted: &Noted) -> BTreeSet<ConnectionId> {
        let mut fired = BTreeSet::new();
        if noted.kind != WatchKind::ChildrenChanged {
            fired.extend(self.data.remove(&noted.path).into_iter().flatten());
        }
        if matches!(noted.kind, WatchKind::ChildrenChanged | WatchKind::Deleted) {
            fired.extend(self.children.remove(&noted.path).into_iter().flatten());
        }
        fired
    }

    pub fn forget(&mut self, connection: ConnectionId) {
        for table in [&mut self.data, &mut self.children] {
            table.retain(|_, connections| {
                connections.remove(&connection);
                !connections.is_empty()
            });
        }
    }

    pub fn clear(&mut self) {
        self.data.clear();
        self.children.clear();
    }
}
