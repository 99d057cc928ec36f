//! Runs that recover, do not, or end too early to tell.

use expect_test::{Expect, expect};

use super::*;
use crate::checker::text::{history, merge, record};
use crate::cluster::NodeView;
use crate::op::Event;

fn view(seconds: f64, states: [NodeState; 2], leaders: [bool; 2]) -> Event {
    let nodes = ["n1", "n2"].into_iter().zip(states).zip(leaders);
    let nodes = nodes.map(|((name, state), leads)| {
        (
            name.into(),
            NodeView { leads, ..NodeView::new(Role::Zookeeper, state, "mode=…".to_owned()) },
        )
    });
    record(seconds, "view", &FaultRecord::View { view: View { nodes: nodes.collect() } })
}

fn healthy(seconds: f64) -> Event {
    view(seconds, [NodeState::Serving; 2], [true, false])
}

/// Recover begins at 10 s; the bound is 5 s.
fn check(work: &str, mut records: Vec<Event>, expected: Expect) {
    let phase = |seconds, phase| record(seconds, "phase", &FaultRecord::Phase { phase });
    records.extend([phase(0.0, Phase::Main), phase(9.0, Phase::Heal), phase(10.0, Phase::Recover)]);
    let history = merge(&history(work), records);
    let finding = Recovery { recover_within: 5 * SECOND, ..Recovery::default() }
        .finish(&history, &Budget::UNBOUNDED);
    let mut told = format!("{}: {}\n", finding.verdict.name(), finding.why);
    for anomaly in &finding.anomalies {
        told += &format!("{} {:?} {:?}\n", anomaly.kind, anomaly.nodes, anomaly.details);
    }
    expected.assert_eq(&told);
}

const BOTH: &str = "
    1 0@n1 invoke read nil
    2 0@n1 ok read nil
    11 0@n1 invoke read nil
    12 0@n1 ok read nil
    11 1@n2 invoke read nil
    13 1@n2 ok read nil
    20 1@n2 invoke read nil";

#[test]
fn a_healthy_view_and_an_ok_on_each_node_is_recovery() {
    check(
        BOTH,
        vec![view(10.5, [NodeState::Serving, NodeState::Down], [true, false]), healthy(11.0)],
        expect![[r#"
            valid: healthy 1.000 s after the heal, every node's clients had an ok after 3.000 s
        "#]],
    );
}

#[test]
fn no_healthy_view_in_time_is_no_recovery() {
    check(
        BOTH,
        vec![view(14.0, [NodeState::Serving, NodeState::Running], [false, false]), healthy(15.5)],
        expect![[r#"
            invalid: 5.000 s after every fault was healed, n2 was running without serving, no zookeeper led
            no-recovery ["n2"] ["n1: serving: mode=…", "n2: running without serving: mode=…"]
        "#]],
    );
}

#[test]
fn two_leaders_are_not_healthy() {
    check(
        BOTH,
        vec![view(14.0, [NodeState::Serving; 2], [true, true])],
        expect![[r#"
            invalid: 5.000 s after every fault was healed, n1 and n2 all claimed to lead
            no-recovery [] ["n1: serving, leading: mode=…", "n2: serving, leading: mode=…"]
        "#]],
    );
}

#[test]
fn an_operation_from_before_the_heal_proves_nothing() {
    check(
        "
        9.5 0@n1 invoke read nil
        10.5 0@n1 ok read nil
        11 1@n2 invoke read nil
        12 1@n2 ok read nil
        16 0@n1 invoke read nil
        16.1 0@n1 ok read nil",
        vec![healthy(11.0)],
        expect![[r#"
            invalid: 5.000 s after every fault was healed, clients of n1 got no ok
            no-recovery ["n1"] ["n1: serving, leading: mode=…", "n2: serving: mode=…"]
        "#]],
    );
}

#[test]
fn a_run_that_ended_before_the_bound_is_unknown() {
    check(
        "11 0@n1 invoke read nil\n12 0@n1 fail read nil",
        Vec::new(),
        expect![[r#"
            unknown: the run ended 2.000 s after the heal, and so far no view of the cluster was taken; clients of n1 got no ok
        "#]],
    );
}

#[test]
fn a_foreign_history_is_not_judged_and_an_unfinished_run_is_unknown() {
    let mut recovery = Recovery { recover_within: SECOND, ..Recovery::default() };
    let foreign = recovery.finish(&history(BOTH), &Budget::UNBOUNDED);
    assert_eq!(foreign.verdict, Verdict::Valid);
    assert_eq!(foreign.why, "not judged: the history marks no phases");
    let main = record(0.0, "phase", &FaultRecord::Phase { phase: Phase::Main });
    let unfinished = recovery.finish(&merge(&history(BOTH), vec![main]), &Budget::UNBOUNDED);
    assert_eq!(unfinished.verdict, Verdict::Unknown);
}
