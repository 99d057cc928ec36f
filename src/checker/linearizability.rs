//! Linearizability of registers: each key by itself, which is exact, for every operation on it took
//! effect at one moment between invocation and completion (Herlihy and Wing 1990).

mod certificate;
mod chain;
mod decide;
mod evident;
mod explain;
mod numbers;
mod online;
mod operation;
mod parts;
mod relevance;
mod search;
mod shrink;
mod terms;
mod zones;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::checker::in_flight::InFlight;
use crate::checker::{Anomaly, Budget, Checker, Finding, PerKey, RegisterModel, Verdict, pool};
use crate::history::History;
use crate::op::{Event, Key, Kind, NodeName, Process};
use decide::{Decision, Method};
use explain::Scene;
use online::Online;
use operation::{Pair, Register};
use parts::Part;
use search::Limits;
use terms::Divided;

/// Below this, threads cost more than they save.
const OPERATIONS_WORTH_THREADS: usize = 20_000;

/// Steps that a long search for an order may take in vain before it looks elsewhere.
const PATIENCE: u64 = 100;

/// Checks every register of a history against the model.
#[derive(Clone, Debug)]
pub struct Linearizability {
    model: RegisterModel,
    /// Where a failover of a shard may lose writes: each ownership term is judged by itself.
    shards: Option<Vec<Vec<NodeName>>>,
    /// What was seen while the run went on.
    online: Online,
}

/// The positions of each key's operations.
type Members<'a> = IndexMap<Option<&'a Key>, Vec<u32>, FxBuildHasher>;

/// A history's operations, and those of each key in order of first appearance.
struct Keys<'a> {
    pairs: Vec<Pair<'a>>,
    members: Members<'a>,
    divided: Option<Divided>,
}

/// What is known of one key.
struct Ruled {
    decision: Decision,
    /// Of its parts the one that is violated, if one is, and which of its registers tells so.
    violated: Option<(Part, usize)>,
    steps: u64,
    /// Completed operations that may belong to several terms.
    weak: usize,
}

/// What is known of one key, or why nothing is.
type Ruling = Result<Ruled, String>;

impl Linearizability {
    pub fn new(model: RegisterModel) -> Linearizability {
        Linearizability { model, shards: None, online: Online::default() }
    }

    /// Judges each ownership term of a kvrocks cluster's slots by itself; operations other than a
    /// register's own are left out.
    pub fn per_term(model: RegisterModel, shards: Vec<Vec<NodeName>>) -> Linearizability {
        Linearizability { model, shards: Some(shards), online: Online::default() }
    }

    fn rule(&self, keys: &Keys, key: usize, limits: &Limits) -> Ruling {
        let mut ruled = Ruled {
            decision: Decision::Undecided { settled: 0, why: "the time budget ended" },
            violated: None,
            steps: 0,
            weak: 0,
        };
        if (limits.exhausted)() {
            return Ok(ruled);
        }
        let (parts, weak) = keys.parts(key, &self.model)?;
        ruled.weak = weak;
        for (position, part) in parts.into_iter().enumerate() {
            let (decision, steps, register) = part.decide(limits);
            ruled.steps += steps;
            // The worst decision is the key's.
            if position == 0 || rank(&decision) > rank(&ruled.decision) {
                let is_violated = matches!(decision, Decision::Violated { .. });
                ruled.violated = is_violated.then_some((part, register));
                ruled.decision = decision;
            }
        }
        Ok(ruled)
    }

    /// The violated keys, by the moment at which they show, explained.
    fn explain(
        keys: &Keys,
        rulings: &[(usize, Ruling)],
        most: usize,
        limits: &Limits,
    ) -> Vec<Anomaly> {
        let mut violated: Vec<(u32, usize, &Ruled)> = rulings
            .iter()
            .filter_map(|(key, ruling)| match ruling {
                Ok(ruled @ Ruled { decision: Decision::Violated { core, .. }, .. }) => {
                    let certain = core.iter().filter(|operation| !operation.is_open());
                    let shown = certain.map(|operation| operation.complete).max().unwrap_or(0);
                    Some((shown, *key, ruled))
                }
                _ => None,
            })
            .collect();
        violated.sort_by_key(|(shown, key, _)| (*shown, *key));
        violated.truncate(most);
        violated
            .into_iter()
            .filter_map(|(_, key, ruled)| Self::explain_one(keys, key, ruled, limits))
            .collect()
    }

    fn explain_one(keys: &Keys, key: usize, ruled: &Ruled, limits: &Limits) -> Option<Anomaly> {
        let Decision::Violated { core, by } = &ruled.decision else { return None };
        let (name, members) = keys.members.get_index(key)?;
        let (part, register) = ruled.violated.as_ref()?;
        let scene = Scene {
            pairs: &keys.pairs,
            members,
            register: part.registers.get(*register)?,
            key: name.map(Key::to_string),
            by: *by,
            lost: keys.divided.as_ref().map(|divided| &divided.lost),
        };
        let beginning = keys.beginning(key, part.term);
        Some(match part.torn {
            Some(torn) => explain::torn(&scene, torn, &beginning.unwrap_or_default()),
            None => explain::explain(&scene, &shrink::shrink(core, limits), beginning),
        })
    }
}

fn rank(decision: &Decision) -> u8 {
    match decision {
        Decision::Linearizable(Method::Zones) => 0,
        Decision::Linearizable(Method::Search) => 1,
        Decision::Undecided { .. } => 2,
        Decision::Violated { .. } => 3,
    }
}

