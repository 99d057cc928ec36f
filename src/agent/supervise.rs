//! The first process of a supervised service's container: runs the real command as its child, passes
//! signals on to it, and starts it again in place when SIGKILL took it.
//!
//! It judges nothing else: a child that ends in any other way ends the container, with its exit code.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use super::signal;

/// The arguments of `stormglass supervise`.
#[derive(Clone, Debug, clap::Args)]
pub struct SuperviseArguments {
    /// The command to run, and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// A process that died this soon after its start has hardly lived.
const EARLY: Duration = Duration::from_millis(100);

/// So many early deaths in a row are one's own doing; more make us wait before the next start.
const EARLY_DEATHS: u32 = 3;

const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// As a shell says that a command could not be run.
const NOT_RUN: i32 = 127;
/// As a shell says that a signal ended it: this and the signal's number.
const BY_SIGNAL: i32 = 128;

/// Those that ask the service to end.
const ENDING: [i32; 2] = [libc::SIGTERM, libc::SIGINT];
/// Those that are just passed on.
const PASSED: [i32; 4] = [libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGUSR2];

/// Runs the command until it ends by itself or is told to; its exit code.
pub fn supervise(arguments: &SuperviseArguments) -> i32 {
    match Supervisor::start(&arguments.command).and_then(Supervisor::run) {
        Ok(code) => code,
        Err(error) => {
            let command = arguments.command[0].display();
            eprintln!("stormglass supervise: run {command}: {error}");
            NOT_RUN
        }
    }
}

struct Supervisor<'a> {
    command: &'a [OsString],
    child: i32,
    started: Instant,
    early_deaths: u32,
    is_ending: bool,
}

impl<'a> Supervisor<'a> {
    fn start(command: &'a [OsString]) -> io::Result<Supervisor<'a>> {
        signal::block(&awaited())?;
        let child = spawn(command)?;
        Ok(Supervisor {
            command,
            child,
            started: Instant::now(),
            early_deaths: 0,
            is_ending: false,
        })
    }

    fn run(mut self) -> io::Result<i32> {
        loop {
            match signal::next(&awaited()) {
                Some(libc::SIGCHLD) => {
                    if let Some(code) = self.reap()? {
                        return Ok(code);
                    }
                }
                Some(number) => {
                    self.is_ending |= ENDING.contains(&number);
                    send(self.child, number);
                }
                None => return Err(io::Error::last_os_error()),
            }
        }
    }

    /// Buries all that have died; the exit code once the service has ended for good.
    fn reap(&mut self) -> io::Result<Option<i32>> {
        while let Some((pid, status)) = wait(libc::WNOHANG) {
            if pid != self.child {
                continue;
            }
            if self.is_ending || !is_killed(status) {
                return Ok(Some(code(status)));
            }
            self.restart()?;
        }
        Ok(None)
    }

    fn restart(&mut self) -> io::Result<()> {
        end_remains();
        let is_early = self.started.elapsed() < EARLY;
        self.early_deaths = if is_early { self.early_deaths + 1 } else { 0 };
        std::thread::sleep(pause(self.early_deaths));
        self.child = spawn(self.command)?;
        self.started = Instant::now();
        Ok(())
    }
}

fn awaited() -> Vec<i32> {
    [&ENDING[..], &PASSED, &[libc::SIGCHLD]].concat()
}

/// How long to wait after so many early deaths in a row.
fn pause(early_deaths: u32) -> Duration {
    match early_deaths.checked_sub(EARLY_DEATHS) {
        None => Duration::ZERO,
        Some(more) => FIRST_WAIT.saturating_mul(1 << more.min(10)).min(LONGEST_WAIT),
    }
}

fn spawn(command: &[OsString]) -> io::Result<i32> {
    let mut child = Command::new(&command[0]);
    child.args(&command[1..]);
    // SAFETY: between fork and exec it makes one system call, which is safe there, and allocates nothing.
    unsafe { child.pre_exec(signal::unblock_all) };
    // We wait for all children ourselves, so this handle is of no use.
    let pid = child.spawn()?.id();
    i32::try_from(pid).map_err(io::Error::other)
}

/// What the killed process has left running: a service is restarted whole.
fn end_remains() {
    // To anybody but the first process of a container, "all" would be all of the host.
    if std::process::id() != 1 {
        return;
    }
    send(-1, libc::SIGKILL);
    while wait(0).is_some() {}
}

fn send(pid: i32, signal: i32) {
    // SAFETY: takes two numbers and touches no memory. Whoever is gone needs no signal.
    unsafe { libc::kill(pid, signal) };
}

/// The next child that has died, and how.
fn wait(options: i32) -> Option<(i32, i32)> {
    let mut status = 0;
    // SAFETY: the status is a live value of the right type.
    let pid = unsafe { libc::waitpid(-1, &mut status, options) };
    (pid > 0).then_some((pid, status))
}

fn is_killed(status: i32) -> bool {
    libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL
}

fn code(status: i32) -> i32 {
    if libc::WIFEXITED(status) {
        libc::WEXITSTATUS(status)
    } else {
        BY_SIGNAL + libc::WTERMSIG(status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_early_deaths_in_a_row_make_it_wait_and_never_long() {
        let waits = [0, 1, 2, 3, 4, 5, 20, u32::MAX].map(|deaths| pause(deaths).as_millis());
        assert_eq!(waits, [0, 0, 0, 50, 100, 200, 1000, 1000]);
    }

    #[test]
    fn only_sigkill_starts_it_again() {
        // A status is the exit code times 256, or the signal.
        for (status, killed, exit_code) in
            [(0, false, 0), (3 << 8, false, 3), (9, true, 137), (15, false, 143), (11, false, 139)]
        {
            assert_eq!((is_killed(status), code(status)), (killed, exit_code), "{status}");
        }
    }
}
