//! Faults that want the same process at the same time: one keeps it down, the other would act on it.

use crate::cluster::Topology;
use crate::duration::Span;
use crate::nemesis::fault::{Fault, FaultKind};
use crate::nemesis::needs::possible_nodes;
use crate::nemesis::target::Target;
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
    pub fn holds(&self, whose: usize, topology: &Topology, end: Nanos) -> Vec<Hold> {
        let acts_on_processes = matches!(
            self.fault,
            FaultKind::Kill | FaultKind::Stop | FaultKind::Pause | FaultKind::Crash
        );
        let fixed = self
            .target
            .as_ref()
            .filter(|target| matches!(target, Target::All | Target::Role(_) | Target::Node(_)));
        let Some(target) = fixed.filter(|_| acts_on_processes) else { return Vec::new() };
        if self.when.is_some() || self.pace.is_some() {
            return Vec::new();
        }
        let nodes = possible_nodes(target, topology);
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
