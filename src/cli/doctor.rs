//! `stormglass doctor`: what this host and its Docker engine can and cannot do, a line each, and which
//! faults can act here.

use clap::Args;
use serde_json::{Value, json};

use super::{exit, fail};
use crate::catalog::Catalog;
use crate::cluster::{Ability, Mechanism};
use crate::docker::doctor::{Finding, Grade, examine};
use crate::docker::{Engine, abilities};
use crate::scenario::{Overrides, load_nemesis};

#[derive(Args)]
pub struct Arguments {
    /// JSON instead of lines
    #[arg(long)]
    json: bool,
}

pub fn doctor(arguments: &Arguments) -> i32 {
    let runtime = match super::runtime() {
        Ok(runtime) => runtime,
        Err(error) => return fail(exit::INFRASTRUCTURE, error),
    };
    let (findings, abilities) = runtime.block_on(async {
        let engine = Engine::connect().await;
        // One after the other: what is tried must not disturb what is looked at.
        let abilities = match &engine {
            Ok(engine) => abilities(engine).await.map_err(|error| format!("{error:#}")),
            Err(_) => Err("no engine".to_owned()),
        };
        (examine(engine).await, abilities)
    });
    if arguments.json {
        print_json(&findings, abilities.as_deref().unwrap_or_default());
    } else {
        print_lines(&findings);
        match &abilities {
            Ok(abilities) => print!("{}", matrix(abilities)),
            Err(why) => println!("no fault was tried: {why}"),
        }
    }
    let worst = findings.iter().map(|finding| finding.grade).max();
    if worst == Some(Grade::Fail) { exit::INFRASTRUCTURE } else { exit::VALID }
}

/// A row a mechanism: whether it acts and how that was tried; below it the nemeses that need it.
fn matrix(abilities: &[Ability]) -> String {
    let names = abilities.iter().map(|ability| ability.mechanism.name().len());
    let width = names.max().unwrap_or(0).max("mechanism".len());
    let mut text = format!("\n{:width$}  acts  how it was tried\n", "mechanism");
    for ability in abilities {
        let acts = if ability.acts { "yes" } else { "NO" };
        text.push_str(&format!("{:width$}  {acts:4}  {}\n", ability.mechanism.name(), ability.how));
        for line in wrapped(&needed_by(ability.mechanism)) {
            text.push_str(&format!("{:width$}        {line}\n", ""));
        }
    }
    text
}

/// Names with commas between, in lines that fit a terminal.
fn wrapped(names: &[String]) -> Vec<String> {
    const LINE_CHARACTERS: usize = 74;
    let mut lines: Vec<String> = Vec::new();
    for (position, name) in names.iter().enumerate() {
        let comma = if position + 1 < names.len() { "," } else { "" };
        match lines.last_mut().filter(|line| line.len() + name.len() + 2 <= LINE_CHARACTERS) {
            Some(line) => line.push_str(&format!(" {name}{comma}")),
            None => {
                let lead = if position == 0 { "needed by " } else { "" };
                lines.push(format!("{lead}{name}{comma}"));
            }
        }
    }
    lines
}

/// The nemeses of the catalogue that cannot act without it.
fn needed_by(mechanism: Mechanism) -> Vec<String> {
    let needs = |name: &String| {
        load_nemesis(name, &Overrides::default()).is_ok_and(|spec| {
            spec.faults.iter().any(|fault| fault.mechanisms().contains(&mechanism))
        })
    };
    Catalog::Nemeses.names().into_iter().filter(needs).collect()
}

fn print_json(findings: &[Finding], abilities: &[Ability]) {
    let rows = findings.iter().map(|finding| {
        json!({
            "name": finding.name,
            "grade": finding.grade.name(),
            "what": finding.what,
            "mend": finding.mend,
        })
    });
    let tried = abilities.iter().map(|ability| {
        json!({
            "name": "mechanism",
            "mechanism": ability.mechanism.name(),
            "acts": ability.acts,
            "what": ability.how,
            "needed_by": needed_by(ability.mechanism),
        })
    });
    println!("{:#}", rows.chain(tried).collect::<Value>());
}

fn print_lines(findings: &[Finding]) {
    println!("ok    simulation: needs nothing of this host");
    let width = findings.iter().map(|finding| finding.name.len()).max().unwrap_or(0);
    for finding in findings {
        let mend = finding.mend.as_ref().map_or(String::new(), |mend| format!("; {mend}"));
        println!("{:<5} {:width$}  {}{mend}", finding.grade.name(), finding.name, finding.what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_says_who_needs_what_and_how_it_was_tried() {
        let ability = |mechanism, acts| Ability { mechanism, acts, how: "so".to_owned() };
        let told =
            matrix(&[ability(Mechanism::BridgeTables, true), ability(Mechanism::Freeze, false)]);
        let lines: Vec<&str> = told.lines().skip(1).collect();
        assert_eq!(lines[0], "mechanism      acts  how it was tried");
        assert_eq!(lines[1], "bridge-tables  yes   so");
        assert!(lines[2].trim_start().starts_with("needed by failover-loop-isolate, "), "{told}");
        let freeze = lines.iter().position(|line| *line == "freeze         NO    so");
        let users = freeze.map(|at| lines[at + 1].trim_start()).unwrap_or_default();
        assert_eq!(users, "needed by failover-loop-pause, mixed, pause");
        assert!(lines.iter().all(|line| line.len() <= 100), "{told}");
    }
}
