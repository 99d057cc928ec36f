//! A host in memory for tests of the servers: a network, disks and clocks without a kernel.
//!
//! Time is tokio's paused clock: it moves when everybody waits, so that no test waits for real.

mod client;
mod disk;
mod network;
mod no_zookeeper;
mod tests;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use tokio::task::AbortHandle;
use tokio::time::Instant;

pub use client::Conversation;
pub use disk::MemoryDisk;
pub use network::{MemoryListener, MemoryStream, Network, Tap};
pub use no_zookeeper::NoZookeeper;

use super::host::{Disk, Host};
use crate::cluster::CoordinationError;
use crate::rng::Rng;

/// Runs a test on a clock that moves only when everybody waits.
pub fn on_paused_clock<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without input and output");
    tokio::task::LocalSet::new().block_on(&runtime, test)
}

/// What all places of one test share.
pub struct Lab {
    pub network: Network,
    began: Instant,
    /// The time of day at the beginning.
    wall_ms: Cell<i64>,
}

impl Lab {
    pub fn new() -> Rc<Lab> {
        Rc::new(Lab {
            network: Network::default(),
            began: Instant::now(),
            wall_ms: Cell::new(1_795_958_000_000),
        })
    }

    /// A machine of this address with an empty disk.
    pub fn machine(self: &Rc<Lab>, address: Ipv4Addr) -> Machine {
        Machine { lab: self.clone(), address, disk: MemoryDisk::new() }
    }

    /// A client's conversation with a server; fails where nobody listens.
    pub async fn converse(&self, from: Ipv4Addr, to: SocketAddrV4) -> io::Result<Conversation> {
        self.network.connect(from, to).await.map(Conversation::new)
    }

    pub fn wall_ms(&self) -> i64 {
        self.wall_ms.get() + self.began.elapsed().as_millis() as i64
    }

    /// Puts every machine's time of day right.
    pub fn set_wall_ms(&self, wall_ms: i64) {
        self.wall_ms.set(wall_ms - self.began.elapsed().as_millis() as i64);
    }
}

/// A machine: what outlives its processes.
pub struct Machine {
    lab: Rc<Lab>,
    pub address: Ipv4Addr,
    pub disk: Rc<MemoryDisk>,
}

impl Machine {
    /// Starts a process; it runs until it ends by itself or is killed.
    pub fn start<F>(&self, serve: impl FnOnce(Place) -> F) -> Process
    where
        F: Future<Output = anyhow::Result<()>> + 'static,
    {
        let place = Place {
            lab: self.lab.clone(),
            address: self.address,
            disk: self.disk.clone(),
            lines: Rc::default(),
            tasks: Rc::default(),
        };
        let (serving, lines) = (serve(place.clone()), place.lines.clone());
        place.run(async move {
            if let Err(error) = serving.await {
                lines.borrow_mut().push(format!("ended: {error:#}"));
            }
        });
        Process(place)
    }
}

/// A running process, as a test holds it. Dropped, it runs on.
pub struct Process(Place);

impl Process {
    /// Ends the process with all that it does and holds, as SIGKILL does.
    pub fn kill(self) {
        self.0.tasks.take().iter().for_each(AbortHandle::abort);
    }

    /// All lines of its log so far.
    pub fn log(&self) -> Vec<String> {
        self.0.lines.borrow().clone()
    }
}

/// The place of one process.
#[derive(Clone)]
pub struct Place {
    lab: Rc<Lab>,
    address: Ipv4Addr,
    disk: Rc<MemoryDisk>,
    lines: Rc<RefCell<Vec<String>>>,
    tasks: Rc<RefCell<Vec<AbortHandle>>>,
}

impl Host for Place {
    type Stream = MemoryStream;
    type Listener = MemoryListener;
    type Session = NoZookeeper;

    async fn listen(&self, port: u16) -> io::Result<MemoryListener> {
        self.lab.network.listen(SocketAddrV4::new(self.address, port))
    }

    fn connect(
        &self,
        to: SocketAddrV4,
    ) -> impl Future<Output = io::Result<MemoryStream>> + 'static {
        let (lab, from) = (self.lab.clone(), self.address);
        async move { lab.network.connect(from, to).await }
    }

    fn coordinate(
        &self,
        server: SocketAddrV4,
        _session_timeout: Duration,
    ) -> impl Future<Output = Result<NoZookeeper, CoordinationError>> + 'static {
        std::future::ready(Err(CoordinationError::NotConnected(format!("no server at {server}"))))
    }

    fn run(&self, task: impl Future<Output = ()> + 'static) {
        let mut tasks = self.tasks.borrow_mut();
        tasks.retain(|task| !task.is_finished());
        let lines = self.lines.clone();
        let told = async move {
            if let Err(panic) = AssertUnwindSafe(task).catch_unwind().await {
                lines.borrow_mut().push("a task panicked".to_owned());
                resume_unwind(panic);
            }
        };
        tasks.push(tokio::task::spawn_local(told).abort_handle());
    }

    fn wall_ms(&self) -> i64 {
        self.lab.wall_ms()
    }

    fn monotonic(&self) -> Duration {
        self.lab.began.elapsed()
    }

    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + 'static {
        tokio::time::sleep(time)
    }

    fn disk(&self) -> Rc<dyn Disk> {
        self.disk.clone()
    }

    fn log(&self, line: &str) {
        self.lines.borrow_mut().push(line.to_owned());
    }

    fn chance(&self, purpose: &str) -> Rng {
        Rng::from_seed(u64::from(self.address.to_bits())).fork(purpose)
    }
}
