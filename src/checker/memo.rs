//! What a search has tried. Bounded: forgetting costs time, never the answer.

use rustc_hash::FxHashMap;

use crate::checker::mask::Mask;

/// How many open operations of each class have been used, by ascending class, none of them 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used(Vec<(u32, u32)>);

impl Used {
    pub const NONE: Used = Used(Vec::new());

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn count(&self, class: u32) -> u32 {
        let place = self.0.binary_search_by_key(&class, |(class, _)| *class);
        place.map_or(0, |place| self.0[place].1)
    }

    /// Counts one more.
    pub fn add(&mut self, class: u32) {
        match self.0.binary_search_by_key(&class, |(class, _)| *class) {
            Ok(place) => self.0[place].1 += 1,
            Err(place) => self.0.insert(place, (class, 1)),
        }
    }

    /// Drops the classes whose count no longer matters.
    pub fn forget(&mut self, matters: impl Fn(u32, u32) -> bool) {
        self.0.retain(|(class, count)| matters(*class, *count));
    }

    /// Whether nothing is used more here than there: then all that is possible there is possible
    /// here.
    fn is_within(&self, other: &Used) -> bool {
        let mut others = other.0.iter();
        self.0.iter().all(|(class, count)| {
            others
                .find(|(other, _)| other >= class)
                .is_some_and(|(other, most)| other == class && count <= most)
        })
    }
}

/// What tells configurations apart, but for the open operations used.
pub trait Place: Copy + Eq + std::hash::Hash {
    /// The event at which the configuration stands.
    fn position(&self) -> u32;
}

/// A configuration, but for the open operations used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key<const WORDS: usize> {
    pub position: u32,
    pub state: u32,
    pub done: Mask<WORDS>,
}

