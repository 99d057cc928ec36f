//! Whether what a manifest says means anything: a name that nothing bears makes a requirement that holds
//! whatever is found.

use super::entry::{Entry, Model, Stated};
use crate::catalog::nearest;
use crate::checker::{ANOMALIES, ModelKind, canonical_model};
use crate::cli::check::options;

/// Elle's names for several kinds at once, and for what it could not find in time.
const ELLES: [&str; 18] = [
    "G-MSR",
    "G-SI",
    "G-SIb",
    "G-cursor",
    "G-monotonic",
    "G-update",
    "predicate-read-miss",
    "G1",
    "G2",
    "GSI",
    "GSIa",
    "GSIb",
    "G-single",
    "G-nonadjacent",
    "write-skew",
    "closed-predicate",
    "cycle-search-timeout",
    "empty-transaction-graph",
];

/// Endings of Elle's names.
const ENDINGS: [&str; 3] = ["-cycle-exists", "-process", "-realtime"];

/// An error names the entry and what was expected.
pub fn check(entry: &Entry, place: &str) -> Result<(), String> {
    for (position, stated) in entry.checks.iter().enumerate() {
        let at = |field: &str| format!("{place}: field `checks[{position}].{field}`: ");
        for (field, names) in
            [("anomalies_include", &stated.includes), ("anomalies_exclude", &stated.excludes)]
        {
            if let Some(name) = names.iter().find(|name| !is_anomaly(name)) {
                return Err(at(field) + &no_anomaly(name));
            }
        }
        for name in &stated.violates {
            canonical_model(name).map_err(|error| at("violates") + &error)?;
        }
        let wrong = |error| format!("{place}: checks[{position}]: {error}");
        model(&entry.model, stated).map_err(wrong)?;
    }
    Ok(())
}

/// Whether the options mean something to the model, as on the command line.
fn model(model: &Model, stated: &Stated) -> Result<(), String> {
    let Model::Kind(kind) = model else { return Ok(()) };
    let kinds: [&ModelKind; 1] = [kind];
    options::fit(&stated.options.given(), &kinds, |name| format!("`{name}`"))?;
    (kind.checkers)(&stated.options).map(drop).map_err(|error| format!("{}: {error}", kind.name))
}

fn is_anomaly(name: &str) -> bool {
    let stem = ENDINGS.iter().fold(name, |stem, ending| stem.strip_suffix(ending).unwrap_or(stem));
    let is_elles = ELLES.contains(&stem) || stem.starts_with("PL-") || stem.contains("-PL-");
    is_elles || ANOMALIES.iter().any(|known| [name, stem].contains(&known.name))
}

fn no_anomaly(name: &str) -> String {
    let near = nearest(name, ANOMALIES.iter().map(|known| known.name));
    let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    format!("no anomaly is named `{name}`; `stormglass list anomalies` names them all{near}")
}
