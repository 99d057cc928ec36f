//! What the command line changes in a workload or nemesis before it is read.

use std::collections::BTreeMap;

use serde_yaml::Value;

use crate::catalog::{CatalogError, Entry};
use crate::cluster::Role;
use crate::duration::Span;
use crate::generator::{Concurrency, Rate};
use crate::scenario::workload::WorkloadSpec;
use crate::scenario::yaml::{self, YamlError};

/// Why a scenario cannot be made. Each text names where and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    #[error(transparent)]
    Yaml(#[from] YamlError),
    #[error("--nemesis {nemesis}: {message}")]
    Aim { nemesis: String, message: String },
    #[error(
        "--nemesis {nemesis}: the topology of {workload} has no `{target}`; its nodes are {nodes}"
    )]
    Target { nemesis: String, target: String, workload: String, nodes: String },
    #[error("--set {set}: {message}")]
    Set { set: String, message: String },
    #[error("--nodes {role}: this workload has no service `{role}`; it has {has}")]
    Nodes { role: String, has: String },
}

/// Changes to a scenario's files, in the words of the command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    pub time: Option<Span>,
    pub rate: Option<Rate>,
    pub concurrency: Option<Concurrency>,
    pub nodes: BTreeMap<Role, usize>,
    pub variants: BTreeMap<String, String>,
    pub images: BTreeMap<String, String>,
    /// `path=value`; a path that starts with `nemesis.` changes every nemesis, any other the workload.
    pub set: Vec<String>,
    pub ignore_expectations: bool,
}

impl Overrides {
    /// These changes as arguments of the command line; images and seed are told elsewhere.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        let mut add = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
        if let Some(time) = self.time {
            add("--time", time.to_string());
        }
        if let Some(rate) = self.rate {
            add("--rate", rate.to_string());
        }
        if let Some(concurrency) = self.concurrency {
            add("--concurrency", concurrency.to_string());
        }
        for (role, count) in &self.nodes {
            add("--nodes", format!("{role}={count}"));
        }
        for (role, name) in &self.variants {
            add("--variant", format!("{role}={name}"));
        }
        for set in &self.set {
            add("--set", set.clone());
        }
        if self.ignore_expectations {
            add("--expect", "none".to_owned());
        }
        arguments
    }

    pub fn workload(&self, entry: &Entry) -> Result<WorkloadSpec, ScenarioError> {
        let (origin, text) =
            self.apply(entry, |path| !path.starts_with("nemesis."), "workload.")?;
        let mut spec: WorkloadSpec = yaml::parse(&origin, &text)?;
        for (role, count) in &self.nodes {
            match spec.services.get_mut(role) {
                Some(nodes) => *nodes = *count,
                None => {
                    let has =
                        spec.services.keys().map(|role| role.name()).collect::<Vec<_>>().join(", ");
                    return Err(ScenarioError::Nodes { role: role.to_string(), has });
                }
            }
        }
        spec.time = self.time.unwrap_or(spec.time);
        spec.rate = self.rate.unwrap_or(spec.rate);
        spec.concurrency = self.concurrency.unwrap_or(spec.concurrency);
        if self.ignore_expectations {
            spec.expect.clear();
        }
        spec.check(&origin, &text)?;
        Ok(spec)
    }

    pub fn nemesis_text(&self, entry: &Entry) -> Result<(String, String), ScenarioError> {
        self.apply(entry, |path| path.starts_with("nemesis."), "nemesis.")
    }

    fn apply(
        &self,
        entry: &Entry,
        concerns: impl Fn(&str) -> bool,
        prefix: &str,
    ) -> Result<(String, String), ScenarioError> {
        let mine: Vec<&String> = self.set.iter().filter(|set| concerns(set)).collect();
        if mine.is_empty() {
            return Ok((entry.origin.clone(), entry.text.clone()));
        }
        let mut tree: Value = yaml::parse(&entry.origin, &entry.text)?;
        for set in &mine {
            let fail = |message: String| ScenarioError::Set { set: (*set).clone(), message };
            let (path, value) =
                set.split_once('=').ok_or_else(|| fail("expected path=value".into()))?;
            let value = serde_yaml::from_str(value).map_err(|error| fail(error.to_string()))?;
            *slot(&mut tree, path.strip_prefix(prefix).unwrap_or(path)).map_err(fail)? = value;
        }
        let text = serde_yaml::to_string(&tree).expect("a tree that was read can be written");
        let changes = mine.iter().map(|set| format!("--set {set}")).collect::<Vec<_>>().join(" ");
        Ok((format!("{} with {changes}", entry.origin), text))
    }
}

/// The place that a dotted path names; the last part of a mapping may be new.
fn slot<'a>(tree: &'a mut Value, path: &str) -> Result<&'a mut Value, String> {
    let mut here = tree;
    let parts: Vec<&str> = path.split('.').collect();
    for (depth, part) in parts.iter().enumerate() {
        here = match here {
            Value::Mapping(mapping) => {
                let key = Value::String((*part).to_owned());
                if depth + 1 == parts.len() {
                    mapping.entry(key).or_insert(Value::Null)
                } else {
                    let names: Vec<String> =
                        mapping.keys().filter_map(|key| key.as_str().map(str::to_owned)).collect();
                    mapping.get_mut(&key).ok_or_else(|| {
                        format!("there is no `{part}` here; there is {}", names.join(", "))
                    })?
                }
            }
            Value::Sequence(items) => {
                let count = items.len();
                part.parse::<usize>()
                    .ok()
                    .and_then(|position| items.get_mut(position))
                    .ok_or_else(|| format!("expected a position below {count}, found `{part}`"))?
            }
            _ => return Err(format!("`{part}` is looked for in something that has no parts")),
        };
    }
    Ok(here)
}
