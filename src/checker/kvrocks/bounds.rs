//! How long a cluster may take, as its own settings have it.

use crate::op::{Nanos, SECOND};

/// A probe of a node that does not answer lasts this long, whatever the interval between probes is.
const PROBE_TAKES: Nanos = 3_200_000_000;
/// From the death of a leading controller to the next leader: its session expires first.
const ELECTION_TAKES: Nanos = 10 * SECOND;
/// To write the new topology and push it to nodes that may not answer.
const PUSH_TAKES: Nanos = 5 * SECOND;
/// After the heal, for topologies to be pushed everywhere and migrations to end.
const SETTLE_TAKES: Nanos = 30 * SECOND;

/// What is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KvrocksBounds {
    /// From the heal until every slot is served, no two nodes send clients to each other, and no
    /// migration is under way.
    pub settle_within: Nanos,
    /// From the death of a master until another node takes its place.
    pub failover_within: Nanos,
    /// A leader needs so long at least to give a master up.
    pub probing: Nanos,
}

impl KvrocksBounds {
    /// Where controllers give a master up after so many failed probes, this far apart.
    pub fn new(recover_within: Nanos, ping_interval: Nanos, max_ping_count: u64) -> KvrocksBounds {
        let probes = ping_interval.max(PROBE_TAKES).saturating_mul(max_ping_count);
        KvrocksBounds {
            settle_within: recover_within.min(SETTLE_TAKES),
            failover_within: probes.saturating_add(ELECTION_TAKES + PUSH_TAKES),
            probing: ping_interval.saturating_mul(max_ping_count),
        }
    }
}

/// A probe each second, three of which must fail.
impl Default for KvrocksBounds {
    fn default() -> KvrocksBounds {
        KvrocksBounds::new(Nanos::MAX, SECOND, 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_follow_the_settings() {
        let usual = KvrocksBounds::default();
        assert_eq!((usual.settle_within, usual.failover_within), (30 * SECOND, 24_600_000_000));
        let other = KvrocksBounds::new(20 * SECOND, 5 * SECOND, 4);
        assert_eq!((other.settle_within, other.failover_within), (20 * SECOND, 35 * SECOND));
    }
}
