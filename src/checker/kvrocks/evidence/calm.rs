//! When no fault was in force: only then is slowness nobody's fault but the system's.

use std::collections::BTreeMap;

use crate::history::History;
use crate::nemesis::FaultRecord;
use crate::op::{Nanos, NodeName};

/// One fault: where it struck and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checker) struct Strike {
    pub places: Vec<NodeName>,
    pub from: Nanos,
    /// `Nanos::MAX` where the history does not tell its end.
    pub until: Nanos,
}

/// All faults of a history, in order of their beginning.
#[derive(Clone, Debug, Default)]
pub(in crate::checker) struct Calm {
    pub strikes: Vec<Strike>,
}

impl Calm {
    pub fn of(history: &History) -> Calm {
        let mut calm = Calm::default();
        let mut open = BTreeMap::new();
        for event in history.events() {
            match FaultRecord::of(event) {
                Some(FaultRecord::Begin { fault, targets, actions }) => {
                    let touched = actions.iter().flat_map(|action| action.places());
                    let mut places: Vec<NodeName> = targets.into_iter().chain(touched).collect();
                    places.sort();
                    places.dedup();
                    open.insert(fault, calm.strikes.len());
                    calm.strikes.push(Strike { places, from: event.time, until: Nanos::MAX });
                }
                Some(FaultRecord::Began { fault, deeds }) => {
                    // What cannot be taken back is over at once.
                    if !deeds.iter().any(|deed| deed.is_in_force())
                        && let Some(position) = open.remove(&fault)
                    {
                        calm.strikes[position].until = event.time;
                    }
                }
                Some(FaultRecord::Ended { fault, .. }) => {
                    if let Some(position) = open.remove(&fault) {
                        calm.strikes[position].until = event.time;
                    }
                }
                _ => {}
            }
        }
        calm
    }

    /// Whether a fault at a place of concern may still have had effects in this stretch of time.
    pub fn is_shaken(&self, concerns: impl Fn(&NodeName) -> bool, from: Nanos, to: Nanos) -> bool {
        self.strikes.iter().any(|strike| {
            strike.places.iter().any(&concerns) && strike.from <= to && strike.until >= from
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::text::history;
    use crate::op::SECOND;

    #[test]
    fn a_place_is_shaken_while_a_fault_may_have_effects_there() {
        let calm = Calm::of(&history(
            "
            10 nemesis strike f1 kill kvrocks1
            15 nemesis strike f2 pause kvrocks2
            16 nemesis heal f2 pause kvrocks2
            20 nemesis heal f1 kill kvrocks1
            25 nemesis strike f3 crash kvrocks3
            40 nemesis strike f4 cut kvrocks1",
        ));
        let shaken = |place: &str, from, to| calm.is_shaken(|at| &**at == place, from, to);
        assert!(shaken("kvrocks1", 18 * SECOND, 19 * SECOND));
        assert!(!shaken("kvrocks1", 21 * SECOND, 30 * SECOND));
        assert!(shaken("controller1", 50 * SECOND, 51 * SECOND));
    }
}
