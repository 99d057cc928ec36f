//! Histories of AWDIT's and IsoVista's tests, from the folder that `STORMGLASS_HISTORIES` names.
//!
//! Unset, the test says that it did not run; set, nothing may be missing.

use std::path::Path;

use super::plain::{parse, table};
use super::*;

#[test]
fn recorded_text_histories_get_the_verdict_they_state() {
    let Some(folder) = std::env::var_os("STORMGLASS_HISTORIES") else {
        println!("not run: STORMGLASS_HISTORIES names no folder of recorded histories");
        return;
    };
    let folder = Path::new(&folder);
    let text = std::fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    let entries: Vec<serde_json::Value> = serde_json::from_str(&text).expect("a list");
    let (mut compared, mut wrong_ones) = (0, Vec::new());
    for entry in entries.iter().filter(|entry| entry["family"] == "awdit") {
        let path = entry["path"].as_str().expect("a path");
        let text = std::fs::read_to_string(folder.join(path)).expect(path);
        let table = table(&parse(&text), false);
        for check in entry["checks"].as_array().expect("checks") {
            let name = check["consistency_model"].as_str().expect("a level");
            let Some(level) = Level::by_name(name) else { continue };
            let stated = check["verdict"].as_str().expect("a verdict");
            let found = wrong(&table, level);
            compared += 1;
            if found.is_empty() != (stated == "valid") {
                wrong_ones.push(format!("{path}: {name} is stated {stated}: {found:?}"));
            }
        }
    }
    assert!(compared > 20, "only {compared} in the manifest");
    assert!(wrong_ones.is_empty(), "{}", wrong_ones.join("\n"));
}
