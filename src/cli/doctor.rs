//! `stormglass doctor`: what this host and its Docker engine can and cannot do, a line each, and which
//! faults can act here.

use clap::Args;
use serde_json::{Value, json};

use super::{exit, fail};
use crate::catalog::Catalog;
use crate::cluster::{Ability, Mechanism, Role};
use crate::docker::doctor::{Finding, Grade, examine};
use crate::docker::{Engine, abilities};
use crate::say::{say, say_line};
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
            Ok(engine) => abilities(engine).await.map_err(|error| Some(format!("{error:#}"))),
            Err(_) => Err(None),
        };
        (examine(engine).await, abilities)
    });
    if arguments.json {
        print_json(&findings, abilities.as_deref().unwrap_or_default());
    } else {
        print_lines(&findings);
        match &abilities {
            Ok(abilities) => say!("{}", matrix(abilities)),
            // That there is no engine has been told.
            Err(None) => {}
            Err(Some(why)) => say_line!("no fault was tried: {why}"),
        }
    }
    let worst = findings.iter().map(|finding| finding.grade).max();
    if worst == Some(Grade::Fail) { exit::INFRASTRUCTURE } else { exit::VALID }
}

const LONGEST_LINE: usize = 78;

/// A paragraph a mechanism: whether it acts, how that was tried, and who needs it.
fn matrix(abilities: &[Ability]) -> String {
    let width = abilities.iter().map(|ability| ability.mechanism.name().len()).max().unwrap_or(0);
    let paragraph = |ability: &Ability| {
        let acts = if ability.acts { "acts" } else { "LACKS" };
        let mut told = format!("{acts:<5} {:width$}  {}\n", ability.mechanism.name(), ability.how);
        for line in wrapped(&needed_by(ability.mechanism)) {
            told.push_str(&format!("{:width$}        {line}\n", ""));
        }
        told
    };
    let head = "\nWhat faults need of this host, and the nemeses that need it:\n".to_owned();
    head + &abilities.iter().map(paragraph).collect::<String>()
}

/// Names with commas between, in lines that are not too long.
fn wrapped(names: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for name in names {
        match lines.last_mut() {
            Some(line) if line.len() + name.len() < LONGEST_LINE => {
                line.push_str(", ");
                line.push_str(name);
            }
            _ => lines.push(name.clone()),
        }
    }
    lines
}

/// The nemeses of the catalogue that cannot act without it.
fn needed_by(mechanism: Mechanism) -> Vec<String> {
    let needs = |name: &String| {
        load_nemesis(name, &Overrides::default()).is_ok_and(|spec| {
            spec.faults.iter().any(|fault| fault.mechanisms(Role::Zookeeper).contains(&mechanism))
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
    say_line!("{:#}", rows.chain(tried).collect::<Value>());
}

fn print_lines(findings: &[Finding]) {
    say_line!("ok    simulation: needs nothing of this host");
    let width = findings.iter().map(|finding| finding.name.len()).max().unwrap_or(0);
    for finding in findings {
        let mend = finding.mend.as_ref().map_or(String::new(), |mend| format!("; {mend}"));
        say_line!("{:<5} {:width$}  {}{mend}", finding.grade.name(), finding.name, finding.what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mechanism_says_how_it_was_tried_and_who_needs_it() {
        let ability = |mechanism, acts| Ability { mechanism, acts, how: "so".to_owned() };
        let abilities = [ability(Mechanism::BridgeTables, true), ability(Mechanism::Freeze, false)];
        let told = matrix(&abilities);
        let lines: Vec<&str> = told.lines().skip(2).collect();
        assert_eq!(lines[0], "acts  bridge-tables  so");
        assert!(told.contains("partition-halves"), "{told}");
        let freeze = lines.iter().position(|line| *line == "LACKS freeze         so");
        let users = lines[freeze.expect("told") + 1..].join(" ");
        assert!(users.split(", ").any(|user| user == "pause"), "{told}");
        assert!(lines.iter().all(|line| line.len() <= 100), "{told}");
    }
}
