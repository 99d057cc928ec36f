//! Histories recorded by other projects, with the verdict they state.
//!
//! They are not part of this repository: `STORMGLASS_HISTORIES` names the folder that holds them and
//! their `manifest.json`. Without it the test says that it did not run; with it, nothing may be missing.

use std::path::Path;

use crate::checker::objects::models::{KV, MULTI_REGISTER};
use crate::checker::{Budget, ModelOptions};
use crate::history::{History, parse_line};

#[test]
fn recorded_histories_get_the_verdict_they_state() {
    let Some(folder) = std::env::var_os("STORMGLASS_HISTORIES") else {
        println!("not run: STORMGLASS_HISTORIES names no folder of recorded histories");
        return;
    };
    let folder = Path::new(&folder);
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    let entries: Vec<serde_json::Value> = serde_json::from_str(&manifest).expect("a list");
    let mut judged = 0;
    for entry in entries {
        let model = match entry["model"].as_str() {
            Some("kv") => KV,
            Some("multi-register") => MULTI_REGISTER,
            _ => continue,
        };
        let options: ModelOptions =
            serde_json::from_value(entry["options"].clone()).expect("options");
        let path = folder.join(entry["path"].as_str().expect("a path"));
        let history = read(&path);
        for check in entry["checks"].as_array().expect("checks") {
            let mut checkers = (model.checkers)(&options).expect("good options");
            let finding = checkers[0].finish(&history, &Budget::UNBOUNDED);
            assert_eq!(check["verdict"], finding.verdict.name(), "{path:?}: {finding:#?}");
            judged += 1;
        }
    }
    assert!(judged >= 4, "only {judged} histories of objects in the manifest");
}

fn read(path: &Path) -> History {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let lines = text.lines().filter(|line| !line.is_empty()).zip(0..);
    let event = |(line, position)| {
        parse_line(line, position).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    History::new(lines.map(event).collect())
}
