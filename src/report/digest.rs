//! What the reports need of a history, taken in one pass: operations, faults in force, phases, nodes.

mod foreign;

use std::collections::{BTreeMap, BTreeSet};

use super::fault_kind::{Family, verb};
use super::scale::Scale;
use super::words;
use crate::cluster::{Applied, FaultId};
use crate::history::History;
use crate::nemesis::{Deed, FaultRecord, Phase};
use crate::op::{Event, Hop, Kind, Nanos, NodeName, Process};

/// Kinds of operation that are told apart; the rarest of a foreign history share the last place.
const KINDS_MAX: usize = 8;

/// A client operation: its invocation, and its completion if one was seen.
#[derive(Clone, Copy)]
pub(super) struct Operation<'a> {
    pub(super) invoke: &'a Event,
    pub(super) completion: Option<&'a Event>,
}

impl Operation<'_> {
    /// How it ended; an operation without completion is `info`.
    pub(super) fn kind(&self) -> Kind {
        self.completion.map_or(Kind::Info, |event| event.kind)
    }

    /// When it ended, or when the history did.
    pub(super) fn ended(&self, end: Nanos) -> Nanos {
        self.completion.map_or(end, |event| event.time).max(self.invoke.time)
    }

    pub(super) fn latency(&self, end: Nanos) -> Nanos {
        self.ended(end) - self.invoke.time
    }

    pub(super) fn describe(&self) -> String {
        words::operation(self.invoke, self.completion)
    }

    /// Who answered, or was asked last; where nobody told, the node that its process talks to.
    pub(super) fn node(&self) -> Option<NodeName> {
        self.completion.unwrap_or(self.invoke).answered_by()
    }

    /// The way from server to server, where it is known.
    pub(super) fn hops(&self) -> &[Hop] {
        let route = self.completion.and_then(|event| event.route.as_deref());
        route.map_or(&[], |route| &route.hops)
    }

    /// The hash slot of its key, where it is known.
    pub(super) fn slot(&self) -> Option<u16> {
        self.completion?.route.as_ref()?.slot
    }

    /// The way in words, of an operation that was sent on: `kvrocks1 said MOVED, kvrocks3 said ok`.
    pub(super) fn way(&self) -> Option<String> {
        let said = |hop: &Hop| {
            let word = hop.said.split_whitespace().next().unwrap_or("nothing");
            format!("{} said {word}", hop.node)
        };
        let hops = self.hops();
        (hops.len() > 1).then(|| hops.iter().map(said).collect::<Vec<_>>().join(", "))
    }

    /// When its last request was sent: the server before had answered by then.
    pub(super) fn last_sent(&self) -> Nanos {
        let hops = self.hops();
        let sent_on = hops.len().checked_sub(2).map_or(0, |before| hops[before].after_us * 1_000);
        self.invoke.time.saturating_add(sent_on)
    }
}

/// A fault in force, from its installation to its heal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FaultWindow {
    pub(super) id: FaultId,
    pub(super) name: String,
    /// What was done: `cut`, `kill`.
    pub(super) verb: String,
    pub(super) family: Family,
    pub(super) targets: Vec<NodeName>,
    pub(super) from: Nanos,
    pub(super) to: Nanos,
    /// Every action was proven to act.
    pub(super) proven: bool,
    /// False where it was still in force when the history ended.
    pub(super) ended: bool,
    /// Over at once: it begins and ends at one moment.
    pub(super) momentary: bool,
}

impl FaultWindow {
    fn of(
        fault: FaultId,
        event: &Event,
        targets: Vec<NodeName>,
        deeds: &[Deed],
        end: Nanos,
    ) -> Self {
        let done = |deed: &&Deed| !matches!(deed.outcome, Applied::Skipped { .. });
        let momentary = deeds.iter().filter(done).all(|deed| deed.action.undo().is_none());
        FaultWindow {
            id: fault,
            name: event.f.to_string(),
            verb: verb(deeds),
            family: deeds.first().map_or(Family::Links, |deed| Family::of(&deed.action)),
            targets,
            from: event.time,
            to: if momentary { event.time } else { end },
            proven: !deeds.iter().any(|deed| is_indeterminate(&deed.outcome)),
            ended: momentary,
            momentary,
        }
    }
}

