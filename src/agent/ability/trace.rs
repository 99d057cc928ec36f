//! The trial of tracing: a child of our own that may be traced only by those who may trace anybody.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, bail, ensure};

/// The child has a copy of it at the same place.
static WORD: AtomicU64 = AtomicU64::new(UNTOUCHED);
const UNTOUCHED: u64 = 0x7374_6f72_6d67_6c61;
const WRITTEN: u64 = 0x7374_6f72_6d67_6c62;

/// A child that waits to be killed, and is, at the latest with us.
struct Child {
    pid: libc::pid_t,
}

impl Child {
    fn start() -> anyhow::Result<Child> {
        // SAFETY: between fork and its end the child makes nothing but plain system calls.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: plain system calls.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                // From now on it takes the capability to trace it, as with the processes of others.
                libc::prctl(libc::PR_SET_DUMPABLE, 0);
                loop {
                    libc::pause();
                }
            }
        }
        if pid < 0 {
            return Err(io::Error::last_os_error()).context("start a child for a trial");
        }
        Ok(Child { pid })
    }

    fn request(&self, request: libc::c_uint, address: usize) -> io::Result<i64> {
        // SAFETY: of our own child; the kernel checks the address in it.
        unsafe {
            *libc::__errno_location() = 0;
            let result = libc::ptrace(request, self.pid, address, 0usize);
            match *libc::__errno_location() {
                0 => Ok(result),
                errno => Err(io::Error::from_raw_os_error(errno)),
            }
        }
    }

    fn await_stop(&self) -> anyhow::Result<()> {
        let mut status = 0;
        // SAFETY: waits for our own child; the pointer is to a live value.
        let waited = unsafe { libc::waitpid(self.pid, &mut status, 0) };
        if waited != self.pid || !libc::WIFSTOPPED(status) {
            bail!("the child did not stop but has status {status:#x}");
        }
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: ends and reaps our own child, which nobody else waits for.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}

pub fn write_to_a_child() -> anyhow::Result<String> {
    let child = Child::start()?;
    let address = WORD.as_ptr() as usize;
    child.request(libc::PTRACE_SEIZE, 0).context("trace a child")?;
    child.request(libc::PTRACE_INTERRUPT, 0).context("stop a child")?;
    child.await_stop()?;
    let path = format!("/proc/{}/mem", child.pid);
    let memory = OpenOptions::new().write(true).open(&path);
    let memory = memory.context("open a child's memory")?;
    memory
        .write_all_at(&WRITTEN.to_ne_bytes(), address as u64)
        .context("write to a child's memory")?;
    let read = child.request(libc::PTRACE_PEEKDATA, address).context("read a child's memory")?;
    ensure!(
        read as u64 == WRITTEN,
        "a child's memory holds {read:#x} after {WRITTEN:#x} was written"
    );
    ensure!(WORD.load(Ordering::Relaxed) == UNTOUCHED, "our own memory was written to");
    Ok("a child of our own was stopped, written to, and read back".into())
}
