//! Linearizability of registers: each key by itself, which is exact, for every operation on it took
//! effect at one moment between invocation and completion (Herlihy and Wing 1990).

mod certificate;
mod chain;
mod decide;
mod explain;
mod operation;
mod pool;
mod relevance;
mod search;
mod shrink;
mod zones;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::checker::{Anomaly, Budget, Checker, Finding, RegisterModel, Verdict};
use crate::history::History;
use crate::op::Key;
use decide::{Decision, Method, decide};
use explain::Scene;
use operation::{Pair, Register};
use search::Limits;

/// Violated keys that are explained; the rest are counted.
const EXPLAINED: usize = 20;
/// Below this, threads cost more than they save.
const OPERATIONS_WORTH_THREADS: usize = 20_000;

/// Checks every register of a history against the model.
#[derive(Clone, Debug)]
pub struct Linearizability {
    model: RegisterModel,
}

/// A history's operations, and those of each key in order of first appearance.
struct Keys<'a> {
    pairs: Vec<Pair<'a>>,
    members: IndexMap<Option<&'a Key>, Vec<u32>, FxBuildHasher>,
}

/// What is known of one key: a decision, or why there is none.
type Ruling = Result<(Decision, u64), String>;

impl Linearizability {
    pub fn new(model: RegisterModel) -> Linearizability {
        Linearizability { model }
    }

    fn rule(&self, keys: &Keys, key: usize, limits: &Limits) -> Ruling {
        if (limits.exhausted)() {
            return Ok((Decision::Undecided { settled: 0, why: "the time budget ended" }, 0));
        }
        let register = Register::read(&keys.pairs, &keys.members[key], &self.model)?;
        Ok(decide(&register, limits))
    }

    /// The violated keys, by the moment at which they show, explained.
    fn explain(&self, keys: &Keys, rulings: &[(usize, Ruling)], limits: &Limits) -> Vec<Anomaly> {
        let mut violated: Vec<(u32, usize, &Decision)> = rulings
            .iter()
            .filter_map(|(key, ruling)| match ruling {
                Ok((decision @ Decision::Violated { core, .. }, _)) => {
                    let certain = core.iter().filter(|operation| !operation.is_open());
                    let shown = certain.map(|operation| operation.complete).max().unwrap_or(0);
                    Some((shown, *key, decision))
                }
                _ => None,
            })
            .collect();
        violated.sort_by_key(|(shown, key, _)| (*shown, *key));
        violated.truncate(EXPLAINED);
        violated
            .into_iter()
            .filter_map(|(_, key, decision)| self.explain_one(keys, key, decision, limits))
            .collect()
    }

    fn explain_one(
        &self,
        keys: &Keys,
        key: usize,
        decision: &Decision,
        limits: &Limits,
    ) -> Option<Anomaly> {
        let Decision::Violated { core, by } = decision else { return None };
        let (name, members) = keys.members.get_index(key)?;
        let scene = Scene {
            pairs: &keys.pairs,
            members,
            register: &Register::read(&keys.pairs, members, &self.model).ok()?,
            key: name.map(Key::to_string),
            by: *by,
        };
        Some(explain::explain(&scene, &shrink::shrink(core, limits)))
    }
}

impl Checker for Linearizability {
    fn name(&self) -> &'static str {
        "linearizability"
    }

    fn finish(&mut self, history: &History, budget: &Budget) -> Finding {
        let keys = Keys::of(history);
        let limits = Limits {
            exhausted: budget.exhausted,
            memory: budget.memory / pool::WORKERS,
            steps: u64::MAX,
        };
        // The cheapest first: a budget that ends then leaves the fewest keys undecided.
        let mut order: Vec<usize> = (0..keys.members.len()).collect();
        order.sort_by_key(|key| keys.members[*key].len());
        let parallel = keys.pairs.len() >= OPERATIONS_WORTH_THREADS;
        let rulings = pool::run(&order, parallel, |key| self.rule(&keys, key, &limits));
        let tally = Tally::of(&rulings);
        Finding {
            name: self.name().to_owned(),
            verdict: tally.verdict(),
            why: tally.told(&keys),
            anomalies: self.explain(&keys, &rulings, &limits),
            figures: tally.figures(keys.pairs.len()),
        }
    }
}

impl<'a> Keys<'a> {
    fn of(history: &'a History) -> Keys<'a> {
        let pairs = history.operations();
        let mut members: IndexMap<Option<&Key>, Vec<u32>, FxBuildHasher> = IndexMap::default();
        for (position, (invocation, _)) in pairs.iter().enumerate() {
            members.entry(invocation.key.as_ref()).or_default().push(position as u32);
        }
        Keys { pairs, members }
    }

    fn name(&self, key: usize) -> String {
        match self.members.get_index(key) {
            Some((Some(name), _)) => format!("key {name}"),
            _ => "the register".to_owned(),
        }
    }
}

/// The rulings counted.
#[derive(Default)]
struct Tally {
    by_zones: usize,
    by_search: usize,
    violated: usize,
    undecided: usize,
    steps: u64,
    /// The first key without a decision, and why.
    first_undecided: Option<(usize, String)>,
}

impl Tally {
    fn of(rulings: &[(usize, Ruling)]) -> Tally {
        let mut tally = Tally::default();
        for (key, ruling) in rulings {
            let why = match ruling {
                Ok((decision, steps)) => {
                    tally.steps += steps;
                    tally.take_in(decision)
                }
                Err(why) => Some(why.clone()),
            };
            if let Some(why) = why {
                tally.undecided += 1;
                tally.first_undecided.get_or_insert((*key, why));
            }
        }
        tally
    }

    /// Why the decision is none, if so.
    fn take_in(&mut self, decision: &Decision) -> Option<String> {
        let method = match decision {
            Decision::Linearizable(method) => method,
            Decision::Violated { by, .. } => {
                self.violated += 1;
                by
            }
            Decision::Undecided { settled, why } => {
                return Some(format!("{why} with {settled} of its completed operations settled"));
            }
        };
        match method {
            Method::Zones => self.by_zones += 1,
            Method::Search => self.by_search += 1,
        }
        None
    }

    fn verdict(&self) -> Verdict {
        match (self.violated, self.undecided) {
            (0, 0) => Verdict::Valid,
            (0, _) => Verdict::Unknown,
            _ => Verdict::Invalid,
        }
    }

    fn told(&self, keys: &Keys) -> String {
        let all = keys.members.len();
        let explained = match self.violated > EXPLAINED {
            true => format!(" ({EXPLAINED} are explained)"),
            false => String::new(),
        };
        let mut why = match self.violated {
            0 => format!("{} of {all} keys are linearizable", self.by_zones + self.by_search),
            violated => format!("{violated} of {all} keys are not linearizable{explained}"),
        };
        if let Some((key, reason)) = &self.first_undecided {
            let (count, name) = (self.undecided, keys.name(*key));
            why += &format!("; {count} undecided, first {name}: {reason}");
        }
        why
    }

    fn figures(&self, operations: usize) -> BTreeMap<String, f64> {
        let keys = self.by_zones + self.by_search + self.undecided;
        [
            ("keys", keys),
            ("operations", operations),
            ("keys-by-zones", self.by_zones),
            ("keys-by-search", self.by_search),
            ("violated-keys", self.violated),
            ("undecided-keys", self.undecided),
            ("search-steps", self.steps as usize),
        ]
        .map(|(figure, count)| (figure.to_owned(), count as f64))
        .into()
    }
}

#[cfg(test)]
mod tests;
