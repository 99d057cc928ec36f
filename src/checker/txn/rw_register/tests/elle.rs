//! What Elle's own tests of registers state: the anomalies by name, and the weakest models they rule out.

use super::*;
use crate::checker::txn::consistency::weaker;

struct Example {
    history: &'static str,
    options: serde_json::Value,
    verdict: &'static str,
    kinds: &'static [&'static str],
    /// The weakest models that are not satisfied.
    not: &'static [&'static str],
}

const G1B: &str = "0 ok wx1 wx2\n0 ok rx1";
const G1C: &str = "0 ok wx1 ry1\n0 ok wy1 rx1";
const G2: &str = "0 invoke rx_ ry_\n0 ok rx1 ry1\n1 invoke rx_ wy2\n2 invoke ry_ wx2\n2 ok ry1 wx2\n\
                  1 ok rx1 wy2";
const WFR: &str = "0 ok ry1 wx1 wy2\n0 ok rx1 ry1";

fn examples() -> Vec<Example> {
    let example = |history, options: &str, verdict, kinds, not| Example {
        history,
        options: serde_json::from_str(options).expect(options),
        verdict,
        kinds,
        not,
    };
    vec![
        example(
            "0 invoke wx1\n0 ok wx1\n0 invoke rx_\n0 ok rx2\n0 invoke rx_\n0 ok rx1",
            r#"{"linearizable_keys": true}"#,
            "invalid",
            &["cyclic-versions"],
            &["read-uncommitted"],
        ),
        example(
            "0 ok rx1\n0 fail wx1",
            r#"{"anomalies": ["G1"]}"#,
            "invalid",
            &["G1a"],
            &["read-committed"],
        ),
        example(G1B, r#"{"anomalies": ["G0"]}"#, "unknown", &[], &["read-committed"]),
        example(G1B, r#"{"anomalies": ["G1"]}"#, "invalid", &["G1b"], &["read-committed"]),
        example(
            G1B,
            r#"{"consistency_models": ["repeatable-read"]}"#,
            "invalid",
            &["G1b"],
            &["read-committed"],
        ),
        example(G1C, r#"{"anomalies": ["G2"]}"#, "valid", &[], &["read-committed"]),
        example(
            G1C,
            r#"{"consistency_models": ["serializable"]}"#,
            "invalid",
            &["G1c"],
            &["read-committed"],
        ),
        example(
            G2,
            r#"{"anomalies": ["G2"], "linearizable_keys": true}"#,
            "invalid",
            &["G2-item"],
            &["repeatable-read"],
        ),
        example(
            "0 ok rx1 rx2",
            r#"{"anomalies": ["internal"]}"#,
            "invalid",
            &["internal"],
            &["read-atomic", "snapshot-isolation"],
        ),
        example(WFR, r#"{"consistency_models": ["serializable"]}"#, "valid", &[], &[]),
        example(
            WFR,
            r#"{"consistency_models": ["serializable"], "wfr_keys": true}"#,
            "invalid",
            &["G-single-item"],
            &["consistent-view", "repeatable-read"],
        ),
        example(
            "0 invoke wx1\n0 ok wx1\n0 invoke wx2\n0 ok wx2\n0 invoke rx_\n0 ok rx1",
            r#"{"sequential_keys": true}"#,
            "invalid",
            &["cyclic-versions"],
            &["read-uncommitted"],
        ),
    ]
}

/// Those of the models that no other of them is weaker than.
fn weakest(violates: &[String]) -> Vec<&str> {
    let is_weakest = |model: &&String| {
        !weaker(model).iter().skip(1).any(|other| violates.iter().any(|model| model == other))
    };
    let mut weakest: Vec<&str> = violates.iter().filter(is_weakest).map(String::as_str).collect();
    weakest.sort_unstable();
    weakest
}

#[test]
fn anomalies_have_the_names_that_elle_gives_them() {
    for example in examples() {
        let finding = find(&history(example.history), &options(example.options.clone()));
        let context = format!("{} {}: {finding:#?}", example.options, example.history);
        let kinds: Vec<&str> =
            finding.anomalies.iter().map(|anomaly| anomaly.kind.as_str()).collect();
        assert_eq!(
            (finding.verdict.name(), &kinds[..]),
            (example.verdict, example.kinds),
            "{context}"
        );
        let violates = finding.consistency.map_or(Vec::new(), |consistency| consistency.violates);
        // Elle does not know the one, and has the other below snapshot isolation; here sessions count in both.
        let elles = |model: &&str| !["causal", "parallel-snapshot-isolation"].contains(model);
        let not: Vec<&str> = weakest(&violates).into_iter().filter(elles).collect();
        assert_eq!(not, example.not, "{context}");
    }
}

#[test]
fn an_update_is_lost_where_two_read_the_same_and_replaced_it() {
    let text = "0 invoke rx_ wx1\n0 ok rx0 wx1\n1 invoke rx_ wx2\n1 ok rx0 wx2";
    let finding = find(&history(text), &options(serde_json::json!({})));
    let violates = finding.consistency.expect("models").violates;
    assert_eq!(finding.anomalies[0].kind, "lost-update");
    assert!(["ROLA", "cursor-stability"].iter().all(|model| violates.contains(&model.to_string())));
    // Of one that is indeterminate nobody knows whether it was.
    let text = text.replace("1 ok", "1 info");
    assert_ne!(find(&history(&text), &options(serde_json::json!({}))).verdict, Verdict::Invalid);
}
