//! Histories with faults that acted, did nothing, or were not healed.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};

use super::*;
use crate::checker::text::{history, merge, record};
use crate::cluster::{
    Action, Check, Clock, Effect, FaultId, Form, Link, MessageRule, MessageSeen, Proof,
    SessionPick, Side, Tap, Toxic,
};
use crate::nemesis::{Deed, Phase};
use crate::op::Event;

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

fn named(fault: &str) -> NamedNemesis {
    NamedNemesis { fault: fault.into(), target: "leader".into(), ..NamedNemesis::default() }
}

fn check(work: &History, records: Vec<Event>, expected: Expect) {
    let summaries = coverage(&merge(work, records), &[named("storm")]).summaries;
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
        expect![
            "installed felt ×1-0 f1 was never ended (`stormglass heal` takes back what is left)"
        ],
    );
    let mut crashed = fault(vec![done(cut(), true, None)], None);
    crashed.truncate(1);
    check(
        &work(""),
        crashed,
        expect![
            "×1-0 it was begun and nothing is known of it; f1 was never ended (`stormglass heal` takes back what is left)"
        ],
    );
}

#[test]
fn nemeses_that_nobody_named_are_summarised_by_their_nodes() {
    let history = merge(&work(""), healed_cut(3));
    let summaries = coverage(&history, &[]).summaries;
    assert_eq!(summaries.len(), 1);
    assert_eq!((&*summaries[0].fault, &*summaries[0].target), ("storm", "n1"));
    let two = ["storm", "kill"].map(named);
    let summaries = coverage(&history, &two).summaries;
    let names: Vec<String> = summaries.into_iter().map(|summary| summary.fault).collect();
    assert_eq!(names, ["storm", "kill"]);
}

fn interpose(effect: Effect) -> Action {
    let (side, port, peers) = (Side::Inbound, 2181, BTreeSet::new());
    let tap = Tap { node: "n1".into(), side, port, peers };
    Action::Interpose { fault: FAULT, taps: BTreeSet::from([tap]), effect }
}

fn message(form: Form) -> Action {
    let pattern = "zookeeper set /sg/*".parse().expect("a pattern");
    interpose(Effect::Message(MessageRule { pattern, form, nth: 1, times: None, delay: None }))
}

fn hit() -> Event {
    let message = MessageSeen {
        request: "set /sg/r/1".into(),
        subject: None,
        reply: None,
        applied: true,
        connection: String::new(),
        form: Form::Hold,
        nth: 1,
    };
    let (fault, node, happened) = (FAULT, "n1".into(), 0);
    record(104.0, "storm", &FaultRecord::Hit { fault, node, sender: None, message, happened })
}

/// The four figures of the only cell, and what had to be healed.
fn cell(work: &History, records: Vec<Event>) -> String {
    let cells = coverage(&merge(work, records), &[named("storm")]).cells;
    assert_eq!(cells.len(), 1, "{cells:?}");
    let CoverageCell { role, begun, installed, felt, lasting, healed, .. } = &cells[0];
    format!("{role} {begun} {installed} {felt} {healed}/{lasting}")
}

/// What this action gives when proven, with so many packets counted at its end.
fn acted(action: Action, packets: Option<u64>) -> Vec<Event> {
    match action.undo() {
        Some(undo) => fault(vec![done(action, true, None)], Some(vec![done(undo, true, packets)])),
        None => fault(vec![done(action, true, packets)], Some(Vec::new())),
    }
}

#[test]
fn every_kind_of_action_has_its_own_evidence() {
    let node = || "n1".into();
    let links = || BTreeSet::from([Link { from: "n1".into(), to: "n2".into() }]);
    let wall = |by_ns| Action::Skew { node: node(), clock: Clock::Wall, by_ns };
    let (quiet, lost) = (work(""), work("99.9 0@n1 invoke read nil\n105 0@n1 info read nil"));
    let throttle = || Action::Throttle { fault: FAULT, links: links(), bytes_per_second: 9 };
    let sever = || Action::Sever { links: links(), port: None };
    let reset = || interpose(Effect::Toxic(Toxic::Reset { after_bytes: 0 }));
    for (action, packets, work, expected) in [
        // Felt by themselves.
        (kill(), None, &quiet, "n 1 1 1 1/1"),
        (Action::Stop { node: node() }, None, &quiet, "n 1 1 1 1/1"),
        (Action::Crash { node: node() }, None, &quiet, "n 1 1 1 0/0"),
        (
            Action::Expire { node: node(), session: SessionPick::Nth(0) },
            None,
            &quiet,
            "n 1 1 1 0/0",
        ),
        // By what was counted, or else by operations.
        (cut(), Some(3), &quiet, "n 1 1 1 1/1"),
        (cut(), Some(0), &quiet, "n 1 1 0 1/1"),
        (cut(), Some(0), &lost, "n 1 1 1 1/1"),
        (throttle(), Some(3), &quiet, "n 1 1 1 1/1"),
        (throttle(), Some(0), &quiet, "n 1 1 0 1/1"),
        (throttle(), None, &lost, "n 1 1 1 1/1"),
        (reset(), Some(3), &quiet, "n 1 1 1 1/1"),
        (reset(), None, &quiet, "n 1 1 0 1/1"),
        (sever(), Some(2), &quiet, "n 1 1 1 0/0"),
        (sever(), Some(0), &quiet, "n 1 1 0 0/0"),
        (sever(), Some(0), &lost, "n 1 1 1 0/0"),
        // By operations alone.
        (Action::Pause { node: node() }, None, &quiet, "n 1 1 0 1/1"),
        (Action::Pause { node: node() }, None, &lost, "n 1 1 1 1/1"),
        // By what was counted alone: other faults may have lost that operation.
        (message(Form::Hold), Some(1), &quiet, "n 1 1 1 1/1"),
        (message(Form::Hold), Some(0), &lost, "n 1 1 0 1/1"),
        (message(Form::Watch), Some(9), &lost, "n 1 1 0 1/1"),
        (wall(7), Some(5), &quiet, "n 1 1 1 1/1"),
        (wall(7), Some(0), &lost, "n 1 1 0 1/1"),
        // Where readings are not counted, the proof has read the clock where it stood.
        (wall(7), None, &quiet, "n 1 1 1 1/1"),
    ] {
        let told = format!("{action:?} {packets:?}");
        assert_eq!(cell(work, acted(action, packets)), expected, "{told}");
    }
}

