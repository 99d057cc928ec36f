//! The ways in which a slot migration goes wrong, as whole runs: each is found on nodes as shipped and not on
//! sound ones, and what does no harm is not found.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::docker_runs::driver::{Run, alone, assert_nothing_left};
use crate::gate::wanted;

const MIGRATION: &str = "kvrocks/migration";
const LONG: &str = "kvrocks/migration-long";
const SOUND: &str = "--variant freeze-until-topology";

/// What a run came to.
struct Ended {
    json: Json,
    log: String,
}

impl Ended {
    /// The anomalies of some kind, of all checkers.
    fn anomalies(&self, kind: &str) -> Vec<&Json> {
        let checkers = self.json["checkers"].as_array().expect("checkers");
        let all = checkers.iter().flat_map(|checker| checker["anomalies"].as_array());
        all.flatten().filter(|anomaly| anomaly["kind"] == kind).collect()
    }

    fn figure(&self, checker: &str, figure: &str) -> f64 {
        let checkers = self.json["checkers"].as_array().expect("checkers");
        let found = checkers.iter().find(|it| it["name"] == checker).expect("the checker");
        found["figures"][figure].as_f64().expect("a figure")
    }

    fn is(&self, verdict: &str) {
        assert_eq!(self.json["verdict"], verdict, "{:#}\n{}", self.json, self.log);
    }

    /// Invalid, as the scenario itself expects.
    fn is_expected(&self) {
        self.is("invalid");
        assert_eq!(self.json["expected"]["found"], true, "{:#}", self.json["expected"]);
    }
}

fn start(workload: &str, nemesis: &str, more: &str) -> Run {
    let images = "--image kvrocks=reference --image controller=reference";
    Run::start(&format!(
        "run {workload} --nemesis {nemesis} --world docker --seed 3 {images} {more}"
    ))
}

fn end(mut run: Run) -> Ended {
    let said = run.wait();
    assert!(matches!(said.code, Some(0 | 1)), "{said:?}");
    let results = run.folder.results();
    let ended = Ended {
        json: run.folder.results_json(&results),
        log: run.folder.read(&format!("{results}/run.log")),
    };
    assert_nothing_left(&run.id());
    ended
}

fn nodes(anomaly: &Json) -> BTreeSet<&str> {
    let nodes = anomaly["nodes"].as_array().expect("nodes");
    nodes.iter().map(|node| node.as_str().expect("a name")).collect()
}

#[test]
fn a_lost_reply_to_success_splits_nodes_as_shipped_and_not_sound_ones() {
    if !wanted("docker") {
        return;
    }
    let _alone = alone();
    // Of a set every element that is gone is missed; a register is soon written over.
    let set = "--time 35s --set kvrocks.data=set";
    let shipped = start(MIGRATION, "reply-loss", set);
    let sound = start(MIGRATION, "reply-loss", &format!("{set} {SOUND}"));
    let (shipped, sound) = (end(shipped), end(sound));
    shipped.is_expected();
    // What was lost is the answer to SUCCESS, on the wire between the masters of both shards.
    assert!(shipped.log.contains(" hit cluster import "), "{}", shipped.log);
    let split = shipped.anomalies("split-brain");
    let masters = BTreeSet::from(["kvrocks1", "kvrocks3"]);
    assert!(!split.is_empty() && split.iter().all(|one| nodes(one) == masters), "{split:#?}");
    // All that the destination acknowledged is gone, and said to be, by count.
    let lost = shipped.anomalies("lost-write");
    assert!(!lost.is_empty() && lost.iter().all(|one| nodes(one).is_subset(&masters)), "{lost:#?}");
    assert!(shipped.figure("lost-writes", "lost") >= 1.0, "{:#}", shipped.json);
    sound.is("valid");
    assert!(sound.log.contains(" hit cluster import "), "{}", sound.log);
    assert!(sound.figure("single-writer", "writes") > 500.0, "{:#}", sound.json);
}

#[test]
fn a_lost_request_does_no_harm_and_a_source_that_dies_after_success_does() {
    if !wanted("docker") {
        return;
    }
    let _alone = alone();
    let control = start(MIGRATION, "request-loss", "--time 30s");
    let dies = start(MIGRATION, "source-dies-after-success", "--time 30s");
    let (control, dies) = (end(control), end(dies));
    control.is("valid");
    assert!(control.log.contains(" hit cluster import "), "{}", control.log);
    dies.is_expected();
    // The destination acknowledged, and then the source's replica did.
    let split = dies.anomalies("split-brain");
    let [destination, replica] = [["kvrocks1", "kvrocks3"], ["kvrocks2", "kvrocks4"]];
    let is_it = |one: &&Json| {
        let nodes = nodes(one);
        nodes.len() == 2
            && destination.iter().any(|name| nodes.contains(name))
            && replica.iter().any(|name| nodes.contains(name))
    };
    assert!(split.iter().any(is_it), "{split:#?}");
}

#[test]
fn sound_nodes_survive_the_death_of_a_source_and_failovers_amid_migrations() {
    if !wanted("docker") {
        return;
    }
    let _alone = alone();
    let dies = start(MIGRATION, "source-dies-after-success", &format!("--time 30s {SOUND}"));
    let fails = start(LONG, "failover-during-migration", &format!("--time 35s {SOUND}"));
    for ended in [end(dies), end(fails)] {
        ended.is("valid");
    }
}

#[test]
fn a_failover_amid_migrations_splits_nodes_as_shipped_and_a_clock_ahead_frees_locks_early() {
    if !wanted("docker") {
        return;
    }
    let _alone = alone();
    let fails = start(LONG, "failover-during-migration", "--time 35s");
    let skewed = start("kvrocks/lock", "skew-masters", "--time 25s");
    let (fails, skewed) = (end(fails), end(skewed));
    fails.is_expected();
    assert!(!fails.anomalies("split-brain").is_empty(), "{:#}", fails.json);
    // The masters' clocks were read before, during and after.
    assert!(skewed.log.contains("skew-masters began: skew proven"), "{}", skewed.log);
    assert!(skewed.log.contains("skew-masters ended: unskew proven"), "{}", skewed.log);
    skewed.is("invalid");
    assert!(!skewed.anomalies("two-holders").is_empty(), "{:#}", skewed.json);
}
