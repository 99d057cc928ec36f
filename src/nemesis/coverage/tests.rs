//! Histories with faults that acted, did nothing, or were not healed.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};

use super::*;
use crate::checker::text::{history, merge, record};
use crate::cluster::{Check, Link};

const FAULT: FaultId = FaultId(1);

fn cut() -> Action {
    let link = Link { from: "n1".into(), to: "n2".into() };
    Action::Cut { fault: FAULT, links: BTreeSet::from([link]), manner: Default::default() }
}

fn kill() -> Action {
    Action::Kill { node: "n1".into() }
}

/// Done; the proof's only check holds or not, and so many packets matched.
fn done(action: Action, holds: bool, packets: Option<u64>) -> Deed {
    let check =
        Check { what: "n1".to_owned(), expected: "gone".to_owned(), seen: String::new(), holds };
    let proof = Proof { checks: vec![check], packets, took_us: 5 };
    Deed { action, outcome: Applied::Installed { proof } }
}

fn not_done(action: Action) -> Deed {
    Deed { action, outcome: Applied::Skipped { why: "n1 is down".to_owned() } }
}

fn doubtful(action: Action) -> Deed {
    let why = "the probe timed out".to_owned();
    Deed { action, outcome: Applied::Indeterminate { why, proof: None } }
}

/// A fault on n1 from 100 s to 110 s with these deeds.
fn fault(began: Vec<Deed>, ended: Option<Vec<Deed>>) -> Vec<Event> {
    let actions: Vec<Action> = began.iter().map(|deed| deed.action.clone()).collect();
    let begin = FaultRecord::Begin { fault: FAULT, targets: vec!["n1".into()], actions };
    let mut events = vec![
        record(99.9, "storm", &begin),
        record(100.0, "storm", &FaultRecord::Began { fault: FAULT, deeds: began }),
    ];
    if let Some(deeds) = ended {
        let end = FaultRecord::End { fault: FAULT, actions: Vec::new() };
        events.push(record(110.0, "storm", &end));
        events.push(record(110.1, "storm", &FaultRecord::Ended { fault: FAULT, deeds }));
    }
    events
}

/// Thirty ordinary reads of 10 ms on n1 and failing compare-and-sets, then this work.
fn work(then: &str) -> History {
    let mut text = String::new();
    for second in 0..30 {
        text += &format!("{second} 0@n1 invoke read nil\n{second}.01 0@n1 ok read nil\n");
        text += &format!("{second} 1@n2 invoke cas 1>2\n{second}.01 1@n2 fail cas 1>2\n");
    }
    history(&(text + then))
}

fn check(work: &History, records: Vec<Event>, expected: Expect) {
    let named = [NamedNemesis { fault: "storm".to_owned(), target: "leader".to_owned() }];
    let summaries = coverage(&merge(work, records), &named);
    assert_eq!(summaries.len(), 1);
    let FaultSummary { installed, felt, healed, times, skipped, why, .. } = &summaries[0];
    let flags = [(installed, "installed"), (felt, "felt"), (healed, "healed")];
    let flags: Vec<&str> = flags.iter().filter(|(flag, _)| **flag).map(|(_, name)| *name).collect();
    let told = format!("{} ×{times}-{skipped} {why}", flags.join(" "));
    expected.assert_eq(told.trim());
}

fn healed_cut(packets: u64) -> Vec<Event> {
    fault(
        vec![done(cut(), true, None)],
        Some(vec![done(cut().undo().unwrap(), true, Some(packets))]),
    )
}

#[test]
fn matched_packets_are_felt() {
    check(&work(""), healed_cut(3), expect!["installed felt healed ×1-0"]);
    check(
        &work(""),
        healed_cut(0),
        expect!["installed healed ×1-0 no operation of the workload felt it"],
    );
}

