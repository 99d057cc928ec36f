//! Whom faults of single nodes and links pick, and the actions that follow.

use super::*;
use crate::cluster::{Side, Tap};

fn aimed(kind: FaultKind, target: &str) -> Fault {
    let mut fault = Fault::new(kind);
    fault.target = Some(target.parse().expect("a target"));
    fault
}

/// As [`plan`], with these nodes down.
fn plan_without(fault: &Fault, nodes: usize, down: &[usize], seed: u64) -> Result<Plan, String> {
    let topology = topology(nodes);
    let mut view = view(&topology, Some(nodes));
    for number in down {
        view.nodes.get_mut(&node(*number)).expect("a node").state = NodeState::Down;
    }
    plan_at(fault, &topology, &view, seed)
}

#[test]
fn targets_pick_as_many_as_they_say_and_none_twice() {
    for nodes in 1..=9_usize {
        for (target, count) in [
            ("all", nodes),
            ("one", 1),
            ("minority", nodes.div_ceil(2) - 1),
            ("majority", nodes / 2 + 1),
            ("leader", 1),
            ("follower", usize::from(nodes > 1)),
            ("zookeeper", nodes),
            ("zookeeper1", 1),
        ] {
            for seed in 0..SEEDS {
                match plan(&aimed(FaultKind::Kill, target), nodes, Some(nodes), seed) {
                    Ok(plan) => {
                        let distinct: BTreeSet<_> = plan.targets.iter().collect();
                        assert_eq!((plan.targets.len(), distinct.len()), (count, count));
                        let kills = plan.targets.iter().map(|node| Action::Kill { node: *node });
                        assert_eq!(plan.actions, kills.collect::<Vec<_>>());
                    }
                    Err(why) => assert_eq!(count, 0, "{target} of {nodes}: {why}"),
                }
            }
        }
    }
}

#[test]
fn leader_and_follower_follow_the_view() {
    let kill = |target| aimed(FaultKind::Kill, target);
    assert_eq!(plan(&kill("leader"), 5, Some(4), 3).unwrap().targets, [node(4)]);
    assert_eq!(
        plan(&kill("leader"), 5, None, 3).unwrap_err(),
        "no zookeeper node claims to lead now"
    );
    let followers: BTreeSet<_> =
        (0..50).map(|seed| plan(&kill("follower"), 3, Some(2), seed).unwrap().targets[0]).collect();
    assert_eq!(followers, [node(1), node(3)].into());
    assert!(plan(&kill("nobody"), 5, None, 3).unwrap_err().contains("`nobody`"));
}

#[test]
fn processes_that_are_down_or_paused_are_left_alone() {
    let kinds = [
        FaultKind::Kill,
        FaultKind::Stop,
        FaultKind::Pause,
        FaultKind::Crash,
        FaultKind::ExpireSession,
    ];
    for kind in kinds {
        for seed in 0..SEEDS {
            let picked = plan_without(&aimed(kind, "one"), 3, &[1, 3], seed).unwrap();
            assert_eq!(picked.targets, [node(2)]);
        }
        assert_eq!(plan_without(&aimed(kind, "all"), 3, &[2], 1).unwrap().targets.len(), 2);
        let why = plan_without(&aimed(kind, "zookeeper2"), 3, &[2], 1).unwrap_err();
        assert_eq!(why, "zookeeper2 is down or paused already");
    }
    let isolate = fault("{ fault: partition, shape: isolate, target: zookeeper2 }");
    assert!(plan_without(&isolate, 3, &[2], 1).is_ok(), "a cut needs no process");
}

#[test]
fn a_process_that_another_fault_has_just_taken_is_not_picked() {
    let topology = topology(3);
    let held = with_held(
        &view(&topology, Some(1)),
        None,
        &[Action::Kill { node: node(1) }, Action::Pause { node: node(3) }],
    );
    for seed in 0..SEEDS {
        let pause = aimed(FaultKind::Pause, "one");
        let plan = plan_at(&pause, &topology, &held, seed);
        assert_eq!(plan.expect("one is left").targets, [node(2)]);
    }
    assert!(held.leaders(Role::Zookeeper).eq(&[node(1)]), "who leads is what was seen");
    let (before, after) = (view(&topology, Some(1)), view(&topology, None));
    let held = with_held(&after, Some(&before), &[Action::Kill { node: node(1) }]);
    assert!(held.leaders(Role::Zookeeper).eq(&[node(1)]), "also by a fault of the same event");
    let held = with_held(&after, Some(&before), &[]);
    assert_eq!(held.leaders(Role::Zookeeper).count(), 0, "nobody is held");
}

#[test]
fn clocks_jump_by_what_is_said_the_wall_clock_by_default() {
    let skew = |yaml: &str| plan(&fault(yaml), 3, Some(1), 1).unwrap().actions;
    assert_eq!(
        skew("{ fault: clock, target: leader, by: 60s }"),
        [Action::Skew { node: node(1), clock: Clock::Wall, by_ns: 60_000_000_000 }]
    );
    assert_eq!(
        skew("{ fault: clock, target: leader, by: -500ms, clock: monotonic }"),
        [Action::Skew { node: node(1), clock: Clock::Monotonic, by_ns: -500_000_000 }]
    );
}

