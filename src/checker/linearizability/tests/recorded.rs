//! Histories recorded by other projects, with the verdict they state.
//!
//! They are not part of this repository: `STORMGLASS_HISTORIES` names the folder that holds them
//! and their `manifest.json`. Without it the test says that it did not run; with it, nothing may be
//! missing.

use std::path::{Path, PathBuf};

use super::oracle::has_order;
use super::*;
use crate::checker::ModelOptions;
use crate::history::parse_line;

/// What the manifest says of one history under some options.
struct Stated {
    path: PathBuf,
    model: RegisterModel,
    verdict: String,
}

#[test]
fn recorded_histories_get_the_verdict_they_state() {
    let Some(folder) = std::env::var_os("STORMGLASS_HISTORIES") else {
        println!("not run: STORMGLASS_HISTORIES names no folder of recorded histories");
        return;
    };
    let stated = stated(Path::new(&folder));
    assert!(stated.len() > 50, "only {} register histories in the manifest", stated.len());
    let wrong: Vec<String> = stated.iter().filter_map(contradiction).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), stated.len(), wrong.join("\n"));
}

fn contradiction(stated: &Stated) -> Option<String> {
    let history = read(&stated.path);
    let finding = finish(&history, stated.model.clone());
    for anomaly in &finding.anomalies {
        assert!(proves(&history, &stated.model, &anomaly.ops), "{:?}: {anomaly:#?}", stated.path);
    }
    let found = finding.verdict.name();
    let differs = stated.verdict != "any" && stated.verdict != found;
    differs.then(|| format!("{}: {found}, stated {}", stated.path.display(), stated.verdict))
}

/// Whether the operations shown have no order by themselves.
fn proves(history: &History, model: &RegisterModel, ops: &[u64]) -> bool {
    let mut shown = register(history, model).operations;
    shown.retain(|operation| ops.contains(&u64::from(operation.invoke - 1)));
    // Larger ones have been compared with the oracle where it could follow, on other histories.
    shown.len() > 12 || !has_order(&shown)
}

fn read(path: &Path) -> History {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let lines = text.lines().filter(|line| !line.is_empty()).zip(0..);
    let event = |(line, position)| {
        parse_line(line, position).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    History::new(lines.map(event).collect())
}

fn stated(folder: &Path) -> Vec<Stated> {
    let path = folder.join("manifest.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let entries: Vec<serde_json::Value> = serde_json::from_str(&text).expect("a list");
    let mut stated = Vec::new();
    for entry in entries {
        let model = match entry["model"].as_str() {
            Some("register") => RegisterModel::REGISTER,
            Some("cas-register") => RegisterModel::CAS_REGISTER,
            _ => continue,
        };
        for check in entry["checks"].as_array().expect("checks") {
            stated.push(Stated {
                path: folder.join(entry["path"].as_str().expect("path")),
                model: model.clone().with(&options(&entry["options"], &check["options"])),
                verdict: check["verdict"].as_str().expect("verdict").to_owned(),
            });
        }
    }
    stated
}

/// Those of the history, but for what the check says otherwise.
fn options(of_history: &serde_json::Value, of_check: &serde_json::Value) -> ModelOptions {
    let mut merged = of_history.as_object().expect("options").clone();
    merged.extend(of_check.as_object().cloned().unwrap_or_default());
    serde_json::from_value(merged.into()).expect("options")
}