#[test]
fn operations_on_the_target_feel_it_when_delayed_failed_or_lost() {
    let felt = || expect!["installed felt healed ×1-0"];
    for then in [
        "101 0@n1 invoke read nil\n101.051 0@n1 ok read nil",
        "101 0@n1 invoke read nil\n101.001 0@n1 fail read nil",
        "101 0@n1 invoke read nil\n105 0@n1 info read nil",
        "101 0@n1 invoke write 1",
        "99 0@n1 invoke read nil\n100.1 0@n1 ok read nil",
    ] {
        check(&work(then), healed_cut(0), felt());
    }
    let unfelt = || expect!["installed healed ×1-0 no operation of the workload felt it"];
    for then in [
        // Hardly slower than usual.
        "101 0@n1 invoke read nil\n101.049 0@n1 ok read nil",
        // It fails without a fault, too.
        "101 0@n1 invoke cas 1>2\n101.001 0@n1 fail cas 1>2",
        // Not on the target.
        "101 1@n2 invoke read nil\n105 1@n2 info read nil",
        // Not while in force.
        "120 0@n1 invoke read nil\n125 0@n1 info read nil",
        "90 0@n1 invoke read nil\n95 0@n1 fail read nil",
    ] {
        check(&work(then), healed_cut(0), unfelt());
    }
}

#[test]
fn a_proven_kill_is_felt_by_the_process_itself() {
    let killed =
        fault(vec![done(kill(), true, None)], Some(vec![done(kill().undo().unwrap(), true, None)]));
    check(&work(""), killed, expect!["installed felt healed ×1-0"]);
}

#[test]
fn what_was_skipped_or_never_begun_is_not_installed() {
    let skipped = FaultRecord::Skipped { fault: FAULT, why: "no leader".to_owned() };
    check(
        &work(""),
        vec![record(100.0, "storm", &skipped), record(101.0, "storm", &skipped)],
        expect!["healed ×0-2 every time skipped: no leader"],
    );
    check(
        &work(""),
        fault(vec![not_done(kill())], Some(Vec::new())),
        expect!["healed ×1-0 every time skipped: n1 is down"],
    );
    check(&work(""), Vec::new(), expect!["healed ×0-0 it was never begun"]);
}

#[test]
fn doubts_about_the_installation_are_told() {
    let undone = || Some(vec![done(cut().undo().unwrap(), true, Some(3))]);
    check(
        &work(""),
        fault(vec![doubtful(cut())], undone()),
        expect!["healed ×1-0 cut is indeterminate: the probe timed out"],
    );
    check(
        &work(""),
        fault(vec![done(cut(), false, None)], undone()),
        expect!["healed ×1-0 the proof of cut does not hold"],
    );
}

#[test]
fn a_heal_that_is_not_proven_is_told() {
    for ended in [
        Vec::new(),
        vec![doubtful(cut().undo().unwrap())],
        vec![not_done(cut().undo().unwrap())],
        vec![done(cut().undo().unwrap(), false, Some(3))],
    ] {
        let packets = fault(vec![done(cut(), true, None)], Some(ended));
        let lost = work("101 0@n1 invoke read nil\n105 0@n1 info read nil");
        check(&lost, packets, expect!["installed felt ×1-0 f1: the undoing of cut is not proven"]);
    }
    check(
        &work(""),
        fault(vec![done(kill(), true, None)], None),
        expect!["installed felt ×1-0 f1 was never ended"],
    );
    let mut crashed = fault(vec![done(cut(), true, None)], None);
    crashed.truncate(1);
    check(
        &work(""),
        crashed,
        expect!["×1-0 it was begun and nothing is known of it; f1 was never ended"],
    );
}

#[test]
fn nemeses_that_nobody_named_are_summarised_by_their_nodes() {
    let history = merge(&work(""), healed_cut(3));
    let summaries = coverage(&history, &[]);
    assert_eq!(summaries.len(), 1);
    assert_eq!((&*summaries[0].fault, &*summaries[0].target), ("storm", "n1"));
    let two = ["storm", "kill"]
        .map(|fault| NamedNemesis { fault: fault.to_owned(), target: "one".to_owned() });
    let names: Vec<String> = coverage(&history, &two).into_iter().map(|s| s.fault).collect();
    assert_eq!(names, ["storm", "kill"]);
}
