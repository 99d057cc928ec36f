//! Reads: answered from the server's own copy, which may be behind.

use super::host::Host;
use super::message::{Message, Path, Read, Refusal, Response, WatchList};
use super::server::Server;
use super::tree::Tree;
use crate::cluster::WatchKind;
use crate::sim::network::ConnectionId;

impl Server {
    pub(super) fn read(
        &mut self,
        host: &mut Host,
        connection: ConnectionId,
        read: Read,
    ) -> Result<Response, Refusal> {
        let tree: &Tree = self.visible.as_ref().unwrap_or(&self.tree);
        let watches = &mut self.desk.watches;
        match read {
            Read::Ping => Ok(Response::Done),
            Read::Get { path } => {
                let znode = tree.znode(&path).ok_or(Refusal::NoNode)?;
                Ok(Response::Data(znode.data.clone(), znode.stat()))
            }
            Read::Exists { path, watch } => {
                let result = tree.znode(&path).map(|znode| Response::Stat(znode.stat()));
                if watch {
                    watches.watch_data(path, connection);
                }
                result.ok_or(Refusal::NoNode)
            }
            Read::Children { path, watch } => {
                let znode = tree.znode(&path).ok_or(Refusal::NoNode)?;
                let children = znode.children.iter().cloned().collect();
                if watch {
                    watches.watch_children(path, connection);
                }
                Ok(Response::Children(children))
            }
            Read::SetWatches(list) => {
                self.set_watches(host, connection, &list);
                Ok(Response::Done)
            }
        }
    }

    /// Fires at once what would have fired since the client was last here; sets the others again.
    fn set_watches(&mut self, host: &mut Host, connection: ConnectionId, list: &WatchList) {
        let zxid = self.tree.zxid;
        let mut missed: Vec<(WatchKind, Path)> = Vec::new();
        for path in &list.data {
            match self.tree.znode(path) {
                None => missed.push((WatchKind::Deleted, path.clone())),
                Some(znode) if znode.mzxid > list.since => {
                    missed.push((WatchKind::DataChanged, path.clone()));
                }
                Some(_) => self.desk.watches.watch_data(path.clone(), connection),
            }
        }
        for path in &list.missing {
            match self.tree.znode(path) {
                Some(_) => missed.push((WatchKind::Created, path.clone())),
                None => self.desk.watches.watch_data(path.clone(), connection),
            }
        }
        for path in &list.children {
            match self.tree.znode(path) {
                None => missed.push((WatchKind::Deleted, path.clone())),
                Some(znode) if znode.pzxid > list.since => {
                    missed.push((WatchKind::ChildrenChanged, path.clone()));
                }
                Some(_) => self.desk.watches.watch_children(path.clone(), connection),
            }
        }
        for (kind, path) in missed {
            host.send(connection, Message::Fired { zxid, kind, path });
        }
    }
}
