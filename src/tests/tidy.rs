//! The house rules that a compiler does not know, as ordinary tests.

use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Every text file that belongs to the project, relative to its root.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(&Path::new(ROOT).join(folder), ending, &mut found);
    found.sort();
    assert!(!found.is_empty(), "no {ending} file below {folder}");
    found
}

fn walk(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, ending, found);
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
}

fn name(path: &Path) -> String {
    path.strip_prefix(ROOT).unwrap().display().to_string()
}

/// The module that a file belongs to: the first part of its path below `src`.
fn module(path: &Path) -> String {
    let below = path.strip_prefix(Path::new(ROOT).join("src")).unwrap();
    let first = below.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// Tests may read files and clocks.
fn is_test(path: &Path) -> bool {
    name(path).ends_with("tests.rs") || name(path).contains("/tests/")
}

/// Lines of code without comments and without the test module at a file's end.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
        .map(|(number, line)| (number + 1, line.split("//").next().unwrap_or_default()))
}

fn assert_absent(modules: &[&str], words: &[&str]) {
    let mut found = Vec::new();
    for path in files("src", ".rs") {
        if !modules.contains(&module(&path).as_str()) || is_test(&path) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in code_lines(&text) {
            for word in words.iter().filter(|word| line.contains(*word)) {
                found.push(format!("{}:{number} names `{word}`", name(&path)));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn pure_modules_name_no_runtime_file_or_socket() {
    assert_absent(
        &[
            "op",
            "history",
            "generator",
            "workload",
            "nemesis",
            "checker",
            "report",
            "cluster",
            "rng",
            "wire",
        ],
        &["tokio", "bollard", "reqwest", "std::fs", "std::net::Tcp", "std::net::Udp", "Instant"],
    );
}

#[test]
fn the_worlds_do_not_know_each_other_nor_who_uses_them() {
    let above =
        ["crate::workload", "crate::nemesis", "crate::checker", "crate::run::", "crate::cli::"];
    assert_absent(&["docker", "client", "agent"], &[&above[..], &["crate::sim"]].concat());
    assert_absent(
        &["sim"],
        &[&above[..], &["crate::docker", "crate::client", "crate::agent"]].concat(),
    );
}

#[test]
fn simulated_paths_use_no_real_clock_and_no_random_order() {
    assert_absent(
        &["sim", "run", "generator", "workload", "nemesis"],
        &[
            "std::time::Instant",
            "SystemTime",
            "collections::HashMap",
            "collections::HashSet",
            "rand::rng",
            "sync::watch",
        ],
    );
}

#[test]
fn files_stay_small() {
    let mut large = Vec::new();
    for path in files("src", ".rs") {
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        if lines > 500 {
            large.push(format!("{} has {lines} lines; 500 are the limit", name(&path)));
        }
    }
    assert!(large.is_empty(), "{}", large.join("\n"));
}

#[test]
fn every_module_says_what_it_is() {
    let mut silent = Vec::new();
    for path in files("src", ".rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        if !text.starts_with("//!") && !name(&path).ends_with("main.rs") {
            silent.push(name(&path));
        }
    }
    assert!(silent.is_empty(), "without a `//!` line: {}", silent.join(", "));
}

#[test]
fn nothing_is_unfinished_or_skipped() {
    let words = ["todo!(", "unimplemented!(", "#[ignore", "dbg!("];
    let mut found = Vec::new();
    for path in files("src", ".rs") {
        if name(&path).ends_with("tidy.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if words.iter().any(|word| line.contains(word)) {
                found.push(format!("{}:{}", name(&path), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn workload_files_are_short() {
    for path in files("workloads", ".yaml") {
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 20, "{} has {lines} lines; 20 are the limit", name(&path));
    }
}
