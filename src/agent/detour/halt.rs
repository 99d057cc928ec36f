//! Holds threads of another process still by ptrace, without sending it a signal.
//!
//! The kernel lets a thread go on when its holder ends, so whatever goes wrong, nothing stays held.

use std::io;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use libc::{c_int, c_long, c_uint, pid_t};

use crate::agent::process;

/// A thread that sleeps beyond the reach of signals is not waited for any longer. On a busy machine some
/// wait long for a processor to stop on.
const WITHIN: Duration = Duration::from_secs(4);
/// Most stops come within microseconds, and each is waited for many times.
const AWAKE: Duration = Duration::from_micros(100);
const NAP: Duration = Duration::from_micros(50);

const EVENT_STOP: c_int = 128;
const SYSCALL_STOP: c_int = libc::SIGTRAP | 0x80;

/// Why a thread stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It was told to, or its whole process is stopped.
    Told,
    /// At the beginning or end of a system call.
    Syscall,
    /// A signal is about to reach it.
    Signal(c_int),
}

/// Threads of one process that stand still; dropping it lets them go on.
pub struct Held {
    pub pid: u32,
    threads: Vec<pid_t>,
}

impl Held {
    /// Holds all threads.
    pub fn all(pid: u32) -> anyhow::Result<Held> {
        let deadline = Instant::now() + WITHIN;
        let mut held = Held { pid, threads: Vec::new() };
        loop {
            // Until all are held, any of them may start another.
            let mut new = threads(pid)?;
            new.retain(|thread| !held.threads.contains(thread));
            let (new, refused) = seize_living(&new)?;
            match refused {
                None if new.is_empty() => break,
                Some(error) if new.is_empty() => be_patient(error, pid, deadline)?,
                _ => {}
            }
            for thread in new {
                if let Some(Stop::Told) = await_told(thread, deadline)? {
                    held.threads.push(thread);
                }
            }
        }
        ensure!(!held.threads.is_empty(), "process {pid} has no living thread");
        Ok(held)
    }

    /// Holds one thread, the first if it is still there.
    pub fn one(pid: u32) -> anyhow::Result<Held> {
        let deadline = Instant::now() + WITHIN;
        loop {
            let mut refusal = None;
            for thread in threads(pid)? {
                let (new, refused) = seize_living(&[thread])?;
                if !new.is_empty() && await_told(thread, deadline)?.is_some() {
                    return Ok(Held { pid, threads: new });
                }
                refusal = refusal.or(refused);
            }
            let error = refusal.with_context(|| format!("process {pid} has no living thread"))?;
            be_patient(error, pid, deadline)?;
        }
    }

    pub fn threads(&self) -> &[pid_t] {
        &self.threads
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        for thread in &self.threads {
            // One that was killed meanwhile needs no letting go.
            let _ = ptrace(libc::PTRACE_DETACH, *thread, 0, 0);
        }
    }
}

fn threads(pid: u32) -> anyhow::Result<Vec<pid_t>> {
    let path = format!("/proc/{pid}/task");
    let entries = std::fs::read_dir(&path).with_context(|| format!("read {path}"))?;
    let name = |entry: io::Result<std::fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
    let mut threads: Vec<pid_t> =
        entries.filter_map(name).filter_map(|name| name.parse().ok()).collect();
    threads.sort_by_key(|thread| (*thread != pid as pid_t, *thread));
    Ok(threads)
}

/// Begins to hold those that live; also why one of them could not be.
fn seize_living(threads: &[pid_t]) -> anyhow::Result<(Vec<pid_t>, Option<io::Error>)> {
    let (mut seized, mut refused) = (Vec::new(), None);
    for thread in threads {
        match seize(*thread) {
            Ok(()) => seized.push(*thread),
            Err(error) => {
                let is_alive =
                    process::facts(*thread as u32)?.is_some_and(|facts| facts.is_alive());
                refused = refused.or(is_alive.then_some(error));
            }
        }
    }
    Ok((seized, refused))
}

/// Another that holds the process may be about to let it go: what an agent before us began, it ends.
fn be_patient(error: io::Error, pid: u32, deadline: Instant) -> anyhow::Result<()> {
    if Instant::now() >= deadline {
        return Err(error).with_context(|| format!("hold process {pid}; does a debugger?"));
    }
    std::thread::sleep(NAP);
    Ok(())
}

fn seize(thread: pid_t) -> io::Result<()> {
    ptrace(libc::PTRACE_SEIZE, thread, 0, libc::PTRACE_O_TRACESYSGOOD as usize)?;
    ptrace(libc::PTRACE_INTERRUPT, thread, 0, 0)
}

/// Waits until a thread stands still because it was told to; `None` if it ended instead.
///
/// Signals that come first are passed on: their handlers begin only once the thread is let go.
pub fn await_told(thread: pid_t, deadline: Instant) -> anyhow::Result<Option<Stop>> {
    loop {
        match await_stop(thread, deadline)? {
            Some(Stop::Signal(signal)) => {
                ptrace(libc::PTRACE_CONT, thread, 0, signal as usize)
                    .context("pass a signal on")?;
            }
            Some(Stop::Syscall) => {
                ptrace(libc::PTRACE_CONT, thread, 0, 0).context("let a thread go on")?;
            }
            stop => return Ok(stop),
        }
    }
}

/// Waits until a thread stands still; `None` if it ended instead.
pub fn await_stop(thread: pid_t, deadline: Instant) -> anyhow::Result<Option<Stop>> {
    let started = Instant::now();
    loop {
        let mut status = 0;
        // SAFETY: the status is a live integer; the thread is held by this one.
        match unsafe { libc::waitpid(thread, &mut status, libc::__WALL | libc::WNOHANG) } {
            0 => {}
            -1 => {
                let error = io::Error::last_os_error();
                match error.raw_os_error() {
                    Some(libc::ECHILD) => return Ok(None),
                    Some(libc::EINTR) => continue,
                    _ => return Err(error).context("wait for a held thread"),
                }
            }
            _ => return Ok(stop(status)),
        }
        let now = Instant::now();
        ensure!(now < deadline, "thread {thread} cannot be stopped; is its container paused?");
        if now - started < AWAKE {
            std::thread::yield_now();
        } else {
            std::thread::sleep(NAP);
        }
    }
}

fn stop(status: c_int) -> Option<Stop> {
    if !libc::WIFSTOPPED(status) {
        return None;
    }
    Some(match (status >> 16, libc::WSTOPSIG(status)) {
        (EVENT_STOP, _) => Stop::Told,
        (_, SYSCALL_STOP) => Stop::Syscall,
        (_, signal) => Stop::Signal(signal),
    })
}

/// A ptrace call that returns nothing but whether it worked.
pub fn ptrace(request: c_uint, thread: pid_t, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: callers pass addresses of live values of the type that the request reads or writes.
    let result: c_long = unsafe { libc::ptrace(request as _, thread, address, data) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
