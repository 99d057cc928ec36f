//! Every planted bug of the simulation is found within a few seeds; without one, all seeds are valid.

use std::ops::RangeInclusive;

use stormglass::checker::World;
use stormglass::conclude::{Limits, conclude};
use stormglass::nemesis::{Fault, FaultKind, Shape, Target};
use stormglass::op::Event;
use stormglass::play::play;
use stormglass::report::Results;
use stormglass::rng::Rng;
use stormglass::run::{Interrupt, Sink};
use stormglass::scenario::{NamedFault, Overrides, Scenario};
use stormglass::sim::{SimCluster, SimSpec, Variant};

/// A bug must show within these.
const SEEDS: RangeInclusive<u64> = 1..=8;

/// Nothing listens: the history is in the run's result.
struct Nowhere;

impl Sink for Nowhere {
    fn record(&mut self, _event: &Event) {}
    fn write_ahead(&mut self, _event: &Event) {}
    fn flush(&mut self) {}
}

/// One run: which workload, what breaks, and what the command line would change.
#[derive(Clone)]
struct Trial {
    workload: &'static str,
    faults: Vec<Fault>,
    set: Vec<&'static str>,
}

fn fault(kind: FaultKind, target: Target, after_ms: u64, for_ms: u64) -> Fault {
    let span = |ms| stormglass::duration::Span(std::time::Duration::from_millis(ms));
    let shape = (kind == FaultKind::Partition).then_some(Shape::Isolate);
    Fault {
        shape,
        target: Some(target),
        after: span(after_ms),
        lasts: span(for_ms),
        every: Some(span(10_000)),
        ..Fault::new(kind)
    }
}

fn register(faults: Vec<Fault>) -> Trial {
    Trial { workload: "zookeeper/register", faults, set: vec!["time=16s"] }
}

impl Trial {
    fn run(&self, variant: Variant, seed: u64) -> Results {
        let overrides = Overrides {
            set: self.set.iter().map(|set| (*set).to_owned()).collect(),
            ignore_expectations: true,
            ..Overrides::default()
        };
        let loaded = Scenario::load(self.workload, "none", World::Sim, seed, &overrides);
        let mut scenario = loaded.unwrap_or_else(|error| panic!("{error}"));
        let named = |fault: &Fault| NamedFault { nemesis: "planned".into(), fault: fault.clone() };
        scenario.faults = self.faults.iter().map(named).collect();
        let spec = SimSpec::ensemble(3, variant, Rng::from_seed(seed).fork("sim"));
        let interrupt = Interrupt::default();
        let ran = stormglass::sim::run(async {
            let cluster = SimCluster::up(spec).await.expect("an ensemble");
            play(&scenario, &cluster, &mut Nowhere, &interrupt).await.expect("sound options")
        });
        let history = ran.expect("a runtime").history;
        conclude(&scenario, &history, &[], &Limits::default())
    }

    /// The first seed with which the bug shows, and what showed.
    fn found(&self, variant: Variant) -> Option<(u64, Vec<String>)> {
        SEEDS.into_iter().find_map(|seed| {
            let results = self.run(variant, seed);
            let anomalies = results.checkers.iter().flat_map(|finding| &finding.anomalies);
            let kinds: Vec<String> = anomalies.map(|anomaly| anomaly.kind.clone()).collect();
            (results.verdict == "invalid").then_some((seed, kinds))
        })
    }
}

/// What brings each bug out.
fn trial(variant: Variant) -> Trial {
    match variant {
        Variant::AsShipped | Variant::StaleBarrier => register(vec![]),
        Variant::LosesAckedWrite => {
            register(vec![fault(FaultKind::Kill, Target::LEADER, 4_000, 5_000)])
        }
        // What no disk has is lost where nobody is left who remembers it.
        Variant::AcksUnflushed => register(vec![fault(FaultKind::Kill, Target::ALL, 4_000, 3_000)]),
        // The last server, which wins by its id, lags; the leader goes away just before it is back.
        Variant::VotesById => register(vec![
            fault(FaultKind::Partition, Target::Node("zookeeper3".into()), 3_000, 5_000),
            fault(FaultKind::Kill, Target::LEADER, 7_500, 4_000),
        ]),
        Variant::CasRaces => register(vec![fault(FaultKind::Pause, Target::LEADER, 4_000, 5_000)]),
    }
}

fn is_found(variant: Variant) {
    let (seed, kinds) = trial(variant).found(variant).unwrap_or_else(|| {
        panic!("{variant} is not found with seeds {} to {}", SEEDS.start(), SEEDS.end())
    });
    println!("{variant}: seed {seed}, {}", kinds.join(" "));
    let is_broken_promise = |kind: &String| stormglass::checker::is_within(kind, "nonlinearizable");
    assert!(!kinds.is_empty() && kinds.iter().all(is_broken_promise), "{variant}: {kinds:?}");
}

#[test]
fn a_lost_acknowledged_write_is_found() {
    is_found(Variant::LosesAckedWrite);
}

#[test]
fn a_stale_barrier_is_found() {
    is_found(Variant::StaleBarrier);
}

#[test]
fn writes_that_no_disk_has_are_found() {
    is_found(Variant::AcksUnflushed);
}

#[test]
fn a_leader_that_lags_is_found() {
    is_found(Variant::VotesById);
}

#[test]
fn racing_compare_and_sets_are_found() {
    is_found(Variant::CasRaces);
}

/// The variants above are all that there are; each one's trial is sound without it.
#[test]
fn without_a_bug_nothing_is_found_in_any_of_these_trials() {
    for variant in Variant::ALL {
        // Runs that differ in nothing are done once.
        let seeds = if variant == Variant::StaleBarrier { 0..=0 } else { SEEDS };
        for seed in seeds {
            let results = trial(variant).run(Variant::AsShipped, seed);
            let found: Vec<_> =
                results.checkers.iter().filter(|f| !f.anomalies.is_empty()).collect();
            assert!(found.is_empty(), "trial of {variant}, seed {seed}: {found:#?}");
            assert_eq!(
                results.verdict, "valid",
                "trial of {variant}, seed {seed}: {}",
                results.why
            );
        }
    }
}

#[test]
fn reads_from_a_servers_own_copy_are_found_stale() {
    let trial = Trial {
        workload: "zookeeper/register-local-reads",
        ..register(vec![fault(FaultKind::Partition, Target::ONE, 4_000, 5_000)])
    };
    let (seed, kinds) = trial.found(Variant::AsShipped).expect("stale reads within these seeds");
    println!("local reads: seed {seed}, {}", kinds.join(" "));
    assert!(kinds.iter().any(|kind| kind == "stale-read"), "{kinds:?}");
}
