//! Histories that others recorded: the original file and its plain form say the same.
//!
//! They are looked for in the folder that `STORMGLASS_HISTORIES` names.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::super::{Format, Recording, read};
use crate::op::Event;

const FOLDER: &str = "STORMGLASS_HISTORIES";

fn read_file(path: &Path) -> Recording {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    read(&bytes, &path.display().to_string()).unwrap_or_else(|e| panic!("{e}"))
}

/// What both forms hold. The plain forms lack nodes, and have their own indices and, sometimes, errors.
fn same(event: &Event) -> Event {
    Event { index: 0, node: None, error: None, ..event.clone() }
}

#[test]
fn originals_and_plain_forms_are_read_alike() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        eprintln!("originals_and_plain_forms_are_read_alike: not run, {FOLDER} is not set");
        return;
    };
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    let manifest: Vec<Json> = serde_json::from_str(&manifest).expect("a list");
    assert!(!manifest.is_empty(), "an empty manifest");
    let mut compared = 0;
    for entry in &manifest {
        let path = entry["path"].as_str().expect("a path");
        let plain = read_file(&folder.join(path));
        assert_eq!(plain.damage, None, "{path}");
        assert!(!plain.history.is_empty(), "{path}");
        let is_sessions = matches!(plain.format, Format::Sessions | Format::Plume);
        assert_eq!(plain.real_time, !is_sessions, "{path}");
        // Some are the original themselves.
        let Some(raw) = entry["raw"].as_str().filter(|_| !is_sessions) else { continue };
        let original = read_file(&folder.join(raw));
        assert_eq!(original.damage, None, "{raw}");
        compare(path, raw, &plain, &original);
        compared += 1;
    }
    assert!(compared > 0, "no originals");
}

fn compare(path: &str, raw: &str, plain: &Recording, original: &Recording) {
    assert_eq!(plain.history.len(), original.history.len(), "{path} and {raw}");
    let pairs = plain.history.events().iter().zip(original.history.events());
    for (place, (plain, original)) in pairs.enumerate() {
        assert_eq!(same(plain), same(original), "event {place} of {path} and {raw}");
    }
}
