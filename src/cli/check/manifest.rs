//! `stormglass check --manifest`: judges recorded histories and compares the verdicts with those stated.

mod entry;
mod format;
mod meaning;
mod outcome;
mod pool;
mod told;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde_json::json;

use super::judge::Subject;
use super::source::Source;
use crate::checker::{MODELS, ModelKind};
use crate::cli::{colours, exit, fail};
use crate::conclude::Limits;
use crate::say::{say, say_aside, say_line};
use entry::{Entry, Model, Stated};
use format::Manifest;
use outcome::{Form, Outcome};
use told::{Layout, Summary};

/// Which entries, and what is said of them.
pub struct Wanted<'a> {
    /// Words that an entry's path, family or model must all hold.
    pub filter: &'a str,
    /// Only what is not as stated.
    pub quiet: bool,
    pub json: bool,
}

/// What came of one entry.
struct Judged {
    outcomes: Vec<Outcome>,
    remarks: Vec<String>,
}

pub fn check(path: &Path, wanted: &Wanted, limits: &Limits) -> i32 {
    let Manifest { entries, refused } = match read(path, wanted.filter) {
        Ok(manifest) => manifest,
        Err(error) => return fail(exit::USAGE, format!("{}: {error}", path.display())),
    };
    for why in &refused {
        say_aside!("stormglass: {}: {why}; not judged", path.display());
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let layout = Layout::of(&entries, colours());
    let mut summary = Summary::default();
    refused.iter().for_each(|_| summary.add("(refused)", false));
    let mut rows = Vec::new();
    let work = |entry: &Entry| judged(folder, entry, limits);
    pool::in_order(&entries, work, |entry, Judged { outcomes, remarks }| {
        let is_as_stated = outcomes.iter().all(Outcome::is_as_stated);
        summary.add(&entry.family, is_as_stated);
        if wanted.json {
            rows.push(row(entry, &outcomes, &remarks));
        } else if !(wanted.quiet && is_as_stated) {
            say!("{}", layout.entry(entry, &outcomes, &remarks));
        }
    });
    let (stated, all) = summary.total();
    if wanted.json {
        let whole = json!({
            "entries": rows, "refused": refused, "families": summary.to_json(), "as_stated": stated,
            "all": all,
        });
        say_line!("{whole:#}");
    } else {
        say!("{}", summary.text());
    }
    if stated == all { exit::VALID } else { exit::INVALID }
}

fn read(path: &Path, filter: &str) -> Result<Manifest, String> {
    let text = text(path)
        .map_err(|error| format!("cannot be read: {error}; expected a manifest, check the path"))?;
    let mut manifest = format::parse(&text)?;
    let words: Vec<&str> = filter.split_whitespace().collect();
    let is_wanted = |told: &str| words.iter().all(|word| told.contains(word));
    manifest.entries.retain(|entry| {
        is_wanted(&format!("{} {} {}", entry.path, entry.family, entry.model.name()))
    });
    manifest.refused.retain(|why| is_wanted(why));
    match manifest.entries.is_empty() {
        true => Err(format!("no entry's path, family or model holds `{filter}`")),
        false => Ok(manifest),
    }
}

/// Most that a manifest may have, in bytes.
const MOST: u64 = 64 << 20;

fn text(path: &Path) -> std::io::Result<String> {
    use std::io::Read;
    let mut text = String::new();
    let read = std::fs::File::open(path)?.take(MOST).read_to_string(&mut text)?;
    match (read as u64) < MOST {
        true => Ok(text),
        false => Err(std::io::Error::other(format!("it has more than {} MiB", MOST >> 20))),
    }
}

fn row(entry: &Entry, outcomes: &[Outcome], remarks: &[String]) -> serde_json::Value {
    let checks: Vec<_> = outcomes.iter().map(|outcome| outcome.to_json(entry)).collect();
    json!({
        "path": entry.path,
        "raw": entry.raw,
        "family": entry.family,
        "model": entry.model.name(),
        "as_stated": outcomes.iter().all(Outcome::is_as_stated),
        "checks": checks,
        "remarks": remarks,
    })
}

/// Judges both forms of a history.
fn judged(folder: &Path, entry: &Entry, limits: &Limits) -> Judged {
    let mut judged = Judged { outcomes: Vec::new(), remarks: Vec::new() };
    judged.outcomes = form(folder, entry, &entry.path, Form::Path, limits);
    let Some(raw) = &entry.raw else { return judged };
    if is_another(&folder.join(&entry.path), &folder.join(raw)) {
        judged.remarks.push(format!(
            "{raw} is of the same kind as the file above and holds something else, so it is another \
             history: not judged"
        ));
    } else {
        judged.outcomes.extend(form(folder, entry, raw, Form::Raw, limits));
    }
    judged
}

/// Whether the second file cannot be the original of the first: a file that was never put into another
/// form is its own original. Such files may bear the name of a neighbour's.
fn is_another(path: &Path, raw: &Path) -> bool {
    if path.extension() != raw.extension() {
        return false;
    }
    let bytes = (std::fs::read(path), std::fs::read(raw));
    matches!(bytes, (Ok(path), Ok(raw)) if path != raw)
}

/// Judges one file under each check of its entry. A checker that panics has failed, and no more.
fn form(folder: &Path, entry: &Entry, file: &str, form: Form, limits: &Limits) -> Vec<Outcome> {
    let work = || outcomes(&folder.join(file), entry, form, limits);
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let every = 0..entry.checks.len();
        every.map(|check| Outcome::failed(form, check, "the checker crashed".to_owned())).collect()
    })
}

fn outcomes(file: &Path, entry: &Entry, form: Form, limits: &Limits) -> Vec<Outcome> {
    let failed = |why: String| -> Vec<Outcome> {
        let every = 0..entry.checks.len();
        every.map(|check| Outcome::failed(form, check, why.clone())).collect()
    };
    let models: Vec<&'static ModelKind> = match &entry.model {
        Model::Kind(kind) => vec![kind],
        Model::Any => MODELS.iter().collect(),
    };
    let source = match Source::open(file) {
        Ok(source) => source,
        Err(error) => return failed(error),
    };
    let subject = match Subject::of(&source, false, false) {
        Ok(subject) => subject,
        Err(error) => return failed(error),
    };
    let of_check = |(check, stated): (usize, &Stated)| {
        let judged = match subject.judge(&models, &stated.options, false, limits) {
            Ok(judged) => judged,
            Err(error) => return Outcome::failed(form, check, error),
        };
        match judged.damage {
            Some(damage) => Outcome::failed(form, check, damage.to_string()),
            None => Outcome::of(form, check, stated, &judged.findings),
        }
    };
    entry.checks.iter().enumerate().map(of_check).collect()
}
