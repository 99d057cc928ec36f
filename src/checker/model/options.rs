//! What may be said of a history besides its model.

use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;

/// Options of `stormglass check`, and of an entry of a manifest. Each model takes those that concern it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelOptions {
    /// What each object holds at first, in the model's own terms: `null`, `0`, `""`, `{"x": 0}`. That it
    /// is `null` may be said too.
    #[serde(deserialize_with = "said")]
    pub init: Option<Json>,
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
    /// Of lease-lock: the shortest time for which a lock is promised unless it is released.
    pub lease_ms: Option<u64>,
    /// Of bank: accounts may be overdrawn.
    pub negative_balances: bool,
    /// The names of the model's operations where a history uses others.
    pub ops: Vec<String>,
}

impl ModelOptions {
    /// What each object holds at first; `null` where nothing was said.
    pub fn initial(&self) -> &Json {
        self.init.as_ref().unwrap_or(&Json::Null)
    }

    /// The names of those that say something else than nothing at all.
    pub fn given(&self) -> Vec<&'static str> {
        let all = [
            ("init", self.init.is_some()),
            ("failed_cas_is_evidence", self.failed_cas_is_evidence),
            ("nil_read_is_unknown", self.nil_read_is_unknown),
            ("consistency_models", !self.consistency_models.is_empty()),
            ("anomalies", !self.anomalies.is_empty()),
            ("linearizable_keys", self.linearizable_keys),
            ("sequential_keys", self.sequential_keys),
            ("wfr_keys", self.wfr_keys),
            ("transaction_order", self.transaction_order.is_some()),
            ("lease_ms", self.lease_ms.is_some()),
            ("negative_balances", self.negative_balances),
            ("ops", !self.ops.is_empty()),
        ];
        all.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
    }
}

/// What was said, `null` too.
fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_at_first_is_not_the_same_as_nothing_said() {
        let read = |text: &str| serde_json::from_str::<ModelOptions>(text).expect(text);
        assert_eq!(read("{}").init, None);
        assert_eq!(read(r#"{"init": null}"#).init, Some(Json::Null));
        assert_eq!(read(r#"{"init": 0}"#).initial(), &Json::from(0));
        assert_eq!(read("{}").initial(), &Json::Null);
    }
}
