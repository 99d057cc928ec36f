//! One history against its models.

use crate::checker::{Checker, Finding, ModelKind, ModelOptions, Verdict};
use crate::conclude::{self, Limits};
use crate::history::History;

/// The checkers of all these models under the same options; an error names the option.
pub fn checkers(
    models: &[&ModelKind],
    options: &ModelOptions,
) -> Result<Vec<Box<dyn Checker>>, String> {
    let mut all = Vec::new();
    for model in models {
        all.extend((model.checkers)(options).map_err(|error| format!("{}: {error}", model.name))?);
    }
    Ok(all)
}

/// What the models' checkers find in a history.
pub fn judge(
    history: &History,
    models: &[&ModelKind],
    options: &ModelOptions,
    limits: &Limits,
) -> Result<Vec<Finding>, String> {
    Ok(conclude::check(history, &mut checkers(models, options)?, limits))
}

/// The worst verdict; of nothing found, unknown.
pub fn worst(findings: &[Finding]) -> Verdict {
    findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Unknown)
}
