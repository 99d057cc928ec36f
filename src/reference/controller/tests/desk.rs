//! The place of a controller under test: a machine of the lab with a ZooKeeper in reach and a clock of its own.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::net::SocketAddrV4;
use std::rc::Rc;
use std::time::Duration;

use super::zookeeper::{FakeSession, Zookeeper};
use crate::cluster::CoordinationError;
use crate::reference::host::{Disk, Host};
use crate::reference::testing::{MemoryListener, MemoryStream, Place};
use crate::rng::Rng;

#[derive(Clone)]
pub struct Desk {
    pub place: Place,
    pub zookeeper: Rc<Zookeeper>,
    pub address: std::net::Ipv4Addr,
    /// How far its wall clock is ahead.
    pub skew_ms: Rc<Cell<i64>>,
}

impl Host for Desk {
    type Stream = MemoryStream;
    type Listener = MemoryListener;
    type Session = FakeSession;

    fn listen(&self, port: u16) -> impl Future<Output = io::Result<MemoryListener>> {
        self.place.listen(port)
    }

    fn connect(
        &self,
        to: SocketAddrV4,
    ) -> impl Future<Output = io::Result<MemoryStream>> + 'static {
        self.place.connect(to)
    }

    fn coordinate(
        &self,
        server: SocketAddrV4,
        _session_timeout: Duration,
    ) -> impl Future<Output = Result<FakeSession, CoordinationError>> + 'static {
        let (zookeeper, address) = (self.zookeeper.clone(), self.address);
        async move {
            match server.ip().octets()[3] {
                10 => zookeeper.open(address).await,
                _ => Err(CoordinationError::NotConnected(format!("no server at {server}"))),
            }
        }
    }

    fn run(&self, task: impl Future<Output = ()> + 'static) {
        self.place.run(task);
    }

    fn wall_ms(&self) -> i64 {
        self.place.wall_ms() + self.skew_ms.get()
    }

    fn monotonic(&self) -> Duration {
        self.place.monotonic()
    }

    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + 'static {
        self.place.sleep(time)
    }

    fn disk(&self) -> Rc<dyn Disk> {
        self.place.disk()
    }

    fn log(&self, line: &str) {
        self.place.log(line);
    }

    fn chance(&self, purpose: &str) -> Rng {
        self.place.chance(purpose)
    }
}
