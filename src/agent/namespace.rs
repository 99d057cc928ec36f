//! Opens sockets inside another process's network namespace. A socket stays where it was made.
//!
//! Only a thread made for it changes namespace, and it never comes back out.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::mpsc::{self, Receiver, Sender};

use anyhow::{Context, ensure};

use super::protocol::Place;

/// Runs `work` in the network namespace of the process with this pid on the host.
///
/// A process that shares our own namespace is refused: what is meant for a node would hit the host.
pub fn within<T: Send>(
    pid: u32,
    work: impl FnOnce() -> anyhow::Result<T> + Send,
) -> anyhow::Result<T> {
    let namespace = open(pid)?;
    let inside = || {
        enter(&namespace)?;
        work()
    };
    std::thread::scope(|scope| scope.spawn(inside).join())
        .unwrap_or_else(|_| Err(anyhow::anyhow!("the thread in the network of {pid} panicked")))
}

/// Starts a thread that lives in the network namespace of the process with this pid on the host.
///
/// It returns once the thread is there and `prepare` is done; `work` then goes on with what that made.
pub fn settle<T: 'static, R: Send + 'static>(
    pid: u32,
    name: String,
    prepare: impl FnOnce() -> anyhow::Result<(T, R)> + Send + 'static,
    work: impl FnOnce(T) + Send + 'static,
) -> anyhow::Result<R> {
    let namespace = open(pid)?;
    let (tell, told) = mpsc::channel();
    let inside = move || match enter(&namespace).and_then(|()| prepare()) {
        Ok((made, ready)) => {
            if tell.send(Ok(ready)).is_ok() {
                work(made);
            }
        }
        Err(error) => {
            let _ = tell.send(Err(error));
        }
    };
    std::thread::Builder::new().name(name).spawn(inside).context("start a thread")?;
    told.recv().unwrap_or_else(|_| Err(anyhow::anyhow!("the thread in the network of {pid} ended")))
}

type Job = Box<dyn FnOnce() + Send>;

/// A thread that stays in a container's network namespace and works there: entering costs about 15 ms,
/// a job some microseconds. It ends when this is dropped.
pub struct Resident {
    namespace: File,
    jobs: Sender<Job>,
}

impl Resident {
    pub fn enter(pid: u32) -> anyhow::Result<Resident> {
        let namespace = open(pid)?;
        let (jobs, queue) = mpsc::channel::<Job>();
        let work = |queue: Receiver<Job>| queue.into_iter().for_each(|job| job());
        settle(pid, format!("in {pid}"), move || Ok((queue, ())), work)?;
        Ok(Resident { namespace, jobs })
    }

    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let (done, result) = mpsc::channel();
        let job = move || {
            // Nobody listens any more: nobody wants the result.
            let _ = done.send(work());
        };
        let gone = "the thread in a container's network ended";
        self.jobs.send(Box::new(job)).map_err(|_| anyhow::anyhow!(gone))?;
        result.recv().context(gone)?
    }
}

/// Where work for a node is done.
pub enum Inside {
    /// In our own namespace: the clients' place.
    Host,
    Container(Resident),
}

impl Inside {
    pub fn of(place: Place) -> anyhow::Result<Inside> {
        match place {
            Place::Host => Ok(Inside::Host),
            Place::Container { pid } => Resident::enter(pid).map(Inside::Container),
        }
    }

    pub fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        match self {
            Inside::Host => work(),
            Inside::Container(resident) => resident.run(work),
        }
    }

    /// The namespace, unless it is our own.
    pub fn namespace(&self) -> Option<&File> {
        match self {
            Inside::Host => None,
            Inside::Container(resident) => Some(&resident.namespace),
        }
    }
}

fn open(pid: u32) -> anyhow::Result<File> {
    let path = format!("/proc/{pid}/ns/net");
    let namespace = File::open(&path).with_context(|| format!("open {path}"))?;
    let ours = std::fs::metadata("/proc/self/ns/net").context("look at our own namespace")?;
    let theirs = namespace.metadata().with_context(|| format!("look at {path}"))?;
    ensure!(
        (ours.dev(), ours.ino()) != (theirs.dev(), theirs.ino()),
        "process {pid} has the host's own network, expected a container with one to itself"
    );
    Ok(namespace)
}

fn enter(namespace: &File) -> anyhow::Result<()> {
    // SAFETY: a plain system call on an open descriptor; it moves only this thread.
    match unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()).context("enter a network namespace"),
    }
}
