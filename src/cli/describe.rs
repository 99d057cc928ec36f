//! `stormglass describe NAME`: one thing whole, whichever list it is in.

mod nemesis;
mod workload;

use clap::Args;
use serde_json::{Value as Json, json};

use super::{exit, fail};
use crate::catalog::{Catalog, Entry, nearest};
use crate::say::{say, say_line};

#[derive(Args)]
pub struct Arguments {
    /// A workload, nemesis (aimed or not), checker, model, anomaly, service or variant
    name: String,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
}

/// What is told of a thing: as an object, and as text.
struct Told {
    json: Json,
    text: String,
}

impl Told {
    /// Both, where they bear one name.
    fn and(mut self, other: Told) -> Told {
        self.text += &other.text;
        match &mut self.json["others"] {
            Json::Array(others) => others.push(other.json),
            none => *none = json!([other.json]),
        }
        self
    }
}

pub fn describe(arguments: &Arguments) -> i32 {
    match told(&arguments.name) {
        Ok(told) if arguments.json => {
            say_line!("{:#}", told.json);
            exit::VALID
        }
        Ok(told) => {
            say!("{}", told.text);
            exit::VALID
        }
        Err(message) => fail(exit::USAGE, message),
    }
}

fn told(name: &str) -> Result<Told, String> {
    let of_a_file = match (Catalog::Workloads.load(name), nemesis::entry(name)) {
        (Ok(entry), _) => Some(workload::told(name, &entry)?),
        (_, Some(entry)) => Some(nemesis::told(name, &entry)?),
        _ => None,
    };
    let named = named_things();
    // A variant's name alone may be that of several services.
    let is_it = |(kind, found, _): &&(&str, String, String)| {
        let bare = found.split_once('=').map(|(_, bare)| bare).filter(|_| *kind == "variant");
        found == name || bare == Some(name)
    };
    let found: Vec<&(&str, String, String)> = named.iter().filter(is_it).collect();
    let of_words = found.into_iter().map(|(kind, name, words)| of_words(kind, name, words));
    let mut all = of_a_file.into_iter().chain(of_words);
    match all.next() {
        Some(first) => Ok(all.fold(first, Told::and)),
        None => {
            let mut names: Vec<String> = named.into_iter().map(|(_, name, _)| name).collect();
            names.extend(Catalog::Workloads.names());
            names.extend(Catalog::Nemeses.names());
            let near = nearest(name, names.iter().map(String::as_str));
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            Err(format!("there is nothing named `{name}`{near}; `stormglass list` shows all"))
        }
    }
}

fn named_things() -> Vec<(&'static str, String, String)> {
    let mut things = Vec::new();
    for (name, text) in crate::checker::CHECKERS {
        things.push(("checker", (*name).to_owned(), (*text).to_owned()));
    }
    for model in crate::checker::MODELS {
        things.push(("model", model.name.to_owned(), of_model(model)));
    }
    for anomaly in crate::checker::ANOMALIES {
        things.push(("anomaly", anomaly.name.to_owned(), anomaly.description.to_owned()));
    }
    for (name, text) in super::list::services() {
        things.push(("service", name, text));
    }
    for known in crate::scenario::known_variants() {
        let name = format!("{}={}", known.role, known.name);
        things.push(("variant", name, known.about.to_owned()));
    }
    things
}

/// What a model promises, and what may be said of a history of it.
fn of_model(model: &crate::checker::ModelKind) -> String {
    let flags: Vec<String> = model.takes().iter().map(|name| super::check::flag(name)).collect();
    match flags.is_empty() {
        true => model.what.to_owned(),
        false => format!("{}; options of check: {}", model.what, flags.join(", ")),
    }
}

fn of_words(kind: &str, name: &str, description: &str) -> Told {
    Told {
        json: json!({
            "kind": kind, "name": name, "description": description, "file": null, "yaml": null,
        }),
        text: format!("{kind} {name}\n  {description}\n"),
    }
}

fn of_file(kind: &str, name: &str, entry: &Entry) -> Told {
    let mut told = of_words(kind, name, entry.description());
    let body = entry.text.lines().skip(1).collect::<Vec<_>>().join("\n");
    told.text.push_str(&format!("\n{}:\n{body}\n", entry.origin));
    told.json["file"] = entry.origin.clone().into();
    told.json["yaml"] = body.into();
    told
}

/// Rows with their columns below each other.
fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..COLUMNS).map(width).collect();
    let line = |row: &[String; COLUMNS]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
