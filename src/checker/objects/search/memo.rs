//! What a search has tried. Bounded: forgetting costs time, never the answer.

use rustc_hash::FxHashMap;

use crate::checker::mask::Mask;

/// How many open operations of each class have been used, by ascending class, none of them 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Used(Vec<(u32, u32)>);

impl Used {
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

    /// Drops the classes that no longer matter.
    pub fn forget(&mut self, is_over: impl Fn(u32) -> bool) {
        self.0.retain(|(class, _)| !is_over(*class));
    }

    /// Whether nothing is used more here than there: then all that is possible there is possible here.
    fn is_within(&self, other: &Used) -> bool {
        self.0.iter().all(|(class, count)| *count <= other.count(*class))
    }

    fn bytes(&self) -> usize {
        size_of::<Used>() + self.0.len() * size_of::<(u32, u32)>()
    }
}

/// A configuration, but for the open operations used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key<const WORDS: usize> {
    pub position: u32,
    pub state: u32,
    pub done: Mask<WORDS>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remembered {
    /// This, or one from which more was possible, has been tried.
    Before,
    New,
    /// No room, though everything was forgotten more than once.
    Full,
}

/// Times that everything may be forgotten before the search counts as hopeless.
const FORGETTING_LIMIT: u32 = 4;

/// Maps a configuration to the smallest `Used`s tried with it. An empty list stands for one with nothing
/// used, which is the common case and needs no allocation.
#[derive(Default)]
pub(super) struct Memo<const WORDS: usize> {
    tried: FxHashMap<Key<WORDS>, Vec<Used>>,
    /// Bytes taken by lists of `Used`s, or more where lists became shorter.
    lists: usize,
    forgotten: u32,
}

impl<const WORDS: usize> Memo<WORDS> {
    /// Remembers a configuration. No choice before `oldest_choice` is open any more.
    pub fn remember(
        &mut self,
        key: Key<WORDS>,
        used: &Used,
        oldest_choice: u32,
        memory: usize,
    ) -> Remembered {
        match self.tried.get_mut(&key) {
            Some(tried) => {
                if tried.is_empty() || tried.iter().any(|other| other.is_within(used)) {
                    return Remembered::Before;
                }
                if used.0.is_empty() {
                    tried.clear();
                } else {
                    tried.retain(|other| !used.is_within(other));
                    tried.push(used.clone());
                    self.lists += used.bytes();
                }
            }
            None if used.0.is_empty() => {
                self.tried.insert(key, Vec::new());
            }
            None => {
                self.tried.insert(key, vec![used.clone()]);
                self.lists += used.bytes();
            }
        }
        if self.bytes() > memory && !self.make_room(oldest_choice, memory) {
            return Remembered::Full;
        }
        Remembered::New
    }

    fn bytes(&self) -> usize {
        self.tried.capacity() * size_of::<(Key<WORDS>, Vec<Used>)>() + self.lists
    }

    fn make_room(&mut self, oldest_choice: u32, memory: usize) -> bool {
        self.tried.retain(|key, _| key.position >= oldest_choice);
        self.tried.shrink_to_fit();
        self.lists = self.tried.values().flatten().map(Used::bytes).sum();
        if self.bytes() <= memory / 2 {
            return true;
        }
        self.forgotten += 1;
        self.tried = FxHashMap::default();
        self.lists = 0;
        self.forgotten <= FORGETTING_LIMIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(position: u32) -> Key<1> {
        Key { position, state: 0, done: Mask::EMPTY }
    }

    #[test]
    fn less_used_dominates_more_used() {
        let mut memo = Memo::default();
        let mut remember =
            |counts: &[(u32, u32)]| memo.remember(key(1), &Used(counts.to_vec()), 0, 1 << 20);
        assert_eq!(remember(&[(1, 1), (3, 2)]), Remembered::New);
        assert_eq!(remember(&[(1, 1), (3, 2)]), Remembered::Before);
        assert_eq!(remember(&[(1, 2), (2, 1), (3, 2)]), Remembered::Before);
        assert_eq!(remember(&[(1, 1), (3, 1)]), Remembered::New);
        assert_eq!(remember(&[(3, 3)]), Remembered::New);
        assert_eq!(remember(&[]), Remembered::New);
        assert_eq!(remember(&[(9, 1)]), Remembered::Before);
    }

    #[test]
    fn memory_is_bounded_by_forgetting_and_then_by_giving_up() {
        let mut memo: Memo<1> = Memo::default();
        let none = Used::default();
        for position in 0..100_000 {
            let remembered = memo.remember(key(position), &none, position, 1 << 14);
            assert_eq!(remembered, Remembered::New);
            assert!(memo.bytes() <= 1 << 14);
        }
        let mut again = (0..100_000).map(|p| memo.remember(key(p), &none, 0, 1 << 14));
        assert!(again.any(|remembered| remembered == Remembered::Full));
    }
}
