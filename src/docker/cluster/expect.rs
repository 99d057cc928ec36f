//! Which links should be open, given the cuts in force. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::agent::protocol::{LinkProbe, Passage};
use crate::cluster::{Check, FaultId, Link};
use crate::op::NodeName;

/// The cuts in force, by fault.
#[derive(Clone, Debug, Default)]
pub(super) struct Cuts {
    in_force: BTreeMap<FaultId, BTreeSet<Link>>,
}

impl Cuts {
    pub fn insert(&mut self, fault: FaultId, links: BTreeSet<Link>) {
        self.in_force.insert(fault, links);
    }

    pub fn remove(&mut self, fault: FaultId) {
        self.in_force.remove(&fault);
    }

    pub fn is_cut(&self, link: &Link) -> bool {
        self.in_force.values().any(|links| links.contains(link))
    }

    /// One check a link: that it is cut where a cut is in force, and open where none is.
    pub fn checks(&self, probes: &[LinkProbe], when: &str) -> Vec<Check> {
        probes.iter().map(|probe| self.check(probe, when)).collect()
    }

    fn check(&self, probe: &LinkProbe, when: &str) -> Check {
        let is_cut = self.is_cut(&probe.link);
        let holds = match probe.passage {
            Passage::Arrived { .. } => !is_cut,
            Passage::Dropped => is_cut,
            // Nothing arrived, but not by our doing alone: proves neither.
            Passage::Silent => false,
        };
        let error = probe.error.iter().map(|error| format!(" ({error})"));
        Check {
            what: format!("{}{when}", probe.link),
            expected: if is_cut { "cut" } else { "open" }.to_owned(),
            seen: format!("{}{}", probe.passage, error.collect::<String>()),
            holds,
        }
    }
}

/// Every link between two of these places.
pub(super) fn all_links<'a>(places: impl Iterator<Item = &'a NodeName> + Clone) -> BTreeSet<Link> {
    let mut links = BTreeSet::new();
    for from in places.clone() {
        for to in places.clone().filter(|to| *to != from) {
            links.insert(Link { from: *from, to: *to });
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(from: &str, to: &str) -> Link {
        Link { from: from.into(), to: to.into() }
    }

    fn seen(link: Link, passage: Passage) -> LinkProbe {
        LinkProbe { link, passage, error: None }
    }

    fn holds(cuts: &Cuts, probe: LinkProbe) -> bool {
        cuts.checks(&[probe], "").iter().all(|check| check.holds)
    }

    #[test]
    fn a_cut_link_must_drop_and_every_other_must_pass() {
        let mut cuts = Cuts::default();
        cuts.insert(FaultId(1), BTreeSet::from([link("a", "b")]));
        let arrived = Passage::Arrived { after_us: 9 };
        assert!(holds(&cuts, seen(link("a", "b"), Passage::Dropped)));
        assert!(!holds(&cuts, seen(link("a", "b"), arrived)));
        assert!(!holds(&cuts, seen(link("a", "b"), Passage::Silent)));
        assert!(holds(&cuts, seen(link("b", "a"), arrived)));
        assert!(!holds(&cuts, seen(link("b", "a"), Passage::Dropped)));
    }

    #[test]
    fn a_link_stays_cut_until_the_last_fault_on_it_is_gone() {
        let mut cuts = Cuts::default();
        cuts.insert(FaultId(1), BTreeSet::from([link("a", "b")]));
        cuts.insert(FaultId(2), BTreeSet::from([link("a", "b")]));
        cuts.remove(FaultId(1));
        assert!(holds(&cuts, seen(link("a", "b"), Passage::Dropped)));
        cuts.remove(FaultId(2));
        assert!(holds(&cuts, seen(link("a", "b"), Passage::Arrived { after_us: 1 })));
    }

    #[test]
    fn all_links_are_all_ordered_pairs() {
        let names: Vec<NodeName> = vec!["a".into(), "b".into(), "c".into()];
        assert_eq!(all_links(names.iter()).len(), 6);
    }
}
