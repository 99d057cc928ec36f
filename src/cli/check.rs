//! `stormglass check`: judge a results folder or a history file again, offline.

mod file;
mod judge;
mod manifest;
mod options;
mod source;

use std::path::{Path, PathBuf};

use clap::Args;

use super::{exit, fail};
use crate::conclude::Limits;
use crate::duration::Span;
use crate::results_folder::ResultsFolder;
use crate::say::{lost, say, say_line};
use options::OptionArguments;

pub use options::flag;

#[derive(Args)]
pub struct Arguments {
    /// A results folder, one of Jepsen's store, or a history file; - for standard input
    #[arg(required_unless_present = "manifest")]
    path: Option<PathBuf>,
    /// What a history file is checked against, one or several; `list models` tells what there is
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    model: Vec<String>,
    #[command(flatten)]
    options: OptionArguments,
    /// Judge all histories of a manifest, and compare the verdicts with those that it states
    #[arg(long, value_name = "FILE", conflicts_with_all = ["path", "model"])]
    manifest: Option<PathBuf>,
    /// Only entries of the manifest whose path, family or model holds all these words
    #[arg(long, value_name = "WORDS", default_value = "")]
    filter: String,
    /// Of a manifest, say only what is not as stated
    #[arg(long, short)]
    quiet: bool,
    /// Keys are in the values, [key value], as Jepsen's independent tests have them
    #[arg(long, conflicts_with = "manifest")]
    independent: bool,
    /// Draw the anomalies of a history over time, into a page that needs nothing else
    #[arg(long, value_name = "FILE", conflicts_with = "manifest")]
    html: Option<PathBuf>,
    /// Judge what is readable of a history whose end is torn off
    #[arg(long)]
    tolerate_tail: bool,
    /// How long each checker may take
    #[arg(long, default_value = "60s", value_parser = options::budget)]
    budget: Span,
    /// How much memory a checker's tables may take: 512m, 4g
    #[arg(long, default_value = "4g", value_parser = options::memory)]
    memory: usize,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
}

pub fn check(arguments: &Arguments) -> i32 {
    let (time, memory_bytes) = (arguments.budget.0, arguments.memory);
    let limits = Limits { time, memory_bytes, ..Limits::default() };
    if let Some(path) = &arguments.manifest {
        let (filter, quiet, json) = (&arguments.filter, arguments.quiet, arguments.json);
        return finish(manifest::check(path, &manifest::Wanted { filter, quiet, json }, &limits));
    }
    if arguments.quiet || !arguments.filter.is_empty() {
        return fail(exit::USAGE, "--quiet and --filter are of a manifest; give --manifest FILE");
    }
    let path = arguments.path.as_deref().unwrap_or(Path::new("."));
    if path == Path::new("-") {
        return finish(file::check(arguments, path, &limits));
    }
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => finish(match stored_by_jepsen(path) {
            Some(history) => file::check(arguments, &history, &limits),
            None => check_folder(arguments, path, &limits),
        }),
        Ok(_) => finish(file::check(arguments, path, &limits)),
        Err(error) => {
            let expected = "expected a results folder, such as results/latest, or a history file";
            let path = path.display();
            fail(exit::USAGE, format!("cannot read {path}: {error}; {expected}; check the path"))
        }
    }
}

/// The history in a folder of Jepsen's store.
fn stored_by_jepsen(folder: &Path) -> Option<PathBuf> {
    if folder.join("scenario.yaml").exists() {
        return None;
    }
    let histories = ["history.edn", "history.txt", "jepsen.log"].map(|name| folder.join(name));
    histories.into_iter().find(|history| history.is_file())
}

/// A verdict that could not be written down is none, unless the exit code says that something is wrong.
fn finish(code: i32) -> i32 {
    match (code, lost()) {
        (exit::VALID, Some(error)) => {
            fail(exit::INFRASTRUCTURE, format!("the verdict cannot be written to stdout: {error}"))
        }
        _ => code,
    }
}

fn check_folder(arguments: &Arguments, path: &Path, limits: &Limits) -> i32 {
    let of_files = [
        ("--model", !arguments.model.is_empty()),
        ("--html", arguments.html.is_some()),
        ("--independent", arguments.independent),
    ];
    let given = of_files.into_iter().filter(|(_, given)| *given).map(|(name, _)| name.to_owned());
    let options = arguments.options.given().into_iter().map(flag);
    if let Some(stray) = given.chain(options).next() {
        return fail(
            exit::USAGE,
            format!(
                "{stray} is of a history file: a results folder says itself what its run was; leave it out, or \
                 give the folder's history.jsonl.zst (`stormglass report` draws a folder's page)"
            ),
        );
    }
    let folder = match ResultsFolder::open(path) {
        Ok(folder) => folder,
        Err(error) => return fail(exit::USAGE, format!("{error:#}")),
    };
    if let (Some(damage), false) = (&folder.damage, arguments.tolerate_tail) {
        return fail(exit::USAGE, format!("{damage}; `--tolerate-tail` judges what is readable"));
    }
    if let Some(lack) = folder.lacks_all() {
        return fail(exit::USAGE, lack);
    }
    let results = folder.conclude(limits);
    if arguments.json {
        say_line!("{:#}", serde_json::json!(results));
    } else {
        say!("{}", crate::report::terminal(&results, "", super::colours()));
    }
    results.exit_code
}
