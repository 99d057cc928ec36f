//! A run's results folder: read to check or report again, written at a run's end.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};

use crate::history::{self, History, ReadError, ReadOptions, Sink, Summary};
use crate::nemesis::Script;
use crate::op::Event;
use crate::report::{ReportInput, Results, html, junit};
use crate::scenario::{Scenario, schedule_yaml};
use crate::store::HISTORY;

/// What to do about a file that says what no run says.
const RESTORE: &str = "correct it or restore it from a copy";

/// What to say of a history without events.
const NOTHING: &str = "expected a history, found an empty file: the run was killed before it recorded \
                       anything, or the file was emptied; restore it from a copy, or run again";

/// The faults of a run as they happened, to be given back.
const SCHEDULE: &str = "schedule.yaml";

/// A finished run, or what is readable of one that was killed.
pub struct ResultsFolder {
    pub path: PathBuf,
    pub scenario: Scenario,
    pub history: History,
    /// What is missing at the history's end, if anything.
    pub damage: Option<String>,
}

impl ResultsFolder {
    pub fn open(path: &Path) -> anyhow::Result<ResultsFolder> {
        let scenario_path = path.join("scenario.yaml");
        let text = std::fs::read_to_string(&scenario_path).map_err(|error| {
            anyhow!(
                "{} is no results folder: cannot read {}: {error}; give a folder below results/, such as \
                 results/latest",
                path.display(),
                scenario_path.display()
            )
        })?;
        let scenario = Scenario::parse(&scenario_path.display().to_string(), &text)
            .map_err(|error| anyhow!("{error}; {RESTORE}"))?;
        let history_path = path.join(HISTORY);
        let ReadHistory { history, damage, flaw, .. } = read_history(&history_path)?;
        if history.is_empty() && damage.is_none() {
            bail!("{}: {NOTHING}", history_path.display());
        }
        if let Some(flaw) = flaw {
            bail!(
                "{}: {flaw}; no run records that, so the file was edited; {RESTORE}",
                history_path.display()
            );
        }
        Ok(ResultsFolder { path: path.to_owned(), scenario, history, damage })
    }

    /// Why there is nothing to judge, although a torn end was to be borne.
    pub fn lacks_all(&self) -> Option<String> {
        let damage = self.damage.as_ref().filter(|_| self.history.is_empty())?;
        Some(format!("{damage}; nothing of it is readable; restore it from a copy, or run again"))
    }

    /// Writes all files of a run that has ended.
    pub fn write_results(&self, results: &Results) -> anyhow::Result<()> {
        let json = serde_json::to_string_pretty(results).context("results as JSON")? + "\n";
        self.write("scenario.yaml", &self.scenario.to_yaml())?;
        self.write("results.json", &json)?;
        self.write(SCHEDULE, &schedule_yaml(&Script::of(&self.history)))?;
        self.write("repro.txt", &format!("{}\n", results.repro))?;
        self.write_reports(results)
    }

    /// Writes report.html and junit.xml, and nothing else.
    pub fn write_reports(&self, results: &Results) -> anyhow::Result<()> {
        let yaml = self.scenario.to_yaml();
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let folder = self.name_of(&path);
        let started_at = started_at(&path);
        let environment = self.environment();
        let script = Script::of(&self.history);
        // A run that was killed has left none.
        let has_schedule = !script.entries.is_empty() && path.join(SCHEDULE).exists();
        let schedule = if has_schedule { SCHEDULE } else { "" };
        let input = ReportInput {
            scenario_yaml: &yaml,
            started_at: &started_at,
            folder: &folder,
            schedule,
            environment: &environment,
        };
        self.write("junit.xml", &junit(results))?;
        self.write("report.html", &html(results, &self.history, &input))
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.path.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The folder from its results folder on, wherever this process runs.
    fn name_of(&self, path: &Path) -> String {
        let depth = Path::new(self.scenario.family()).components().count() + 2;
        let parts: Vec<_> = path.components().rev().take(depth).collect();
        parts.into_iter().rev().collect::<PathBuf>().display().to_string()
    }

    fn environment(&self) -> Vec<(String, String)> {
        let mut rows = vec![("stormglass".to_owned(), self.scenario.version.clone())];
        if !self.scenario.kernel.is_empty() {
            rows.push(("kernel".to_owned(), self.scenario.kernel.clone()));
        }
        for (name, image) in &self.scenario.images {
            rows.push((format!("image {name}"), image.clone()));
        }
        rows
    }
}

/// The time in the folder's name, `20260904T101500.123Z-s42`, as people write it.
fn started_at(path: &Path) -> String {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let time = name.split("-s").next().unwrap_or_default();
    let parsed = time.parse::<jiff::Timestamp>();
    parsed.map_or(time.to_owned(), |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}

/// A history as it was read, and what is wrong with it.
pub struct ReadHistory {
    pub history: History,
    /// What is missing at its end, if anything.
    pub damage: Option<String>,
    /// The first mark of an edit. Histories of other tools may have such marks by their nature.
    pub flaw: Option<String>,
    /// Whether the order of events says what came before what, or only within each process.
    pub real_time: bool,
}

/// Reads a history of any format.
pub fn read_history(path: &Path) -> anyhow::Result<ReadHistory> {
    read_history_with(path, &ReadOptions::default())
}

/// Reads a history of any format that may have its keys in its values, or an end that cannot be read.
pub fn read_history_with(path: &Path, options: &ReadOptions) -> anyhow::Result<ReadHistory> {
    let mut history = History::default();
    let Summary { damage, flaws, real_time, .. } =
        stream_history(path, options, &mut |head, value| {
            history.push(Event { value: value.to_value(), ..head.clone() });
            ControlFlow::Continue(())
        })?;
    let damage = damage.map(|damage| format!("{}: {damage}", path.display()));
    let flaw = flaws.first().map(ToString::to_string);
    Ok(ReadHistory { history, damage, flaw, real_time })
}

/// Reads a history of any format event by event, and keeps nothing of it.
pub fn stream_history(
    path: &Path,
    options: &ReadOptions,
    sink: &mut Sink,
) -> anyhow::Result<Summary> {
    stream_named_history(path, &path.display().to_string(), options, sink)
}

/// The same, of a file whose path is not what its user calls it.
pub fn stream_named_history(
    path: &Path,
    name: &str,
    options: &ReadOptions,
    sink: &mut Sink,
) -> anyhow::Result<Summary> {
    let file = std::fs::File::open(path).map_err(|error| {
        anyhow!("cannot read {name}: {error}; expected a history, check the path")
    })?;
    history::stream(file, name, options, sink).map_err(|error| match error {
        ReadError::Line { .. } => anyhow!("{error}; {RESTORE}"),
        other => other.into(),
    })
}
