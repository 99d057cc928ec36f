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
    /// Where there is no candidate: the models that have all its operations, and others besides.
    pub wider: Vec<&'static ModelKind>,
    /// What was seen: the operations by name.
    pub why: String,
}

/// The models whose operations these are, all of them.
pub fn guess(shape: &Shape) -> Guess {
    let candidates = models(&rules::candidates(shape));
    let wider = match candidates.is_empty() {
        true => models(&rules::wider(shape)),
        false => Vec::new(),
    };
    Guess { candidates, wider, why: shape.told() }
}

fn models(names: &[&str]) -> Vec<&'static ModelKind> {
    MODELS.iter().filter(|model| names.contains(&model.name)).collect()
}
