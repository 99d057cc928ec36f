//! Which keys are in use, which were, and what is known of their values.

use std::collections::VecDeque;

/// How many values of a key are remembered as candidates for a compare-and-set.
const RECENT: usize = 4;

/// The keys of a run. Keys and values are numbered from 1 and never used again.
pub struct Keys {
    active: Vec<ActiveKey>,
    /// The last few that were retired, oldest first.
    retired: VecDeque<i64>,
    most_retired: usize,
    next_key: i64,
    next_value: i64,
}

/// A key in use.
pub struct ActiveKey {
    pub key: i64,
    /// Operations begun on it.
    pub issued: u32,
    /// Values that it had, as far as known; the latest is last.
    recent: VecDeque<i64>,
}

impl ActiveKey {
    fn new(key: i64) -> ActiveKey {
        ActiveKey { key, issued: 0, recent: VecDeque::with_capacity(RECENT) }
    }

    pub fn recent(&self) -> &VecDeque<i64> {
        &self.recent
    }
}

impl Keys {
    /// So many keys in use; of retired ones so many are remembered for the final reads.
    pub fn new(active: u32, most_retired: usize) -> Keys {
        let active: Vec<ActiveKey> = (1..=i64::from(active)).map(ActiveKey::new).collect();
        let next_key = active.len() as i64 + 1;
        Keys { active, retired: VecDeque::new(), most_retired, next_key, next_value: 1 }
    }

    /// How many keys are in use.
    pub fn count(&self) -> usize {
        self.active.len()
    }

    pub fn active(&self, slot: usize) -> &ActiveKey {
        &self.active[slot]
    }

    /// Counts an operation on the key in this slot; after the last one a fresh key takes the slot.
    pub fn issue(&mut self, slot: usize, ops_per_key: u32) {
        self.active[slot].issued += 1;
        if self.active[slot].issued < ops_per_key {
            return;
        }
        let fresh = ActiveKey::new(self.next_key);
        self.next_key += 1;
        let retired = std::mem::replace(&mut self.active[slot], fresh);
        self.retired.push_back(retired.key);
        if self.retired.len() > self.most_retired {
            self.retired.pop_front();
        }
    }

    /// A value that nobody has written yet.
    pub fn fresh_value(&mut self) -> i64 {
        let value = self.next_value;
        self.next_value += 1;
        value
    }

    /// The key was seen to have this value. Keys no longer in use are past caring.
    pub fn saw(&mut self, key: i64, value: i64) {
        let Some(active) = self.active.iter_mut().find(|active| active.key == key) else { return };
        if let Some(known) = active.recent.iter().position(|known| *known == value) {
            active.recent.remove(known);
        } else if active.recent.len() == RECENT {
            active.recent.pop_front();
        }
        active.recent.push_back(value);
    }

    /// Keys that the final reads read: those retired last, and those in use that had an operation.
    pub fn last(&self) -> Vec<i64> {
        let used = self.active.iter().filter(|active| active.issued > 0);
        self.retired.iter().copied().chain(used.map(|active| active.key)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_replaced_after_its_last_operation() {
        let mut keys = Keys::new(2, 4);
        for slot in [0, 0, 0, 1, 0] {
            keys.issue(slot, 2);
        }
        assert_eq!(keys.active(0).key, 4, "keys 1 and 3 have had two operations each");
        assert_eq!(keys.active(1).key, 2);
        assert_eq!(keys.last(), [1, 3, 2], "key 4 has had none");
        for _ in 0..100 {
            keys.issue(0, 2);
        }
        assert_eq!(keys.last(), [50, 51, 52, 53, 2], "the last ones only");
    }

    #[test]
    fn the_last_value_seen_comes_last_and_few_are_kept() {
        let mut keys = Keys::new(1, 2);
        for value in [1, 2, 3, 1, 4, 5] {
            keys.saw(1, value);
        }
        keys.saw(9, 77);
        assert_eq!(*keys.active(0).recent(), [3, 1, 4, 5]);
    }
}
