//! Every workload of a kvrocks cluster, played in the simulation from bootstrap to final reads.

mod skew;

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::catalog::Catalog;
use crate::duration::Span;
use crate::history::History;
use crate::op::{ClusterTopology, Event, Kind, Process};
use crate::scenario::{Overrides, World};
use crate::sim::{SimCluster, SimSpec, Variants};

struct Nowhere;

impl Sink for Nowhere {
    fn record(&mut self, _event: &Event) {}
    fn write_ahead(&mut self, _event: &Event) {}
    fn flush(&mut self) {}
}

fn scenario(name: &str, nemesis: &str, set: &[&str]) -> Scenario {
    let overrides = Overrides {
        time: Some(Span::seconds(8)),
        set: set.iter().map(|set| (*set).to_owned()).collect(),
        ..Overrides::default()
    };
    Scenario::load(name, nemesis, World::Sim, 1, &overrides)
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn played(scenario: &Scenario) -> Result<History, PlayError> {
    played_with(scenario, Variants::default())
}

fn played_with(scenario: &Scenario, variants: Variants) -> Result<History, PlayError> {
    let spec = SimSpec {
        services: scenario.workload.services.clone(),
        config: scenario.workload.config.clone(),
        variants,
        rng: Rng::from_seed(scenario.seed).fork("sim"),
    };
    let ran = crate::sim::run(async {
        let cluster = SimCluster::up(spec).await.expect("a cluster");
        play(scenario, &cluster, &mut Nowhere, &Interrupt::default()).await
    });
    let ran = ran.expect("a runtime")?;
    assert_eq!(ran.harness, Vec::<String>::new());
    Ok(ran.history)
}

/// `ok` operations by name.
fn counts(history: &History) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for event in history.events().iter().filter(|event| event.kind == Kind::Ok) {
        *counts.entry(event.f.to_string()).or_default() += 1;
    }
    counts
}

#[test]
fn every_kvrocks_workload_does_what_it_says() {
    let names = Catalog::Workloads.names();
    let mut played_names = BTreeSet::new();
    for name in names.iter().filter(|name| name.starts_with("kvrocks/")) {
        let scenario = scenario(name, "none", &[]);
        let history = played(&scenario).unwrap_or_else(|error| panic!("{name}: {error}"));
        let counts = counts(&history);
        let least = |f: &str, least: usize| {
            let count = counts.get(f).copied().unwrap_or(0);
            assert!(count >= least, "{name}: {count} {f} were ok: {counts:?}");
        };
        let workload = AnyWorkload::of(&scenario.workload).expect("sound options");
        for kind in workload.get().kinds() {
            least(kind, 20);
        }
        least("dump", 4);
        least("topology", 4);
        match name.as_str() {
            "kvrocks/migration"
            | "kvrocks/migration-redis-command"
            | "kvrocks/topology-changes" => least("migrate", 2),
            "kvrocks/failover" => least("failover", 1),
            "kvrocks/controller" => {
                least("migrate", 2);
                least("create-namespace", 2);
            }
            _ => {}
        }
        routes_tell_the_way(name, &history);
        played_names.insert(name.as_str());
    }
    assert!(played_names.len() >= 9, "{played_names:?}");
}

/// Whoever answered is known of every `ok`, and every redirection by name.
fn routes_tell_the_way(name: &str, history: &History) {
    let completions = history
        .events()
        .iter()
        .filter(|event| matches!(event.process, Process::Client(_)) && event.kind != Kind::Invoke);
    let mut redirected = 0;
    for event in completions {
        let route = event.route.as_ref().unwrap_or_else(|| panic!("{name}: {event:?}"));
        let last = route.last().unwrap_or_else(|| panic!("{name}: {event:?}"));
        assert!(event.kind != Kind::Ok || last.said == "ok", "{name}: {event:?}");
        for hop in route.hops.iter().filter(|hop| hop.said.starts_with("MOVED")) {
            assert!(hop.said.contains("kvrocks"), "{name}: {hop:?}");
            redirected += 1;
        }
    }
    // Only the clients of the locks all find their way at once.
    assert!(redirected > 0 || name == "kvrocks/lock", "{name}: nobody was redirected");
}

#[test]
fn slots_move_and_the_topology_tells_it() {
    let history = played(&scenario("kvrocks/migration", "none", &[])).expect("a run");
    let told: Vec<ClusterTopology> = history
        .events()
        .iter()
        .filter(|event| event.kind == Kind::Ok && &*event.f == "topology")
        .filter_map(|event| ClusterTopology::of(&event.value))
        .collect();
    assert!(told.is_sorted_by_key(|topology| topology.version));
    let last = told.last().expect("a look");
    assert!(last.version >= 5, "two migrations of two versions each: {last:?}");
    assert!(!last.is_migrating(), "the drain waits for the last one");
    assert!(last.is_whole());
    let moved = [1365, 4096, 6826].iter().filter(|slot| last.owner(**slot) == Some(1)).count();
    assert!(moved > 0, "{last:?}");
}

#[test]
fn a_cluster_that_cannot_be_made_is_told() {
    let set = ["services.kvrocks=3", "kvrocks.replicas=3"];
    assert!(played(&scenario("kvrocks/register", "none", &set)).is_ok(), "one shard is a cluster");
    let error = Scenario::load(
        "kvrocks/register",
        "none",
        World::Sim,
        1,
        &Overrides { set: vec!["services.kvrocks=3".into()], ..Overrides::default() },
    );
    let error = error.expect_err("three nodes, two a shard").to_string();
    assert!(error.contains("`kvrocks.replicas`"), "{error}");
}

#[test]
fn the_seed_decides_everything() {
    let scenario = scenario("kvrocks/controller", "kill-leader", &[]);
    let [first, second] = [(), ()].map(|()| played(&scenario).expect("a run"));
    assert_eq!(first.events(), second.events());
}
