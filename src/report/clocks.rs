//! Clocks that were moved, as they were read before, during and after.

use serde::{Deserialize, Serialize};

use crate::cluster::{Action, Applied, Check, Clock, FaultId};
use crate::history::History;
use crate::nemesis::{Deed, FaultRecord};
use crate::op::{Nanos, NodeName};

/// One move of one node's clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockMove {
    /// The nemesis's name.
    pub fault: String,
    pub id: FaultId,
    pub node: NodeName,
    pub clock: Clock,
    pub by_ns: i64,
    pub moved: Reading,
    /// `None` where it was not tried.
    pub taken_back: Option<Reading>,
}

/// What was read, of this node's clocks and of the others'.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    pub at: Nanos,
    pub checks: Vec<Check>,
    /// Readings of the service that were falsified until then, where they are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub falsified: Option<u64>,
    /// Why it was not done or is not proven; empty where it is.
    pub why: String,
}

/// All moves, in order of time.
pub fn clocks(history: &History) -> Vec<ClockMove> {
    let mut moves: Vec<ClockMove> = Vec::new();
    for event in history.events() {
        match FaultRecord::of(event) {
            Some(FaultRecord::Began { fault: id, deeds }) => {
                for deed in &deeds {
                    let Action::Skew { node, clock, by_ns } = deed.action else { continue };
                    let (fault, moved) = (event.f.to_string(), reading(event.time, deed));
                    let taken_back = None;
                    moves.push(ClockMove { fault, id, node, clock, by_ns, moved, taken_back });
                }
            }
            Some(FaultRecord::Ended { fault, deeds }) => {
                for deed in &deeds {
                    let undoes = |moved: &&mut ClockMove| {
                        let ClockMove { node, clock, by_ns, .. } = **moved;
                        moved.id == fault && deed.action == Action::Unskew { node, clock, by_ns }
                    };
                    if let Some(moved) = moves.iter_mut().rev().find(undoes) {
                        moved.taken_back = Some(reading(event.time, deed));
                    }
                }
            }
            _ => {}
        }
    }
    moves
}

fn reading(at: Nanos, deed: &Deed) -> Reading {
    let (proof, why) = match &deed.outcome {
        Applied::Installed { proof } => (Some(proof), String::new()),
        Applied::Skipped { why } => (None, why.clone()),
        Applied::Indeterminate { why, proof } => (proof.as_ref(), why.clone()),
    };
    let checks = proof.map_or(Vec::new(), |proof| proof.checks.clone());
    Reading { at, checks, falsified: proof.and_then(|proof| proof.packets), why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::text::{merge, record};
    use crate::cluster::Proof;

    #[test]
    fn each_move_has_its_own_readings() {
        let skew = |node: &str| Action::Skew {
            node: node.into(),
            clock: Clock::Wall,
            by_ns: 60_000_000_000,
        };
        let read = |seen: &str, packets| {
            let check = Check {
                what: "n1 wall".into(),
                expected: "+60 s".into(),
                seen: seen.into(),
                holds: true,
            };
            Applied::Installed { proof: Proof { checks: vec![check], packets, took_us: 9 } }
        };
        let fault = FaultId(4);
        let deed = |action, outcome| Deed { action, outcome };
        let began =
            vec![deed(skew("n1"), read("+60 s", None)), deed(skew("n2"), read("+0 s", None))];
        let lost = Applied::Indeterminate { why: "no answer".into(), proof: None };
        let ended = vec![
            deed(skew("n2").undo().expect("lasting"), lost),
            deed(skew("n1").undo().expect("lasting"), read("+0.0 s", Some(12))),
        ];
        let history = merge(
            &History::default(),
            vec![
                record(1.0, "skew-bump", &FaultRecord::Began { fault, deeds: began }),
                record(9.0, "skew-bump", &FaultRecord::Ended { fault, deeds: ended }),
            ],
        );
        let moves = clocks(&history);
        let told: Vec<_> = moves
            .iter()
            .map(|moved| {
                let back = moved.taken_back.as_ref().expect("tried");
                (&*moved.node, moved.moved.checks[0].seen.as_str(), back.falsified, &*back.why)
            })
            .collect();
        assert_eq!(
            told,
            [("n1", "+60 s", Some(12), ""), ("n2", "+0 s", None, "no answer")],
            "{moves:?}"
        );
    }
}
