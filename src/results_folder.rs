//! A run's results folder: read to check or report again, written at a run's end.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::history::{self, History};
use crate::report::{ReportInput, Results, html, junit};
use crate::scenario::Scenario;

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
        let text = std::fs::read_to_string(&scenario_path).with_context(|| {
            format!(
                "{} is no results folder: cannot read {}; give a folder below results/, such as \
                 results/latest",
                path.display(),
                scenario_path.display()
            )
        })?;
        let scenario = Scenario::parse(&scenario_path.display().to_string(), &text)?;
        let (history, damage) = read_history(&path.join("history.jsonl.zst"))?;
        Ok(ResultsFolder { path: path.to_owned(), scenario, history, damage })
    }

    /// Writes results.json, report.html, junit.xml and repro.txt.
    pub fn write_results(&self, results: &Results) -> anyhow::Result<()> {
        let yaml = self.scenario.to_yaml();
        let folder = self.path.display().to_string();
        let generated_at = now();
        let environment = self.environment();
        let input = ReportInput {
            scenario_yaml: &yaml,
            started_at: self.started_at(),
            generated_at: &generated_at,
            folder: &folder,
            environment: &environment,
        };
        let json = serde_json::to_string_pretty(results).context("results as JSON")? + "\n";
        self.write("scenario.yaml", &yaml)?;
        self.write("results.json", &json)?;
        self.write("junit.xml", &junit(results))?;
        self.write("repro.txt", &format!("{}\n", results.repro))?;
        self.write("report.html", &html(results, &self.history, &input))
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.path.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The time in the folder's name, `20260904T101500.123Z-s42`.
    fn started_at(&self) -> &str {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.split("-s").next().unwrap_or_default()
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

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Reads a history of any format, and says what is missing at its end, if anything.
pub fn read_history(path: &Path) -> anyhow::Result<(History, Option<String>)> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let recording = history::read(&bytes, &path.display().to_string())?;
    let damage = recording.damage.map(|damage| damage.to_string());
    Ok((recording.history, damage))
}
