//! What a node is: its place, its configuration, its data, and what all connections share.

mod disk;
mod import;
mod standing;
mod write;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use anyhow::Context;

use super::Config;
use super::clients::Clients;
use super::cluster::{Cluster, Lease, Standing};
use super::doom::Doom;
use super::gate::Gate;
use super::log::{Log, SyncPolicy};
use super::migration::Desk;
use super::replication::Replication;
use super::signal::Signal;
use super::store::Store;
use crate::reference::NodeVariant;
use crate::reference::host::Host;

pub use disk::HISTORY;

pub struct Node<H: Host> {
    pub host: H,
    config: RefCell<Config>,
    pub store: RefCell<Store>,
    pub log: RefCell<Log>,
    /// Records have come to the log.
    pub logged: Signal,
    pub cluster: RefCell<Cluster>,
    pub replication: Replication,
    pub migration: Desk,
    pub clients: Clients,
    /// Shut while a command has the node for itself.
    pub gate: Rc<Gate>,
    pub began: Duration,
    /// What a controller surely received last was sent at this time.
    heard: Cell<Option<Duration>>,
    /// Why the process must end.
    pub doom: Doom,
}

impl<H: Host> Node<H> {
    /// Takes up what the disk holds from the last process.
    pub fn open(host: H, config: Config) -> anyhow::Result<Rc<Node<H>>> {
        let disk = host.disk();
        let saved = disk::topology(&*disk, &config).context(disk::NODES)?;
        let frozen = disk::frozen(&*disk, &config).context(disk::FROZEN)?;
        let replication = Replication::open(&host).context(disk::HISTORY)?;
        let recovered = Log::open(disk, config.sync)?;
        let began = host.monotonic();
        let cluster = Cluster::new(config.variant, saved, frozen);
        let node = Rc::new(Node {
            config: RefCell::new(config),
            store: RefCell::new(recovered.store),
            log: RefCell::new(recovered.log),
            logged: Signal::default(),
            cluster: RefCell::new(cluster),
            replication,
            migration: Desk::default(),
            clients: Clients::default(),
            gate: Rc::default(),
            began,
            heard: Cell::new(None),
            doom: Doom::default(),
            host,
        });
        if !node.is_slave() {
            node.begin_term().context(disk::HISTORY)?;
        }
        node.follow_topology()?;
        if recovered.cut_off > 0 {
            node.tell(
                Level::Warning,
                &format!("Cut {} bytes of a torn write off the log", recovered.cut_off),
            );
        }
        if node.variant() == NodeVariant::AckBeforeLog {
            node.host.run(write::flush_later(node.clone()));
        }
        if node.config(|config| config.sync) == SyncPolicy::EverySecond {
            node.host.run(write::sync_often(node.clone()));
        }
        Ok(node)
    }

    /// Reads the configuration. What it gives back holds on to nothing, so it may live over an `await`.
    pub fn config<T>(&self, read: impl FnOnce(&Config) -> T) -> T {
        read(&self.config.borrow())
    }

    /// Changes the configuration, if all of it is sound.
    pub fn reconfigure<E>(
        &self,
        change: impl FnOnce(&mut Config) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut config = self.config.borrow().clone();
        change(&mut config)?;
        *self.config.borrow_mut() = config;
        Ok(())
    }

    pub fn variant(&self) -> NodeVariant {
        self.config(|config| config.variant)
    }

    pub fn standing(&self) -> Standing {
        self.cluster.borrow().standing()
    }

    pub fn is_slave(&self) -> bool {
        self.cluster.borrow().is_slave()
    }

    /// A controller has asked something, after it surely received something that was sent at this time.
    pub fn hear(&self, proven: Option<Duration>) {
        self.heard.set(self.heard.get().max(proven));
    }

    /// Of meaning to the variants `lease` and `freeze-until-topology`: what a master may serve.
    pub fn lease(&self) -> Lease {
        if !matches!(self.variant(), NodeVariant::Lease | NodeVariant::FreezeUntilTopology) {
            return Lease::Held;
        }
        if self.heard.get().is_none() && self.cluster.borrow().is_remembered() {
            return Lease::Unheard;
        }
        if self.variant() != NodeVariant::Lease {
            return Lease::Held;
        }
        let (now, lease) = (self.host.monotonic(), self.config(|config| config.lease));
        let is_held = self.heard.get().is_some_and(|heard| now.saturating_sub(heard) <= lease);
        match !is_held {
            true => Lease::Over,
            false => Lease::Held,
        }
    }

    /// Writes a line to the log, with the time of day as this process sees it.
    pub fn tell(&self, level: Level, text: &str) {
        let time = jiff::Timestamp::from_millisecond(self.host.wall_ms()).unwrap_or_default();
        let time = time.strftime("%Y%m%d %H:%M:%S%.3f");
        self.host.log(&format!("{}{time} {text}", level.letter()));
    }

    pub fn say(&self, text: &str) {
        self.tell(Level::Info, text);
    }
}

/// How much a line of the log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Info,
    Warning,
    Error,
}

impl Level {
    fn letter(self) -> char {
        match self {
            Level::Info => 'I',
            Level::Warning => 'W',
            Level::Error => 'E',
        }
    }
}