impl<const WORDS: usize> Place for Key<WORDS> {
    fn position(&self) -> u32 {
        self.position
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remembered {
    /// This, or one from which more was possible, has been tried.
    Before,
    New,
    /// There is no room to speak of.
    Full,
}

/// Bytes without which remembering is of no use.
const LEAST: usize = 1 << 12;

/// Maps a configuration to the smallest `Used`s tried with it. When its memory is full, what was neither
/// added nor met again since it was half full is forgotten.
pub struct Memo<K> {
    young: Generation<K>,
    old: Generation<K>,
    /// Bytes that each of the two may take, as last told.
    half: usize,
}

/// Configurations that were remembered at about the same time.
struct Generation<K> {
    /// `NOTHING` or the number of a list.
    tried: FxHashMap<K, u32>,
    lists: Vec<Vec<Used>>,
    /// Bytes taken by lists, at least.
    bytes: usize,
}

/// Stands for the list that holds but the empty `Used`, which is the common case.
const NOTHING: u32 = u32::MAX;

impl<K: Place> Memo<K> {
    pub fn new() -> Self {
        Memo { young: Generation::new(), old: Generation::new(), half: LEAST / 2 }
    }

    pub fn is_empty(&self) -> bool {
        self.young.tried.is_empty() && self.old.tried.is_empty()
    }

    /// Whether the configuration, or one from which more was possible, has been tried.
    pub fn knows(&mut self, key: &K, used: &Used) -> bool {
        if self.young.knows(key, used) {
            return true;
        }
        let met = self.old.knows(key, used);
        if met && !self.young.is_full(self.half) {
            self.old.list(key).iter().for_each(|used| self.young.add(*key, used));
        }
        met
    }

    /// Adds a configuration that is not known, within so many bytes. No choice before `oldest_choice` is
    /// open any more. False if there is no room to speak of.
    pub fn add(&mut self, key: K, used: &Used, oldest_choice: u32, memory: usize) -> bool {
        if memory < LEAST {
            return false;
        }
        self.half = memory / 2;
        if self.young.is_full(self.half) {
            self.young.forget_before(oldest_choice);
            if self.young.bytes() > self.half / 2 {
                self.old = std::mem::replace(&mut self.young, Generation::new());
            }
        }
        self.young.add(key, used);
        true
    }

    /// Adds a configuration if it is not known.
    pub fn remember(
        &mut self,
        key: K,
        used: &Used,
        oldest_choice: u32,
        memory: usize,
    ) -> Remembered {
        if self.knows(&key, used) {
            Remembered::Before
        } else if self.add(key, used, oldest_choice, memory) {
            Remembered::New
        } else {
            Remembered::Full
        }
    }
}

impl<K: Place> Generation<K> {
    fn new() -> Self {
        Generation { tried: FxHashMap::default(), lists: Vec::new(), bytes: 0 }
    }

    fn knows(&self, key: &K, used: &Used) -> bool {
        match self.tried.get(key) {
            None => false,
            Some(&NOTHING) => true,
            Some(list) => self.lists[*list as usize].iter().any(|other| other.is_within(used)),
        }
    }

    fn add(&mut self, key: K, used: &Used) {
        let place = self.tried.entry(key);
        if used.0.is_empty() {
            place.insert_entry(NOTHING);
            return;
        }
        self.bytes += size(used);
        let next = self.lists.len() as u32;
        let list = *place.or_insert(next);
        if list == next {
            self.lists.push(vec![used.clone()]);
        } else {
            let list = &mut self.lists[list as usize];
            list.retain(|other| !used.is_within(other));
            list.push(used.clone());
        }
    }

    /// The list of a configuration that is known.
    fn list(&self, key: &K) -> Vec<Used> {
        let list = self.tried.get(key).filter(|list| **list != NOTHING);
        list.map_or(vec![Used::default()], |list| self.lists[*list as usize].clone())
    }

    /// Whether it takes so many bytes, or would with one more.
    fn is_full(&self, memory: usize) -> bool {
        let grown = if self.tried.len() == self.tried.capacity() { self.table() } else { 0 };
        self.bytes() + grown > memory
    }

    /// An upper estimate: what was replaced in a list is still counted.
    fn bytes(&self) -> usize {
        self.table() + self.bytes
    }

    /// Bytes of the table, of which an eighth stays free.
    fn table(&self) -> usize {
        self.tried.capacity() * 8 / 7 * (size_of::<(K, u32)>() + 1)
    }

    fn forget_before(&mut self, position: u32) {
        let mut kept = Generation::new();
        for (key, list) in self.tried.iter().filter(|(key, _)| key.position() >= position) {
            match *list {
                NOTHING => kept.add(*key, &Used::default()),
                list => self.lists[list as usize].iter().for_each(|used| kept.add(*key, used)),
            }
        }
        *self = kept;
    }
}

/// Bytes of an entry of a list, with what the list and the allocator need.
fn size(used: &Used) -> usize {
    2 * size_of::<Used>() + 32 + used.0.len() * size_of::<(u32, u32)>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(counts: &[(u32, u32)]) -> Used {
        Used(counts.to_vec())
    }

    fn key(position: u32) -> Key<1> {
        Key { position, state: 0, done: Mask::EMPTY }
    }

    #[test]
    fn less_used_dominates_more_used() {
        let mut memo = Memo::new();
        let mut remember = |counts: &[(u32, u32)]| memo.remember(key(1), &used(counts), 0, 1 << 20);
        assert_eq!(remember(&[(1, 1), (3, 2)]), Remembered::New);
        assert_eq!(remember(&[(1, 1), (3, 2)]), Remembered::Before);
        assert_eq!(remember(&[(1, 2), (2, 1), (3, 2)]), Remembered::Before);
        assert_eq!(remember(&[(1, 1), (3, 1)]), Remembered::New);
        assert_eq!(remember(&[(3, 3)]), Remembered::New);
        assert_eq!(remember(&[]), Remembered::New);
        assert_eq!(remember(&[(9, 1)]), Remembered::Before);
    }

    #[test]
    fn counts_go_up_and_can_be_forgotten() {
        let mut counts = used(&[(2, 1)]);
        for class in [2, 1, 1] {
            counts.add(class);
        }
        assert_eq!(counts, used(&[(1, 2), (2, 2)]));
        counts.forget(|class, count| class == 2 && count == 2);
        assert_eq!((counts.count(1), counts.count(2)), (0, 2));
    }

    #[test]
    fn what_is_met_again_outlives_what_is_not_and_memory_is_bounded() {
        let memory = 1 << 14;
        for counts in [&[][..], &[(1, 1), (2, 7)]] {
            let mut memo: Memo<Key<1>> = Memo::new();
            let mut remember = |place| memo.remember(key(place), &used(counts), 0, memory);
            assert_eq!(remember(0), Remembered::New);
            for place in 1..100_000 {
                assert_eq!(remember(place), Remembered::New);
                assert_eq!(remember(0), Remembered::Before);
            }
            assert_eq!(remember(1), Remembered::New);
            assert!(memo.young.bytes() + memo.old.bytes() <= memory);
        }
    }

    #[test]
    fn what_cannot_be_met_again_is_forgotten_first() {
        let mut memo: Memo<Key<1>> = Memo::new();
        let mut remember = |place, oldest| memo.remember(key(place), &used(&[]), oldest, 1 << 14);
        assert_eq!(remember(100_000, 0), Remembered::New);
        for place in 0..100_000 {
            assert_eq!(remember(place, place), Remembered::New);
        }
        assert_eq!(remember(100_000, 100_000), Remembered::Before);
    }

    #[test]
    fn without_room_nothing_is_remembered() {
        let mut memo: Memo<Key<1>> = Memo::new();
        assert_eq!(memo.remember(key(1), &used(&[]), 0, 100), Remembered::Full);
    }
}
