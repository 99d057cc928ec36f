//! Every row of the verdict table, and what wins when several hold.

use std::collections::BTreeMap;

use super::*;
use crate::nemesis::{FailoverLoop, Pacing};

fn anomaly(kind: &str) -> Anomaly {
    Anomaly {
        kind: kind.to_owned(),
        summary: format!("a {kind} happened"),
        details: Vec::new(),
        key: None,
        nodes: Vec::new(),
        ops: Vec::new(),
        from: 0,
        to: 0,
        faults: None,
        cycle: None,
    }
}

fn finding(verdict: Verdict, kinds: &[&str]) -> Finding {
    Finding {
        name: "linearizability".to_owned(),
        verdict,
        why: "because".to_owned(),
        anomalies: kinds.iter().map(|kind| anomaly(kind)).collect(),
        figures: BTreeMap::new(),
        consistency: None,
        keys: None,
    }
}

/// `installed`, `felt` and `healed` as letters.
fn fault(flags: &str) -> FaultSummary {
    FaultSummary {
        fault: "kill".to_owned(),
        target: "leader".to_owned(),
        installed: flags.contains('i'),
        felt: flags.contains('f'),
        healed: flags.contains('h'),
        momentary: false,
        times: 1,
        skipped: 0,
        why: "no packet matched".to_owned(),
    }
}

/// One row: the case in letters, and what must come of it.
///
/// `v`alid, `u`nknown findings; anomalies by name; `H`arness error; `I`nterrupted; `x:kind`
/// expected.
fn row(world: World, words: &str, flags: &str) -> Judgement {
    let mut kinds = Vec::new();
    let mut expectations = Vec::new();
    let mut harness = Vec::new();
    let (mut verdict, mut interrupted) = (Verdict::Valid, false);
    for word in words.split_whitespace() {
        match word {
            "v" => verdict = verdict.max(Verdict::Valid),
            "u" => verdict = verdict.max(Verdict::Unknown),
            "H" => harness.push("image missing".to_owned()),
            "I" => interrupted = true,
            _ => match word.strip_prefix("x:") {
                Some(kind) => expectations.push(Expectation {
                    nemesis: None,
                    variant: None,
                    image: None,
                    world: None,
                    anomaly: kind.to_owned(),
                }),
                None => kinds.push(word),
            },
        }
    }
    if !kinds.is_empty() {
        verdict = Verdict::Invalid;
    }
    let (variants, images) = (BTreeMap::new(), BTreeMap::new());
    judge(&Case {
        findings: &[finding(verdict, &kinds)],
        faults: &[fault(flags)],
        failovers: None,
        harness: &harness,
        interrupted,
        expectations: &expectations,
        identity: &Identity { world, nemeses: vec!["kill".to_owned()], variants, images },
    })
}

#[test]
fn every_row_of_the_table_and_the_precedence_between_rows() {
    // words, flags of the fault, verdict, exit in sim, exit in docker
    for (words, flags, verdict, sim, docker) in [
        ("v", "ifh", "valid", 0, 0),
        ("stale-read", "ifh", "invalid", 1, 1),
        ("u", "ifh", "unknown", 2, 2),
        ("v", "ih", "unknown", 2, 2),
        ("v", "h", "unknown", 2, 2),
        ("v H", "ifh", "infrastructure", 3, 3),
        ("v", "if", "infrastructure", 3, 3),
        ("v I", "ifh", "unknown", 130, 130),
        // Precedence: 130, 1, 3, 2.
        ("stale-read I H", "i", "invalid", 130, 130),
        ("u I H", "i", "infrastructure", 130, 130),
        ("stale-read H", "i", "invalid", 1, 1),
        ("u H", "h", "infrastructure", 3, 3),
        // Expected and found.
        ("stale-read x:stale-read", "ifh", "invalid", 0, 0),
        ("stale-read x:nonlinearizable", "ifh", "invalid", 0, 0),
        ("stale-read stale-read x:stale-read", "ifh", "invalid", 0, 0),
        ("split-brain lost-write stale-read x:split-brain", "ifh", "invalid", 0, 0),
        ("lost-write stale-read x:split-brain", "ifh", "invalid", 1, 1),
        ("split-brain no-recovery x:split-brain", "ifh", "invalid", 1, 1),
        ("stale-read H x:stale-read", "i", "invalid", 0, 0),
        ("stale-read I x:stale-read", "ifh", "invalid", 130, 130),
        // Missed.
        ("v x:stale-read", "ifh", "valid", 1, 2),
        ("u x:stale-read", "ih", "unknown", 1, 2),
        ("v H x:stale-read", "ifh", "infrastructure", 3, 3),
        // Another anomaly, alone or beside the expected one.
        ("no-recovery x:stale-read", "ifh", "invalid", 1, 1),
        ("stale-read no-recovery x:stale-read", "ifh", "invalid", 1, 1),
        ("nonlinearizable x:stale-read", "ifh", "invalid", 1, 1),
        // An exception.
        ("stale-read x:none", "ifh", "invalid", 1, 1),
        ("v x:none", "ifh", "valid", 0, 0),
    ] {
        for (world, exit_code) in [(World::Sim, sim), (World::Docker, docker)] {
            let judgement = row(world, words, flags);
            let found = (judgement.verdict, judgement.exit_code);
            assert_eq!(found, (verdict, exit_code), "{words} / {flags} / {}", world.name());
            assert!(!judgement.why.is_empty(), "{words}");
        }
    }
}