impl Checker for Linearizability {
    fn name(&self) -> &'static str {
        "linearizability"
    }

    /// Online as far as values are all different; what a failover may have taken back is judged at the end.
    fn observe(&mut self, event: &Event) -> Option<Anomaly> {
        if self.shards.is_some() {
            return None;
        }
        self.online.observe(event, &self.model)
    }

    fn finish(&mut self, history: &History, budget: &Budget) -> Finding {
        let keys = Keys::of(history, self.shards.as_deref(), &self.model);
        let limits = Limits {
            exhausted: budget.exhausted,
            memory: budget.memory / pool::WORKERS,
            steps: u64::MAX,
            patience: PATIENCE,
        };
        // The cheapest first: a budget that ends then leaves the fewest keys undecided. Those of about
        // one size stay in the history's order, since neighbours in it are neighbours in memory.
        let mut order: Vec<usize> = (0..keys.members.len()).collect();
        order.sort_by_key(|key| keys.members[*key].len().checked_ilog2());
        let parallel = keys.pairs.len() >= OPERATIONS_WORTH_THREADS;
        let rulings = pool::run(&order, parallel, |key| self.rule(&keys, key, &limits));
        let tally = Tally::of(&rulings);
        Finding {
            name: self.name().to_owned(),
            verdict: tally.verdict(),
            why: tally.told(&keys, budget.explained),
            anomalies: Self::explain(&keys, &rulings, budget.explained, &limits),
            figures: tally.figures(&keys),
            consistency: None,
            keys: keys.judged(&rulings),
        }
    }
}

impl<'a> Keys<'a> {
    fn of(
        history: &'a History,
        shards: Option<&[Vec<NodeName>]>,
        model: &RegisterModel,
    ) -> Keys<'a> {
        let Some(shards) = shards else {
            return Keys::in_one_pass(history);
        };
        let mut pairs = history.operations();
        let divided = Some(Divided::of(history, &pairs, shards, model));
        pairs.retain(|(invocation, _)| terms::is_of_a_register(invocation));
        let mut members = Members::default();
        for (position, (invocation, _)) in pairs.iter().enumerate() {
            members.entry(invocation.key.as_ref()).or_default().push(position as u32);
        }
        Keys { pairs, members, divided }
    }

    /// A history is larger than any cache, so it is walked but once.
    fn in_one_pass(history: &'a History) -> Keys<'a> {
        let mut open = InFlight::default();
        let mut pairs: Vec<Pair> = Vec::with_capacity(history.len() / 2);
        let mut members = Members::default();
        for event in history.events() {
            let Process::Client(process) = event.process else { continue };
            if event.kind == Kind::Invoke {
                open.begin(process, pairs.len() as u32);
                members.entry(event.key.as_ref()).or_default().push(pairs.len() as u32);
                pairs.push((event, None));
            } else if let Some(position) = open.end(process) {
                pairs[position as usize].1 = Some(event);
            }
        }
        Keys { pairs, members, divided: None }
    }

    /// The parts of a key that are judged by themselves, and how many operations were weakened.
    fn parts(&self, key: usize, model: &RegisterModel) -> Result<(Vec<Part>, usize), String> {
        let members = &self.members[key];
        let register = Register::read(&self.pairs, members, model)?;
        Ok(match &self.divided {
            None => parts::divide(register, 1, |_| 0..=0),
            Some(divided) => divided.parts(&self.pairs, members, register),
        })
    }

    /// How a term of a key began, where that is not the history's beginning.
    fn beginning(&self, key: usize, term: usize) -> Option<String> {
        let members = &self.members[key];
        let divided = self.divided.as_ref().filter(|_| term > 0)?;
        Some(divided.beginning(&self.pairs, members, term))
    }

    /// What was decided of each key, where the history has any.
    fn judged(&self, rulings: &[(usize, Ruling)]) -> Option<Box<PerKey>> {
        let mut rulings: Vec<&(usize, Ruling)> = rulings.iter().collect();
        rulings.sort_unstable_by_key(|(key, _)| *key);
        let mut judged = PerKey::default();
        for (key, ruling) in rulings {
            let (name, _) = self.members.get_index(*key)?;
            let name = (*name)?;
            let verdict = match ruling.as_ref().map(|ruled| &ruled.decision) {
                Ok(Decision::Linearizable(_)) => Verdict::Valid,
                Ok(Decision::Violated { .. }) => Verdict::Invalid,
                Ok(Decision::Undecided { .. }) | Err(_) => Verdict::Unknown,
            };
            judged.add(verdict, || name.to_string());
        }
        (judged.all() > 0).then(|| Box::new(judged))
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
    weak: usize,
    /// The first key without a decision, and why.
    first_undecided: Option<(usize, String)>,
}

impl Tally {
    fn of(rulings: &[(usize, Ruling)]) -> Tally {
        let mut tally = Tally::default();
        for (key, ruling) in rulings {
            let why = match ruling {
                Ok(ruled) => {
                    tally.steps += ruled.steps;
                    tally.weak += ruled.weak;
                    tally.take_in(&ruled.decision)
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

    fn told(&self, keys: &Keys, most: usize) -> String {
        let all = keys.members.len();
        let explained = match self.violated > most {
            true => format!(" ({most} are explained)"),
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

    fn figures(&self, keys: &Keys) -> BTreeMap<String, f64> {
        let counted = self.by_zones + self.by_search + self.undecided;
        let mut figures: BTreeMap<String, f64> = [
            ("keys", counted),
            ("operations", keys.pairs.len()),
            ("keys-by-zones", self.by_zones),
            ("keys-by-search", self.by_search),
            ("violated-keys", self.violated),
            ("undecided-keys", self.undecided),
            ("search-steps", self.steps as usize),
        ]
        .map(|(figure, count)| (figure.to_owned(), count as f64))
        .into();
        if keys.divided.is_some() {
            figures.insert("operations-of-several-terms".to_owned(), self.weak as f64);
        }
        figures
    }
}

#[cfg(test)]
mod tests;
