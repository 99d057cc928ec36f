//! What was decided of all parts, counted and told.

use std::collections::BTreeMap;

use super::decide::{Decision, Method};
use super::object::Object;
use super::split::{Part, Refused};
use crate::checker::{PerKey, Verdict};
use crate::op::Key;

/// What is known of one part.
pub(super) struct Ruled<T> {
    pub decision: Decision<T>,
    /// Configurations that the search tried.
    pub tried: u64,
}

#[derive(Default)]
pub(super) struct Tally {
    operations: usize,
    parts: usize,
    by_shortcut: usize,
    violated: usize,
    undecided: usize,
    tried: u64,
    first_undecided: Option<String>,
    keys: BTreeMap<Option<Key>, Verdict>,
}

impl Tally {
    pub fn of<T>(parts: &[Part<T>], ruled: &[Ruled<T>], refused: &[Refused]) -> Tally {
        let mut tally = Tally { parts: parts.len() + refused.len(), ..Tally::default() };
        for refused in refused {
            tally.judge(refused.key, Verdict::Unknown);
            tally.leave(refused.key, refused.why.clone());
        }
        for (part, ruled) in parts.iter().zip(ruled) {
            tally.judge(part.key, ruled.decision.verdict());
            tally.operations += part.operations.len();
            tally.tried += ruled.tried;
            match &ruled.decision {
                Decision::Linearizable(Method::Shortcut) => tally.by_shortcut += 1,
                Decision::Linearizable(Method::Search) => {}
                Decision::Violated { .. } => tally.violated += 1,
                Decision::Undecided { settled, why } => {
                    let of = part.operations.iter().filter(|timed| !timed.is_open()).count();
                    let why = format!("{why} with {settled} of {of} completed operations settled");
                    tally.leave(part.key, why);
                }
            }
        }
        tally
    }

    /// A key's verdict is the worst of its parts'.
    fn judge(&mut self, key: Option<&Key>, verdict: Verdict) {
        let worst = self.keys.entry(key.cloned()).or_insert(verdict);
        *worst = verdict.max(*worst);
    }

    fn violated_keys(&self) -> usize {
        self.keys.values().filter(|verdict| **verdict == Verdict::Invalid).count()
    }

    /// What was decided of each key, where the history has any.
    pub fn per_key(&self) -> Option<Box<PerKey>> {
        let mut judged = PerKey::default();
        for (key, verdict) in &self.keys {
            let key = key.as_ref()?;
            judged.add(*verdict, || key.to_string());
        }
        (judged.all() > 0).then(|| Box::new(judged))
    }

    fn leave(&mut self, key: Option<&Key>, why: String) {
        self.undecided += 1;
        self.first_undecided.get_or_insert_with(|| format!("{}: {why}", name(key)));
    }

    pub fn verdict(&self) -> Verdict {
        match (self.violated, self.undecided) {
            (0, 0) => Verdict::Valid,
            (0, _) => Verdict::Unknown,
            _ => Verdict::Invalid,
        }
    }

    pub fn told<O: Object>(&self, object: &O, most: usize) -> String {
        let (all, kind) = (self.keys.len(), object.name());
        let explained = match self.violated > most {
            true => format!(" ({most} violations are explained)"),
            false => String::new(),
        };
        let mut why = match (self.violated, self.undecided) {
            (0, 0) => format!("as {kind}, {all} of {all} objects are linearizable"),
            (0, _) => format!("as {kind}, no violation was found in {all} objects"),
            _ => {
                let violated = self.violated_keys();
                format!("as {kind}, {violated} of {all} objects are not linearizable{explained}")
            }
        };
        if let Some(first) = &self.first_undecided {
            why += &format!("; {} undecided, first {first}", self.undecided);
        }
        why
    }

    pub fn figures(&self) -> BTreeMap<String, f64> {
        let figures = [
            ("objects", self.keys.len()),
            ("operations", self.operations),
            ("independent-parts", self.parts),
            ("parts-by-shortcut", self.by_shortcut),
            ("violated-parts", self.violated),
            ("undecided-parts", self.undecided),
            ("search-steps", self.tried as usize),
        ];
        figures.map(|(figure, count)| (figure.to_owned(), count as f64)).into()
    }
}

fn name(key: Option<&Key>) -> String {
    key.map_or("the object".to_owned(), |key| format!("key {key}"))
}
