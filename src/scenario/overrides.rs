//! What the command line changes in a workload or nemesis before it is read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_yaml::Value;

use crate::catalog::{CatalogError, Entry};
use crate::cluster::Role;
use crate::duration::Span;
use crate::generator::{Concurrency, Rate};
use crate::scenario::variant::VariantChoice;
use crate::scenario::workload::WorkloadSpec;
use crate::scenario::yaml::{self, YamlError};

/// Why a scenario cannot be made. Each text names where and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    #[error("{error}; correct it, `stormglass describe {sound}` shows a sound workload")]
    Workload { error: YamlError, sound: String },
    #[error("workload {workload}: field `{field}`: {message}")]
    Settings { workload: String, field: String, message: String },
    #[error("{0}; correct it, `stormglass describe kill` shows a sound nemesis")]
    Nemesis(YamlError),
    #[error("--nemesis {nemesis}: {message}")]
    Aim { nemesis: String, message: String },
    #[error(
        "--nemesis {nemesis}: the topology of {workload} has no `{target}`; aim at one of its nodes, \
         {nodes}, or change their number with --nodes"
    )]
    Target { nemesis: String, target: String, workload: String, nodes: String },
    #[error("{0}; correct it, or take the schedule.yaml of a run as a pattern")]
    Script(YamlError),
    #[error("--schedule {path}: {error}; expected a file such as results/latest/schedule.yaml")]
    Schedule { path: String, error: std::io::Error },
    #[error("--set {set}: {message}")]
    Set { set: String, message: String },
    #[error("--nodes {role}: this workload has no service `{role}`; it has {has}")]
    Nodes { role: String, has: String },
    #[error("workload {workload}: field `expect`: {message}")]
    Expected { workload: String, message: String },
    #[error("--variant {choice}: {message}")]
    Variant { choice: String, message: String },
    #[error("--image {name}: this workload runs no image of that name; it runs {has}")]
    Image { name: String, has: String },
}

/// A file's text with the changes made to it, and what to call it in errors.
pub(super) struct Source {
    pub origin: String,
    pub text: String,
    changed: bool,
}

impl Source {
    /// Lines of a changed text are in no file that a person could open.
    pub fn blame(&self, error: YamlError) -> YamlError {
        if self.changed { YamlError { line: None, ..error } } else { error }
    }
}

