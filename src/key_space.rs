//! What the keys of a workload are called in a kvrocks cluster, and so which hash slots they lie in. Pure.

use crate::resp::{SLOTS, slot_of};

/// A short hash tag that lies in this slot.
fn tag_in(slot: u16) -> String {
    let tags = (0_u32..).map(|number| format!("t{number}"));
    let mut fitting = tags.filter(|tag| slot_of(tag.as_bytes()) == slot % SLOTS);
    fitting.next().expect("every slot has tags")
}

/// What the keys of a workload, which are numbers in its operations, are called in the store.
///
/// Key `n` is `{tag}n`, where its tag, and so its slot, is one of a few in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySpace {
    tags: Vec<(u16, String)>,
}

impl KeySpace {
    /// Keys in these slots.
    pub fn of_slots(slots: impl IntoIterator<Item = u16>) -> KeySpace {
        let tags: Vec<_> = slots.into_iter().map(|slot| (slot, tag_in(slot))).collect();
        assert!(!tags.is_empty(), "keys need a slot");
        KeySpace { tags }
    }

    /// Keys in so many slots, wherever those are.
    pub fn spread(count: usize) -> KeySpace {
        let tags = (1..=count.max(1)).map(|number| format!("s{number}"));
        KeySpace { tags: tags.map(|tag| (slot_of(tag.as_bytes()), tag)).collect() }
    }

    fn tag(&self, key: i64) -> &(u16, String) {
        &self.tags[key.rem_euclid(self.tags.len() as i64) as usize]
    }

    /// The name of a key in the store.
    pub fn name(&self, key: i64) -> String {
        format!("{{{}}}{key}", self.tag(key).1)
    }

    /// The name of something that belongs to a key and lies in the same slot.
    pub fn part(&self, key: i64, part: &str) -> String {
        format!("{{{}}}{key}:{part}", self.tag(key).1)
    }

    pub fn slot(&self, key: i64) -> u16 {
        self.tag(key).0
    }

    /// All slots in use.
    pub fn slots(&self) -> impl Iterator<Item = u16> {
        self.tags.iter().map(|(slot, _)| *slot)
    }

    /// The name of the `number`-th key of other data in a slot in use.
    pub fn filler(&self, slot: u16, number: u32) -> Option<String> {
        let (_, tag) = self.tags.iter().find(|(one, _)| *one == slot)?;
        Some(format!("{{{tag}}}filler{number}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_take_turns_in_the_slots_that_were_chosen() {
        let space = KeySpace::of_slots([1000, 3000]);
        assert_eq!(space.slots().collect::<Vec<_>>(), [1000, 3000]);
        for key in 0..6 {
            let expected = [1000, 3000][key as usize % 2];
            assert_eq!(space.slot(key), expected);
            for name in [space.name(key), space.part(key, "lock")] {
                assert_eq!(slot_of(name.as_bytes()), expected, "{name}");
            }
        }
        let filler = space.filler(3000, 7).expect("a slot in use");
        assert_eq!(slot_of(filler.as_bytes()), 3000);
        assert_eq!(space.filler(1, 7), None);
        let names: std::collections::BTreeSet<_> = (0..100).map(|key| space.name(key)).collect();
        assert_eq!(names.len(), 100);
    }

    #[test]
    fn spread_keys_lie_in_both_halves() {
        let space = KeySpace::spread(64);
        let low = space.slots().filter(|slot| *slot < 8192).count();
        assert!((20..44).contains(&low), "{low} of 64");
        for slot in [0, 16383] {
            assert_eq!(slot_of(tag_in(slot).as_bytes()), slot);
        }
    }
}
