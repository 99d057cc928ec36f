//! Does what must not stop half-way in a process of its own, which outlives the agent's death.
//!
//! Whoever holds another process's thread in the midst of work with it and is killed lets it go on with
//! registers that are not its own. So it is held from a child that nobody knows of, which ends within
//! milliseconds and with whose end the kernel lets go of all that it held.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longer than all that the work itself waits for.
const WITHIN: Duration = Duration::from_secs(60);

/// Of a child, the agent that it works for.
static AGENT: AtomicI32 = AtomicI32::new(0);

/// Fails in a child whose agent has died: another one may have decided otherwise meanwhile. Once a process
/// is held, nobody else can change it, so this is to be asked then and before anything is changed.
pub fn ensure_wanted() -> anyhow::Result<()> {
    let agent = AGENT.load(Ordering::Relaxed);
    // SAFETY: a plain system call.
    ensure!(agent == 0 || unsafe { libc::getppid() } == agent, "the agent is gone");
    Ok(())
}

/// Runs `work` in a child and returns what it returned.
///
/// The child has one thread only, and locks that others of ours held stay locked in it: the work may
/// allocate memory and use the system, but not print, start threads, nor take backtraces (so the agent
/// runs without `RUST_BACKTRACE`).
pub fn apart<T: Serialize + DeserializeOwned>(
    work: impl FnOnce() -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let (mut result, mut sender) = pipe().context("open a pipe")?;
    // SAFETY: a plain system call.
    let agent = unsafe { libc::getpid() };
    // SAFETY: the child does no more than what the C library allows after a fork, as said above.
    let child = match unsafe { libc::fork() } {
        -1 => return Err(io::Error::last_os_error()).context("fork a child to work apart"),
        0 => {
            AGENT.store(agent, Ordering::Relaxed);
            drop(result);
            work_and_end(work, &mut sender)
        }
        child => child,
    };
    drop(sender);
    let said = hear(&mut result, child);
    // SAFETY: the child is ours and nobody else waits for it.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    match serde_json::from_slice::<Result<T, String>>(&said?) {
        Ok(result) => result.map_err(|error| anyhow!(error)),
        Err(_) => bail!("the child that held the process was killed"),
    }
}

fn work_and_end<T: Serialize>(work: impl FnOnce() -> anyhow::Result<T>, sender: &mut File) -> ! {
    // SAFETY: plain system calls on a live set. No signal is to keep it from finishing what it began.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
    }
    let result = work().map_err(|error| format!("{error:#}"));
    let said = serde_json::to_vec(&result).unwrap_or_default();
    // If nobody hears it, the agent is gone.
    let _ = sender.write_all(&said);
    // SAFETY: ends at once, without what a process does that ends on its own account.
    unsafe { libc::_exit(0) }
}

fn hear(result: &mut File, child: libc::pid_t) -> anyhow::Result<Vec<u8>> {
    let mut ready = libc::pollfd { fd: result.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one live descriptor.
    let heard = unsafe { libc::poll(&mut ready, 1, WITHIN.as_millis() as i32) };
    if heard == 0 {
        // SAFETY: the child is ours and not yet waited for, so the pid is its own.
        unsafe { libc::kill(child, libc::SIGKILL) };
        bail!("the child that holds the process has not come back within {WITHIN:?}");
    }
    let mut said = Vec::new();
    result.read_to_end(&mut said).context("hear from the child that held the process")?;
    Ok(said)
}

fn pipe() -> io::Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: two new descriptors, each owned from here on by one file.
    unsafe {
        match libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) {
            0 => Ok((File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1]))),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_errors_come_back() {
        assert_eq!(
            apart(|| Ok((7u64, "seven".to_owned()))).expect("done"),
            (7, "seven".to_owned())
        );
        let failed = apart::<u64>(|| Err(anyhow!("inner")).context("outer"));
        assert_eq!(failed.expect_err("failed").to_string(), "outer: inner");
    }

    #[test]
    fn a_child_is_wanted_while_its_agent_lives() {
        ensure_wanted().expect("no child");
        apart(ensure_wanted).expect("its agent lives");
        let orphaned = apart::<()>(|| {
            AGENT.store(1 << 22, Ordering::Relaxed);
            ensure_wanted()
        });
        assert_eq!(orphaned.expect_err("an orphan").to_string(), "the agent is gone");
    }

    #[test]
    fn a_child_that_dies_is_an_error() {
        // SAFETY: ends the child only.
        let died = apart::<u64>(|| unsafe { libc::_exit(1) });
        assert!(died.expect_err("died").to_string().contains("was killed"));
    }
}
