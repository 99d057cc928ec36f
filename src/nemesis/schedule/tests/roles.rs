//! Loops and triggers in clusters of several services.

use super::*;
use crate::op::{Hop, Route};

/// A view in which nodes of several services lead.
fn seen_of(time: Nanos, leaders: &[(Role, &str, u64)]) -> Event {
    let node = |(role, name, epoch): &(Role, &str, u64)| {
        let serving = NodeView::new(*role, NodeState::Serving, "");
        ((*name).into(), NodeView { leads: true, epoch: Some(*epoch), ..serving })
    };
    told(time, &FaultRecord::View { view: View { nodes: leaders.iter().map(node).collect() } })
}

#[test]
fn a_loop_hits_leaders_of_its_role_and_of_no_other() {
    let controllers = "leader:controller".parse().expect("a target");
    let mut schedule = schedule(&[Fault { target: Some(controllers), ..paced(6, 60) }], &[], 600);
    let others = [(Role::Zookeeper, "zookeeper1", 9), (Role::Kvrocks, "kvrocks1", 99)];
    schedule.observe(&seen_of(SECOND, &others));
    assert_eq!(schedule.next(SECOND), Due::Wait(None));
    let with = [others[0], others[1], (Role::Controller, "controller2", 3)];
    schedule.observe(&seen_of(2 * SECOND, &with));
    assert_eq!(strike(&mut schedule, 2 * SECOND), (10, 12));
    let cause = schedule.take_cause(0).expect("a cause");
    assert_eq!(cause.by, "controller2 leads in epoch 3");
    assert_eq!(cause.node, Some("controller2".into()));
}

#[test]
fn a_change_of_the_leader_is_one_of_the_role_that_is_meant() {
    let view = |node: Option<&str>| When {
        view: Some(ViewChange::Leader),
        node: node.map(|node| node.parse().expect("a target")),
        ..When::default()
    };
    let fires = |node: Option<&str>, before, after| {
        let mut schedule = schedule(&[when(view(node), 1)], &[], 60);
        schedule.observe(&seen_of(SECOND, before));
        schedule.observe(&seen_of(2 * SECOND, after));
        let due = schedule.next(2 * SECOND);
        (due == Due::Do(Step::Begin { fault: 0 })).then(|| schedule.take_cause(0)?.node)
    };
    let (zookeeper, kvrocks) = (Role::Zookeeper, Role::Kvrocks);
    let first = [(zookeeper, "zookeeper1", 1), (kvrocks, "kvrocks1", 5)];
    let elected = [(zookeeper, "zookeeper2", 2), (kvrocks, "kvrocks1", 5)];
    let promoted = [(zookeeper, "zookeeper1", 1), (kvrocks, "kvrocks2", 6)];
    let versioned = [(zookeeper, "zookeeper1", 1), (kvrocks, "kvrocks1", 6)];
    assert_eq!(fires(None, &first, &elected), Some(Some("zookeeper2".into())));
    assert_eq!(fires(None, &first, &promoted), None, "a master is no leader of the workload");
    assert_eq!(fires(Some("kvrocks"), &first, &elected), None);
    assert_eq!(fires(Some("kvrocks"), &first, &promoted), Some(Some("kvrocks2".into())));
    assert_eq!(fires(Some("kvrocks"), &first, &versioned), None, "the same master");
    assert_eq!(fires(Some("kvrocks1"), &first, &promoted), None, "another node");
}

#[test]
fn who_answered_an_operation_is_who_it_was_seen_at() {
    let waits = When { outcome: Some(Kind::Ok), ..When::default() };
    let mut schedule = schedule(&[when(waits, 1)], &[], 60);
    let hop = |node: &str| Hop { node: node.into(), said: "ok".into(), after_us: 1 };
    let route = Route { hops: vec![hop("kvrocks1"), hop("kvrocks3")], slot: Some(1) };
    let answered = Event::new(Kind::Ok, Process::Client(0), "read");
    let event = |route| Event { node: Some("kvrocks1".into()), route, ..answered.clone() };
    schedule.observe(&event(Some(Box::new(route))));
    assert_eq!(schedule.next(0), Due::Do(Step::Begin { fault: 0 }));
    assert_eq!(schedule.take_cause(0).and_then(|cause| cause.node), Some("kvrocks3".into()));
}
