//! What the leader does for one cluster: probes its nodes, pushes the topology to them, replaces dead masters
//! and follows migrations.

mod failover;
mod migration;
mod probe;
mod ticker;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use futures::channel::{mpsc, oneshot};
use futures::future::{FutureExt, Shared as Repeated};
use futures::{StreamExt, select_biased};

use super::Shared;
use super::document::{Cluster, Node};
use super::failure::Failure;
use super::log::Field;
use super::store::Key;
use crate::reference::host::Host;
use ticker::Ticker;

const MIGRATION_INTERVAL: Duration = Duration::from_secs(1);

/// Work for one cluster. When this is dropped, a round that has begun is still finished.
pub struct Checking {
    syncs: mpsc::Sender<()>,
    /// Going, it ends the loops.
    _stop: oneshot::Sender<Infallible>,
}

impl Checking {
    pub fn start<H: Host>(shared: &Rc<Shared<H>>, key: Key) -> Checking {
        let (syncs, asked) = mpsc::channel(1);
        let (stop, stopped) = oneshot::channel();
        let stopped = stopped.shared();
        let checker = Rc::new(Checker {
            shared: shared.clone(),
            key,
            cluster: RefCell::default(),
            failures: RefCell::default(),
        });
        shared.host.run(checker.clone().probe_loop(asked, stopped.clone()));
        shared.host.run(checker.migration_loop(stopped));
        Checking { syncs, _stop: stop }
    }

    /// The topology has changed: all nodes shall be told.
    pub fn ask_for_sync(&mut self) {
        // Where one is asked for already, it will find this change, too.
        let _ = self.syncs.try_send(());
    }
}

type Stopped = Repeated<oneshot::Receiver<Infallible>>;

struct Checker<H: Host> {
    shared: Rc<Shared<H>>,
    key: Key,
    /// As it was at the last probe or change of its own.
    cluster: RefCell<Option<Cluster>>,
    /// Failed probes in a row, by node id. A new leader counts anew.
    failures: RefCell<BTreeMap<String, u64>>,
}

impl<H: Host> Checker<H> {
    async fn probe_loop(self: Rc<Self>, mut asked: mpsc::Receiver<()>, mut stopped: Stopped) {
        let mut ticker = Ticker::new(&self.shared.host, self.shared.config.ping_interval);
        loop {
            // A round waits for its slowest node, and a sync for the end of the round.
            select_biased! {
                _ = stopped => return,
                sync = asked.next() => match sync {
                    Some(()) => self.sync().await,
                    None => return,
                },
                () = ticker.tick().fuse() => self.probe().await,
            }
        }
    }

    async fn migration_loop(self: Rc<Self>, mut stopped: Stopped) {
        let mut ticker = Ticker::new(&self.shared.host, MIGRATION_INTERVAL);
        loop {
            select_biased! {
                _ = stopped => return,
                () = ticker.tick().fuse() => {}
            }
            let cluster = self.cluster.borrow().clone();
            if let Some(cluster) = cluster {
                self.follow_migrations(cluster).await;
            }
        }
    }

    /// Pushes the topology to all nodes at once and waits for none.
    async fn sync(self: &Rc<Self>) {
        let cluster = match self.shared.store.cluster(&self.key).await {
            Ok(cluster) => Rc::new(cluster),
            Err(error) => {
                return self.complain("Failed to sync the clusterName to the nodes", &error);
            }
        };
        for node in cluster.nodes() {
            let (checker, cluster, node) = (self.clone(), cluster.clone(), node.clone());
            self.shared.host.run(async move { checker.push(&node, &cluster).await });
        }
    }

    async fn push(&self, node: &Node, cluster: &Cluster) {
        let mut fields = self.named("cluster").to_vec();
        fields.push(("version", cluster.version.into()));
        fields.push(("node_id", node.id.clone().into()));
        fields.push(("addr", node.addr.clone().into()));
        match self.shared.nodes.push(node, cluster).await {
            Ok(()) => {
                self.shared.log.info("Succeed to sync the cluster topology to the node", &fields);
            }
            Err(error) => {
                fields.push(("error", error.to_string().into()));
                self.shared.log.error("Failed to sync the cluster topology to the node", &fields);
            }
        }
    }

    fn named(&self, cluster: &'static str) -> [Field<'static>; 2] {
        [("namespace", self.key.0.clone().into()), (cluster, self.key.1.clone().into())]
    }

    fn complain(&self, message: &str, error: &Failure) {
        let [namespace, cluster] = self.named("clusterName");
        self.shared.log.error(message, &[namespace, cluster, ("error", error.to_string().into())]);
    }
}
