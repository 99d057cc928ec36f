//! One run of a cell in the simulation, and what it showed.

use std::fmt::Display;
use std::str::FromStr;

use stormglass::checker::{Anomaly, World, follows, is_within};
use stormglass::cluster::Role;
use stormglass::conclude::{Limits, conclude};
use stormglass::history::History;
use stormglass::op::Event;
use stormglass::play::play;
use stormglass::report::Results;
use stormglass::rng::Rng;
use stormglass::run::{Interrupt, Sink};
use stormglass::scenario::{Overrides, Scenario, VariantChoice};
use stormglass::sim::{SimCluster, SimSpec, Variants};

use super::table::{Cell, Promise};

/// Nothing listens: the history is in the run's result.
struct Nowhere;

impl Sink for Nowhere {
    fn record(&mut self, _event: &Event) {}
    fn write_ahead(&mut self, _event: &Event) {}
    fn flush(&mut self) {}
}

/// What a run says of its cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Showing {
    /// A fault did not act, so it says nothing.
    Missed,
    /// What the cell promises.
    Kept,
    /// Nothing against it: what is promised was not seen.
    Silent(String),
    Broken(String),
}

pub fn scenario(cell: &Cell, seed: u64, ignore_expectations: bool) -> Scenario {
    let node = cell.node.clone().map(|name| (Role::Kvrocks, name));
    let choices = [(cell.role, cell.variant.clone())].into_iter().chain(node);
    let overrides = Overrides {
        time: Some(cell.time),
        variants: choices.map(|(role, name)| VariantChoice { role: Some(role), name }).collect(),
        ignore_expectations,
        ..Overrides::default()
    };
    Scenario::load(&cell.workload, &cell.nemesis, World::Sim, seed, &overrides)
        .unwrap_or_else(|error| panic!("{cell}: {error}"))
}

fn variant<V: FromStr<Err: Display> + Default>(scenario: &Scenario, role: Role) -> V {
    let named = scenario.variant.get(role.name());
    named.map_or_else(V::default, |name| {
        name.parse().unwrap_or_else(|error| panic!("{role}: {error}"))
    })
}

pub fn run(scenario: &Scenario) -> (History, Results) {
    let spec = SimSpec {
        services: scenario.workload.services.clone(),
        config: scenario.workload.config.clone(),
        variants: Variants {
            zookeeper: variant(scenario, Role::Zookeeper),
            controller: variant(scenario, Role::Controller),
            kvrocks: variant(scenario, Role::Kvrocks),
        },
        rng: Rng::from_seed(scenario.seed).fork("sim"),
    };
    let ran = stormglass::sim::run(async {
        let cluster = SimCluster::up(spec).await.expect("a cluster");
        play(scenario, &cluster, &mut Nowhere, &Interrupt::default()).await.expect("sound options")
    });
    let history = ran.expect("a runtime").history;
    let results = conclude(scenario, &history, &[], &Limits::default());
    (history, results)
}

pub fn anomalies(results: &Results) -> impl Iterator<Item = &Anomaly> {
    results.checkers.iter().flat_map(|finding| &finding.anomalies)
}

/// Every fault that was asked for was installed, proven, and felt by the workload.
pub fn hits(results: &Results) -> bool {
    results.faults.iter().all(|fault| fault.installed && fault.felt)
}

/// Acknowledged writes that are gone, as a failover may lose some.
fn permitted(results: &Results) -> f64 {
    let figures =
        results.checkers.iter().filter_map(|finding| finding.figures.get("permitted-lost"));
    figures.sum()
}

/// Holds a run against what its cell promises.
pub fn judge(promise: &Promise, results: &Results) -> Showing {
    let said = || format!("{}: {}", results.verdict, results.why);
    let is_valid = results.verdict == "valid";
    match promise {
        _ if results.verdict == "infrastructure" => Showing::Broken(said()),
        Promise::Invalid(kinds) if anomalies(results).next().is_some() => {
            let is_it = |other: &Anomaly| kinds.iter().any(|kind| is_within(&other.kind, kind));
            let is_sought = |other: &Anomaly| is_within(&other.kind, &kinds[0]);
            let may_follow = |other: &Anomaly| kinds.iter().any(|kind| follows(&other.kind, kind));
            let is_no_surprise = |other: &Anomaly| is_it(other) || may_follow(other);
            match anomalies(results).find(|other| !is_no_surprise(other)) {
                Some(other) => Showing::Broken(format!("{}: {}", other.kind, other.summary)),
                None if !hits(results) => Showing::Missed,
                None if anomalies(results).any(is_sought) => Showing::Kept,
                None => Showing::Silent(said()),
            }
        }
        Promise::Valid | Promise::PermittedLoss if anomalies(results).next().is_some() => {
            Showing::Broken(said())
        }
        _ if !hits(results) => Showing::Missed,
        Promise::Valid if is_valid => Showing::Kept,
        Promise::PermittedLoss if is_valid && permitted(results) > 0.0 => Showing::Kept,
        Promise::PermittedLoss if is_valid => Showing::Silent("nothing was lost".to_owned()),
        Promise::Invalid(_) if is_valid => Showing::Silent("valid".to_owned()),
        Promise::Invalid(_) => Showing::Silent(said()),
        Promise::Valid | Promise::PermittedLoss => Showing::Broken(said()),
    }
}
