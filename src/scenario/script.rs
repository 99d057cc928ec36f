//! Schedules as files: read and held against the topology, written after each run.

use std::path::Path;

use super::overrides::ScenarioError;
use super::yaml::{self, YamlError};
use crate::cluster::Topology;
use crate::nemesis::Script;

/// Reads a schedule and refuses what this topology cannot do.
pub fn load(path: &Path, topology: &Topology) -> Result<Script, ScenarioError> {
    let origin = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| ScenarioError::Schedule { path: origin.clone(), error })?;
    read(&origin, &text, topology).map_err(ScenarioError::Script)
}

fn read(origin: &str, text: &str, topology: &Topology) -> Result<Script, YamlError> {
    let script: Script = yaml::parse(origin, text)?;
    match script.flaw(topology) {
        Some((position, (field, message))) => {
            Err(YamlError::in_item(origin, text, ("nemesis", position), field, &message))
        }
        None => Ok(script),
    }
}

/// The nemeses of a schedule as a run names them.
pub fn nemesis(script: &Script) -> String {
    let names: Vec<String> = script.nemeses().into_iter().map(|(name, _)| name).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(",") }
}

/// A schedule as a file's text.
pub fn schedule_yaml(script: &Script) -> String {
    let yaml = serde_yaml::to_string(script).expect("a schedule is plain data");
    format!(
        "# What was done when; `stormglass run WORKLOAD --schedule FILE` does it again.\n{yaml}"
    )
}
