//! Namespaces and clusters in ZooKeeper, as the real controller keeps them.

mod writing;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::lock::Mutex;

use super::config::Config;
use super::document::{Cluster, json};
use super::engine::Engine;
use super::failure::Failure;
use super::leadership::Leadership;
use super::log::Log;
use crate::cluster::{CoordinationError, CreateMode};
use crate::reference::host::Host;

const METADATA: &str = "/kvrocks/metadata";

/// Namespace and name of a cluster.
pub type Key = (String, String);

/// What this controller changed; changes that others make are not heard of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Created(Key),
    Updated(Key),
    Removed(Key),
}

pub struct Store<H: Host> {
    engine: Rc<Engine<H>>,
    leadership: Rc<Leadership<H>>,
    config: Rc<Config>,
    log: Rc<Log<H>>,
    /// One change of a cluster at a time; other processes know nothing of it.
    locks: RefCell<BTreeMap<Key, Rc<Mutex<()>>>>,
    /// What the holder of a lease keeps in mind.
    memory: RefCell<BTreeMap<Key, Cluster>>,
    events: UnboundedSender<Event>,
}

fn namespace_path(namespace: &str) -> String {
    format!("{METADATA}/{namespace}")
}

fn clusters_path(namespace: &str) -> String {
    format!("{METADATA}/{namespace}/cluster")
}

fn path_of((namespace, cluster): &Key) -> String {
    format!("{METADATA}/{namespace}/cluster/{cluster}")
}

impl<H: Host> Store<H> {
    pub fn new(
        engine: Rc<Engine<H>>,
        leadership: Rc<Leadership<H>>,
        config: Rc<Config>,
        log: Rc<Log<H>>,
    ) -> (Store<H>, UnboundedReceiver<Event>) {
        let (events, heard) = unbounded();
        let (locks, memory) = (RefCell::default(), RefCell::default());
        (Store { engine, leadership, config, log, locks, memory, events }, heard)
    }

    fn emit(&self, event: Event) {
        // Nobody listens any more only when the process ends.
        let _ = self.events.unbounded_send(event);
    }

    fn lock(&self, key: &Key) -> Rc<Mutex<()>> {
        self.locks.borrow_mut().entry(key.clone()).or_default().clone()
    }

    pub async fn namespaces(&self) -> Result<Vec<String>, Failure> {
        Ok(self.engine.children(METADATA).await?)
    }

    pub async fn has_namespace(&self, namespace: &str) -> Result<bool, Failure> {
        Ok(self.engine.exists(&namespace_path(namespace)).await?.is_some())
    }

    pub async fn create_namespace(&self, namespace: &str) -> Result<(), Failure> {
        if self.has_namespace(namespace).await? {
            return Err(Failure::already_exists());
        }
        Ok(self.engine.put(&namespace_path(namespace), namespace.as_bytes()).await?)
    }

    pub async fn remove_namespace(&self, namespace: &str) -> Result<(), Failure> {
        if !self.has_namespace(namespace).await? {
            return Err(Failure::not_found());
        }
        if !self.clusters(namespace).await?.is_empty() {
            return Err(Failure::new(403, "forbidden: please delete clusters first"));
        }
        // An empty folder of clusters may be left.
        match self.engine.delete(&clusters_path(namespace)).await {
            Ok(()) | Err(CoordinationError::NoNode) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(self.engine.delete(&namespace_path(namespace)).await?)
    }

    pub async fn clusters(&self, namespace: &str) -> Result<Vec<String>, Failure> {
        Ok(self.engine.children(&clusters_path(namespace)).await?)
    }

    pub async fn cluster(&self, key: &Key) -> Result<Cluster, Failure> {
        let lock = self.lock(key);
        let _held = lock.lock().await;
        self.recall(key).await
    }

    async fn read(&self, key: &Key) -> Result<Cluster, Failure> {
        let found = self.engine.get(&path_of(key)).await;
        let found = found.map_err(|error| Failure::from(error).of("cluster"))?;
        let Some((data, stat)) = found.filter(|(data, _)| !data.is_empty()) else {
            return Err(Failure::internal("cluster: unexpected end of JSON input"));
        };
        let mut cluster: Cluster = serde_json::from_slice(&data)
            .map_err(|error| Failure::internal(format!("cluster: {error}")))?;
        cluster.znode_version = stat.version;
        Ok(cluster)
    }

    pub async fn create_cluster(&self, key: &Key, cluster: &Cluster) -> Result<(), Failure> {
        let lock = self.lock(key);
        let _held = lock.lock().await;
        if self.engine.exists(&path_of(key)).await?.is_some() {
            return Err(Failure::already_exists().of("cluster"));
        }
        self.write_new(key, cluster).await?;
        self.emit(Event::Created(key.clone()));
        Ok(())
    }

    /// Writes a changed cluster as the next version.
    pub async fn update_cluster(&self, key: &Key, cluster: &mut Cluster) -> Result<(), Failure> {
        let lock = self.lock(key);
        let _held = lock.lock().await;
        if self.recall(key).await?.version > cluster.version {
            return Err(Failure::updated_by_others());
        }
        cluster.version += 1;
        self.write(key, cluster).await?;
        self.log.info("Updated the cluster version", &[("cluster_info", json(cluster).into())]);
        self.emit(Event::Updated(key.clone()));
        Ok(())
    }

    /// Writes a cluster with the version that it has; nobody is told.
    pub async fn set_cluster(&self, key: &Key, cluster: &mut Cluster) -> Result<(), Failure> {
        let lock = self.lock(key);
        let _held = lock.lock().await;
        if self.recall(key).await?.version > cluster.version {
            return Err(Failure::updated_by_others());
        }
        self.write(key, cluster).await
    }

    pub async fn remove_cluster(&self, key: &Key) -> Result<(), Failure> {
        let lock = self.lock(key);
        let _held = lock.lock().await;
        if self.engine.exists(&path_of(key)).await?.is_none() {
            return Err(Failure::not_found());
        }
        self.engine.delete(&path_of(key)).await?;
        self.memory.borrow_mut().remove(key);
        self.emit(Event::Removed(key.clone()));
        Ok(())
    }

    /// All clusters of all namespaces.
    pub async fn all(&self) -> Result<Vec<Key>, Failure> {
        let mut all = Vec::new();
        for namespace in self.namespaces().await? {
            let clusters = self.clusters(&namespace).await?;
            all.extend(clusters.into_iter().map(|cluster| (namespace.clone(), cluster)));
        }
        Ok(all)
    }

    /// Refuses nodes that are in a cluster already.
    pub async fn check_new_nodes(&self, addrs: &[String]) -> Result<(), Failure> {
        let new: BTreeSet<&str> = addrs.iter().map(String::as_str).collect();
        let mut known = Vec::new();
        for key in self.all().await? {
            let cluster = self.cluster(&key).await?;
            let taken = cluster.nodes().filter(|node| new.contains(node.addr.as_str()));
            known.extend(taken.map(|node| node.addr.clone()));
        }
        match known.is_empty() {
            true => Ok(()),
            false => {
                let message = format!("node: already exists: [{}]", known.join(" "));
                Err(Failure::new(409, message))
            }
        }
    }
}

/// What the first write of a znode is called in ZooKeeper.
fn is_taken(error: &CoordinationError) -> bool {
    matches!(error, CoordinationError::NodeExists)
}

const MODE: CreateMode = CreateMode::Persistent;
