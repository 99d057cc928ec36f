//! When a search should leave a region without having tried everything in it.
//!
//! A choice that was wrong shows late, and going back step by step tries all that lies between, in vain.
//! So where a search has not got further for a while it leaves more choices at once: a few mostly, many
//! sometimes, as in the restarts of Luby, Sinclair and Zuckerman 1993. What was left so is not
//! remembered as tried, and a search that ends with something left begins again, with more patience.

/// Times that a search is impatient before its patience doubles; the most choices are left before that.
const TIMES: u32 = 64;
/// Choices left most of the times.
const FEWEST: usize = 8;
/// After so many steps a search goes on patiently: then it is likely that there is no order.
const STEPS: u64 = 500_000;

pub(super) struct Impatience {
    patience: u64,
    /// The step up to which it is patient.
    until: u64,
    times: u32,
    has_skipped: bool,
}

impl Impatience {
    pub fn new(patience: u64) -> Impatience {
        Impatience { patience, until: patience, times: 0, has_skipped: false }
    }

    /// The search has got further.
    pub fn calm(&mut self, step: u64) {
        self.until = step.saturating_add(self.patience);
    }

    /// How many choices should be left, if it is time.
    pub fn choices_to_skip(&mut self, step: u64) -> Option<usize> {
        if step < self.until || step > STEPS {
            return None;
        }
        self.times += 1;
        if self.times > TIMES {
            self.times = 1;
            self.patience = self.patience.saturating_mul(2);
        }
        self.calm(step);
        self.has_skipped = true;
        Some(FEWEST << self.times.trailing_zeros())
    }

    pub fn has_skipped(&self) -> bool {
        self.has_skipped
    }

    pub fn start_again(&mut self) {
        self.has_skipped = false;
        self.patience = self.patience.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_choices_are_left_often_and_many_seldom() {
        let mut impatience = Impatience::new(10);
        let mut left = Vec::new();
        for step in 1..=1_400 {
            left.extend(impatience.choices_to_skip(step));
        }
        assert_eq!(left[..8], [8, 16, 8, 32, 8, 16, 8, 64]);
        assert_eq!(left[63], 512);
        // From here on it waits for 20 steps.
        assert_eq!(left.len(), 64 + 38);
        assert_eq!(impatience.choices_to_skip(STEPS + 1), None);
    }
}
