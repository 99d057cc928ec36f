//! In place of the detour where there is none: other processors than x86-64.

use anyhow::{Context, bail};

use super::clock::container::Process;
use super::clock::shift::Shifts;
use super::protocol::{ClockTrial, Offsets};

const LACK: &str = "clocks of processes can be moved and read on x86-64 only, and this is";

/// Never there.
pub enum Target {}

/// Says what is lacking.
pub fn try_out() -> anyhow::Result<ClockTrial> {
    bail!("{LACK} {}", std::env::consts::ARCH)
}

impl Target {
    pub fn open(_: &Process) -> anyhow::Result<Target> {
        Err(try_out().err().context("no trial succeeds")?)
    }

    pub fn detour(&mut self) -> anyhow::Result<()> {
        match *self {}
    }

    pub fn steer(&self, _: Shifts) -> anyhow::Result<()> {
        match *self {}
    }

    pub fn restore(&self) -> anyhow::Result<()> {
        match *self {}
    }

    pub fn is_detoured(&self) -> anyhow::Result<bool> {
        match *self {}
    }

    pub fn shifts(&self) -> anyhow::Result<Shifts> {
        match *self {}
    }

    pub fn ask(&self) -> anyhow::Result<(Offsets, u64)> {
        match *self {}
    }

    pub fn calls(&self) -> anyhow::Result<(u64, u64)> {
        match *self {}
    }
}

/// Our own reading of a clock.
pub fn now(clock: libc::clockid_t) -> i64 {
    let mut reading = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the reading is live; these clocks always exist.
    unsafe { libc::clock_gettime(clock, &mut reading) };
    reading.tv_sec * 1_000_000_000 + reading.tv_nsec
}
