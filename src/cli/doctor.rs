//! `stormglass doctor`: what this host and its Docker engine can and cannot do, a line each.

use clap::Args;
use serde_json::json;

use super::{exit, fail};
use crate::docker::Engine;
use crate::docker::doctor::{Finding, Grade, examine};

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
    let findings = runtime.block_on(async { examine(Engine::connect().await).await });
    if arguments.json {
        print_json(&findings);
    } else {
        print_lines(&findings);
    }
    let worst = findings.iter().map(|finding| finding.grade).max();
    if worst == Some(Grade::Fail) { exit::INFRASTRUCTURE } else { exit::VALID }
}

fn print_json(findings: &[Finding]) {
    let rows = findings.iter().map(|finding| {
        json!({
            "name": finding.name,
            "grade": finding.grade.name(),
            "what": finding.what,
            "mend": finding.mend,
        })
    });
    println!("{:#}", rows.collect::<serde_json::Value>());
}

fn print_lines(findings: &[Finding]) {
    println!("ok    simulation: needs nothing of this host");
    let width = findings.iter().map(|finding| finding.name.len()).max().unwrap_or(0);
    for finding in findings {
        let mend = finding.mend.as_ref().map_or(String::new(), |mend| format!("; {mend}"));
        println!("{:<5} {:width$}  {}{mend}", finding.grade.name(), finding.name, finding.what);
    }
}
