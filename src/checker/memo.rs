//! What a search has tried. Bounded: forgetting costs time, never the answer.

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::checker::mask::Mask;

/// How many open operations of each class have been used, by ascending class, none of them 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used(Vec<(u32, u32)>);

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

/// A configuration, but for the open operations used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key<const WORDS: usize> {
    pub position: u32,
    pub state: u32,
    pub done: Mask<WORDS>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remembered {
    /// This, or one from which more was possible, has been tried.
    Before,
    New,
    /// No room, though everything was forgotten more than once.
    Full,
}

/// Times that everything may be forgotten before the search counts as hopeless.
const FORGETTING_LIMIT: u32 = 4;
/// Configurations that there is room for at first, at most.
const ROOM: usize = 256;

/// Maps a configuration to the smallest `Used`s tried with it. An empty list stands for one with
/// nothing used, which is the common case and needs no allocation.
pub struct Memo<const WORDS: usize> {
    tried: FxHashMap<Key<WORDS>, Vec<Used>>,
    /// Bytes taken by lists of `Used`s.
    lists: usize,
    forgotten: u32,
}

impl<const WORDS: usize> Memo<WORDS> {
    /// With room for what an easy search of so many operations tries.
    pub fn new(operations: usize) -> Self {
        let room = operations.min(ROOM);
        let tried = FxHashMap::with_capacity_and_hasher(room, FxBuildHasher);
        Memo { tried, lists: 0, forgotten: 0 }
    }

    /// Remembers a configuration, within so many bytes. No choice before `oldest_choice` is open any more.
    pub fn remember(
        &mut self,
        key: Key<WORDS>,
        used: &Used,
        oldest_choice: u32,
        memory: usize,
    ) -> Remembered {
        if let Some(tried) = self.tried.get_mut(&key) {
            if tried.is_empty() || tried.iter().any(|other| other.is_within(used)) {
                return Remembered::Before;
            }
            tried.retain(|other| !used.is_within(other));
            self.lists += size(used);
            if used.0.is_empty() {
                tried.clear();
            } else {
                tried.push(used.clone());
            }
        } else {
            let list = if used.0.is_empty() { Vec::new() } else { vec![used.clone()] };
            self.lists += list.iter().map(size).sum::<usize>();
            self.tried.insert(key, list);
        }
        if self.bytes() > memory && !self.make_room(oldest_choice, memory) {
            return Remembered::Full;
        }
        Remembered::New
    }

    /// An upper estimate: lists that shrank are still counted.
    fn bytes(&self) -> usize {
        self.tried.capacity() * size_of::<(Key<WORDS>, Vec<Used>)>() + self.lists
    }

    fn make_room(&mut self, oldest_choice: u32, memory: usize) -> bool {
        self.tried.retain(|key, _| key.position >= oldest_choice);
        self.tried.shrink_to_fit();
        self.lists = self.tried.values().flatten().map(size).sum();
        if self.bytes() <= memory / 2 {
            return true;
        }
        self.forgotten += 1;
        self.tried = FxHashMap::default();
        self.lists = 0;
        self.forgotten <= FORGETTING_LIMIT
    }
}

fn size(used: &Used) -> usize {
    size_of::<Used>() + used.0.len() * size_of::<(u32, u32)>()
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
        let mut memo = Memo::new(10);
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
    fn memory_is_bounded_by_forgetting_and_then_by_giving_up() {
        let mut memo: Memo<1> = Memo::new(10);
        // Old configurations are forgotten for free.
        for position in 0..100_000 {
            assert_eq!(
                memo.remember(key(position), &used(&[]), position, 1 << 14),
                Remembered::New
            );
            assert!(memo.bytes() <= 1 << 14);
        }
        let gave_up =
            (0..100_000).any(|p| memo.remember(key(p), &used(&[]), 0, 1 << 14) == Remembered::Full);
        assert!(gave_up);
    }
}
