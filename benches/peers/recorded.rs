//! Porcupine's own histories, of etcd and of a key-value store: each read in its own form by both.
//!
//! They take fractions of a millisecond, of which much is a process's first steps: code that is touched
//! for the first time, memory that is asked for. So both sides are measured in the same way: each file in
//! a process of its own, several times, and the least counts.

use std::path::Path;

use stormglass::checker::Budget;

use super::table::Table;
use super::tools::{Taken, Tools};

/// Times that each side judges each file.
const RUNS: usize = 5;

/// How many times less CPU time all of them together are to take.
const TIMES: f64 = 20.0;

/// What both took of all files of a family.
#[derive(Default)]
struct Sum {
    files: usize,
    ours_ms: f64,
    /// With the violations explained, which porcupine does not do.
    explained_ms: f64,
    theirs_ms: f64,
    /// Files on which porcupine was faster.
    slower: Vec<String>,
    undecided: Vec<String>,
    contradicted: Vec<String>,
}

pub fn measure(tools: &Tools, table: &mut Table) {
    let Some(folder) = std::env::var_os("STORMGLASS_HISTORIES") else {
        println!("recorded histories: not run, STORMGLASS_HISTORIES names no folder");
        return;
    };
    let folder = Path::new(&folder);
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    let entries: Vec<serde_json::Value> = serde_json::from_str(&manifest).expect("a list");
    let mut all = Sum::default();
    for family in ["etcd", "kv"] {
        for entry in entries.iter().filter(|entry| entry["family"] == family) {
            let text = |field: &str| entry[field].as_str().expect("a text").to_owned();
            let (path, options) = (folder.join(text("path")), entry["options"].to_string());
            let (model, raw) = (text("model"), folder.join(text("raw")));
            let ours = |explained| least(|| tools.ours(&path, &model, &options, explained));
            all.explained_ms += ours(Budget::EXPLAINED).check_ms;
            let (ours, theirs) = (ours(0), least(|| tools.porcupine(&raw, family)));
            all.add(&text("path"), &ours, &theirs);
        }
    }
    all.tell(table);
}

/// The run that took least.
fn least(run: impl Fn() -> Taken) -> Taken {
    let first = run();
    (1..RUNS).map(|_| run()).fold(
        first,
        |best, taken| {
            if taken.check_ms < best.check_ms { taken } else { best }
        },
    )
}

impl Sum {
    fn add(&mut self, path: &str, ours: &Taken, theirs: &Taken) {
        self.files += 1;
        self.ours_ms += ours.check_ms;
        self.theirs_ms += theirs.check_ms;
        if ours.check_ms > theirs.check_ms {
            let both = format!("{path} ({:.3} and {:.3} ms)", ours.check_ms, theirs.check_ms);
            self.slower.push(both);
        }
        match (ours.is_decided(), theirs.is_decided()) {
            (false, true) => self.undecided.push(path.to_owned()),
            (true, true) if ours.verdict != theirs.verdict => {
                self.contradicted.push(path.to_owned());
            }
            _ => {}
        }
    }

    fn tell(&self, table: &mut Table) {
        let Sum { files, ours_ms, theirs_ms, .. } = self;
        let ratio = theirs_ms / ours_ms;
        println!(
            "{files} recorded histories, etcd and kv: {ours_ms:.1} CPU ms, {:.1} with explanations, \
             porcupine {theirs_ms:.1}, {ratio:.0}x (of each the least of {RUNS} runs, in processes of \
             their own)",
            self.explained_ms
        );
        let mut misses: Vec<String> = Vec::new();
        if ratio < TIMES {
            misses.push(format!("less than {TIMES}x"));
        }
        for (what, paths) in [
            ("slower than porcupine", &self.slower),
            ("undecided", &self.undecided),
            ("another verdict", &self.contradicted),
        ] {
            if !paths.is_empty() {
                misses.push(format!("{what}: {}", paths.join(", ")));
            }
        }
        table.judge("recorded histories", &misses);
    }
}
