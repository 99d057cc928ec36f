//! What may be said of a history besides its model.

use serde::Deserialize;

/// Options of `stormglass check`, and of an entry of a manifest. Each model takes those that concern it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelOptions {
    /// What each object holds at first, in the model's own terms: `null`, `0`, `""`, `{"x": 0}`.
    pub init: serde_json::Value,
    /// A `cas` that failed proves that the register held something else.
    pub failed_cas_is_evidence: bool,
    /// An `ok` read of nil says nothing, as in Knossos, instead of "observed empty".
    pub nil_read_is_unknown: bool,
    /// The models that a history of transactions is to satisfy; none: strict serializability.
    pub consistency_models: Vec<String>,
    /// Anomalies to look for besides those that the models rule out; alone, they are all.
    pub anomalies: Vec<String>,
    /// Of rw-register: each key by itself is linearizable.
    pub linearizable_keys: bool,
    /// Of rw-register: each key by itself is sequentially consistent.
    pub sequential_keys: bool,
    /// Of rw-register: within a transaction, a write of a key follows what it read of it.
    pub wfr_keys: bool,
    /// Of rw-register: transactions known to follow each other, by index: `0 2, 1 1`.
    pub transaction_order: Option<String>,
    /// The names of the model's operations where a history uses others.
    pub ops: Vec<String>,
}