/// Changes to a scenario's files, in the words of the command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    pub time: Option<Span>,
    pub rate: Option<Rate>,
    pub concurrency: Option<Concurrency>,
    pub nodes: BTreeMap<Role, usize>,
    pub variants: Vec<VariantChoice>,
    pub images: BTreeMap<String, String>,
    /// `path=value`; a path that starts with `nemesis.` changes every nemesis, any other the workload.
    pub set: Vec<String>,
    pub ignore_expectations: bool,
    /// A file that says what is done when, in place of nemeses.
    pub schedule: Option<PathBuf>,
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
        for choice in &self.variants {
            add("--variant", choice.to_string());
        }
        for set in &self.set {
            add("--set", set.clone());
        }
        if self.ignore_expectations {
            add("--expect", "none".to_owned());
        }
        if let Some(path) = &self.schedule {
            add("--schedule", path.display().to_string());
        }
        arguments
    }

    pub fn workload(&self, entry: &Entry) -> Result<WorkloadSpec, ScenarioError> {
        let source = self.apply(entry, |path| !path.starts_with("nemesis."), "workload.")?;
        let (origin, text) = (&source.origin, &source.text);
        let read = |parsed: Result<WorkloadSpec, YamlError>| {
            parsed.map_err(|error| flawed(entry, source.blame(error)))
        };
        let mut spec = read(yaml::parse(origin, text))?;
        self.place(&mut spec)?;
        spec.time = self.time.unwrap_or(spec.time);
        spec.rate = self.rate.unwrap_or(spec.rate);
        spec.concurrency = self.concurrency.unwrap_or(spec.concurrency);
        if self.ignore_expectations {
            spec.expect.clear();
        }
        read(spec.check(origin, text).map(|()| spec))
    }

    /// Sets the number of nodes, and refuses services that the workload lacks.
    fn place(&self, spec: &mut WorkloadSpec) -> Result<(), ScenarioError> {
        let has = spec.services.keys().map(|role| role.name()).collect::<Vec<_>>();
        let has_all = has.join(", ");
        if let Some(name) = self.images.keys().find(|name| !has.contains(&name.as_str())) {
            return Err(ScenarioError::Image { name: name.clone(), has: has_all });
        }
        for (role, count) in &self.nodes {
            match spec.services.get_mut(role) {
                Some(nodes) => *nodes = *count,
                None => {
                    return Err(ScenarioError::Nodes { role: role.to_string(), has: has_all });
                }
            }
        }
        Ok(())
    }

    pub(super) fn nemesis_source(&self, entry: &Entry) -> Result<Source, ScenarioError> {
        self.apply(entry, |path| path.starts_with("nemesis."), "nemesis.")
    }

    fn apply(
        &self,
        entry: &Entry,
        concerns: impl Fn(&str) -> bool,
        prefix: &str,
    ) -> Result<Source, ScenarioError> {
        let mine: Vec<&String> = self.set.iter().filter(|set| concerns(set)).collect();
        if mine.is_empty() {
            let (origin, text) = (entry.origin.clone(), entry.text.clone());
            return Ok(Source { origin, text, changed: false });
        }
        let is_nemesis = prefix == "nemesis.";
        let wrap = |error| match is_nemesis {
            true => ScenarioError::Nemesis(error),
            false => flawed(entry, error),
        };
        let mut tree: Value = yaml::parse(&entry.origin, &entry.text).map_err(wrap)?;
        for set in &mine {
            let fail = |message: String| ScenarioError::Set { set: (*set).clone(), message };
            let (path, value) =
                set.split_once('=').ok_or_else(|| fail("expected path=value".into()))?;
            let value = serde_yaml::from_str(value).map_err(|_| {
                fail(format!("expected a number, a word or another YAML value, found `{value}`"))
            })?;
            *slot(&mut tree, path.strip_prefix(prefix).unwrap_or(path)).map_err(fail)? = value;
        }
        let text = serde_yaml::to_string(&tree).expect("a tree that was read can be written");
        let changes = mine.iter().map(|set| format!("--set {set}")).collect::<Vec<_>>().join(" ");
        Ok(Source { origin: format!("{} with {changes}", entry.origin), text, changed: true })
    }
}

/// A flaw of a workload; sound is it itself where only the command line is wrong, else another of its kind.
fn flawed(entry: &Entry, error: YamlError) -> ScenarioError {
    let is_kvrocks = entry.text.contains("kvrocks:");
    let sound = match (entry.origin.ends_with("(built in)"), is_kvrocks) {
        (true, _) => entry.name.as_str(),
        (false, true) => "kvrocks/register",
        (false, false) => "zookeeper/register",
    };
    ScenarioError::Workload { error, sound: sound.to_owned() }
}

/// The parts of a dotted path. Settings of services have dots in their own names.
fn parts(path: &str) -> Vec<&str> {
    match path.starts_with("config.") {
        true => path.splitn(3, '.').collect(),
        false => path.split('.').collect(),
    }
}

/// The place that a dotted path names. Parts of a mapping may be new: what nothing knows is refused where
/// the whole is read.
fn slot<'a>(tree: &'a mut Value, path: &str) -> Result<&'a mut Value, String> {
    let mut here = tree;
    for part in parts(path) {
        if here.is_null() {
            *here = Value::Mapping(serde_yaml::Mapping::new());
        }
        here = match here {
            Value::Mapping(mapping) => {
                mapping.entry(Value::String(part.to_owned())).or_insert(Value::Null)
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