#[test]
fn a_hit_is_felt_before_anything_is_taken_back() {
    let mut records = fault(vec![done(message(Form::Hold), true, None)], None);
    records.push(hit());
    assert_eq!(cell(&work(""), records), "n 1 1 1 0/1");
}

#[test]
fn an_unproven_installation_and_an_unproven_heal_are_not_counted() {
    let undo = || cut().undo().expect("lasting");
    let healed = || Some(vec![done(undo(), true, Some(3))]);
    for (began, ended, expected) in [
        (vec![doubtful(cut())], healed(), "n 1 0 0 1/1"),
        (vec![done(cut(), false, None)], healed(), "n 1 0 0 1/1"),
        (vec![done(cut(), true, None)], None, "n 1 1 0 0/1"),
        (vec![done(cut(), true, None)], Some(vec![doubtful(undo())]), "n 1 1 0 0/1"),
        (vec![not_done(kill())], Some(vec![]), "n 1 0 0 0/0"),
    ] {
        assert_eq!(cell(&work(""), fault(began, ended)), expected);
    }
}

#[test]
fn momentary_faults_need_no_heal_even_if_their_end_is_not_told() {
    let crash = Action::Crash { node: "n1".into() };
    let summary = |records| {
        let summaries = coverage(&merge(&work(""), records), &[named("storm")]).summaries;
        (summaries[0].healed, summaries[0].momentary)
    };
    assert_eq!(summary(fault(vec![done(crash.clone(), true, None)], None)), (true, true));
    let mut lost = fault(vec![done(crash, true, None)], None);
    lost.truncate(1);
    assert_eq!(summary(lost), (true, false));
    assert_eq!(summary(acted(cut(), Some(3))), (true, false));
}

#[test]
fn cells_tell_in_which_phase_something_happened() {
    let mut records = acted(cut(), Some(3));
    for (at, phase) in [(0.0, Phase::Main), (105.0, Phase::Heal), (120.0, Phase::Recover)] {
        records.push(record(at, "phase", &FaultRecord::Phase { phase }));
    }
    let cells = coverage(&merge(&work(""), records), &[named("storm")]).cells;
    let told: Vec<_> =
        cells.iter().map(|cell| (cell.phase, cell.begun, cell.felt, cell.healed)).collect();
    assert_eq!(told, [(Phase::Main, 1, 1, 0), (Phase::Heal, 0, 0, 1)]);
}

#[test]
fn a_fault_on_two_roles_is_felt_where_it_was_felt() {
    let pause = |node: &str| Action::Pause { node: node.into() };
    let deeds = |change: fn(Action) -> Action| {
        ["n1", "store7"].map(|node| done(change(pause(node)), true, None)).to_vec()
    };
    let mut records =
        fault(deeds(|action| action), Some(deeds(|action| action.undo().expect("lasting"))));
    let targets = vec!["n1".into(), "store7".into()];
    let actions = vec![pause("n1"), pause("store7")];
    records[0] = record(99.9, "storm", &FaultRecord::Begin { fault: FAULT, targets, actions });
    let work = work("101 0@n1 invoke read nil\n105 0@n1 info read nil");
    let cells = coverage(&merge(&work, records), &[named("storm")]).cells;
    let told: Vec<_> = cells.iter().map(|cell| (&*cell.role, cell.installed, cell.felt)).collect();
    assert_eq!(told, [("n", 1, 1), ("store", 1, 0)]);
}

#[test]
fn what_never_began_has_a_cell_of_zeros_and_reasons() {
    let skipped = |why: &str| {
        record(100.0, "storm", &FaultRecord::Skipped { fault: FAULT, why: why.to_owned() })
    };
    let records =
        vec![skipped("no leader"), skipped("this world has no clocks"), skipped("no leader")];
    assert_eq!(cell(&work(""), records.clone()), " 0 0 0 0/0");
    let told = coverage(&merge(&work(""), records), &[named("storm")]).skipped;
    let told: Vec<_> = told.iter().map(|skipped| (&*skipped.why, skipped.times)).collect();
    assert_eq!(told, [("no leader", 2), ("this world has no clocks", 1)]);
}
