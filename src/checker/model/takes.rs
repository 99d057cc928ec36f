//! Which options mean something to which model.

use super::ModelKind;

/// Of models whose objects start with something.
const OBJECT: &[&str] = &["init", "nil_read_is_unknown", "ops"];

const CAS: &[&str] = &["init", "failed_cas_is_evidence", "nil_read_is_unknown", "ops"];

const LIST_APPEND: &[&str] = &["consistency_models", "anomalies"];

const RW_REGISTER: &[&str] = &[
    "init",
    "consistency_models",
    "anomalies",
    "linearizable_keys",
    "sequential_keys",
    "wfr_keys",
    "transaction_order",
];

/// Of Jepsen's own checkers: of these anomalies alone, and how strict.
const JEPSEN: &[&str] = &["init", "ops", "anomalies", "consistency_models"];

impl ModelKind {
    /// The options that this model takes, by the names of their fields.
    pub fn takes(&self) -> &'static [&'static str] {
        match self.name {
            "cas-register" => CAS,
            "list-append" => LIST_APPEND,
            "rw-register" => RW_REGISTER,
            "set" | "set-full" | "counter" | "bank" | "long-fork" | "comments"
            | "causal-reverse" | "sequential" => JEPSEN,
            _ => OBJECT,
        }
    }
}
