//! Which model a history is of, from the names of its operations and the shapes of their values.

mod rules;
mod shape;
#[cfg(test)]
mod tests;
mod versions;

pub use shape::Shape;

use super::{MODELS, ModelKind};

/// What a history may be checked against, and what speaks for it.
pub struct Guess {
    pub candidates: Vec<&'static ModelKind>,
    /// What was seen: the operations by name.
    pub why: String,
}

/// The models whose operations these are, all of them.
pub fn guess(shape: &Shape) -> Guess {
    let names = rules::candidates(shape);
    let candidates = MODELS.iter().filter(|model| names.contains(&model.name)).collect();
    Guess { candidates, why: shape.told() }
}
