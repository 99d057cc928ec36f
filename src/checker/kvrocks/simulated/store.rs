//! What one simulated node holds, and the changes that made it so.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Set(i64),
    Append(i64),
    /// A key comes or goes with its slot.
    Replace(Vec<i64>),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    data: BTreeMap<i64, Vec<i64>>,
    /// All changes of this term; a replica has those of its master up to some point.
    log: Vec<(i64, Change)>,
}

impl Store {
    pub fn get(&self, key: i64) -> Vec<i64> {
        self.data.get(&key).cloned().unwrap_or_default()
    }

    pub fn apply(&mut self, key: i64, change: Change) {
        let held = self.data.entry(key).or_default();
        match &change {
            Change::Set(value) => *held = vec![*value],
            Change::Append(value) => held.push(*value),
            Change::Replace(values) => held.clone_from(values),
        }
        self.log.push((key, change));
    }

    /// What this master has and a replica of it lacks.
    pub fn beyond(&self, replica: &Store) -> Vec<(i64, Change)> {
        self.log[replica.log.len().min(self.log.len())..].to_vec()
    }

    /// Changes from now on are counted anew, by all replicas as well.
    pub fn begin_term(&mut self) {
        self.log.clear();
    }
}
