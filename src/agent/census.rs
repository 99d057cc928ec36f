//! The processes of one container as the host sees them, and signals to them.
//!
//! A container is known by its first process. Whatever shares the host's own pid namespace is refused.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use anyhow::{Context, bail, ensure};

use super::process;
use super::protocol::Resident;

/// All processes in the pid namespace of the process `first`, sorted by pid.
pub fn census(first: u32) -> anyhow::Result<Vec<Resident>> {
    let Some(namespace) = foreign_namespace(first)? else { return Ok(Vec::new()) };
    let mut residents = Vec::new();
    for entry in fs::read_dir("/proc").context("list /proc")? {
        let name = entry.context("list /proc")?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        // Processes come and go meanwhile.
        if namespace_of(pid).ok().as_ref() == Some(&namespace) {
            residents.extend(resident(pid)?);
        }
    }
    residents.sort_by_key(|resident| resident.pid);
    Ok(residents)
}

/// Sends a signal to one process of the container, if it is still the one that started at that time.
///
/// False where it is gone.
pub fn signal(first: u32, pid: u32, start_ticks: u64, signal: i32) -> anyhow::Result<bool> {
    let Some(namespace) = foreign_namespace(first)? else { return Ok(false) };
    // From here on the number cannot be given to another process unnoticed.
    let handle = match open(pid) {
        Ok(handle) => handle,
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Ok(false),
        Err(error) => return Err(error).with_context(|| format!("open process {pid}")),
    };
    let Some(facts) = process::facts(pid)? else { return Ok(false) };
    if facts.start_ticks != start_ticks {
        return Ok(false);
    }
    let is_inside = namespace_of(pid).is_ok_and(|its| its == namespace);
    ensure!(is_inside, "process {pid} is not in the container of process {first}");
    send(&handle, signal).with_context(|| format!("send signal {signal} to process {pid}"))
}

fn resident(pid: u32) -> anyhow::Result<Option<Resident>> {
    let Some(facts) = process::facts(pid)? else { return Ok(None) };
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok());
    Ok(parent.map(|parent| Resident { pid, parent, facts }))
}

/// The pid namespace of a container's first process; `None` where that is gone.
fn foreign_namespace(first: u32) -> anyhow::Result<Option<String>> {
    let theirs = match namespace_of(first) {
        Ok(namespace) => namespace,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => bail!("look at the pid namespace of process {first}: {error}"),
    };
    let ours = namespace_of(std::process::id()).context("look at our own pid namespace")?;
    ensure!(
        theirs != ours,
        "process {first} is in the host's own pid namespace, expected a container's first process"
    );
    Ok(Some(theirs))
}

fn namespace_of(pid: u32) -> io::Result<String> {
    let link = fs::read_link(format!("/proc/{pid}/ns/pid"))?;
    Ok(link.display().to_string())
}

fn open(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: a plain system call on two numbers.
    let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if handle < 0 {
        return Err(io::Error::last_os_error());
    }
    let handle = i32::try_from(handle).map_err(io::Error::other)?;
    // SAFETY: the kernel has just given us this descriptor, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(handle) })
}

fn send(handle: &OwnedFd, signal: i32) -> io::Result<bool> {
    let no_details = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: an open descriptor, two numbers, and no details, which is allowed.
    let sent = unsafe {
        libc::syscall(libc::SYS_pidfd_send_signal, handle.as_raw_fd(), signal, no_details, 0)
    };
    if sent == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    if error.raw_os_error() == Some(libc::ESRCH) { Ok(false) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_namespace_is_refused() {
        let own = std::process::id();
        let text = format!("{:#}", census(own).expect_err("the host's own"));
        assert!(text.contains("expected a container's first process"), "{text}");
        assert!(signal(own, own, 0, 0).is_err());
    }

    #[test]
    fn a_container_that_is_gone_has_nobody() {
        assert_eq!(census(u32::MAX).expect("an answer"), []);
        assert!(!signal(u32::MAX, 1, 0, 0).expect("an answer"));
    }
}