#[test]
fn the_expectation_is_reported_as_found_or_not() {
    let expected = |words| row(World::Sim, words, "ifh").expected.map(|e| (e.anomaly, e.found));
    let stale = "stale-read".to_owned();
    assert_eq!(expected("stale-read x:stale-read"), Some((stale.clone(), true)));
    assert_eq!(expected("no-recovery x:stale-read"), Some((stale.clone(), false)));
    assert_eq!(expected("stale-read no-recovery x:stale-read"), Some((stale, true)));
    assert_eq!(expected("stale-read"), None);
    assert_eq!(expected("stale-read x:none"), None);
}

#[test]
fn the_sentence_names_what_decided() {
    let why = |words, flags| row(World::Sim, words, flags).why;
    assert_eq!(why("v", "ifh"), "linearizability passed; kill acted and healed");
    assert_eq!(why("stale-read", "ifh"), "a stale-read happened");
    assert_eq!(why("u", "ih"), "linearizability: because; kill did not act: no packet matched");
    assert_eq!(why("v", "if"), "the heal of kill is not proven: no packet matched");
    assert_eq!(
        why("stale-read lost-write H", "ifh"),
        "a stale-read happened (and 1 more); besides, the harness broke: image missing"
    );
    assert_eq!(
        why("stale-read no-recovery x:stale-read", "ifh"),
        "not the expected stale-read: a no-recovery happened"
    );
    assert_eq!(
        why("v x:stale-read", "ifh"),
        "the expected stale-read was not found; linearizability passed; kill acted and healed"
    );
}

#[test]
fn a_run_without_findings_is_unknown() {
    let identity = Identity {
        world: World::Sim,
        nemeses: Vec::new(),
        variants: BTreeMap::new(),
        images: BTreeMap::new(),
    };
    let case = Case {
        findings: &[],
        faults: &[],
        failovers: None,
        harness: &[],
        interrupted: false,
        expectations: &[],
        identity: &identity,
    };
    assert_eq!((judge(&case).verdict, judge(&case).exit_code), ("unknown", 2));
}

#[test]
fn a_loop_that_finished_nothing_leaves_the_run_undecided_and_one_off_its_pace_does_not() {
    for (begun, finished, verdict, pacing) in [
        (7, 0, "unknown", Pacing::TooSlow),
        (7, 1, "valid", Pacing::TooSlow),
        (7, 7, "valid", Pacing::TooFast),
        // Whether it was begun at all is asked of the fault's summary.
        (0, 0, "valid", Pacing::TooSlow),
    ] {
        let paced = FailoverLoop {
            nemesis: "failover-loop".to_owned(),
            role: None,
            target: 6,
            at_least: 4,
            at_most: 8,
            begun,
            finished,
            reached_per_minute: 0.5,
            failover_ms: None,
            verdict: pacing,
            words: String::new(),
        };
        let failovers = Failovers { loops: vec![paced], ..Failovers::default() };
        let (variants, images) = (BTreeMap::new(), BTreeMap::new());
        let nemeses = vec!["failover-loop".to_owned()];
        let judgement = judge(&Case {
            findings: &[finding(Verdict::Valid, &[])],
            faults: &[fault("ifh")],
            failovers: Some(&failovers),
            harness: &[],
            interrupted: false,
            expectations: &[],
            identity: &Identity { world: World::Sim, nemeses, variants, images },
        });
        assert_eq!(judgement.verdict, verdict, "{begun} {finished}");
        if verdict == "unknown" {
            assert_eq!(judgement.why, "failover-loop: no failover finished in 7 begun");
        }
    }
}
