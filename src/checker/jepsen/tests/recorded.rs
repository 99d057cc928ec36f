//! Histories recorded by other projects, with the verdict they state: `STORMGLASS_HISTORIES` names
//! their folder. Without it the test says that it did not run; with it, nothing may be missing.

use std::path::Path;

use super::*;
use crate::checker::jepsen;
use crate::history::parse_line;

/// Those that recorded histories are of.
const JUDGED: [ModelKind; 6] = [
    jepsen::BANK,
    jepsen::COMMENTS,
    jepsen::COUNTER,
    jepsen::LONG_FORK,
    jepsen::SET,
    jepsen::SET_FULL,
];

#[test]
fn recorded_histories_get_the_verdict_they_state() {
    let Some(folder) = std::env::var_os("STORMGLASS_HISTORIES") else {
        println!("not run: STORMGLASS_HISTORIES names no folder of recorded histories");
        return;
    };
    let folder = Path::new(&folder);
    let entries: Vec<serde_json::Value> =
        serde_json::from_str(&text(&folder.join("manifest.json"))).expect("a list");
    let mut judged = 0;
    for entry in entries {
        let Some(model) = JUDGED.iter().find(|model| entry["model"] == model.name) else {
            continue;
        };
        judged += 1;
        let options: ModelOptions =
            serde_json::from_value(entry["options"].clone()).expect("options");
        let path = entry["path"].as_str().expect("path");
        let finding = judge_events(model, &options, &events(&text(&folder.join(path))));
        println!("{path}: {}", told(&finding));
        for check in entry["checks"].as_array().expect("checks") {
            let stated = check["verdict"].as_str().expect("verdict");
            let right = stated == "any" || stated == finding.verdict.name();
            assert!(right, "{path}: {}, stated {stated}", told(&finding));
        }
    }
    assert!(judged > 0, "the manifest has none of these models");
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A history without processes is that of one.
fn events(text: &str) -> Vec<Event> {
    let lines = text.lines().filter(|line| !line.is_empty()).zip(0..);
    let event = |(line, position): (&str, u64)| {
        let mut json: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let process = &mut json["process"];
        if process.is_null() {
            *process = 0.into();
        }
        parse_line(&json.to_string(), position).expect("an event")
    };
    lines.map(event).collect()
}
