//! Which links should be open, given the cuts in force. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::agent::protocol::{LinkProbe, Passage, PortPassage, PortProbe};
use crate::cluster::{CLIENTS, Check, FaultId, Link, Manner, Refusal};
use crate::op::NodeName;

/// The cuts in force, by fault.
#[derive(Clone, Debug, Default)]
pub(super) struct Cuts {
    in_force: BTreeMap<FaultId, (BTreeSet<Link>, Manner)>,
}

/// What should become of a connection that is opened over a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Open,
    Cut,
    Refused,
    /// It depends on whether somebody listens.
    Either,
}

impl Cuts {
    pub fn insert(&mut self, fault: FaultId, links: BTreeSet<Link>, manner: Manner) {
        self.in_force.insert(fault, (links, manner));
    }

    pub fn remove(&mut self, fault: FaultId) {
        self.in_force.remove(&fault);
    }

    fn manners(&self, link: &Link) -> impl Iterator<Item = Manner> {
        let on_link = self.in_force.values().filter(|(links, _)| links.contains(link));
        on_link.map(|(_, manner)| *manner)
    }

    /// For all but TCP.
    pub fn is_cut(&self, link: &Link) -> bool {
        self.manners(link).any(|manner| manner.port.is_none())
    }

    fn meets(&self, link: &Link, port: Option<u16>, refusal: Refusal) -> bool {
        self.manners(link).any(|manner| {
            manner.refusal == refusal && (manner.port.is_none() || manner.port == port)
        })
    }

    fn fate(&self, link: &Link, port: u16) -> Fate {
        let back = Link { from: link.to, to: link.from };
        let dropped = self.meets(link, Some(port), Refusal::Drop);
        let refused = self.meets(link, Some(port), Refusal::Reset);
        // Answers go to a port of the prober's own, which no cut names.
        let unanswered = self.meets(&back, None, Refusal::Drop);
        if refused && *link.to == *CLIENTS {
            // Where it comes from, before anything can drop it.
            return Fate::Refused;
        }
        if dropped || unanswered {
            return Fate::Cut;
        }
        if refused {
            return Fate::Refused;
        }
        // An answer is refused, RST is not.
        if self.meets(&back, None, Refusal::Reset) { Fate::Either } else { Fate::Open }
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

    /// The same for connections to a port. What cannot be known beforehand is not checked.
    pub fn port_checks(&self, probes: &[PortProbe], port: u16, when: &str) -> Vec<Check> {
        let known = probes.iter().filter_map(|probe| {
            let (expected, holds) = match self.fate(&probe.link, port) {
                Fate::Open => ("open", probe.passage.is_open()),
                Fate::Cut => ("cut", probe.passage == PortPassage::Dropped),
                Fate::Refused => ("refused", probe.passage == PortPassage::Refused),
                Fate::Either => return None,
            };
            Some(Check {
                what: format!("{} port {port}{when}", probe.link),
                expected: expected.to_owned(),
                seen: probe.passage.to_string(),
                holds,
            })
        });
        known.collect()
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
        cuts.insert(FaultId(1), BTreeSet::from([link("a", "b")]), Manner::default());
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
        cuts.insert(FaultId(1), BTreeSet::from([link("a", "b")]), Manner::default());
        cuts.insert(FaultId(2), BTreeSet::from([link("a", "b")]), Manner::default());
        cuts.remove(FaultId(1));
        assert!(holds(&cuts, seen(link("a", "b"), Passage::Dropped)));
        cuts.remove(FaultId(2));
        assert!(holds(&cuts, seen(link("a", "b"), Passage::Arrived { after_us: 1 })));
    }

    #[test]
    fn connections_meet_what_their_link_and_its_way_back_do_to_them() {
        let cut = |refusal, port| Manner { refusal, port };
        let (drop, reset) = (Refusal::Drop, Refusal::Reset);
        for (cuts, to, port, fate) in [
            (vec![], "b", 1, Fate::Open),
            (vec![("a", "b", cut(drop, None))], "b", 1, Fate::Cut),
            (vec![("b", "a", cut(drop, None))], "b", 1, Fate::Cut),
            (vec![("b", "a", cut(drop, Some(1)))], "b", 1, Fate::Open),
            (vec![("a", "b", cut(drop, Some(1)))], "b", 1, Fate::Cut),
            (vec![("a", "b", cut(drop, Some(1)))], "b", 2, Fate::Open),
            (vec![("a", "c", cut(drop, None))], "b", 1, Fate::Open),
            (vec![("a", "b", cut(reset, None))], "b", 1, Fate::Refused),
            (vec![("a", "b", cut(reset, Some(1)))], "b", 2, Fate::Open),
            (vec![("b", "a", cut(reset, None))], "b", 1, Fate::Either),
            (
                vec![("a", "b", cut(reset, None)), ("b", "a", cut(reset, None))],
                "b",
                1,
                Fate::Refused,
            ),
            (vec![("a", "b", cut(reset, None)), ("a", "b", cut(drop, None))], "b", 1, Fate::Cut),
            (vec![("a", "b", cut(reset, None)), ("b", "a", cut(drop, None))], "b", 1, Fate::Cut),
            (
                vec![("a", CLIENTS, cut(reset, None)), ("a", CLIENTS, cut(drop, None))],
                CLIENTS,
                1,
                Fate::Refused,
            ),
        ] {
            let mut all = Cuts::default();
            for (number, (from, to, manner)) in (1..).zip(&cuts) {
                all.insert(FaultId(number), BTreeSet::from([link(from, to)]), *manner);
            }
            assert_eq!(all.fate(&link("a", to), port), fate, "{cuts:?} to {to}:{port}");
        }
    }

    #[test]
    fn a_cut_of_a_port_lets_everything_else_pass() {
        let mut cuts = Cuts::default();
        let manner = Manner { refusal: Refusal::Reset, port: Some(2181) };
        cuts.insert(FaultId(1), BTreeSet::from([link("a", "b")]), manner);
        assert!(holds(&cuts, seen(link("a", "b"), Passage::Arrived { after_us: 1 })));
        let probe = |passage| PortProbe { link: link("a", "b"), passage, after_us: 1 };
        let all = [PortPassage::Refused, PortPassage::Closed, PortPassage::Dropped];
        let hold = |port| {
            let checks = cuts.port_checks(&all.map(probe), port, "");
            checks.iter().map(|check| check.holds).collect::<Vec<_>>()
        };
        assert_eq!(hold(2181), [true, false, false]);
        assert_eq!(hold(2888), [false, true, false]);
    }

    #[test]
    fn all_links_are_all_ordered_pairs() {
        let names: Vec<NodeName> = vec!["a".into(), "b".into(), "c".into()];
        assert_eq!(all_links(names.iter()).len(), 6);
    }
}
