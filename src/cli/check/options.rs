//! What the command line says of a history besides its model, as the models' options.

use clap::Args;
use serde_json::Value as Json;

use crate::checker::{ModelKind, ModelOptions};

#[derive(Args)]
#[command(next_help_heading = "What is known of the system")]
pub struct OptionArguments {
    /// What each object holds at first, as JSON: 0, null, '""', '{"x": 0}'
    #[arg(long, value_name = "JSON", value_parser = json)]
    init: Option<Json>,
    /// A cas that failed proves that the register held something else
    #[arg(long)]
    failed_cas_is_evidence: bool,
    /// An ok read of nil says nothing, as in Knossos, instead of "observed empty"
    #[arg(long)]
    nil_read_is_unknown: bool,
    /// The consistency models that transactions are to satisfy
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    consistency: Vec<String>,
    /// Only these anomalies make a history invalid; with --consistency, those that its models rule out too
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    anomalies: Vec<String>,
    /// Each key of rw-register is linearizable by itself
    #[arg(long)]
    linearizable_keys: bool,
    /// Each key of rw-register is sequentially consistent by itself
    #[arg(long)]
    sequential_keys: bool,
    /// In a transaction of rw-register, a write of a key follows what it read of it
    #[arg(long)]
    wfr_keys: bool,
    /// Transactions known to follow each other, by index: "0 2, 1 1"
    #[arg(long, value_name = "PAIRS")]
    transaction_order: Option<String>,
    /// How long a lock of lease-lock is promised at least, unless it is released
    #[arg(long, value_name = "MILLISECONDS")]
    lease_ms: Option<u64>,
    /// The model's operations by the names that this history uses
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    ops: Vec<String>,
}

impl OptionArguments {
    pub fn options(&self) -> ModelOptions {
        ModelOptions {
            init: self.init.clone(),
            failed_cas_is_evidence: self.failed_cas_is_evidence,
            nil_read_is_unknown: self.nil_read_is_unknown,
            consistency_models: self.consistency.clone(),
            anomalies: self.anomalies.clone(),
            linearizable_keys: self.linearizable_keys,
            sequential_keys: self.sequential_keys,
            wfr_keys: self.wfr_keys,
            transaction_order: self.transaction_order.clone(),
            lease_ms: self.lease_ms,
            ops: self.ops.clone(),
        }
    }

    /// The names of the options that were given.
    pub fn given(&self) -> Vec<&'static str> {
        let all = [
            ("init", self.init.is_some()),
            ("failed_cas_is_evidence", self.failed_cas_is_evidence),
            ("nil_read_is_unknown", self.nil_read_is_unknown),
            ("consistency_models", !self.consistency.is_empty()),
            ("anomalies", !self.anomalies.is_empty()),
            ("linearizable_keys", self.linearizable_keys),
            ("sequential_keys", self.sequential_keys),
            ("wfr_keys", self.wfr_keys),
            ("transaction_order", self.transaction_order.is_some()),
            ("lease_ms", self.lease_ms.is_some()),
            ("ops", !self.ops.is_empty()),
        ];
        all.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
    }

    /// An error where none of the models takes an option that was given.
    pub fn fit(&self, models: &[&ModelKind]) -> Result<(), String> {
        let takes = |name| models.iter().any(|model| model.takes().contains(&name));
        let Some(stray) = self.given().into_iter().find(|name| !takes(name)) else {
            return Ok(());
        };
        let told = |model: &&ModelKind| {
            let flags: Vec<String> = model.takes().iter().map(|name| flag(name)).collect();
            match flags.is_empty() {
                true => format!("{} takes no options", model.name),
                false => format!("{} takes {}", model.name, flags.join(", ")),
            }
        };
        let taken: Vec<String> = models.iter().map(told).collect();
        Err(format!("{} means nothing here: {}; leave it out", flag(stray), taken.join("; ")))
    }
}

/// An option's name as it is typed.
pub fn flag(name: &str) -> String {
    match name {
        "consistency_models" => "--consistency".to_owned(),
        other => format!("--{}", other.replace('_', "-")),
    }
}

fn json(text: &str) -> Result<Json, String> {
    serde_json::from_str(text)
        .map_err(|_| "expected JSON, such as 0, null, '\"\"' or '{\"x\": 0}'".to_owned())
}