pub(super) struct PhaseMark {
    pub(super) phase: Phase,
    pub(super) at: Nanos,
}

/// A nemesis event and what it says; `None` where it is not one of ours.
pub(super) struct NemesisStep<'a> {
    pub(super) event: &'a Event,
    pub(super) record: Option<FaultRecord>,
}

pub(super) struct Digest<'a> {
    pub(super) operations: Vec<Operation<'a>>,
    pub(super) windows: Vec<FaultWindow>,
    pub(super) phases: Vec<PhaseMark>,
    pub(super) steps: Vec<NemesisStep<'a>>,
    /// Every node that is named by an operation or seen in a view, in name order.
    pub(super) nodes: Vec<NodeName>,
    /// Names of operations (`f`), the most frequent ones in name order, then perhaps `other`.
    pub(super) kinds: Vec<&'a str>,
    pub(super) end: Nanos,
    /// What its moments stand for.
    pub(super) scale: Scale,
}

impl<'a> Digest<'a> {
    pub(super) fn of(history: &'a History) -> Digest<'a> {
        let operations: Vec<Operation> = history
            .operations()
            .into_iter()
            .map(|(invoke, completion)| Operation { invoke, completion })
            .collect();
        let end = history.events().iter().map(|event| event.time).max().unwrap_or(0);
        let steps = steps(history.events());
        let nodes = nodes(&operations, &steps);
        Digest {
            windows: windows(&steps, end),
            phases: phases(&steps),
            nodes,
            kinds: kinds(&operations),
            operations,
            steps,
            end,
            scale: Scale::Time,
        }
    }

    /// Position in `kinds` of an operation's name.
    pub(super) fn kind_index(&self, f: &str) -> usize {
        let last = self.kinds.len().saturating_sub(1);
        self.kinds.iter().position(|kind| *kind == f).unwrap_or(last)
    }

    /// Position in `nodes`.
    pub(super) fn node_index(&self, operation: &Operation) -> Option<usize> {
        self.nodes.binary_search(&operation.node()?).ok()
    }
}

fn steps<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<NemesisStep<'a>> {
    let of_nemesis = events.into_iter().filter(|event| event.process == Process::Nemesis);
    of_nemesis.map(|event| NemesisStep { event, record: FaultRecord::of(event) }).collect()
}

/// The faults in force by the nemesis's events alone; `None` if there are none of these.
pub(super) fn fault_windows<'a>(
    events: impl IntoIterator<Item = &'a Event>,
    end: Nanos,
) -> Option<Vec<FaultWindow>> {
    let steps = steps(events);
    (!steps.is_empty()).then(|| windows(&steps, end))
}

fn nodes(operations: &[Operation], steps: &[NemesisStep]) -> Vec<NodeName> {
    let mut nodes = BTreeSet::new();
    for operation in operations {
        nodes.extend(operation.invoke.node);
        nodes.extend(operation.hops().iter().map(|hop| hop.node));
    }
    for step in steps {
        if let Some(FaultRecord::View { view }) = &step.record {
            nodes.extend(view.nodes.keys().copied());
        }
    }
    nodes.into_iter().collect()
}

fn kinds<'a>(operations: &[Operation<'a>]) -> Vec<&'a str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for operation in operations {
        *counts.entry(&operation.invoke.f).or_default() += 1;
    }
    let mut names: Vec<&str> = counts.keys().copied().collect();
    if names.len() > KINDS_MAX {
        names.sort_by_key(|name| std::cmp::Reverse(counts[name]));
        names.truncate(KINDS_MAX - 1);
        names.sort_unstable();
        names.push("other");
    }
    names
}

fn phases(steps: &[NemesisStep]) -> Vec<PhaseMark> {
    steps
        .iter()
        .filter_map(|step| match step.record {
            Some(FaultRecord::Phase { phase }) => Some(PhaseMark { phase, at: step.event.time }),
            _ => None,
        })
        .collect()
}

