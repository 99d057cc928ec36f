//! Recorded histories of other projects, where `STORMGLASS_HISTORIES` names them.

use std::path::Path;

use serde_json::Value as Json;

use super::{judge, kinds};
use crate::checker::ModelOptions;
use crate::history::parse_line;
use crate::op::Event;

fn events(text: &str) -> Vec<Event> {
    let lines = text.lines().enumerate().map(|(position, line)| {
        let mut op: Json = serde_json::from_str(line).expect(line);
        // Elle takes an operation without process or name as it is.
        for (field, value) in [("process", Json::from(0)), ("f", Json::from("txn"))] {
            if op.get(field).is_none_or(Json::is_null) {
                op[field] = value;
            }
        }
        parse_line(&op.to_string(), position as u64).expect(line)
    });
    lines.collect()
}

fn texts(list: &Json) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str).collect()
}

#[test]
fn recorded_histories_have_the_verdicts_that_are_stated() {
    let Some(folder) = std::env::var_os("STORMGLASS_HISTORIES") else {
        eprintln!("not run: STORMGLASS_HISTORIES names no folder");
        return;
    };
    let folder = Path::new(&folder);
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    let manifest: Vec<Json> = serde_json::from_str(&manifest).expect("a list");
    for entry in manifest.iter().filter(|entry| entry["model"] == "list-append") {
        let path = entry["path"].as_str().expect("a path");
        let text = std::fs::read_to_string(folder.join(path)).expect(path);
        let options: ModelOptions = serde_json::from_value(entry["options"].clone()).expect(path);
        let finding = judge(&events(&text), &options);
        for check in entry["checks"].as_array().into_iter().flatten() {
            assert_eq!(check["verdict"], finding.verdict.name(), "{path}: {}", finding.why);
            for kind in texts(&check["anomalies_include"]) {
                assert!(
                    kinds(&finding).contains(&kind),
                    "{path}: {kind} not in {:?}",
                    kinds(&finding)
                );
            }
            let violates = finding.consistency.clone().unwrap_or_default().violates;
            for model in texts(&check["violates"]) {
                assert!(violates.iter().any(|other| other == model), "{path}: {violates:?}");
            }
        }
    }
}