#[test]
fn a_leader_resigns_by_losing_its_followers_and_not_its_clients() {
    let resign = Fault::new(FaultKind::Resign);
    let plan = plan(&resign, 3, Some(2), 1).unwrap();
    let links = links(&[
        ("zookeeper1", "zookeeper2"),
        ("zookeeper2", "zookeeper1"),
        ("zookeeper2", "zookeeper3"),
        ("zookeeper3", "zookeeper2"),
    ]);
    assert_eq!(plan.actions, [Action::Sever { links, port: Some(2888) }]);
    assert_eq!(plan.targets, [node(2)]);
    assert!(super::plan(&resign, 1, Some(1), 1).is_err());
}

#[test]
fn severing_reaches_clients_too_and_a_cap_does_not() {
    let actions = |yaml: &str| plan(&fault(yaml), 2, Some(1), 1).unwrap().actions;
    let nodes = links(&[("zookeeper1", "zookeeper2"), ("zookeeper2", "zookeeper1")]);
    let clients = links(&[("zookeeper1", "clients"), ("clients", "zookeeper1")]);
    assert_eq!(
        actions("{ fault: sever, target: leader }"),
        [Action::Sever { links: nodes.union(&clients).cloned().collect(), port: None }]
    );
    let throttle = Action::Throttle { fault: FaultId(1), links: nodes, bytes_per_second: 65536 };
    assert_eq!(actions("{ fault: throttle, target: leader, bytes_per_second: 65536 }"), [throttle]);
}

fn taps(yaml: &str) -> BTreeSet<Tap> {
    match &plan(&fault(yaml), 3, Some(1), 1).unwrap().actions[..] {
        [Action::Interpose { taps, .. }] => taps.clone(),
        other => panic!("expected one interposer's action, found {other:?}"),
    }
}

#[test]
fn interposers_stand_where_connections_are_opened_or_arrive() {
    let tap = |number, side, port, peers: &[&str]| {
        let peers = peers.iter().map(|peer| Name::from(*peer)).collect();
        BTreeSet::from([Tap { node: node(number), side, port, peers }])
    };
    let late = "toxic: { toxic: latency, delay: 1s, jitter: 0s }";
    for (aim, expected) in [
        ("target: leader", tap(1, Side::Inbound, 2181, &[])),
        ("target: leader, port: 2888", tap(1, Side::Inbound, 2888, &[])),
        ("link: zookeeper3->leader", tap(3, Side::Outbound, 2888, &["zookeeper1"])),
        ("link: zookeeper3->leader, port: 3888", tap(3, Side::Outbound, 3888, &["zookeeper1"])),
        ("link: clients->leader", tap(1, Side::Inbound, 2181, &["clients"])),
        ("link: clients<->leader", tap(1, Side::Inbound, 2181, &["clients"])),
    ] {
        assert_eq!(taps(&format!("{{ fault: toxic, {aim}, {late} }}")), expected, "{aim}");
    }
    let both = taps(&format!("{{ fault: toxic, link: zookeeper3<->leader, {late} }}"));
    assert_eq!(both.len(), 2);
}

#[test]
fn a_message_fault_hits_the_first_match_once_unless_it_says_more() {
    let rule = |more: &str| {
        let yaml = format!(
            "{{ fault: message, target: one, message: zookeeper set /a, form: hold{more} }}"
        );
        match plan(&fault(&yaml), 3, Some(1), 1).unwrap().actions.remove(0) {
            Action::Interpose { effect: Effect::Message(rule), .. } => (rule.nth, rule.times),
            other => panic!("expected a message rule, found {other:?}"),
        }
    };
    assert_eq!(rule(""), (1, Some(1)));
    assert_eq!(rule(", nth: 4, times: 3x"), (4, Some(3)));
    assert_eq!(rule(", times: always"), (1, None));
}

#[test]
fn sessions_are_drawn_or_named_by_their_id() {
    let session = |yaml: &str, seed| match plan(&fault(yaml), 3, Some(1), seed).unwrap().actions[..]
    {
        [Action::Expire { session, .. }] => session,
        ref other => panic!("expected one expiry, found {other:?}"),
    };
    let id = "{ fault: expire-session, target: leader, session: '0x100004a2b3c0001' }";
    assert_eq!(session(id, 1), SessionPick::Id(0x0100_004a_2b3c_0001));
    let negative = "{ fault: expire-session, target: leader, session: '0xffffffffffffffff' }";
    assert_eq!(session(negative, 1), SessionPick::Id(-1));
    let any = "{ fault: expire-session, target: leader }";
    assert_ne!(session(any, 1), session(any, 2));
}
