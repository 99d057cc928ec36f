//! What several models asked for at once come to, and that no two answers contradict each other.

use super::random::{events, random};
use super::*;
use crate::checker::Consistency;
use crate::checker::txn::consistency::weaker;
use crate::rng::Rng;

fn asking(text: &str, models: &[&str]) -> Finding {
    find(&history(text), &options(serde_json::json!({"consistency_models": models})))
}

fn kinds(finding: &Finding) -> Vec<&str> {
    finding.anomalies.iter().map(|anomaly| anomaly.kind.as_str()).collect()
}

fn consistency(finding: &Finding) -> Consistency {
    finding.consistency.clone().unwrap_or_default()
}

fn violates(finding: &Finding, model: &str) -> bool {
    consistency(finding).violates.iter().any(|name| name == model)
}

/// Reads and sessions in a circle, and no circle without sessions.
const SESSIONS: &str = "0 ok ry1\n0 ok wx1\n1 ok rx1\n1 ok wy1";

#[test]
fn what_needs_session_order_rules_out_only_models_with_sessions() {
    let weak = asking(SESSIONS, &["read-committed"]);
    assert_eq!((weak.verdict, kinds(&weak)), (Verdict::Invalid, vec!["session-cycle"]));
    assert!(weak.why.contains("as AWDIT does, with the order of each session"), "{}", weak.why);
    assert!(violates(&weak, "strong-session-read-committed"));
    assert!(violates(&weak, "strict-serializable"));
    assert!(!violates(&weak, "serializable") && !violates(&weak, "read-committed"));
    let serial = asking(SESSIONS, &["serializable"]);
    assert_eq!(serial.verdict, Verdict::Valid);
    assert_eq!(consistency(&serial).survives, ["serializable"]);
    let session = asking(SESSIONS, &["strong-session-serializable"]);
    assert_eq!(session.verdict, Verdict::Invalid);
}

#[test]
fn of_several_models_the_worst_verdict_counts() {
    for models in [["read-committed", "serializable"], ["serializable", "read-committed"]] {
        let both = asking(SESSIONS, &models);
        assert_eq!((both.verdict, kinds(&both)), (Verdict::Invalid, vec!["session-cycle"]));
    }
    let fine = asking("0 ok wx1\n1 ok rx1", &["causal", "serializable"]);
    assert_eq!(fine.verdict, Verdict::Valid, "{}", fine.why);
    assert_eq!(consistency(&fine).survives, ["causal", "serializable"]);
}

#[test]
fn a_circle_of_reads_alone_is_told_as_one() {
    let finding = asking("0 ok wx1 ry1\n0 ok wy1 rx1", &["read-committed"]);
    assert_eq!(kinds(&finding), ["G1c"]);
    assert!(violates(&finding, "read-committed"));
    assert_eq!(consistency(&finding).survives, ["read-uncommitted"]);
    assert!(!finding.anomalies[0].details.join("\n").contains("process 0 did one"));
}

#[test]
fn what_is_trusted_counts_for_weak_levels_too() {
    let text = "0 ok wx1 wy2\n1 ok wx2 wy1\n0 ok rx2\n1 ok ry2";
    let json = serde_json::json!({"consistency_models": ["read-committed"], "transaction_order": "0 0, 1 1"});
    assert_eq!(find(&history(text), &options(json)).verdict, Verdict::Valid);
    let text = "0 invoke wx1 wy2\n0 ok wx1 wy2\n1 invoke wx2 wy1\n1 ok wx2 wy1\n0 invoke rx_\n0 ok rx2\n1 invoke ry_\n1 ok ry2";
    let json =
        serde_json::json!({"consistency_models": ["read-committed"], "sequential_keys": true});
    let finding = find(&history(text), &options(json));
    assert_eq!((finding.verdict, kinds(&finding)), (Verdict::Invalid, vec!["G0"]));
}

#[test]
fn an_index_of_no_transaction_is_refused() {
    let json = serde_json::json!({"transaction_order": "0 1, 9 0"});
    let finding = find(&history("0 ok wx1\n0 ok wx2"), &options(json));
    assert_eq!(finding.verdict, Verdict::Unknown);
    assert!(finding.why.contains("names event 9, and no transaction begins or ends there"));
}

const MODELS: [&str; 9] = [
    "read-committed",
    "read-atomic",
    "causal",
    "snapshot-isolation",
    "serializable",
    "strong-session-snapshot-isolation",
    "strong-session-serializable",
    "strong-snapshot-isolation",
    "strict-serializable",
];

#[test]
fn no_answer_contradicts_another_and_asking_for_more_is_never_better() {
    let seeds = if std::env::var_os("STORMGLASS_SEEDS").is_some() { 20_000 } else { 300 };
    for seed in 0..seeds {
        let history = events(&random(&mut Rng::from_seed(seed), true));
        let ask = |models: &[&str]| {
            find(&history, &options(serde_json::json!({"consistency_models": models})))
        };
        let alone = MODELS.map(|model| ask(&[model]));
        for (one, other) in alone.iter().flat_map(|one| alone.iter().map(move |other| (one, other)))
        {
            let (kept, broken) = (consistency(one).survives, consistency(other).violates);
            let held = kept.iter().flat_map(|model| weaker(model));
            let torn: Vec<&str> = held.filter(|model| broken.iter().any(|b| b == model)).collect();
            assert!(torn.is_empty(), "seed {seed}: {torn:?}\n{one:#?}\n{other:#?}\n{history:?}");
        }
        for (at, one) in MODELS.iter().enumerate() {
            let next = (at + 1 + seed as usize) % MODELS.len();
            let worst = alone[at].verdict.max(alone[next].verdict);
            let both = ask(&[one, MODELS[next]]);
            // Where nothing depends on anything more orders may say more.
            let invalid = [both.verdict, worst].map(|verdict| verdict == Verdict::Invalid);
            assert_eq!(invalid[0], invalid[1], "seed {seed}: {one}, {}\n{history:?}", MODELS[next]);
        }
    }
}
