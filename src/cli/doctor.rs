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

/// A row a mechanism: whether it acts, who needs it, and how that was tried.
fn matrix(abilities: &[Ability]) -> String {
    let rows: Vec<[String; 4]> = abilities.iter().map(row).collect();
    let head = ["mechanism", "acts", "nemeses that need it", "how it was tried"].map(str::to_owned);
    let width = |column: usize| {
        let cells = rows.iter().chain([&head]).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2)];
    let line = |row: &[String; 4]| {
        let [name, acts, users, how] = row;
        let [first, second, third] = widths;
        format!("{name:first$}  {acts:second$}  {users:third$}  {how}\n")
    };
    let rows: String = rows.iter().map(line).collect();
    format!("\n{}{rows}", line(&head))
}

fn row(ability: &Ability) -> [String; 4] {
    let users = needed_by(ability.mechanism);
    let users = if users.is_empty() { "-".to_owned() } else { users.join(", ") };
    let acts = if ability.acts { "yes" } else { "NO" };
    [ability.mechanism.to_string(), acts.to_owned(), users, ability.how.clone()]
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
        assert!(lines[0].starts_with("mechanism      acts  nemeses that need it"), "{told}");
        assert!(lines[1].starts_with("bridge-tables  yes   partition-halves, "), "{told}");
        assert!(lines[2].starts_with("freeze         NO    "), "{told}");
        assert!(lines[2].contains("pause") && lines[2].ends_with("  so"), "{told}");
    }
}
