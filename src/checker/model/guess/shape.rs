//! What the operations of a history look like.

use std::collections::BTreeMap;

use super::versions::Versions;
use crate::history::{Datum, has_flat_key};
use crate::op::{Event, Kind, Process};

/// Names told of operations, and of parts of transactions.
const TOLD: usize = 12;

/// Operations by name with the shapes of what they were asked and answered; bounded, whatever the history.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    pub operations: BTreeMap<&'static str, Values>,
    /// The parts of transactions, by name, with the values that they read.
    pub parts: BTreeMap<String, Values>,
    versions: Versions,
    /// Whether every value is `[key something]`, and a read asks `[key nil]`.
    pairs: Pairs,
    /// A model may have more operations than were seen.
    is_part: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Pairs {
    asked: u64,
    others: u64,
}

/// How often each kind of value was seen in `ok` completions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    pub all: u64,
    pub nil: u64,
    pub numbers: u64,
    pub texts: u64,
    pub lists: u64,
    /// Lists that begin with a list.
    pub nested: u64,
    pub maps: u64,
}

impl Values {
    fn add(&mut self, value: Datum) {
        self.all += 1;
        let count = if value.is_nil() {
            &mut self.nil
        } else if value.as_i64().is_some() {
            &mut self.numbers
        } else if value.as_str().is_some() {
            &mut self.texts
        } else if let Some(mut items) = value.items() {
            self.nested += u64::from(items.next().is_some_and(|first| first.items().is_some()));
            &mut self.lists
        } else {
            &mut self.maps
        };
        *count += 1;
    }

    /// Whether a list was seen, and no other value but nil.
    pub fn are_lists(&self) -> bool {
        self.lists > 0 && self.lists + self.nil == self.all
    }

    /// Whether all lists hold lists, and no other value but nil was seen.
    pub fn are_lists_of_lists(&self) -> bool {
        self.are_lists() && self.nested == self.lists
    }

    pub fn are_maps(&self) -> bool {
        self.maps > 0 && self.maps + self.nil == self.all
    }

    /// Whether no list and no map was seen.
    pub fn are_scalars(&self) -> bool {
        self.lists == 0 && self.maps == 0
    }
}

impl Shape {
    pub fn observe(&mut self, event: &Event, value: Datum) {
        if !matches!(event.process, Process::Client(_)) {
            return;
        }
        self.versions.observe(event, value);
        if !has_flat_key(event, value) {
            self.pairs.observe(event.kind, value);
        }
        let of_f = self.operations.entry(event.f.as_str()).or_default();
        if event.kind != Kind::Ok {
            return;
        }
        of_f.add(value);
        if event.f.as_str() == "txn" {
            self.parts_of(value);
        }
    }

    fn parts_of(&mut self, txn: Datum) {
        for part in txn.items().into_iter().flatten() {
            let Some(mut fields) = part.items() else { continue };
            let Some(name) = fields.next().and_then(|name| name.as_str().map(str::to_owned)) else {
                continue;
            };
            if self.parts.len() < TOLD || self.parts.contains_key(&name) {
                let values = self.parts.entry(name).or_default();
                if let Some(value) = fields.nth(1) {
                    values.add(value);
                }
            }
        }
    }

    /// Whether these are all the names there are, and at least the first is among them.
    pub fn is_of(&self, required: &[&str], others: &[&str]) -> bool {
        let known = |name: &&str| required.contains(name) || others.contains(name);
        let has = |name: &&str| self.is_part || self.operations.contains_key(name);
        !self.operations.is_empty() && required.iter().all(has) && self.operations.keys().all(known)
    }

    /// The same of the parts of transactions.
    pub fn parts_are_of(&self, required: &[&str], others: &[&str]) -> bool {
        let known =
            |name: &String| required.contains(&name.as_str()) || others.contains(&name.as_str());
        self.is_of(&["txn"], &[])
            && required.iter().all(|name| self.is_part || self.parts.contains_key(*name))
            && self.parts.keys().all(known)
            && self.operations.contains_key("txn")
    }

    /// What the operations of this name were answered.
    pub fn answers(&self, f: &str) -> Values {
        self.operations.get(f).cloned().unwrap_or_default()
    }

    /// What the parts of this name read.
    pub fn part(&self, name: &str) -> Values {
        self.parts.get(name).cloned().unwrap_or_default()
    }

    /// The same, of a history that may show only some of its model's operations.
    pub fn as_part(&self) -> Shape {
        Shape { is_part: true, ..self.clone() }
    }

    pub fn is_part(&self) -> bool {
        self.is_part
    }

    /// Whether each value can only be a key with the value proper.
    pub fn has_keys_in_values(&self) -> bool {
        self.pairs.asked > 0 && self.pairs.others == 0
    }

    /// Whether each value comes with a version, which no model knows.
    pub fn has_versions(&self) -> bool {
        self.versions.are_all()
    }

    pub fn told(&self) -> String {
        let mut names: Vec<String> = self.operations.keys().map(|f| (*f).to_owned()).collect();
        if !self.parts.is_empty() {
            names = vec![format!("txn of {}", joined(self.parts.keys().cloned().collect()))];
        }
        match names.is_empty() {
            true => "it has no operations of clients".to_owned(),
            false => format!("its operations are {}", joined(names)),
        }
    }
}

impl Pairs {
    fn observe(&mut self, kind: Kind, value: Datum) {
        let Some([key, rest]) = two(value) else {
            self.others += u64::from(kind == Kind::Invoke || kind == Kind::Ok);
            return;
        };
        let is_key = key.as_i64().is_some() || key.as_str().is_some();
        match (is_key, kind) {
            (false, _) => self.others += 1,
            (true, Kind::Invoke) => self.asked += u64::from(rest.is_nil()),
            (true, _) => {}
        }
    }
}

fn two(value: Datum) -> Option<[Datum; 2]> {
    let mut items = value.items()?;
    let pair = [items.next()?, items.next()?];
    items.next().is_none().then_some(pair)
}

fn joined(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(TOLD);
    names.truncate(TOLD);
    if more > 0 {
        names.push(format!("{more} others"));
    }
    names.join(", ")
}
