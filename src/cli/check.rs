//! `stormglass check`: judge a results folder or a history file again, offline.

use std::path::PathBuf;

use clap::Args;

use super::{exit, fail};
use crate::checker::{Finding, MODELS, ModelKind, ModelOptions, Verdict};
use crate::conclude::{self, Limits};
use crate::duration::Span;
use crate::results_folder::{ResultsFolder, read_history};
use crate::say::{say, say_aside, say_line};

#[derive(Args)]
pub struct Arguments {
    /// A results folder, or a history: .jsonl, .jsonl.zst, .edn
    path: PathBuf,
    /// What a history file is checked against
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Judge what is readable of a history whose end is torn off
    #[arg(long)]
    tolerate_tail: bool,
    /// How long each checker may take
    #[arg(long, default_value = "60s")]
    budget: Span,
    /// How much memory a checker's tables may take: 512m, 4g
    #[arg(long, default_value = "4g", value_parser = super::arguments::bytes)]
    memory: usize,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
}

pub fn check(arguments: &Arguments) -> i32 {
    let (time, memory_bytes) = (arguments.budget.0, arguments.memory);
    let limits = Limits { time, memory_bytes, ..Limits::default() };
    let path = arguments.path.display();
    match std::fs::metadata(&arguments.path) {
        Ok(metadata) if metadata.is_dir() => check_folder(arguments, &limits),
        Ok(_) => check_file(arguments, &limits),
        Err(error) => {
            let expected = "expected a results folder, such as results/latest, or a history file";
            fail(exit::USAGE, format!("cannot read {path}: {error}; {expected}; check the path"))
        }
    }
}

fn check_folder(arguments: &Arguments, limits: &Limits) -> i32 {
    let folder = match ResultsFolder::open(&arguments.path) {
        Ok(folder) => folder,
        Err(error) => return fail(exit::USAGE, format!("{error:#}")),
    };
    if let (Some(damage), false) = (&folder.damage, arguments.tolerate_tail) {
        return fail(exit::USAGE, format!("{damage}; `--tolerate-tail` judges what is readable"));
    }
    if let Some(lack) = folder.lacks_all() {
        return fail(exit::USAGE, lack);
    }
    let results = conclude::conclude(&folder.scenario, &folder.history, &[], limits);
    if arguments.json {
        say_line!("{:#}", serde_json::json!(results));
    } else {
        say!("{}", crate::report::terminal(&results, "", super::colours()));
    }
    results.exit_code
}

fn check_file(arguments: &Arguments, limits: &Limits) -> i32 {
    let model = match arguments.model.as_deref().map(ModelKind::by_name) {
        Some(Ok(model)) => model,
        Some(Err(error)) => return fail(exit::USAGE, error),
        None => {
            let names = MODELS.iter().map(|model| model.name).collect::<Vec<_>>().join(", ");
            let path = arguments.path.display();
            return fail(
                exit::USAGE,
                format!("{path}: a history file needs --model, one of {names}"),
            );
        }
    };
    let read = match read_history(&arguments.path) {
        Ok(read) => read,
        Err(error) => return fail(exit::USAGE, format!("{error:#}")),
    };
    if let (Some(damage), false) = (&read.damage, arguments.tolerate_tail) {
        return fail(exit::USAGE, format!("{damage}; `--tolerate-tail` judges what is readable"));
    }
    if let Some(flaw) = &read.flaw {
        let path = arguments.path.display();
        say_aside!(
            "stormglass: {path}: {flaw}; no run of ours records that, it is judged as it stands"
        );
    }
    let mut checkers = match (model.checkers)(&ModelOptions::default()) {
        Ok(checkers) => checkers,
        Err(error) => return fail(exit::USAGE, error),
    };
    let findings = conclude::check(&read.history, &mut checkers, limits);
    print_findings(&findings, arguments.json);
    match findings.iter().map(|finding| finding.verdict).max() {
        Some(Verdict::Invalid) => exit::INVALID,
        Some(Verdict::Unknown) | None => exit::UNKNOWN,
        Some(Verdict::Valid) => exit::VALID,
    }
}

fn print_findings(findings: &[Finding], json: bool) {
    if json {
        say_line!("{:#}", serde_json::json!(findings));
        return;
    }
    for finding in findings {
        say_line!("{:<8} {}: {}", finding.verdict.name(), finding.name, finding.why);
        for anomaly in &finding.anomalies {
            say_line!("         {}: {}", anomaly.kind, anomaly.summary);
            for line in &anomaly.details {
                say_line!("           {line}");
            }
        }
    }
}
