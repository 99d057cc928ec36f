//! Models by name: what `stormglass check --model` may say, and which checkers that means.

mod guess;
mod options;
mod register;
mod takes;

pub use guess::{Guess, Shape, guess};
pub use options::ModelOptions;
pub use register::RegisterModel;

use crate::checker::{Checker, jepsen, objects, txn};

/// The checkers of a model, or what is wrong with its options.
pub type Made = Result<Vec<Box<dyn Checker>>, String>;

/// What a history can be checked against.
pub struct ModelKind {
    pub name: &'static str,
    /// One line: the operations it knows, and what it promises.
    pub what: &'static str,
    /// Its checkers under these options; an error names the option and what was expected.
    pub checkers: fn(&ModelOptions) -> Made,
}

impl std::fmt::Debug for ModelKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every model, in the order of `stormglass list models`.
pub const MODELS: &[ModelKind] = &[
    register::REGISTER,
    register::CAS_REGISTER,
    objects::KV,
    objects::MULTI_REGISTER,
    objects::MUTEX,
    objects::OWNER_MUTEX,
    objects::REENTRANT_MUTEX,
    objects::LOCK,
    objects::FENCED_LOCK,
    objects::LEASE_LOCK,
    objects::SEMAPHORE,
    objects::FIFO_QUEUE,
    objects::UNORDERED_QUEUE,
    objects::PRIORITY_QUEUE,
    objects::STACK,
    objects::LINEARIZABLE_SET,
    objects::LINEARIZABLE_COUNTER,
    objects::LIST,
    jepsen::SET,
    jepsen::SET_FULL,
    jepsen::COUNTER,
    jepsen::BANK,
    jepsen::LONG_FORK,
    jepsen::COMMENTS,
    jepsen::CAUSAL_REVERSE,
    jepsen::SEQUENTIAL,
    txn::LIST_APPEND,
    txn::RW_REGISTER,
    jepsen::UNIQUE_IDS,
    jepsen::UNORDERED_QUEUE,
    jepsen::TOTAL_QUEUE,
    jepsen::CAUSAL,
    jepsen::SESSION,
    jepsen::MONOTONIC,
    jepsen::MONOTONIC_INSERTS,
    jepsen::ADYA_G2,
    jepsen::DIRTY_READ,
    jepsen::KAFKA,
    jepsen::EPOCHS,
    jepsen::STALENESS,
    jepsen::PROGRESS,
    jepsen::AVAILABILITY,
    jepsen::STATS,
    jepsen::ERRORS,
];

/// No model has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown model `{name}`: expected one of {}", names().join(", "))]
pub struct UnknownModel {
    pub name: String,
}

fn names() -> Vec<&'static str> {
    MODELS.iter().map(|model| model.name).collect()
}

impl ModelKind {
    pub fn by_name(name: &str) -> Result<&'static ModelKind, UnknownModel> {
        let found = MODELS.iter().find(|model| model.name == name);
        found.ok_or_else(|| UnknownModel { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_is_a_model_and_others_are_refused_with_the_list() {
        for (position, model) in MODELS.iter().enumerate() {
            assert!(MODELS[..position].iter().all(|other| other.name != model.name));
            let checkers = (model.checkers)(&ModelOptions::default()).expect(model.name);
            assert!(!checkers.is_empty(), "{}", model.name);
        }
        let error = ModelKind::by_name("regsiter").expect_err("a typo").to_string();
        let expected = "unknown model `regsiter`: expected one of register, cas-register, ";
        assert!(error.starts_with(expected), "{error}");
    }
}
