//! By how much a clock is shifted: an offset and a rate from an anchor on. Pure arithmetic.

/// At the true reading `t` a clock shows `t + offset + (t - anchor) × rate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shift {
    pub anchor_ns: i64,
    pub offset_ns: i64,
    /// In units of 2⁻³²: zero for a clock that is off by the same amount for ever.
    pub rate: i64,
}

/// Both clocks of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shifts {
    pub wall: Shift,
    pub monotonic: Shift,
}

impl Shift {
    /// Off by the same amount for ever.
    pub fn steady(offset_ns: i64) -> Shift {
        Shift { offset_ns, ..Shift::default() }
    }

    /// The offset at a true reading, as the code in the process computes it.
    pub fn offset_at(&self, reading_ns: i64) -> i64 {
        let since = i128::from(reading_ns.wrapping_sub(self.anchor_ns));
        let drifted = (since * i128::from(self.rate)) >> 32;
        self.offset_ns.wrapping_add(drifted as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn a_steady_shift_is_the_same_at_any_time() {
        for reading in [0, SECOND, i64::MAX] {
            assert_eq!(Shift::steady(-7).offset_at(reading), -7);
        }
    }

    #[test]
    fn a_rate_counts_from_the_anchor() {
        let faster = Shift { anchor_ns: 5 * SECOND, offset_ns: 3, rate: 1 << 31 };
        assert_eq!(faster.offset_at(5 * SECOND), 3);
        assert_eq!(faster.offset_at(7 * SECOND), 3 + SECOND);
        let slower = Shift { rate: -(1 << 30), ..faster };
        assert_eq!(slower.offset_at(9 * SECOND), 3 - SECOND);
    }
}
