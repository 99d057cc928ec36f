//! One history of a manifest, and what is stated of it.

use crate::checker::{ModelKind, ModelOptions, UnknownModel, Verdict};

/// A line of a manifest: one history, in one form or two.
#[derive(Debug)]
pub struct Entry {
    /// Relative to the manifest's folder, as are all paths here.
    pub path: String,
    /// The same history in the form in which its authors left it.
    pub raw: Option<String>,
    pub family: String,
    pub model: Model,
    pub checks: Vec<Stated>,
}

/// What a history is judged against.
#[derive(Debug)]
pub enum Model {
    Kind(&'static ModelKind),
    /// Whatever its operations may be; all that matters is that judging it ends.
    Any,
}

impl Model {
    pub fn of(name: &str) -> Result<Model, UnknownModel> {
        match name {
            "any" => Ok(Model::Any),
            name => ModelKind::by_name(name).map(Model::Kind),
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Model::Kind(kind) => kind.name,
            Model::Any => "any",
        }
    }
}

/// What is stated of a history under some options.
#[derive(Debug)]
pub struct Stated {
    pub options: ModelOptions,
    /// What sets this check apart from others of its entry; empty where it is the only one.
    pub label: String,
    /// `None`: any verdict will do.
    pub verdict: Option<Verdict>,
    /// Anomalies that must be named, and that must not.
    pub includes: Vec<String>,
    pub excludes: Vec<String>,
    /// Consistency models that must be found violated.
    pub violates: Vec<String>,
}

impl Stated {
    pub fn verdict_name(&self) -> &'static str {
        self.verdict.map_or("any", Verdict::name)
    }
}
