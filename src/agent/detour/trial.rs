//! Tries the whole mechanism on a child of our own, before it is used on anybody else's process.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::apart::apart;
use super::code;
use super::halt::Held;
use super::{Target, now};
use crate::agent::clock::container::Process;
use crate::agent::clock::shift::{Shift, Shifts};
use crate::agent::protocol::{ClockTrial, Offsets};

const HOUR_NS: i64 = 3_600_000_000_000;
const PATIENCE: Duration = Duration::from_secs(5);

/// A child that reads its clocks and does nothing else; it is killed in the end.
struct Child {
    pid: libc::pid_t,
}

impl Child {
    fn start() -> anyhow::Result<Child> {
        // SAFETY: the child calls only what may be called after a fork of a process with threads.
        match unsafe { libc::fork() } {
            -1 => Err(std::io::Error::last_os_error()).context("fork a child to try clocks on"),
            0 => read_clocks(),
            pid => Ok(Child { pid }),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: the child is ours and not yet waited for, so the pid is still its own.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}

fn read_clocks() -> ! {
    // SAFETY: these calls are allowed after a fork, and their pointers are to live values.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY);
        loop {
            let mut reading: libc::timespec = std::mem::zeroed();
            let mut time: libc::timeval = std::mem::zeroed();
            libc::clock_gettime(libc::CLOCK_REALTIME, &mut reading);
            libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut reading);
            libc::gettimeofday(&mut time, std::ptr::null_mut());
            libc::time(std::ptr::null_mut());
            libc::sched_yield();
        }
    }
}

/// Shifts both clocks of a child, sees that it takes them, and takes it back.
pub fn try_out() -> anyhow::Result<ClockTrial> {
    let child = Child::start()?;
    let process = Process::of(child.pid as u32)?.context("the child is gone")?;
    let mut target = Target::open(&process)?;
    shows(target.ask()?, Offsets::default())?;

    let started = Instant::now();
    target.detour()?;
    let injection_us = started.elapsed().as_micros() as u64;
    shows(target.ask()?, Offsets::default())?;

    let started = Instant::now();
    target.steer(Shifts { wall: Shift::steady(HOUR_NS), ..Shifts::default() })?;
    let change_us = started.elapsed().as_micros() as u64;
    shows(target.ask()?, Offsets { wall_ns: HOUR_NS, monotonic_ns: 0 })?;
    other_functions_show(&target, HOUR_NS)?;
    await_calls(&target, |(wall, _)| wall > 0)?;

    target.steer(Shifts::default())?;
    target.restore()?;
    ensure!(!Target::open(&process)?.is_detoured()?, "a restored child is still detoured");
    shows(target.ask()?, Offsets::default())?;

    target.detour()?;
    target.steer(Shifts { monotonic: Shift::steady(HOUR_NS), ..Shifts::default() })?;
    shows(target.ask()?, Offsets { wall_ns: 0, monotonic_ns: HOUR_NS })?;
    await_calls(&target, |(_, monotonic)| monotonic > 0)?;
    Ok(ClockTrial { injection_us, change_us })
}

fn shows(asked: (Offsets, u64), expected: Offsets) -> anyhow::Result<()> {
    let (offsets, error_ns) = asked;
    ensure!(offsets.agree(expected, error_ns), "the child shows {asked:?}, expected {expected:?}");
    Ok(())
}

/// `gettimeofday` and `time`, which have code of their own.
fn other_functions_show(target: &Target, offset_ns: i64) -> anyhow::Result<()> {
    const SECOND_NS: i64 = 1_000_000_000;
    let function = |name| anyhow::Ok(target.vdso.function(name)?.address);
    let (gettimeofday, time) = (function(code::NAMES[1])?, function(code::NAMES[2])?);
    let memory = &target.memory;
    let (before, seconds, microseconds, from_time) = apart(|| {
        let held = Held::one(target.process.pid)?;
        target.with_scratch(&held, |borrowed, end| {
            let before = now(libc::CLOCK_REALTIME);
            let place = end - 0x2000;
            borrowed.call(memory, gettimeofday, end, [place, place + 16], |_| ())?;
            let from_time = borrowed.call(memory, time, end, [place + 32, 0], |result| result)?;
            ensure!(memory.word(place + 32)? == from_time, "time gives two different answers");
            Ok((before, memory.word(place)?, memory.word(place + 8)?, from_time))
        })
    })?;
    let shifted = seconds as i64 * SECOND_NS + microseconds as i64 * 1000 - before - offset_ns;
    let patience = PATIENCE.as_nanos() as i64;
    ensure!((-1000..patience).contains(&shifted), "gettimeofday is off by {shifted} ns");
    let shifted = (from_time as i64 + 1) * SECOND_NS - before - offset_ns;
    ensure!((0..patience).contains(&shifted), "time is off by {shifted} ns");
    Ok(())
}

/// The child's own calls go by our code.
fn await_calls(target: &Target, enough: impl Fn((u64, u64)) -> bool) -> anyhow::Result<()> {
    let started = Instant::now();
    while !enough(target.calls()?) {
        ensure!(started.elapsed() < PATIENCE, "the child never read its shifted clock");
        std::thread::yield_now();
    }
    Ok(())
}
