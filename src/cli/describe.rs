//! `stormglass describe NAME`: one thing whole, whichever list it is in.

mod nemesis;

use clap::Args;
use serde_json::{Value as Json, json};

use super::{exit, fail};
use crate::catalog::{Catalog, Entry, nearest};

#[derive(Args)]
pub struct Arguments {
    /// A workload, nemesis (aimed or not), checker, anomaly, service or variant
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

pub fn describe(arguments: &Arguments) -> i32 {
    match told(&arguments.name) {
        Ok(told) if arguments.json => {
            println!("{:#}", told.json);
            exit::VALID
        }
        Ok(told) => {
            print!("{}", told.text);
            exit::VALID
        }
        Err(message) => fail(exit::USAGE, message),
    }
}

fn told(name: &str) -> Result<Told, String> {
    if let Ok(entry) = Catalog::Workloads.load(name) {
        return Ok(of_file("workload", name, &entry));
    }
    if let Some(entry) = nemesis::entry(name) {
        return nemesis::told(name, &entry);
    }
    let named = named_things();
    match named.iter().find(|(_, found, _)| found == name) {
        Some((kind, name, description)) => Ok(of_words(kind, name, description)),
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
    for anomaly in crate::checker::ANOMALIES {
        things.push(("anomaly", anomaly.name.to_owned(), anomaly.description.to_owned()));
    }
    for (name, text) in super::images::services() {
        things.push(("service", name, text));
    }
    for variant in crate::sim::Variant::ALL {
        things.push(("variant", variant.name().to_owned(), variant.description().to_owned()));
    }
    things
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
