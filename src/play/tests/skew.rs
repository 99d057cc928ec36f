//! What skewed clocks break: locks that expire, and leases that are judged by the wall clock. With sound
//! clocks neither is broken.

use super::*;
use crate::conclude::{Limits, conclude};
use crate::reference::ControllerVariant;
use crate::report::Results;

fn concluded(name: &str, nemesis: &str, controller: ControllerVariant) -> Results {
    let variants = vec![format!("controller={controller}").parse().expect("a variant")];
    let time = Some(Span::seconds(16));
    let overrides = Overrides { time, variants, ..Overrides::default() };
    let scenario = Scenario::load(name, nemesis, World::Sim, 1, &overrides).expect("a scenario");
    let variants = Variants { controller, ..Variants::default() };
    let history = played_with(&scenario, variants).expect("a run");
    conclude(&scenario, &history, &[], &Limits::default())
}

/// All kinds of anomalies that were found.
fn kinds(results: &Results) -> BTreeSet<&str> {
    let findings = results.checkers.iter().flat_map(|finding| &finding.anomalies);
    findings.map(|anomaly| anomaly.kind.as_str()).collect()
}

#[test]
fn a_lock_has_two_holders_under_skew_and_one_without() {
    let run = |nemesis| concluded("kvrocks/lock", nemesis, ControllerVariant::AsShipped);
    let sound = run("none");
    assert_eq!(sound.verdict, "valid", "{}", sound.why);
    let skewed = run("skew-masters");
    assert!(kinds(&skewed).contains("two-holders"), "{}", skewed.why);
}

#[test]
fn two_lead_by_a_wall_clock_lease_under_skew_and_migrations_vanish() {
    let run =
        |nemesis| concluded("kvrocks/topology-changes", nemesis, ControllerVariant::WallClockLease);
    let sound = run("none");
    assert_eq!(sound.verdict, "valid", "{}", sound.why);
    let skewed = run("skew-controllers");
    assert!(kinds(&skewed).contains("lost-migration"), "{}", skewed.why);
}
