//! The [`Host`] of a real process: tokio's sockets and timers, the system's clocks, a folder, ZooKeeper
//! over the wire.

mod folder;

use std::future::Future;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt};

use crate::client::zookeeper::WireSession;
use crate::cluster::CoordinationError;
use crate::reference::host::{Disk, Host, Listener};
use crate::rng::Rng;

use folder::Folder;

/// Where lines of the log go.
#[derive(Clone, Copy, Debug)]
pub enum LogTo {
    Stdout,
    Stderr,
}

/// This process, as a server of ours sees it.
#[derive(Clone)]
pub struct Process {
    folder: Rc<Folder>,
    log_to: LogTo,
    began: Instant,
    chance: Rng,
}

impl Process {
    /// A process that keeps its files in this folder, which is made where it is missing.
    pub fn new(folder: PathBuf, log_to: LogTo) -> anyhow::Result<Process> {
        let named = folder.display().to_string();
        let folder = Folder::open(folder)
            .with_context(|| format!("expected a folder that this user may write to: {named}"))?;
        Ok(Process::over(folder, log_to))
    }

    /// A process that keeps nothing; should it try, its files are in the working folder.
    pub fn without_folder(log_to: LogTo) -> Process {
        Process::over(Folder::untried(PathBuf::from(".")), log_to)
    }

    fn over(folder: Folder, log_to: LogTo) -> Process {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seed = now.as_nanos() as u64 ^ (u64::from(std::process::id()) << 32);
        Process {
            folder: Rc::new(folder),
            log_to,
            began: Instant::now(),
            chance: Rng::from_seed(seed),
        }
    }
}

/// Runs a server on one thread until it fails, or SIGTERM or SIGINT ends it.
pub fn run<F>(serve: impl FnOnce() -> F) -> anyhow::Result<()>
where
    F: Future<Output = anyhow::Result<()>>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let mut term = signal(SignalKind::terminate())?;
        let mut int = signal(SignalKind::interrupt())?;
        tokio::select! {
            biased;
            served = serve() => served,
            _ = term.recv() => Ok(()),
            _ = int.recv() => Ok(()),
        }
    })
}

impl Host for Process {
    type Stream = Compat<TcpStream>;
    type Listener = Listening;
    type Session = WireSession;

    async fn listen(&self, port: u16) -> io::Result<Listening> {
        TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await.map(Listening)
    }

    #[expect(clippy::manual_async_fn, reason = "an async fn would borrow the host for as long")]
    fn connect(
        &self,
        to: SocketAddrV4,
    ) -> impl Future<Output = io::Result<Compat<TcpStream>>> + 'static {
        async move { undelayed(TcpStream::connect(to).await?) }
    }

    fn coordinate(
        &self,
        server: SocketAddrV4,
        session_timeout: Duration,
    ) -> impl Future<Output = Result<WireSession, CoordinationError>> + 'static {
        WireSession::connect(SocketAddr::V4(server), session_timeout)
    }

    fn run(&self, task: impl Future<Output = ()> + 'static) {
        tokio::task::spawn_local(task);
    }

    fn wall_ms(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => since.as_millis() as i64,
            Err(before) => -(before.duration().as_millis() as i64),
        }
    }

    fn monotonic(&self) -> Duration {
        self.began.elapsed()
    }

    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + 'static {
        tokio::time::sleep(time)
    }

    fn disk(&self) -> Rc<dyn Disk> {
        self.folder.clone()
    }

    fn log(&self, line: &str) {
        let line = format!("{line}\n");
        // Nobody reads any more: no reason to stop serving.
        let _ = match self.log_to {
            LogTo::Stdout => io::stdout().lock().write_all(line.as_bytes()),
            LogTo::Stderr => io::stderr().lock().write_all(line.as_bytes()),
        };
    }

    fn chance(&self, purpose: &str) -> Rng {
        self.chance.fork(purpose)
    }
}

/// A port that is listened on.
pub struct Listening(TcpListener);

impl Listener for Listening {
    type Stream = Compat<TcpStream>;

    async fn accept(&mut self) -> io::Result<(Compat<TcpStream>, SocketAddrV4)> {
        let (stream, peer) = self.0.accept().await?;
        let peer = match peer {
            SocketAddr::V4(peer) => peer,
            SocketAddr::V6(peer) => SocketAddrV4::new(
                peer.ip().to_ipv4_mapped().unwrap_or(Ipv4Addr::UNSPECIFIED),
                peer.port(),
            ),
        };
        Ok((undelayed(stream)?, peer))
    }
}

fn undelayed(stream: TcpStream) -> io::Result<Compat<TcpStream>> {
    stream.set_nodelay(true)?;
    Ok(stream.compat())
}
