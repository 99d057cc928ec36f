//! What rules out what, against what Elle's own tests state.

use super::*;
use crate::checker::ModelOptions;

const ALL: Orders = Orders { process: true, realtime: true };
const NONE: Orders = Orders { process: false, realtime: false };

/// The weakest models that are ruled out.
fn weakest(anomalies: &[&'static str]) -> Vec<String> {
    let violates = ruled_out(anomalies.iter().copied(), ALL).violates;
    let is_weakest = |model: &&String| {
        let weaker = forward(MODELS, [canonical_model(model).expect("a model")]);
        !weaker.iter().skip(1).any(|weaker| violates.iter().any(|other| other == weaker))
    };
    violates.iter().filter(is_weakest).cloned().collect()
}

#[test]
fn the_weakest_models_that_an_anomaly_rules_out() {
    for (anomalies, expected) in [
        (&["G0"][..], &["read-uncommitted"][..]),
        (&["G1b", "G-single-item"], &["read-committed"]),
        (&["G1c-process"], &["read-atomic", "strong-session-read-committed"]),
        (
            &["G-single-item"],
            &["consistent-view", "parallel-snapshot-isolation", "repeatable-read"],
        ),
        (&["G-nonadjacent-item"], &["repeatable-read", "snapshot-isolation"]),
        (&["G2-item"], &["repeatable-read"]),
        (&["G2-item", "lost-update"], &["ROLA", "cursor-stability"]),
        (&["G-single-item-process"], &["parallel-snapshot-isolation"]),
        (&["G-single-item-realtime"], &["strong-snapshot-isolation"]),
        (&["G2-item-realtime"], &["strict-serializable"]),
        (&["internal"], &["read-atomic", "snapshot-isolation"]),
        (&["dirty-update"], &["read-committed"]),
        (&["cyclic-versions"], &["read-uncommitted"]),
        (&["future-read"], &["read-committed"]),
    ] {
        let mut found = weakest(anomalies);
        found.sort();
        assert_eq!(found, expected, "{anomalies:?}");
    }
}

#[test]
fn what_survives_is_the_strongest_that_was_looked_at() {
    let survives = |anomalies: &[&'static str], orders| {
        ruled_out(anomalies.iter().copied(), orders).survives.join(", ")
    };
    assert_eq!(survives(&[], ALL), "strict-serializable");
    assert_eq!(survives(&[], NONE), "serializable");
    assert_eq!(
        survives(&["G2-item-realtime"], ALL),
        "strong-session-serializable, strong-snapshot-isolation"
    );
    assert_eq!(survives(&["G2-item"], NONE), "snapshot-isolation, update-serializable");
    assert_eq!(survives(&["G0", "G1a"], ALL), "");
}

#[test]
fn only_what_is_asked_for_is_prohibited() {
    let wanted = |models: &[&str], anomalies: &[&str]| {
        Wanted::new(&ModelOptions {
            consistency_models: models.iter().map(|name| name.to_string()).collect(),
            anomalies: anomalies.iter().map(|name| name.to_string()).collect(),
            ..ModelOptions::default()
        })
    };
    let strict = wanted(&[], &[]).expect("the default");
    assert!(strict.prohibits("G2-item-realtime") && strict.prohibits("internal"));
    assert_eq!(strict.orders(), Orders { process: false, realtime: true });
    assert_eq!(Ok(strict), wanted(&["strong-serializable"], &[]));
    let g1 = wanted(&[], &["G1"]).expect("a group");
    assert!(g1.prohibits("G1a") && g1.prohibits("G0") && g1.prohibits("incompatible-order"));
    assert!(!g1.prohibits("G-single-item") && !g1.prohibits("internal"));
    let g2 = wanted(&[], &["G2"]).expect("a group");
    assert!(g2.prohibits("G-single-item") && g2.prohibits("lost-update") && !g2.prohibits("G0"));
    assert_eq!(g2.orders(), NONE);
    let session = wanted(&["strong-session-snapshot-isolation"], &[]).expect("a model");
    assert_eq!(session.orders(), Orders { process: true, realtime: false });
    assert!(!session.prohibits("G2-item") && session.prohibits("G-nonadjacent-item-process"));
    let both = wanted(&["read-committed"], &["G-single"]).expect("both");
    assert_eq!(both.what, "read-committed, no G-single");
    assert!(
        wanted(&["serialisable"], &[])
            .unwrap_err()
            .contains("unknown consistency model `serialisable`")
    );
    assert!(wanted(&[], &["G3"]).unwrap_err().contains("unknown anomaly `G3`: expected one of G-"));
}

#[test]
fn every_name_in_the_tables_is_known() {
    for (_, weaker) in MODELS {
        for model in *weaker {
            assert!(canonical_model(model).is_ok(), "{model}");
        }
    }
    for (model, _) in PROSCRIBED.iter() {
        assert!(canonical_model(model).is_ok(), "{model}");
    }
    for (_, model) in SYNONYMS {
        assert_eq!(canonical_model(model), Ok(*model));
    }
}

#[test]
fn a_model_that_transactions_are_not_checked_for_is_refused() {
    for model in ["linearizable", "sequential", "PRAM", "read-your-writes", "1SR"] {
        let consistency_models = vec![model.to_owned()];
        let error = Wanted::new(&ModelOptions { consistency_models, ..ModelOptions::default() });
        let error = error.expect_err(model);
        assert!(error.contains("transactions are not checked for it"), "{error}");
    }
}

#[test]
fn where_only_real_time_was_looked_at_nothing_is_said_of_process_order() {
    let survives =
        |anomaly| ruled_out([anomaly], Orders { process: false, realtime: true }).survives;
    assert!(!survives("G2-item-realtime").iter().any(|model| model.contains("session")));
    assert!(!survives("G-single-item").iter().any(|model| model == "prefix"));
}