/// Pairs what began with what ended. A fault of which nothing was installed leaves no window.
fn windows(steps: &[NemesisStep], end: Nanos) -> Vec<FaultWindow> {
    let mut windows: Vec<FaultWindow> = Vec::new();
    let mut targets_of: BTreeMap<FaultId, &[NodeName]> = BTreeMap::new();
    for step in steps {
        match &step.record {
            Some(FaultRecord::Begin { fault, targets, .. }) => {
                targets_of.insert(*fault, targets);
            }
            Some(FaultRecord::Began { fault, deeds }) if !all_skipped(deeds) => {
                let targets = targets_of.get(fault).map_or(Vec::new(), |targets| targets.to_vec());
                windows.push(FaultWindow::of(*fault, step.event, targets, deeds, end));
            }
            Some(FaultRecord::Ended { fault, .. }) => {
                let open = windows.iter_mut().rfind(|window| window.id == *fault && !window.ended);
                if let Some(window) = open {
                    (window.to, window.ended) = (step.event.time, true);
                }
            }
            _ => {}
        }
    }
    if steps.iter().all(|step| step.record.is_none()) {
        return foreign::windows(steps, end);
    }
    windows
}

fn all_skipped(deeds: &[Deed]) -> bool {
    deeds.iter().all(|deed| matches!(deed.outcome, Applied::Skipped { .. }))
}

fn is_indeterminate(outcome: &Applied) -> bool {
    matches!(outcome, Applied::Indeterminate { .. })
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::cluster::{Action, Proof};
    use crate::op::{SECOND, Value};

    fn nemesis(second: u64, record: &FaultRecord) -> Event {
        Event {
            index: second,
            time: second * SECOND,
            kind: Kind::Info,
            process: Process::Nemesis,
            node: None,
            f: crate::name::Name::from("kill"),
            key: None,
            value: record.to_value(),
            error: None,
            route: None,
        }
    }

    fn deeds(outcome: Applied) -> Vec<Deed> {
        vec![Deed { action: Action::Kill { node: "n1".into() }, outcome }]
    }

    #[test]
    fn faults_are_in_force_from_installation_to_heal() {
        let installed = || deeds(Applied::Installed { proof: Proof::default() });
        let skipped = || deeds(Applied::Skipped { why: "it is down".into() });
        let doubtful = || deeds(Applied::Indeterminate { why: "no answer".into(), proof: None });
        let targets = vec![NodeName::from("n1")];
        let (one, two, three) = (FaultId(1), FaultId(2), FaultId(3));
        let history = History::new(vec![
            nemesis(1, &FaultRecord::Begin { fault: one, targets, actions: Vec::new() }),
            nemesis(2, &FaultRecord::Began { fault: one, deeds: installed() }),
            nemesis(3, &FaultRecord::Began { fault: two, deeds: skipped() }),
            nemesis(4, &FaultRecord::Began { fault: three, deeds: doubtful() }),
            nemesis(5, &FaultRecord::Ended { fault: one, deeds: installed() }),
            nemesis(9, &FaultRecord::Phase { phase: Phase::Heal }),
        ]);
        let windows: Vec<_> = Digest::of(&history)
            .windows
            .into_iter()
            .map(|window| {
                let seconds = (window.from / SECOND, window.to / SECOND);
                (window.id, window.targets.len(), seconds, window.proven, window.ended)
            })
            .collect();
        assert_eq!(windows, [(one, 1, (2, 5), true, true), (three, 0, (4, 9), false, false)]);
    }

    #[test]
    fn rare_kinds_share_the_last_place() {
        let mut history = History::default();
        for number in 0..30_u32 {
            let name = if number < 20 { "read".into() } else { format!("f{number}") };
            history.push(Event {
                kind: Kind::Invoke,
                process: Process::Client(number),
                f: crate::name::Name::from(name),
                value: Value::Nil,
                ..nemesis(u64::from(number), &FaultRecord::Phase { phase: Phase::Main })
            });
        }
        let digest = Digest::of(&history);
        assert_eq!((digest.kinds.len(), digest.kinds.last()), (KINDS_MAX, Some(&"other")));
        assert!(digest.kinds.contains(&"read"));
        assert_eq!(digest.kind_index("f29"), KINDS_MAX - 1);
    }
}
