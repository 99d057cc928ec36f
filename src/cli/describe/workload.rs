//! A workload described: services, whose leader is meant, clients, the services' own settings, what is
//! expected, and how to run it.

use std::collections::BTreeMap;

use serde_json::json;

use super::{Told, of_file, table};
use crate::catalog::Entry;
use crate::checker::Expectation;
use crate::cluster::Role;
use crate::scenario::{Overrides, WorkloadSpec};
use crate::workload::kvrocks::{ClientMix, KvrocksOptions, OperatorOptions, OperatorsAt};

pub fn told(name: &str, entry: &Entry) -> Result<Told, String> {
    let spec = Overrides::default().workload(entry).map_err(|error| error.to_string())?;
    let example = format!("stormglass run {name} --nemesis {}", telling(&spec));
    let mut told = of_file("workload", name, entry);
    let file = told.text.split_once("\n\n").map_or("", |(_, file)| file).to_owned();
    told.text = format!("workload {name}\n  {}\n", entry.description());
    for (title, lines) in sections(&spec) {
        told.text += &format!("\n{title}:\n{lines}");
    }
    told.text += &format!("\nexample:\n  {example}\n\n{file}");
    told.json["services"] = json!(spec.services);
    told.json["leader"] = json!(spec.leader);
    told.json["clients"] = spec.kvrocks.as_ref().map_or(json!(null), |it| json!(it.clients));
    told.json["config"] = json!(spec.config);
    told.json["expect"] = json!(spec.expect);
    told.json["example"] = example.into();
    Ok(told)
}

fn sections(spec: &WorkloadSpec) -> Vec<(&'static str, String)> {
    let mut sections = vec![("services", services(spec))];
    if let Some(kvrocks) = &spec.kvrocks {
        sections.push(("clients", clients(kvrocks.clients)));
        sections.push(("operators", operators(kvrocks)));
    }
    if !spec.config.is_empty() {
        sections.push(("settings of the services", config(&spec.config)));
    }
    if let Some(message) = &spec.message {
        let line = format!("  {message}\n  what message faults hit, and triggers of `workload`\n");
        sections.push(("message", line));
    }
    if !spec.expect.is_empty() {
        sections.push(("expected", spec.expect.iter().map(expectation).collect()));
    }
    sections
}

/// A nemesis that is worth trying first: one under which something is expected, else of the system's own.
fn telling(spec: &WorkloadSpec) -> &str {
    let expected = spec.expect.iter().find_map(|item| item.nemesis.as_deref());
    let usual = if spec.kvrocks.is_some() { "kill-master" } else { "partition-halves" };
    expected.unwrap_or(usual)
}

/// Who asks the controllers for what.
fn operators(kvrocks: &KvrocksOptions) -> String {
    let OperatorOptions { each, every, at, migrate, failover, namespace } = kvrocks.operators;
    let changes = [("migrate", migrate), ("failover", failover), ("namespace", namespace)];
    let changes: Vec<String> = changes
        .into_iter()
        .filter(|(_, weight)| *weight > 0)
        .map(|(change, weight)| format!("{change} {weight}"))
        .collect();
    let whom = match at {
        OperatorsAt::Leader => "those of the leading controller",
        OperatorsAt::Any => "those of every controller, followers too",
    };
    match (each, changes.is_empty()) {
        (0, _) => "  none\n".to_owned(),
        (_, true) => format!("  {each} a controller, who only look at the topology\n"),
        (_, false) => format!(
            "  {each} a controller; {whom} ask for a change every {every}, by weight: {}\n",
            changes.join(", ")
        ),
    }
}

fn services(spec: &WorkloadSpec) -> String {
    let row = |(role, count): (&Role, &usize)| {
        let (port, protocol) = role.client_port();
        let leader = if *role == spec.leader {
            "; as targets, `leader` and `follower` are of these"
        } else {
            ""
        };
        [role.to_string(), count.to_string(), format!("{protocol} on port {port}{leader}")]
    };
    table(&spec.services.iter().map(row).collect::<Vec<_>>())
}

fn clients(mix: ClientMix) -> String {
    let kinds = [
        (
            "follow",
            mix.follow,
            "goes where its slot map says, follows redirections, learns of them",
        ),
        (
            "stale",
            mix.stale,
            "keeps its first slot map for ever: follows redirections, forgets them",
        ),
        ("pinned", mix.pinned, "asks its own node, follows nobody"),
        ("replica", mix.replica, "as follow, but reads from replicas, with READONLY"),
    ];
    let used = kinds.into_iter().filter(|(_, weight, _)| *weight > 0);
    let row = |(kind, weight, what): (&str, u32, &str)| {
        [kind.to_owned(), weight.to_string(), what.to_owned()]
    };
    table(&used.map(row).collect::<Vec<_>>())
}

fn config(config: &BTreeMap<Role, BTreeMap<String, String>>) -> String {
    let of_role = |(role, pairs): (&Role, &BTreeMap<String, String>)| {
        let row = |(key, value): (&String, &String)| [role.to_string(), key.clone(), value.clone()];
        pairs.iter().map(row).collect::<Vec<_>>()
    };
    table(&config.iter().flat_map(of_role).collect::<Vec<_>>())
}

fn expectation(item: &Expectation) -> String {
    let conditions = [
        item.nemesis.as_ref().map(|name| format!("under {name}")),
        item.variant.as_ref().map(|variant| format!("with {variant}")),
        item.image.as_ref().map(|image| format!("on image {image}")),
        item.world.map(|world| format!("in {}", world.name())),
    ];
    let conditions: Vec<String> = conditions.into_iter().flatten().collect();
    let found = match item.anomaly.as_str() {
        "none" => "nothing".to_owned(),
        anomaly => anomaly.to_owned(),
    };
    match conditions.is_empty() {
        true => format!("  {found} is found\n"),
        false => format!("  {} {found} is found\n", conditions.join(" ")),
    }
}
