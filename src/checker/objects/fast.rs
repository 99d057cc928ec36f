//! What an object's own algorithm answers, where there is one.

/// The answer of an algorithm made for one kind of object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shortcut {
    /// It does not apply, or is not certain.
    None,
    Linearizable,
    /// These operations (by position) have no order, nor has any history that holds them so.
    Violated {
        core: Vec<usize>,
    },
}
