//! A shard's copies: a master feeds its records to slaves, a slave follows its master.
//!
//! Asynchronous: a master acknowledges a write before any slave has it. A slave goes on from the sequence
//! number that it has, if its master's history holds that place; else it takes all of the master's data.

mod feed;
mod follow;
mod frame;
mod history;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::rc::Rc;
use std::time::Duration;

use super::node::Node;
use super::signal::Signal;
use crate::reference::host::{Host, Running};

pub use feed::{FeedRequest, feed};

use history::History;

/// A slave that this node feeds.
#[derive(Clone, Debug)]
pub struct Replica {
    pub address: SocketAddrV4,
    /// Where it listens itself.
    pub port: u16,
    /// The last sequence number that it says it has.
    pub acknowledged: u64,
}

/// A slave's connection to its master.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    pub is_up: bool,
    /// All of the master's data are on their way.
    pub is_syncing: bool,
    /// When the master was heard last.
    pub heard: Duration,
}

/// Whom this node follows.
struct Following {
    /// `None`: the topology does not tell where the master is.
    address: Option<String>,
    /// Dropped, it ends.
    _task: Option<Running>,
}

pub struct Replication {
    history: RefCell<History>,
    replicas: RefCell<BTreeMap<u64, Replica>>,
    following: RefCell<Option<Following>>,
    link: Cell<Link>,
    /// All slaves are to go and look for their master anew.
    feeds_end: Signal,
    full_syncs: Cell<u64>,
    partial_syncs: Cell<u64>,
}

impl Replication {
    /// Takes up the history that the disk tells of.
    pub fn open(host: &impl Host) -> anyhow::Result<Replication> {
        Ok(Replication {
            history: RefCell::new(History::open(host)?),
            replicas: RefCell::default(),
            following: RefCell::default(),
            link: Cell::default(),
            feeds_end: Signal::default(),
            full_syncs: Cell::new(0),
            partial_syncs: Cell::new(0),
        })
    }

    pub fn replicas(&self) -> Vec<Replica> {
        self.replicas.borrow().values().cloned().collect()
    }

    pub fn link(&self) -> Link {
        self.link.get()
    }

    pub fn is_linked(&self) -> bool {
        self.link.get().is_up
    }

    pub fn full_syncs(&self) -> u64 {
        self.full_syncs.get()
    }

    pub fn partial_syncs(&self) -> u64 {
        self.partial_syncs.get()
    }

    /// The address of the master; `None` if this node follows nobody, or nobody that it could find.
    pub fn follows(&self) -> Option<String> {
        self.following.borrow().as_ref()?.address.clone()
    }

    /// Follows this master from now on instead of any other.
    pub fn follow<H: Host>(&self, node: &Rc<Node<H>>, address: Option<String>) {
        self.link.set(Link { heard: node.host.monotonic(), ..Link::default() });
        let task = address.clone().map(|address| {
            let task = follow::follow(node.clone(), address);
            node.host.keep_running(task)
        });
        *self.following.borrow_mut() = Some(Following { address, _task: task });
    }

    /// Follows nobody any more; how the connection to the master was, if there was one.
    pub fn leave(&self) -> Option<Link> {
        let following = self.following.take()?;
        drop(following);
        Some(self.link.take())
    }

    /// This node is no master any more.
    pub fn end_feeds(&self) {
        self.feeds_end.give();
    }

    /// A connection is gone.
    pub fn forget(&self, peer: u64) {
        self.replicas.borrow_mut().remove(&peer);
    }

    /// All data are those of this term's master now.
    pub fn adopt(&self, host: &impl Host, term: &str) -> anyhow::Result<()> {
        self.history.borrow_mut().adopt(host, term)
    }

    /// What follows this sequence number is written by this node itself.
    pub fn begin_term(&self, host: &impl Host, last: u64) -> anyhow::Result<()> {
        self.history.borrow_mut().begin_term(host, last)
    }
}
