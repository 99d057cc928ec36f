//! A set of slots of operations in flight, as bits.

/// Up to `64 * WORDS` slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mask<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Mask<WORDS> {
    pub const EMPTY: Self = Mask([0; WORDS]);

    pub fn contains(&self, slot: usize) -> bool {
        self.0[slot / 64] >> (slot % 64) & 1 == 1
    }

    pub fn insert(&mut self, slot: usize) {
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    pub fn remove(&mut self, slot: usize) {
        self.0[slot / 64] &= !(1 << (slot % 64));
    }

    pub fn set(&mut self, slot: usize, is_in: bool) {
        match is_in {
            true => self.insert(slot),
            false => self.remove(slot),
        }
    }

    pub fn without(&self, other: &Self) -> Self {
        let mut words = self.0;
        for (word, taken) in words.iter_mut().zip(other.0) {
            *word &= !taken;
        }
        Mask(words)
    }

    /// The slots in the set, ascending.
    pub fn ones(self) -> Ones<WORDS> {
        Ones { mask: self, word: 0 }
    }
}

/// The slots of a set that are still to come.
pub struct Ones<const WORDS: usize> {
    mask: Mask<WORDS>,
    word: usize,
}

impl<const WORDS: usize> Iterator for Ones<WORDS> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while let Some(word) = self.mask.0.get_mut(self.word) {
            if *word != 0 {
                let bit = word.trailing_zeros() as usize;
                *word &= *word - 1;
                return Some(self.word * 64 + bit);
            }
            self.word += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_kept_across_words() {
        let mut mask = Mask::<2>::EMPTY;
        for slot in [0, 63, 64, 127] {
            mask.set(slot, true);
        }
        assert!(mask.contains(64) && !mask.contains(65));
        let mut other = Mask::EMPTY;
        other.insert(63);
        mask.set(0, false);
        assert_eq!(mask.without(&other).ones().collect::<Vec<_>>(), [64, 127]);
        assert_eq!(other.without(&other), Mask::EMPTY);
    }
}
