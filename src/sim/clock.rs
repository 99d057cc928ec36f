//! A node's own idea of time: its wall clock's offset, and how fast its clocks run.
//!
//! It is a pure function of virtual time; nothing here reads a clock.

use crate::op::Nanos;

/// Wall time at the start of every simulation (2024-01-01T00:00:00Z), so that ids look alike.
const WALL_START_MS: i64 = 1_704_067_200_000;

/// One node's clocks. By default they are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeClock {
    anchor: Nanos,
    wall_at_anchor_ns: i64,
    rate_ppm: i64,
}

impl Default for NodeClock {
    fn default() -> Self {
        NodeClock { anchor: 0, wall_at_anchor_ns: WALL_START_MS * 1_000_000, rate_ppm: 0 }
    }
}

impl NodeClock {
    /// Steps the wall clock by `step_ns` and lets both clocks run `rate_ppm` parts per million fast.
    pub fn skew(&mut self, now: Nanos, step_ns: i64, rate_ppm: i64) {
        assert!(rate_ppm > -1_000_000, "a clock cannot stand still or run backwards");
        self.wall_at_anchor_ns = self.wall_ns(now) + step_ns;
        self.anchor = now;
        self.rate_ppm = rate_ppm;
    }

    fn wall_ns(&self, now: Nanos) -> i64 {
        let elapsed = now.saturating_sub(self.anchor) as i128;
        let local = elapsed * (1_000_000 + self.rate_ppm as i128) / 1_000_000;
        self.wall_at_anchor_ns + local as i64
    }

    /// What the node reads as the time of day, in milliseconds since 1970.
    pub fn wall_ms(&self, now: Nanos) -> i64 {
        self.wall_ns(now) / 1_000_000
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
    use crate::op::SECOND;

    #[test]
    fn a_step_moves_the_wall_clock_once() {
        let mut clock = NodeClock::default();
        let before = clock.wall_ms(5 * SECOND);
        clock.skew(5 * SECOND, -3_000_000_000, 0);
        assert_eq!(clock.wall_ms(5 * SECOND), before - 3_000);
        assert_eq!(clock.wall_ms(6 * SECOND), before - 2_000);
        assert_eq!(clock.virtual_duration(SECOND), SECOND);
    }

    #[test]
    fn a_fast_clock_gains_and_its_timers_end_early() {
        let mut clock = NodeClock::default();
        clock.skew(0, 0, 250_000);
        assert_eq!(clock.wall_ms(4 * SECOND) - WALL_START_MS, 5_000);
        assert_eq!(clock.virtual_duration(SECOND), 800_000_000);
    }
}
