//! The one source of chance: a seed, forked into named streams that do not disturb each other.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

/// A seeded stream. Two forks of one seed with different names are independent.
#[derive(Clone, Debug)]
pub struct Rng {
    seed: [u8; 32],
    stream: ChaCha8Rng,
}

impl Rng {
    pub fn from_seed(seed: u64) -> Rng {
        Rng::from_bytes(Sha256::digest(seed.to_le_bytes()).into())
    }

    fn from_bytes(seed: [u8; 32]) -> Rng {
        Rng { seed, stream: ChaCha8Rng::from_seed(seed) }
    }

    /// The stream of this name. It depends on the seed and the name, not on what has been drawn.
    pub fn fork(&self, name: &str) -> Rng {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(name.as_bytes());
        Rng::from_bytes(hash.finalize().into())
    }

    /// Uniform in `0..bound`; 0 where the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.stream.random_range(0..bound) }
    }

    /// Uniform in `low..=high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        self.stream.random_range(low..=high.max(low))
    }

    /// Uniform in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        self.stream.random()
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Exponentially distributed with this mean: the gap between arrivals of an open-loop source.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Shuffles in place (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { Some(&items[self.below(items.len() as u64) as usize]) }
    }
}
