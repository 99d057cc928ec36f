//! Formatting and lints, as tests, so that one command is the whole gate.

use std::process::Command;

use crate::gate::wanted;

fn cargo(arguments: &[&str]) {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be started");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "cargo {}:\n{said}{complained}", arguments.join(" "));
}

#[test]
fn the_code_is_formatted() {
    if wanted("lint") {
        cargo(&["fmt", "--check"]);
    }
}

#[test]
fn clippy_has_nothing_to_say() {
    if wanted("lint") {
        cargo(&["clippy", "--quiet", "--all-targets", "--", "-D", "warnings"]);
    }
}
