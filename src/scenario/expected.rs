//! Whether what a workload expects can come about at all: under a variant or a nemesis that does not exist,
//! nothing could ever be found.

use crate::catalog::nearest;
use crate::checker::WantedVariant;
use crate::scenario::variant::{KnownVariant, known_variants};
use crate::scenario::{Overrides, ScenarioError, WorkloadSpec, nemesis};

const ALL: &str = "`stormglass list variants` shows all";

/// Refuses expectations that could never be met. A schedule names its nemeses as it likes.
pub(super) fn check(
    name: &str,
    workload: &WorkloadSpec,
    overrides: &Overrides,
) -> Result<(), ScenarioError> {
    variants(name, workload)?;
    match overrides.schedule {
        Some(_) => Ok(()),
        None => nemeses(name, workload),
    }
}

fn nemeses(name: &str, workload: &WorkloadSpec) -> Result<(), ScenarioError> {
    for wanted in workload.expect.iter().filter_map(|item| item.nemesis.as_deref()) {
        nemesis::load_one(wanted, &Overrides::default()).map_err(|error| {
            let workload = name.to_owned();
            ScenarioError::Expected { workload, message: error.to_string() }
        })?;
    }
    Ok(())
}

/// An expectation of a variant that nothing has could never be met.
fn variants(name: &str, workload: &WorkloadSpec) -> Result<(), ScenarioError> {
    let all = known_variants();
    let wanted = workload.expect.iter().filter_map(|item| item.variant.as_ref());
    for (role, variant) in wanted.flat_map(WantedVariant::names) {
        let of_role = |known: &&KnownVariant| role.is_none_or(|role| role == known.role.name());
        let names: Vec<&str> = all.iter().filter(of_role).map(|known| known.name).collect();
        if names.contains(&variant) {
            continue;
        }
        let near = nearest(variant, names.iter().copied());
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        return Err(ScenarioError::Expected {
            workload: name.to_owned(),
            message: match role {
                Some(role) => format!("{role} has no variant `{variant}`{near}; {ALL}"),
                None => format!("there is no variant `{variant}`{near}; {ALL}"),
            },
        });
    }
    Ok(())
}
