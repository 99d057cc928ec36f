//! Clocks of running processes, moved from outside: wall and monotonic, one container's and no other's.
//!
//! A program reads the clock by functions that the kernel maps into every process, the vDSO. A detour
//! around them, in the memory of that one process, adds an offset to what they return, whatever the
//! program is written in. What asks the kernel itself stays true: timers, file times, raw system calls.
//! The host's clock is never changed, nor is any process that shares the host's processes.
//!
//! The state is in each process itself, so any agent can find and undo it. A process that starts a
//! program anew has true clocks; children inherit what their parent had.

pub mod container;
pub mod shift;

use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use super::detour::{Target, now, try_out};
use super::protocol::{ClockReport, ClockTrial, HealedClock, Offsets, ProcessClock, Shown};
use container::{Container, Process};
use shift::{Shift, Shifts};

/// How often the processes of a container are listed until all of them are as wanted.
const ROUNDS: usize = 5;
/// Beyond this, times no longer fit the numbers that programs keep them in.
const LARGEST_OFFSET: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// The clocks of a session: what it has moved, to be undone at its end.
#[derive(Default)]
pub struct Clocks {
    skewed: Vec<Container>,
    /// The mechanism has worked on a child of our own.
    tried: bool,
    closed: bool,
}

impl Clocks {
    /// From now on nothing is skewed any more.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Tries the mechanism on a child of our own.
    pub fn try_out(&mut self) -> anyhow::Result<ClockTrial> {
        let trial = try_out().context("skewing clocks does not work here")?;
        self.tried = true;
        Ok(trial)
    }

    /// Sets how far the clocks of all processes of a container are off, in place of what was before.
    ///
    /// A monotonic clock never goes back: where it is further ahead already, it stays there.
    pub fn skew(&mut self, pid: u32, offsets: Offsets) -> anyhow::Result<ClockReport> {
        ensure!(!self.closed, "the agent is ending and skews nothing more");
        check(offsets)?;
        let container = Container::of(pid)?;
        if !self.tried {
            self.try_out()?;
        }
        let container = self.remember(container);
        let started = Instant::now();
        set_all(container, offsets)?;
        report(container, started.elapsed())
    }

    /// Asks all processes of a container what their clocks show. None of them is changed by it.
    pub fn read(&self, pid: u32) -> anyhow::Result<ClockReport> {
        let container = Container::of(pid)?;
        let started = Instant::now();
        let report = report(&container, Duration::ZERO)?;
        Ok(ClockReport { took_us: started.elapsed().as_micros() as u64, ..report })
    }

    /// Undoes what was done to the clocks of a container, by this agent or another.
    pub fn heal(&self, pid: u32) -> anyhow::Result<ClockReport> {
        let container = Container::of(pid)?;
        let started = Instant::now();
        let (_, left) = undo_all(&container);
        ensure!(left.is_empty(), "{}", left.join("; "));
        report(&container, started.elapsed())
    }

    /// Undoes all that this session did: each process that was undone, and what could not be.
    pub fn heal_all(&mut self) -> (Vec<HealedClock>, Vec<String>) {
        let (mut healed, mut left) = (Vec::new(), Vec::new());
        for container in &self.skewed {
            let (undone, failed) = undo_all(container);
            healed.extend(undone);
            left.extend(failed);
        }
        (healed, left)
    }

    /// Before it is touched, so that it is healed whatever becomes of it; those that are gone go.
    fn remember(&mut self, container: Container) -> &Container {
        let is_there = |known: &Container| known.processes().is_ok_and(|found| !found.is_empty());
        self.skewed.retain(|known| !known.is_same(&container) && is_there(known));
        self.skewed.push(container);
        &self.skewed[self.skewed.len() - 1]
    }
}

fn check(offsets: Offsets) -> anyhow::Result<()> {
    let Offsets { wall_ns, monotonic_ns } = offsets;
    let largest = LARGEST_OFFSET.as_nanos() as i64;
    ensure!(
        (-largest..=largest).contains(&wall_ns) && now(libc::CLOCK_REALTIME) + wall_ns >= 0,
        "wall clock off by {wall_ns} ns, expected a time between 1970 and a hundred years from now"
    );
    ensure!(
        (0..=largest).contains(&monotonic_ns),
        "monotonic clock off by {monotonic_ns} ns, expected 0 to a hundred years: it never goes back"
    );
    Ok(())
}

