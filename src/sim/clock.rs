//! A node's own idea of time: how far its clocks are off, and how fast they run.
//!
//! It is a pure function of virtual time; nothing here reads a clock.

use std::cell::Cell;

use crate::cluster::Clock;
use crate::op::{Nanos, SECOND};

/// Wall time at the start of every simulation (2024-01-01T00:00:00Z), so that ids look alike.
const WALL_START_MS: i64 = 1_704_067_200_000;
/// What a monotonic clock shows then, as of a host that has been up for a while.
const MONOTONIC_START: i64 = 1_000_000 * SECOND as i64;

/// A clock that was moved by somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bump {
    clock: Clock,
    by_ns: i64,
    /// Readings of that clock before.
    readings: u64,
}

/// One node's clocks. By default they are right.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct NodeClock {
    anchor: Nanos,
    /// What both clocks have counted until the anchor.
    counted_ns: i64,
    rate_ppm: i64,
    wall_offset_ns: i64,
    bumps: Vec<Bump>,
    wall_readings: Cell<u64>,
    monotonic_readings: Cell<u64>,
}

impl NodeClock {
    /// Steps the wall clock by `step_ns` and lets both clocks run `rate_ppm` parts per million fast.
    pub fn skew(&mut self, now: Nanos, step_ns: i64, rate_ppm: i64) {
        assert!(rate_ppm > -1_000_000, "a clock cannot stand still or run backwards");
        self.counted_ns = self.counted_ns(now);
        self.wall_offset_ns += step_ns;
        self.anchor = now;
        self.rate_ppm = rate_ppm;
    }

    /// Moves one of the clocks, until it is taken back.
    pub fn bump(&mut self, clock: Clock, by_ns: i64) {
        self.bumps.push(Bump { clock, by_ns, readings: self.readings(clock) });
    }

    /// Takes a bump back and tells how often its clock was read meanwhile.
    pub fn unbump(&mut self, clock: Clock, by_ns: i64) -> Option<u64> {
        let its = |bump: &Bump| (bump.clock, bump.by_ns) == (clock, by_ns);
        let position = self.bumps.iter().rposition(its)?;
        let bump = self.bumps.remove(position);
        Some(self.readings(clock) - bump.readings)
    }

    fn readings(&self, clock: Clock) -> u64 {
        match clock {
            Clock::Wall => self.wall_readings.get(),
            Clock::Monotonic => self.monotonic_readings.get(),
        }
    }

    /// By how much somebody has moved a clock, in all.
    pub fn offset_ns(&self, clock: Clock) -> i64 {
        let bumps = self.bumps.iter().filter(|bump| bump.clock == clock);
        bumps.fold(0, |sum, bump| sum.saturating_add(bump.by_ns))
    }

    /// What a clock shows, in nanoseconds; this reading is nobody's.
    pub fn shows_ns(&self, now: Nanos, clock: Clock) -> i64 {
        let right = match clock {
            Clock::Wall => WALL_START_MS * 1_000_000 + self.wall_offset_ns,
            Clock::Monotonic => MONOTONIC_START,
        };
        (right + self.counted_ns(now)).saturating_add(self.offset_ns(clock))
    }

    fn counted_ns(&self, now: Nanos) -> i64 {
        let elapsed = now.saturating_sub(self.anchor);
        if self.rate_ppm == 0 {
            return self.counted_ns + elapsed as i64;
        }
        let local = i128::from(elapsed) * (1_000_000 + i128::from(self.rate_ppm)) / 1_000_000;
        self.counted_ns + local as i64
    }

    /// What the node reads as the time of day, in milliseconds since 1970.
    pub fn read_wall_ms(&self, now: Nanos) -> i64 {
        self.wall_readings.set(self.wall_readings.get() + 1);
        self.shows_ns(now, Clock::Wall) / 1_000_000
    }

    /// What the node reads to measure spans of time. It never goes below 0.
    pub fn read_monotonic(&self, now: Nanos) -> Nanos {
        self.monotonic_readings.set(self.monotonic_readings.get() + 1);
        self.shows_ns(now, Clock::Monotonic).max(0) as Nanos
    }

    /// How much virtual time passes while the node's own clock counts `local`.
    pub fn virtual_duration(&self, local: Nanos) -> Nanos {
        if self.rate_ppm == 0 {
            return local;
        }
        (local as i128 * 1_000_000 / (1_000_000 + self.rate_ppm as i128)) as Nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall_ms(clock: &NodeClock, now: Nanos) -> i64 {
        clock.shows_ns(now, Clock::Wall) / 1_000_000
    }

    #[test]
    fn a_step_moves_the_wall_clock_once() {
        let mut clock = NodeClock::default();
        let before = wall_ms(&clock, 5 * SECOND);
        clock.skew(5 * SECOND, -3_000_000_000, 0);
        assert_eq!(wall_ms(&clock, 5 * SECOND), before - 3_000);
        assert_eq!(wall_ms(&clock, 6 * SECOND), before - 2_000);
        assert_eq!(clock.virtual_duration(SECOND), SECOND);
    }

    #[test]
    fn a_fast_clock_gains_and_its_timers_end_early() {
        let mut clock = NodeClock::default();
        clock.skew(0, 0, 250_000);
        assert_eq!(wall_ms(&clock, 4 * SECOND) - WALL_START_MS, 5_000);
        assert_eq!(clock.virtual_duration(SECOND), 800_000_000);
    }

    #[test]
    fn a_bump_moves_one_clock_until_it_is_taken_back_and_counts_readings() {
        let mut clock = NodeClock::default();
        let right = |clock: &NodeClock| {
            let shows = |which| clock.shows_ns(SECOND, which);
            (shows(Clock::Wall), shows(Clock::Monotonic))
        };
        let (wall, monotonic) = right(&clock);
        clock.read_wall_ms(SECOND);
        clock.bump(Clock::Wall, 7);
        assert_eq!(right(&clock), (wall + 7, monotonic));
        clock.bump(Clock::Monotonic, -5);
        assert_eq!(right(&clock), (wall + 7, monotonic - 5));
        assert_eq!(clock.read_monotonic(SECOND), (monotonic - 5) as Nanos);
        assert_eq!(clock.unbump(Clock::Wall, 8), None, "there is no such bump");
        assert_eq!(clock.unbump(Clock::Wall, 7), Some(0));
        assert_eq!(clock.unbump(Clock::Monotonic, -5), Some(1));
        assert_eq!(right(&clock), (wall, monotonic));
    }

    #[test]
    fn a_clock_far_back_is_read_as_zero() {
        let mut clock = NodeClock::default();
        clock.bump(Clock::Monotonic, i64::MIN);
        assert_eq!(clock.read_monotonic(SECOND), 0);
    }
}
