//! A nemesis described: its parameters and what they mean, what it needs, what it can break, and how
//! to run it.

use serde_json::json;

use super::{Told, of_file, table};
use crate::catalog::{Catalog, Entry};
use crate::checker::World;
use crate::nemesis::{Guide, Parameter};
use crate::scenario::{Overrides, Scenario, load_nemesis, nemesis_base};

/// The file of a nemesis, also where its name aims it elsewhere.
pub fn entry(name: &str) -> Option<Entry> {
    Catalog::Nemeses.load(nemesis_base(name)).ok()
}

pub fn told(name: &str, entry: &Entry) -> Result<Told, String> {
    let spec = load_nemesis(name, &Overrides::default()).map_err(|error| error.to_string())?;
    let guide = Guide::of(&spec);
    let example = format!("stormglass run {} --nemesis {name} --world docker", suited(name));
    let mut told = of_file("nemesis", name, entry);
    told.text = format!(
        "nemesis {name}\n  {}\n{}\nexample:\n  {example}\n{}",
        description(name, entry, &guide),
        sections(&guide),
        told.text
            .split_once('\n')
            .and_then(|(_, rest)| rest.split_once('\n'))
            .map_or("", |(_, file)| file),
    );
    let parameters = guide.parameters.iter().map(|Parameter { path, value, meaning }| {
        json!({ "path": path, "value": value, "meaning": meaning })
    });
    told.json["parameters"] = parameters.collect();
    let needs = guide.needs.iter().map(|(name, what)| json!({ "name": name, "what": what }));
    told.json["needs"] = needs.collect();
    told.json["can_break"] = guide.can_break.into();
    told.json["example"] = example.into();
    Ok(told)
}

/// What the file says, and whom the name aims it at instead, if it does.
fn description(name: &str, entry: &Entry, guide: &Guide) -> String {
    let base = nemesis_base(name);
    let said = entry.description();
    let target = guide.parameters.iter().find(|parameter| parameter.path.ends_with(".target"));
    match target.filter(|_| base != name) {
        Some(target) => format!("As `{base}`, aimed at {}.\n  {base}: {said}", target.meaning),
        None => said.to_owned(),
    }
}

/// A workload that has what the nemesis aims at.
fn suited(name: &str) -> &'static str {
    let (first, other) = ("zookeeper/register", "kvrocks/migration");
    match Scenario::load(first, name, World::Sim, 1, &Overrides::default()) {
        Ok(_) => first,
        Err(_) => other,
    }
}

fn sections(guide: &Guide) -> String {
    let mut text = String::new();
    if !guide.parameters.is_empty() {
        let row = |parameter: &Parameter| {
            let Parameter { path, value, meaning } = parameter.clone();
            [path, value, meaning]
        };
        text += "\nparameters, each changed by --set nemesis.PARAMETER=VALUE:\n";
        text += &table(&guide.parameters.iter().map(row).collect::<Vec<_>>());
    }
    text += "\nneeds:\n";
    match guide.needs.is_empty() {
        true => text += "  nothing but a cluster\n",
        false => {
            let row = |(name, what): &(String, String)| [name.clone(), what.clone()];
            text += &table(&guide.needs.iter().map(row).collect::<Vec<_>>());
        }
    }
    text += "\ncan break:\n";
    match guide.can_break.is_empty() {
        true => text += "  nothing\n",
        false => text.extend(guide.can_break.iter().map(|line| format!("  {line}\n"))),
    }
    text
}
