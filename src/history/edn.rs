//! Jepsen's EDN: op maps written for its tools, and read from its histories.

mod parse;
mod write;

#[cfg(test)]
pub(super) use parse::parsed;
pub(super) use parse::{blanks, parse};
pub use write::write_edn;
pub(super) use write::{keyword, text as write_string, write_value};

/// How a history holds the key of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Keys {
    /// In a field of its own, `:key`, or not at all.
    #[default]
    Plain,
    /// In the value, `[key value]`, as `jepsen.independent` has it.
    Independent,
}
