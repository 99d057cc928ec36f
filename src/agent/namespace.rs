//! Opens sockets inside another process's network namespace. A socket stays where it was made.
//!
//! Only a thread made for it changes namespace, and it ends at once.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

use anyhow::{Context, ensure};

/// Runs `work` in the network namespace of the process with this pid on the host.
///
/// A process that shares our own namespace is refused: what is meant for a node would hit the host.
pub fn within<T: Send>(
    pid: u32,
    work: impl FnOnce() -> anyhow::Result<T> + Send,
) -> anyhow::Result<T> {
    let path = format!("/proc/{pid}/ns/net");
    let namespace = File::open(&path).with_context(|| format!("open {path}"))?;
    let ours = std::fs::metadata("/proc/self/ns/net").context("look at our own namespace")?;
    let theirs = namespace.metadata().with_context(|| format!("look at {path}"))?;
    ensure!(
        (ours.dev(), ours.ino()) != (theirs.dev(), theirs.ino()),
        "process {pid} has the host's own network, expected a container with one to itself"
    );
    let inside = || {
        enter(&namespace).with_context(|| format!("enter {path}"))?;
        work()
    };
    std::thread::scope(|scope| scope.spawn(inside).join())
        .unwrap_or_else(|_| Err(anyhow::anyhow!("the thread in {path} panicked")))
}

fn enter(namespace: &File) -> io::Result<()> {
    // SAFETY: a plain system call on an open descriptor; it moves only this thread.
    match unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
