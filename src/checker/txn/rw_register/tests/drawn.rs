//! Whatever is a circle of transactions can be drawn.

use super::random::{Small, events, random};
use super::*;
use crate::checker::txn::weak::Level;
use crate::checker::{Anomaly, CycleEdgeKind};
use crate::rng::Rng;

/// Panics unless each leads to the next and the last to the first, and says why.
fn check(anomaly: &Anomaly, context: &str) {
    let Some(cycle) = &anomaly.cycle else { panic!("{context}: not drawn: {anomaly:#?}") };
    let count = cycle.txns.len();
    assert!(count > 1 && count <= 12 && cycle.edges.len() == count, "{context}: {cycle:#?}");
    for (at, edge) in cycle.edges.iter().enumerate() {
        assert_eq!((edge.from, edge.to), (at, (at + 1) % count), "{context}: {cycle:#?}");
        assert!(!edge.why.is_empty(), "{context}: {cycle:#?}");
        let is_about_key = matches!(edge.kind, CycleEdgeKind::Wr | CycleEdgeKind::Rw);
        assert!(!is_about_key || edge.key.is_some(), "{context}: {cycle:#?}");
    }
    let mut ops: Vec<u64> = cycle.txns.iter().map(|txn| txn.op).collect();
    ops.sort_unstable();
    ops.dedup();
    assert_eq!(ops.len(), count, "{context}: each once: {cycle:#?}");
}

#[test]
fn every_weak_cycle_can_be_drawn() {
    let mut weak = 0;
    for (seed, model) in (0..150).flat_map(|seed| Level::ALL.map(|level| (seed, level.name()))) {
        let history = events(&random(&mut Rng::from_seed(seed), true));
        let finding = find(&history, &options(serde_json::json!({"consistency_models": [model]})));
        let cycles = finding
            .anomalies
            .iter()
            .filter(|anomaly| Level::Causal.cycles().contains(&anomaly.kind.as_str()));
        cycles.for_each(|anomaly| {
            check(anomaly, &format!("seed {seed}, {model}"));
            weak += 1;
        });
    }
    assert!(weak > 20, "{weak}");
}

/// What a search that knows of no order of versions finds wrong.
fn searched(small: &[Small], model: &str) -> Vec<Anomaly> {
    let mut checker =
        RwRegister::new(&options(serde_json::json!({"consistency_models": [model]}))).expect(model);
    events(small).events().iter().for_each(|event| drop(checker.observe(event)));
    let registers = Registers::of(&checker.table);
    let prints = Footprints::of(&registers);
    let committed = Committed::of(&registers, &prints, &InitialVersions::of(&registers, NONE));
    let order = VersionOrder::of(&registers, Vec::new());
    let scene = Scene { committed: &committed, prints: &prints, order: &order };
    let asked = Asked::of(&checker.asks.wanted).into_iter();
    let found = asked.map(|asked| search::search(&scene, asked, search::SHORT, &Budget::UNBOUNDED));
    let refuted = found.filter_map(|found| match found {
        Searched::Impossible(refuted) => Some(search::explain(&scene, &refuted)),
        Searched::Ordered | Searched::Undecided(_) => None,
    });
    refuted.collect()
}

#[test]
fn every_refutation_by_search_can_be_drawn() {
    let mut refuted = 0;
    for seed in 0..200 {
        let small = random(&mut Rng::from_seed(seed), true);
        for model in ["serializable", "strict-serializable", "snapshot-isolation"] {
            for anomaly in searched(&small, model) {
                check(&anomaly, &format!("seed {seed}, {model}: {small:?}"));
                refuted += 1;
            }
        }
    }
    assert!(refuted > 20, "{refuted}");
}

#[test]
fn what_was_there_at_first_is_missed_by_who_read_it() {
    let finding = find(
        &history("0 ok wx1 wy1\n1 ok rx1 ry_"),
        &options(serde_json::json!({"consistency_models": ["read-atomic"]})),
    );
    let anomaly = &finding.anomalies[0];
    check(anomaly, "by hand");
    assert_eq!(
        anomaly.summary,
        "no order of commits is read-atomic: T2 (process 1) read y = nil, as it was at first, though \
         T1 (process 0), which it must have seen, had written there"
    );
    let cycle = anomaly.cycle.as_deref().expect("drawn");
    let told: Vec<_> =
        cycle.edges.iter().map(|edge| (edge.kind.name(), edge.why.as_str())).collect();
    assert_eq!(
        told,
        [
            ("wr", "T2 read x = 1 from T1"),
            ("rw", "T2 read y = nil, as it was at first, though T1 wrote 1"),
        ],
        "{anomaly:#?}"
    );
}
