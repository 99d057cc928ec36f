//! What the connections of one node share, all on one thread.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::net::{SocketAddr, SocketAddrV4};

use tokio::sync::watch;

use super::armory::Armory;
use crate::rng::Rng;

/// How much is read at once.
const BUFFER_BYTES: usize = 64 * 1024;
/// How many connections are remembered for probes to be found among them.
const REMEMBERED: usize = 256;

/// How far a connection came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is here, the server has not answered yet.
    Waiting,
    Connected,
    Refused,
}

pub struct Shared {
    pub armory: RefCell<Armory>,
    pub buffer: RefCell<Vec<u8>>,
    changed: watch::Sender<()>,
    arrivals: RefCell<VecDeque<(SocketAddr, Arrival)>>,
    /// Connections that are being served, by who opened them: to which port they were meant to go.
    guests: RefCell<BTreeMap<SocketAddrV4, u16>>,
    forks: Cell<u64>,
}

impl Shared {
    pub fn new(armory: Armory) -> Shared {
        Shared {
            armory: RefCell::new(armory),
            buffer: RefCell::new(vec![0; BUFFER_BYTES]),
            changed: watch::Sender::new(()),
            arrivals: RefCell::default(),
            guests: RefCell::default(),
            forks: Cell::new(0),
        }
    }

    /// Has every connection look at what is armed.
    pub fn announce(&self) {
        self.changed.send_replace(());
    }

    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// A stream of chance for one direction of one connection.
    pub fn fork(&self) -> Rng {
        self.forks.set(self.forks.get() + 1);
        Rng::from_seed(self.forks.get()).fork("jitter")
    }

    pub fn arrived(&self, client: SocketAddr, arrival: Arrival) {
        let mut arrivals = self.arrivals.borrow_mut();
        if let Some(known) = arrivals.iter_mut().rev().find(|(known, _)| *known == client)
            && arrival != Arrival::Waiting
        {
            known.1 = arrival;
            return;
        }
        if arrivals.len() == REMEMBERED {
            arrivals.pop_front();
        }
        arrivals.push_back((client, arrival));
    }

    /// What became of the last connection from this address.
    pub fn arrival(&self, client: SocketAddr) -> Option<Arrival> {
        let arrivals = self.arrivals.borrow();
        arrivals.iter().rev().find(|(known, _)| *known == client).map(|(_, arrival)| *arrival)
    }

    /// Remembers a connection until what is returned is dropped.
    pub fn admit(&self, client: SocketAddr, port: u16) -> Option<Guest<'_>> {
        let SocketAddr::V4(client) = client else { return None };
        self.guests.borrow_mut().insert(client, port);
        Some(Guest { shared: self, client })
    }

    pub fn guests(&self) -> BTreeMap<SocketAddrV4, u16> {
        self.guests.borrow().clone()
    }
}

/// A connection that is being served.
pub struct Guest<'a> {
    shared: &'a Shared,
    client: SocketAddrV4,
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        self.shared.guests.borrow_mut().remove(&self.client);
    }
}
