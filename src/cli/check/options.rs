//! What the command line says of a history besides its model, as the models' options.

use clap::Args;
use serde_json::Value as Json;

use crate::checker::{ModelKind, ModelOptions};
use crate::cli::arguments;
use crate::duration::Span;

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
    /// Accounts of bank may be overdrawn
    #[arg(long)]
    negative_balances: bool,
    /// The model's operations by the names that this history uses, in the order in which `describe MODEL`
    /// has them: of set, which has add and read, `insert,scan`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    ops: Vec<String>,
}

impl OptionArguments {
    pub fn options(&self) -> ModelOptions {
        ModelOptions {
            init: self.init.clone(),
            failed_cas_is_evidence: self.failed_cas_is_evidence,
            nil_read_is_unknown: self.nil_read_is_unknown,
            consistency_models: trimmed(&self.consistency),
            anomalies: trimmed(&self.anomalies),
            linearizable_keys: self.linearizable_keys,
            sequential_keys: self.sequential_keys,
            wfr_keys: self.wfr_keys,
            transaction_order: self.transaction_order.clone(),
            lease_ms: self.lease_ms,
            negative_balances: self.negative_balances,
            ops: trimmed(&self.ops),
        }
    }

    /// The names of the options that were given.
    pub fn given(&self) -> Vec<&'static str> {
        self.options().given()
    }

    /// An error where none of the models takes an option that was given.
    pub fn fit(&self, models: &[&ModelKind]) -> Result<(), String> {
        fit(&self.given(), models, flag)
    }
}

/// An error where none of the models takes an option; `told` is how an option is written here.
pub fn fit(
    given: &[&str],
    models: &[&ModelKind],
    told: impl Fn(&str) -> String,
) -> Result<(), String> {
    let takes = |name: &&&str| models.iter().any(|model| model.takes().contains(*name));
    let Some(stray) = given.iter().find(|name| !takes(name)) else { return Ok(()) };
    let taken = models.iter().map(|model| {
        let options: Vec<String> = model.takes().iter().map(|name| told(name)).collect();
        match options.is_empty() {
            true => format!("{} takes no options", model.name),
            false => format!("{} takes {}", model.name, options.join(", ")),
        }
    });
    let taken: Vec<String> = taken.collect();
    Err(format!("{} means nothing here: {}; leave it out", told(stray), taken.join("; ")))
}

/// Names of a list as people write it, with blanks after its commas.
fn trimmed(names: &[String]) -> Vec<String> {
    names.iter().map(|name| name.trim().to_owned()).collect()
}

/// An option's name as it is typed.
pub fn flag(name: &str) -> String {
    match name {
        "consistency_models" => "--consistency".to_owned(),
        other => format!("--{}", other.replace('_', "-")),
    }
}

/// Time for checking; in none, nothing is decided.
pub fn budget(text: &str) -> Result<Span, String> {
    let span: Span = text.parse()?;
    match span.0.is_zero() {
        true => Err(format!("in {text} nothing can be decided: expected more, such as 10s")),
        false => Ok(span),
    }
}

/// Bytes of the least tables that are of any use.
const LEAST_MEMORY: usize = 1 << 20;

/// Memory for checking.
pub fn memory(text: &str) -> Result<usize, String> {
    let bytes = arguments::bytes(text)?;
    match bytes < LEAST_MEMORY {
        true => Err(format!("{text} is {bytes} bytes: expected at least 1m, such as 512m or 4g")),
        false => Ok(bytes),
    }
}

fn json(text: &str) -> Result<Json, String> {
    serde_json::from_str(text)
        .map_err(|_| "expected JSON, such as 0, null, '\"\"' or '{\"x\": 0}'".to_owned())
}