/// Sets all, also those that start meanwhile.
fn set_all(container: &Container, offsets: Offsets) -> anyhow::Result<()> {
    let mut failed = Ok(());
    for _ in 0..ROUNDS {
        let processes = container.processes()?;
        ensure!(!processes.is_empty(), "the container has no living process");
        let mut all_are_set = true;
        failed = Ok(());
        for process in processes {
            match set(&process, offsets) {
                Ok(already) => all_are_set &= already,
                // It may have ended, or have become another program, while we were at it.
                Err(_) if !process.is_there()? => all_are_set = false,
                Err(error) => {
                    all_are_set = false;
                    failed = Err(error);
                }
            }
        }
        if all_are_set {
            return Ok(());
        }
    }
    failed?;
    bail!("processes start faster than their clocks can be skewed, gave up after {ROUNDS} rounds")
}

/// Whether the process was as wanted already.
fn set(process: &Process, offsets: Offsets) -> anyhow::Result<bool> {
    let mut target = Target::open(process)?;
    let shifts = target.shifts()?;
    let ahead = shifts.monotonic.offset_at(now(libc::CLOCK_MONOTONIC));
    let wanted = Shifts {
        wall: Shift::steady(offsets.wall_ns),
        monotonic: Shift::steady(offsets.monotonic_ns.max(ahead)),
    };
    if shifts == wanted && (target.is_detoured()? || wanted == Shifts::default()) {
        return Ok(true);
    }
    target.detour()?;
    target.steer(wanted)?;
    Ok(false)
}

/// Each process that was undone, and what could not be.
fn undo_all(container: &Container) -> (Vec<HealedClock>, Vec<String>) {
    let (mut healed, mut left) = (Vec::new(), Vec::new());
    let processes = match container.processes() {
        Ok(processes) => processes,
        Err(error) => return (healed, vec![format!("clocks unknown: {error:#}")]),
    };
    for process in processes {
        match undo(&process) {
            Ok(undone) => healed.extend(undone),
            Err(_) if process.is_there().is_ok_and(|there| !there) => {}
            Err(error) => {
                left.push(format!("clock of {} ({}): {error:#}", process.pid, process.comm))
            }
        }
    }
    (healed, left)
}

/// True wall time first, which needs nothing to be stopped; then the detour goes, if it may.
fn undo(process: &Process) -> anyhow::Result<Option<HealedClock>> {
    let target = Target::open(process)?;
    if !target.is_detoured()? {
        return Ok(None);
    }
    let ahead_ns = target.shifts()?.monotonic.offset_at(now(libc::CLOCK_MONOTONIC));
    let kept = Shifts { monotonic: Shift::steady(ahead_ns), ..Shifts::default() };
    target.steer(kept)?;
    ensure!(target.shifts()? == kept, "its clock is not as set");
    if ahead_ns == 0 && !process.frozen {
        target.restore()?;
    }
    Ok(Some(HealedClock {
        pid: process.pid,
        comm: process.comm.clone(),
        detoured: target.is_detoured()?,
        monotonic_ns: ahead_ns,
    }))
}

fn report(container: &Container, took: Duration) -> anyhow::Result<ClockReport> {
    let mut processes = Vec::new();
    for process in container.processes()? {
        match ask(&process) {
            Ok(clock) => processes.push(clock),
            Err(_) if !process.is_there()? => {}
            Err(error) => return Err(error),
        }
    }
    Ok(ClockReport { processes, took_us: took.as_micros() as u64 })
}

fn ask(process: &Process) -> anyhow::Result<ProcessClock> {
    let target = Target::open(process)?;
    let shown = match target.ask() {
        Ok((offsets, error_ns)) => Shown::Read { offsets, error_ns },
        Err(error) => Shown::Unread { why: format!("{error:#}") },
    };
    let shifts = target.shifts()?;
    let (wall_calls, monotonic_calls) = target.calls()?;
    Ok(ProcessClock {
        pid: process.pid,
        start_ticks: process.start_ticks,
        comm: process.comm.clone(),
        detoured: target.is_detoured()?,
        ordered: Offsets {
            wall_ns: shifts.wall.offset_at(now(libc::CLOCK_REALTIME)),
            monotonic_ns: shifts.monotonic.offset_at(now(libc::CLOCK_MONOTONIC)),
        },
        shown,
        wall_calls,
        monotonic_calls,
    })
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
