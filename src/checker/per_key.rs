//! What was decided of each key, where keys are judged by themselves.

use serde::{Deserialize, Serialize};

use crate::checker::Verdict;

/// Counts of all keys, and the names of those that are not valid. The counts are whole, the lists are cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerKey {
    pub valid: u64,
    pub unknown: u64,
    pub violated: u64,
    pub unknown_keys: Vec<String>,
    pub violated_keys: Vec<String>,
}

impl PerKey {
    /// Names that each list holds at most.
    const MOST: usize = 1_000;

    /// Takes in keys in the history's order.
    pub fn add(&mut self, verdict: Verdict, key: impl FnOnce() -> String) {
        let (count, names) = match verdict {
            Verdict::Valid => {
                self.valid += 1;
                return;
            }
            Verdict::Unknown => (&mut self.unknown, &mut self.unknown_keys),
            Verdict::Invalid => (&mut self.violated, &mut self.violated_keys),
        };
        *count += 1;
        if names.len() < PerKey::MOST {
            names.push(key());
        }
    }

    pub fn all(&self) -> u64 {
        self.valid + self.unknown + self.violated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_where_lists_are_cut() {
        let mut keys = PerKey::default();
        for key in 0..3_000 {
            keys.add(Verdict::Invalid, || format!("k{key}"));
            keys.add(Verdict::Valid, || unreachable!("valid keys are not named"));
        }
        keys.add(Verdict::Unknown, || "odd".to_owned());
        assert_eq!((keys.valid, keys.unknown, keys.violated, keys.all()), (3_000, 1, 3_000, 6_001));
        assert_eq!((keys.violated_keys.len(), keys.violated_keys[999].as_str()), (1_000, "k999"));
        assert_eq!(keys.unknown_keys, ["odd"]);
    }
}
