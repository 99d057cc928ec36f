//! What a reference server needs of the place that it runs in: sockets, clocks, a disk, a log, tasks and
//! ZooKeeper. All of it is one process's; it goes with the process.

use std::future::Future;
use std::io;
use std::net::SocketAddrV4;
use std::rc::Rc;
use std::time::Duration;

use futures::future::{AbortHandle, Abortable};
use futures::io::{AsyncRead, AsyncWrite};

use crate::cluster::{Coordination, CoordinationError};
use crate::rng::Rng;

/// The place of one process.
///
/// Futures here are not `Send`: a server is one thread. Nothing may name a clock, a socket or a file but
/// through this.
pub trait Host: Clone + 'static {
    type Stream: AsyncRead + AsyncWrite + Unpin + 'static;
    type Listener: Listener<Stream = Self::Stream> + 'static;
    type Session: Coordination + 'static;

    /// Listens on all addresses of the node.
    fn listen(&self, port: u16) -> impl Future<Output = io::Result<Self::Listener>>;

    /// Opens a TCP connection; it is refused, or waits for as long as the kernel tries.
    fn connect(&self, to: SocketAddrV4)
    -> impl Future<Output = io::Result<Self::Stream>> + 'static;

    /// Opens a session with exactly this ZooKeeper server.
    fn coordinate(
        &self,
        server: SocketAddrV4,
        session_timeout: Duration,
    ) -> impl Future<Output = Result<Self::Session, CoordinationError>> + 'static;

    /// Lets a task run beside; it ends with the process at the latest.
    fn run(&self, task: impl Future<Output = ()> + 'static);

    /// Lets a task run beside until its handle is dropped.
    fn keep_running(&self, task: impl Future<Output = ()> + 'static) -> Running {
        let (handle, registration) = AbortHandle::new_pair();
        let task = Abortable::new(task, registration);
        self.run(async move {
            let _ = task.await;
        });
        Running(handle)
    }

    /// The time of day in milliseconds since 1970, as this process reads it.
    fn wall_ms(&self) -> i64;

    /// What this process measures spans of time by; it has no particular beginning.
    fn monotonic(&self) -> Duration;

    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + 'static;

    fn disk(&self) -> Rc<dyn Disk>;

    /// Writes one line, without an end, to the process's log, as it stands.
    fn log(&self, line: &str);

    /// Chance for one purpose; the same purpose gives the same chance again.
    fn chance(&self, purpose: &str) -> Rng;
}

/// A task that ends when this is dropped.
#[derive(Debug)]
pub struct Running(AbortHandle);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Takes connections.
pub trait Listener {
    type Stream;

    /// The next connection and who opened it.
    fn accept(&mut self) -> impl Future<Output = io::Result<(Self::Stream, SocketAddrV4)>>;
}

/// A folder of files that outlives the process.
///
/// What was appended survives the death of the process, what was synced also that of the machine.
pub trait Disk {
    /// All of a file; `None` where there is none.
    fn read(&self, file: &str) -> io::Result<Option<Vec<u8>>>;

    /// Adds to the end of a file, which may be new.
    fn append(&self, file: &str, bytes: &[u8]) -> io::Result<()>;

    /// Returns when all that was appended to the file is on the disk itself.
    fn sync(&self, file: &str) -> io::Result<()>;

    /// Puts these bytes in place of the file's, all at once and synced.
    fn replace(&self, file: &str, bytes: &[u8]) -> io::Result<()>;
}

/// What an operation of a bounded time came to: `None` when the time ran out.
pub async fn within<H: Host, T>(
    host: &H,
    time: Duration,
    what: impl Future<Output = T>,
) -> Option<T> {
    let (what, late) = (std::pin::pin!(what), std::pin::pin!(host.sleep(time)));
    match futures::future::select(what, late).await {
        futures::future::Either::Left((done, _)) => Some(done),
        futures::future::Either::Right(_) => None,
    }
}
