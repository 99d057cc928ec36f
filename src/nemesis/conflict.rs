//! Faults that want the same process at the same time: one keeps it down, the other would act on it.

use crate::duration::Span;
use crate::nemesis::fault::{Fault, FaultKind};
use crate::nemesis::target::Roster;
use crate::op::{Nanos, NodeName};

/// Beginnings of one fault that are looked at: enough for any run that a person waits for.
const MOST_BEGINNINGS: usize = 10_000;

/// A time in which a process is in the hands of one fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    pub node: NodeName,
    pub from: Nanos,
    pub until: Nanos,
    /// The position of the fault.
    pub whose: usize,
}

/// The first two holds of different faults on one process that overlap, the earlier one first.
pub fn clash(mut holds: Vec<Hold>) -> Option<(Hold, Hold)> {
    holds.sort_by_key(|hold| (hold.node, hold.from, hold.whose));
    let mut longest: Option<&Hold> = None;
    for hold in &holds {
        match longest {
            Some(held) if held.node == hold.node => {
                let overlaps = hold.from < held.until || hold.from == held.from;
                if overlaps && hold.whose != held.whose {
                    return Some((held.clone(), hold.clone()));
                }
                if hold.until > held.until {
                    longest = Some(hold);
                }
            }
            _ => longest = Some(hold),
        }
    }
    None
}

impl Fault {
    /// When it holds which processes, if that is settled before the start: it goes by the clock and
    /// names its nodes. Faults that begin by a trigger or pick their nodes pick others in time.
    pub fn holds(&self, whose: usize, roster: Roster, end: Nanos) -> Vec<Hold> {
        let acts_on_processes = matches!(
            self.fault,
            FaultKind::Kill | FaultKind::Stop | FaultKind::Pause | FaultKind::Crash
        );
        let fixed = self.target.as_ref().filter(|target| target.is_fixed());
        let Some(target) = fixed.filter(|_| acts_on_processes) else { return Vec::new() };
        if self.when.is_some() || self.pace.is_some() {
            return Vec::new();
        }
        let nodes = self.pool(target, roster);
        let jitter = self.jitter.map_or(0, Span::nanos);
        let mut holds = Vec::new();
        for from in self.beginnings(end) {
            let until = from.saturating_add(self.lasts.nanos()).saturating_add(jitter);
            holds.extend(nodes.iter().map(|node| Hold { node: *node, from, until, whose }));
        }
        holds
    }

    fn beginnings(&self, end: Nanos) -> impl Iterator<Item = Nanos> {
        let every = self.every.map(Span::nanos).filter(|every| *every > 0);
        let next = move |begin: &Nanos| begin.checked_add(every?).filter(|next| *next < end);
        std::iter::successors(Some(self.after.nanos()), next).take(MOST_BEGINNINGS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Node, Role, Topology};
    use crate::op::SECOND;

    fn topology() -> Topology {
        let node = |number: u8| Node {
            name: format!("zookeeper{number}").into(),
            role: Role::Zookeeper,
            address: [10, 0, 0, number].into(),
        };
        Topology { nodes: (1..=3).map(node).collect() }
    }

    /// The node and the seconds at which the first two of these faults meet within a minute.
    fn meet(faults: &[&str]) -> Option<(String, u64, u64)> {
        let holds = faults.iter().enumerate().flat_map(|(position, yaml)| {
            let fault: Fault = serde_yaml::from_str(yaml).expect(yaml);
            let roster = Roster { topology: &topology(), leader: Role::Zookeeper };
            fault.holds(position, roster, 60 * SECOND)
        });
        let (first, second) = clash(holds.collect())?;
        Some((first.node.to_string(), first.from / SECOND, second.from / SECOND))
    }

    #[test]
    fn faults_that_hold_one_node_at_a_time_do_not_meet() {
        for other in [
            "{ fault: pause, target: zookeeper2, after: 12s, for: 4s, every: 10s }",
            "{ fault: pause, target: zookeeper2, after: 12s, for: 2s, every: 20s }",
            "{ fault: pause, target: zookeeper1, after: 6s, for: 9s, every: 10s }",
            "{ fault: pause, target: one, after: 6s, for: 9s, every: 10s }",
            "{ fault: pause, target: zookeeper2, for: 9s, when: { view: leader } }",
            "{ fault: clock, target: zookeeper2, by: 1s, after: 6s, for: 9s }",
        ] {
            let kill = "{ fault: kill, target: zookeeper2, after: 6s, for: 6s, every: 10s }";
            assert_eq!(meet(&[kill, other]), None, "{other}");
            assert_eq!(meet(&[kill]), None, "it does not meet itself");
        }
    }

    #[test]
    fn the_first_meeting_is_found_however_late() {
        let kill = "{ fault: kill, target: zookeeper2, after: 6s, for: 3s, every: 10s }";
        for (other, from, to) in [
            ("{ fault: pause, target: zookeeper2, after: 0s, for: 2s, every: 7s }", 6, 7),
            ("{ fault: pause, target: zookeeper2, after: 47s, for: 2s }", 46, 47),
            ("{ fault: crash, target: all, after: 28s }", 26, 28),
            ("{ fault: crash, target: zookeeper, after: 26s }", 26, 26),
            (
                "{ fault: stop, target: zookeeper2, after: 3s, for: 2s, every: 50s, jitter: 2s }",
                3,
                6,
            ),
        ] {
            assert_eq!(meet(&[kill, other]), Some(("zookeeper2".to_owned(), from, to)), "{other}");
        }
    }
}
