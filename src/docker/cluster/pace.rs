//! How fast each link should be, given the caps in force, and whether a burst shows that. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::agent::protocol::Speed;
use crate::cluster::{FaultId, Link};

/// The caps in force, by fault.
#[derive(Clone, Debug, Default)]
pub(super) struct Paces {
    in_force: BTreeMap<FaultId, (BTreeSet<Link>, u64)>,
}

/// What a link should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    Free,
    /// At most so many bytes a second.
    Capped(u64),
}

/// A burst at a cap's rate may come out so many times faster or slower. It has the head start of what a
/// cap lets pass after a pause, and a busy machine delays it.
const FACTOR: u64 = 2;

impl Paces {
    pub fn insert(&mut self, fault: FaultId, links: &BTreeSet<Link>, bytes_per_second: u64) {
        self.in_force.insert(fault, (links.clone(), bytes_per_second));
    }

    pub fn remove(&mut self, fault: FaultId) {
        self.in_force.remove(&fault);
    }

    pub fn pace(&self, link: &Link) -> Pace {
        let caps = self.in_force.values().filter(|(links, _)| links.contains(link));
        caps.map(|(_, rate)| *rate).min().map_or(Pace::Free, Pace::Capped)
    }

    /// The links by the rate at which they are to be measured; those without a cap at the given one.
    pub fn by_rate(&self, links: &BTreeSet<Link>, free: u64) -> BTreeMap<u64, BTreeSet<Link>> {
        let mut by_rate: BTreeMap<u64, BTreeSet<Link>> = BTreeMap::new();
        for link in links {
            let rate = self.pace(link).cap().unwrap_or(free);
            by_rate.entry(rate).or_default().insert(link.clone());
        }
        by_rate
    }
}

impl Pace {
    pub fn cap(self) -> Option<u64> {
        match self {
            Pace::Free => None,
            Pace::Capped(rate) => Some(rate),
        }
    }

    /// Bytes a second: of the burst alone on a free link, with the workload's under a cap.
    pub fn seen(self, speed: &Speed) -> u64 {
        match self {
            Pace::Free => speed.of_burst(),
            Pace::Capped(_) => speed.of_all(),
        }
    }

    /// `rate` is that of the burst.
    pub fn is_met(self, speed: &Speed, rate: u64) -> bool {
        let has_arrived = speed.bytes_arrived > 0;
        match self {
            Pace::Free => has_arrived && speed.of_burst() > rate * FACTOR,
            // The workload may use up the cap, but nothing may be faster than it.
            Pace::Capped(cap) => {
                has_arrived && speed.of_burst() <= cap * FACTOR && speed.of_all() >= cap / FACTOR
            }
        }
    }

    pub fn expected(self, rate: u64) -> String {
        match self {
            Pace::Free => format!("faster than {} B/s", rate * FACTOR),
            Pace::Capped(cap) => format!("{} to {} B/s", cap / FACTOR, cap * FACTOR),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(from: &str, to: &str) -> Link {
        Link { from: from.into(), to: to.into() }
    }

    fn speed(bytes_arrived: u64, bytes_passed: Option<u64>, took_us: u64) -> Speed {
        let link = link("a", "b");
        Speed { link, packets_sent: 9, bytes_sent: 9_000, bytes_arrived, bytes_passed, took_us }
    }

    #[test]
    fn the_least_cap_counts_until_it_is_gone() {
        let mut paces = Paces::default();
        let (ab, ac) = (link("a", "b"), link("a", "c"));
        paces.insert(FaultId(1), &BTreeSet::from([ab.clone(), ac.clone()]), 9_000);
        paces.insert(FaultId(2), &BTreeSet::from([ab.clone()]), 2_000);
        assert_eq!(paces.pace(&ab), Pace::Capped(2_000));
        let both = BTreeSet::from([ab.clone(), ac.clone(), link("b", "a")]);
        let rates: Vec<(u64, usize)> = paces
            .by_rate(&both, 5_000)
            .into_iter()
            .map(|(rate, links)| (rate, links.len()))
            .collect();
        assert_eq!(rates, [(2_000, 1), (5_000, 1), (9_000, 1)]);
        paces.remove(FaultId(2));
        assert_eq!(paces.pace(&ab), Pace::Capped(9_000));
        paces.remove(FaultId(1));
        assert_eq!(paces.pace(&ab), Pace::Free);
    }

    #[test]
    fn a_cap_must_be_felt_and_a_free_link_must_not_be_slow() {
        let second = 1_000_000;
        for (pace, speed, met) in [
            (Pace::Capped(9_000), speed(9_000, Some(9_000), second), true),
            (Pace::Capped(9_000), speed(9_000, Some(9_000), second / 100), false),
            // The workload took most of it.
            (Pace::Capped(9_000), speed(2_000, Some(9_500), second), true),
            (Pace::Capped(9_000), speed(2_000, Some(2_000), second), false),
            (Pace::Capped(9_000), speed(0, Some(9_000), second), false),
            (Pace::Free, speed(9_000, None, second / 100), true),
            (Pace::Free, speed(9_000, None, second), false),
            (Pace::Free, speed(0, None, 0), false),
        ] {
            assert_eq!(pace.is_met(&speed, 9_000), met, "{pace:?} {speed:?}");
        }
    }
}
