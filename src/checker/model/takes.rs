//! Which options mean something to which model.

use super::ModelKind;

const REGISTER: &[&str] = &["init", "nil_read_is_unknown"];

const CAS_REGISTER: &[&str] = &["init", "nil_read_is_unknown", "failed_cas_is_evidence"];

const LIST_APPEND: &[&str] = &["consistency_models", "anomalies"];

const RW_REGISTER: &[&str] = &[
    "consistency_models",
    "anomalies",
    "linearizable_keys",
    "sequential_keys",
    "wfr_keys",
    "transaction_order",
    "init",
];

const BANK: &[&str] = &["init", "negative_balances", "anomalies", "ops"];

const SET_FULL: &[&str] = &["consistency_models", "anomalies", "ops"];

/// Of those whose operations have always the same names, or any.
const NAMED: &[&str] = &["anomalies"];

const PROGRESS: &[&str] = &["consistency_models", "anomalies"];

/// Of the other models that Jepsen has.
const JEPSEN: &[&str] = &["anomalies", "ops"];

const KV: &[&str] = &["init", "nil_read_is_unknown", "ops"];

/// Of objects that begin with something.
const OBJECT: &[&str] = &["init"];

impl ModelKind {
    /// The options that this model takes, by the names of their fields.
    pub fn takes(&self) -> &'static [&'static str] {
        match self.name {
            "register" | "multi-register" => REGISTER,
            "cas-register" => CAS_REGISTER,
            "kv" => KV,
            "list" | "linearizable-set" | "linearizable-counter" | "semaphore" => OBJECT,
            "fifo-queue" | "unordered-queue" | "priority-queue" | "stack" | "mutex" | "lock"
            | "owner-mutex" | "reentrant-mutex" | "fenced-lock" => &[],
            "lease-lock" => &["lease_ms"],
            "list-append" => LIST_APPEND,
            "rw-register" => RW_REGISTER,
            "availability" => &[],
            "bank" => BANK,
            "set-full" | "staleness" | "epochs" | "monotonic-inserts" => SET_FULL,
            "progress" => PROGRESS,
            "kafka" | "monotonic" | "long-fork" | "errors" | "stats" => NAMED,
            _ => JEPSEN,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::checker::{MODELS, ModelOptions};

    #[test]
    fn names_of_operations_are_taken_by_models_that_have_some() {
        let ops = vec!["name".to_owned(); 9];
        let options = ModelOptions { ops, ..ModelOptions::default() };
        for model in MODELS.iter().filter(|model| model.takes().contains(&"ops")) {
            let Err(error) = (model.checkers)(&options) else { panic!("{}", model.name) };
            assert!(!error.contains("expected 0"), "{}: {error}", model.name);
        }
    }
}
