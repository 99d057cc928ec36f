//! `stormglass describe NAME`: one thing whole, whichever list it is in.

use clap::Args;
use serde_json::json;

use super::{exit, fail};
use crate::catalog::{Catalog, nearest};

#[derive(Args)]
pub struct Arguments {
    /// A workload, nemesis, checker, anomaly, service or variant
    name: String,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
}

pub fn describe(arguments: &Arguments) -> i32 {
    let name = arguments.name.as_str();
    for (kind, catalog) in [("workload", Catalog::Workloads), ("nemesis", Catalog::Nemeses)] {
        if let Ok(entry) = catalog.load(name) {
            let body = entry.text.lines().skip(1).collect::<Vec<_>>().join("\n");
            print(arguments.json, kind, name, entry.description(), Some((&entry.origin, &body)));
            return exit::VALID;
        }
    }
    let named = named_things();
    match named.iter().find(|(_, found, _)| found == name) {
        Some((kind, name, description)) => {
            print(arguments.json, kind, name, description, None);
            exit::VALID
        }
        None => {
            let mut names: Vec<String> = named.into_iter().map(|(_, name, _)| name).collect();
            names.extend(Catalog::Workloads.names());
            names.extend(Catalog::Nemeses.names());
            let near = nearest(name, names.iter().map(String::as_str));
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            fail(
                exit::USAGE,
                format!("there is nothing named `{name}`{near}; `stormglass list` shows all"),
            )
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

fn print(json: bool, kind: &str, name: &str, description: &str, file: Option<(&str, &str)>) {
    if json {
        let (origin, body) = file.unzip();
        let object = json!({
            "kind": kind, "name": name, "description": description, "file": origin, "yaml": body,
        });
        println!("{object:#}");
        return;
    }
    println!("{kind} {name}\n  {description}");
    if let Some((origin, body)) = file {
        println!("\n{origin}:\n{body}");
    }
}
