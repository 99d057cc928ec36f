//! Cycles in words.

/// An inference: it can say why one transaction depends on another.
pub trait Justify {
    /// One sentence on an edge of this kind (one of `rel::WW`, `rel::WR`, `rel::RW`) between two
    /// transactions, which are called `T1`, `T2`, ... as given.
    fn justify(&self, from: (u32, &str), to: (u32, &str), kind: u8) -> String;
}
