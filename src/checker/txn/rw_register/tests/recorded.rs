//! Histories of Elle's tests and others, with what they state, from the folder that
//! `STORMGLASS_HISTORIES` names.
//!
//! Unset, the test says that it did not run; set, nothing may be missing.

use std::path::Path;

use super::*;
use crate::history::parse_line;

#[test]
fn recorded_histories_get_the_verdict_they_state() {
    let Some(folder) = std::env::var_os("STORMGLASS_HISTORIES") else {
        println!("not run: STORMGLASS_HISTORIES names no folder of recorded histories");
        return;
    };
    let folder = Path::new(&folder);
    let text = std::fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    let entries: Vec<serde_json::Value> = serde_json::from_str(&text).expect("a list");
    let (mut compared, mut wrong) = (0, Vec::new());
    for entry in entries.iter().filter(|entry| entry["model"] == "rw-register") {
        let path = entry["path"].as_str().expect("a path");
        if !path.ends_with(".jsonl") {
            continue;
        }
        let history = read(&folder.join(path));
        for check in entry["checks"].as_array().expect("checks") {
            compared += 1;
            let finding = find(&history, &options(entry, check));
            wrong.extend(
                contradictions(&finding, check)
                    .into_iter()
                    .map(|what| format!("{path}: {what}\n{finding:#?}")),
            );
        }
    }
    assert!(compared >= 10, "only {compared} in the manifest");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn contradictions(finding: &Finding, check: &serde_json::Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let stated = check["verdict"].as_str().expect("a verdict");
    if stated != "any" && finding.verdict.name() != stated {
        wrong.push(format!("{}, stated {stated}", finding.verdict.name()));
    }
    let names = |field: &str| -> Vec<String> {
        let items = check[field].as_array().cloned().unwrap_or_default();
        items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let has = |name: &String| finding.anomalies.iter().any(|anomaly| anomaly.kind == *name);
    wrong.extend(names("anomalies_include").iter().filter(|n| !has(n)).map(|n| format!("no {n}")));
    wrong.extend(names("anomalies_exclude").iter().filter(|n| has(n)).map(|n| format!("has {n}")));
    let violates = finding.consistency.clone().unwrap_or_default().violates;
    let missing = names("violates").into_iter().filter(|name| !violates.contains(name));
    wrong.extend(missing.map(|name| format!("does not violate {name}")));
    wrong
}

fn options(entry: &serde_json::Value, check: &serde_json::Value) -> ModelOptions {
    let mut merged = entry["options"].as_object().expect("options").clone();
    merged.extend(check["options"].as_object().cloned().unwrap_or_default());
    if let Some(model) = check["consistency_model"].as_str() {
        merged.insert("consistency_models".to_owned(), serde_json::json!([model]));
    }
    serde_json::from_value(merged.into()).expect("options")
}

fn read(path: &Path) -> History {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let lines = text.lines().filter(|line| !line.is_empty()).zip(0..);
    let event = |(line, position): (&str, u64)| {
        // These have no times, and some no names of operations.
        let line = line.replace("\"time\":-1", "\"time\":0").replace("\"f\":null", "\"f\":\"txn\"");
        parse_line(&line, position).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    History::new(lines.map(event).collect())
}
