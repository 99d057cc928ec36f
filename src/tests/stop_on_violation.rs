//! `--stop-on-violation` ends a run at the first broken promise, and changes nothing before it.

use std::path::Path;

use stormglass::history::History;
use stormglass::nemesis::{FaultRecord, Phase};
use stormglass::op::{Nanos, SECOND};
use stormglass::results_folder::ResultsFolder;

use crate::binary::Folder;
use crate::docker_runs::driver::alone;
use crate::gate::wanted;

const MAIN: Nanos = 60 * SECOND;

struct Ended {
    history: History,
    results: serde_json::Value,
}

fn ended(arguments: &str) -> Ended {
    let folder = Folder::new();
    let said = folder.run(&format!("run --quiet {arguments}"));
    let path = folder.path(&folder.results());
    let history = ResultsFolder::open(Path::new(&path)).unwrap_or_else(|e| panic!("{said:?}: {e}"));
    Ended { history: history.history, results: folder.results_json(&folder.results()) }
}

impl Ended {
    /// Where the violation stands in the history, and its kind.
    fn violation(&self) -> Option<(usize, String)> {
        self.history.events().iter().enumerate().find_map(|(at, event)| {
            match FaultRecord::of(event)? {
                FaultRecord::Violation { kind, .. } => Some((at, kind)),
                _ => None,
            }
        })
    }

    fn healed_at(&self) -> Nanos {
        let heal = FaultRecord::Phase { phase: Phase::Heal };
        let found = self.history.events().iter().find(|e| FaultRecord::of(e) == Some(heal.clone()));
        found.expect("a heal").time
    }

    fn has(&self, anomaly: &str) -> bool {
        let checkers = self.results["checkers"].as_array().expect("checkers");
        let mut kinds = checkers.iter().flat_map(|c| c["anomalies"].as_array().expect("a list"));
        kinds.any(|found| found["kind"] == anomaly)
    }
}

#[test]
fn a_run_in_the_simulation_ends_at_the_first_violation_and_is_the_same_until_then() {
    for (run, anomaly) in [
        ("kvrocks/migration --nemesis reply-loss --seed 1", "split-brain"),
        ("zookeeper/register-local-reads --nemesis partition-halves --seed 7", "stale-read"),
    ] {
        let whole = ended(&format!("{run} --time 60s"));
        let stopped = ended(&format!("{run} --time 60s --stop-on-violation"));
        assert_eq!(whole.violation(), None, "{run}");
        assert!(whole.healed_at() >= MAIN, "{run}");
        let (at, _) = stopped.violation().unwrap_or_else(|| panic!("{run}: no violation"));
        assert!(stopped.healed_at() < MAIN * 3 / 4, "{run}: {} ns", stopped.healed_at());
        assert_eq!(whole.history.events()[..at], stopped.history.events()[..at], "{run}");
        assert!(whole.has(anomaly) && stopped.has(anomaly), "{run}");
        assert_eq!(stopped.results["verdict"], "invalid", "{run}");
        assert!(stopped.results["repro"].to_string().contains("--stop-on-violation"), "{run}");
    }
}

#[test]
fn a_run_that_keeps_its_promises_is_the_same_to_the_end() {
    for run in [
        "kvrocks/migration --variant freeze-until-topology --nemesis reply-loss --seed 1 --time 30s",
        "kvrocks/migration --nemesis request-loss --seed 2 --time 30s",
        "zookeeper/register --nemesis partition-leader --seed 3 --time 30s",
    ] {
        let (whole, stopped) = (ended(run), ended(&format!("{run} --stop-on-violation")));
        assert_eq!(whole.results["verdict"], "valid", "{run}: {}", whole.results["why"]);
        assert_eq!(whole.history.events(), stopped.history.events(), "{run}");
        assert_eq!(whole.results["verdict"], stopped.results["verdict"], "{run}");
    }
}

#[test]
fn a_run_in_containers_ends_at_the_first_violation() {
    if !wanted("docker") {
        return;
    }
    let _alone = alone();
    let run = "kvrocks/migration --nemesis reply-loss --world docker --seed 1";
    let stopped = ended(&format!("{run} --time 90s --stop-on-violation"));
    let (_, kind) = stopped.violation().expect("a violation");
    assert!(stopped.has(&kind), "{kind} is not in the verdict: {}", stopped.results["why"]);
    assert!(stopped.healed_at() < 90 * SECOND, "{} ns", stopped.healed_at());
}
