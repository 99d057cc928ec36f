//! Clusters of several services: whose leader is meant, and from where nodes are picked.

use super::*;
use crate::cluster::{CLIENTS, Side};
use crate::nemesis::cause::Cause;

/// One ZooKeeper server, two controllers, four kvrocks nodes.
fn topology() -> Topology {
    let roles = [(Role::Zookeeper, 1), (Role::Controller, 2), (Role::Kvrocks, 4)];
    let nodes = roles.into_iter().flat_map(|(role, count)| {
        (1..=count).map(move |number| Node {
            name: role.node_name(number),
            role,
            address: [10, 0, role as u8, number as u8].into(),
        })
    });
    Topology { nodes: nodes.collect() }
}

/// ZooKeeper's server, the second controller and the masters kvrocks1 and kvrocks3 lead.
fn view() -> View {
    let leading = ["zookeeper1", "controller2", "kvrocks1", "kvrocks3"];
    let seen = |node: &Node| {
        let view = NodeView::new(node.role, NodeState::Serving, "");
        (node.name, NodeView { leads: leading.contains(&&*node.name), ..view })
    };
    View { nodes: topology().nodes.iter().map(seen).collect() }
}

fn planned(yaml: &str, cause: Option<&Cause>, seed: u64) -> Result<Plan, String> {
    let (topology, view) = (topology(), view());
    let roster = Roster { topology: &topology, leader: Role::Controller };
    let moment = Moment { roster, view: &view, cause, session: Some(7) };
    fault(yaml).plan(FaultId(1), &moment, &mut Rng::from_seed(seed))
}

fn targets(yaml: &str, seed: u64) -> Vec<String> {
    let plan = planned(yaml, None, seed).unwrap_or_else(|why| panic!("{yaml}: {why}"));
    plan.targets.iter().map(ToString::to_string).collect()
}

/// All nodes that are ever picked.
fn picked(target: &str) -> BTreeSet<String> {
    let yaml = format!("{{ fault: kill, target: '{target}', for: 1s }}");
    (0..60).flat_map(|seed| targets(&yaml, seed)).collect()
}

#[test]
fn leaders_are_those_of_the_workloads_role_unless_another_is_named() {
    for (target, expected) in [
        ("leader", "controller2"),
        ("leader:controller", "controller2"),
        ("leader:zookeeper", "zookeeper1"),
        ("leader:kvrocks", "kvrocks1 kvrocks3"),
        ("master", "kvrocks1 kvrocks3"),
        ("follower", "controller1"),
        ("replica", "kvrocks2 kvrocks4"),
        ("one", "controller1 controller2 kvrocks1 kvrocks2 kvrocks3 kvrocks4"),
        ("one:zookeeper", "zookeeper1"),
        ("one:controller", "controller1 controller2"),
        ("controller", "controller1 controller2"),
        ("all", "controller1 controller2 kvrocks1 kvrocks2 kvrocks3 kvrocks4 zookeeper1"),
    ] {
        let picked: Vec<String> = picked(target).into_iter().collect();
        assert_eq!(picked.join(" "), expected, "{target}");
    }
}

#[test]
fn as_many_are_picked_as_the_role_has() {
    for (target, count) in [
        ("minority", 2),
        ("majority", 4),
        ("minority:kvrocks", 1),
        ("majority:kvrocks", 3),
        ("majority:controller", 2),
        ("leader:kvrocks", 2),
        ("master", 1),
        ("replica", 1),
    ] {
        let yaml = format!("{{ fault: kill, target: '{target}', for: 1s }}");
        assert_eq!(targets(&yaml, 3).len(), count, "{target}");
    }
    let none = planned("{ fault: kill, target: 'minority:controller', for: 1s }", None, 1);
    assert_eq!(none.unwrap_err(), "2 nodes have no minority:controller");
}

#[test]
fn messages_are_hit_where_their_protocol_is_spoken_and_sessions_where_they_are_held() {
    let hold = |target: &str| {
        format!("{{ fault: message, target: '{target}', message: resp set, form: hold, for: 1s }}")
    };
    let all = "kvrocks1 kvrocks2 kvrocks3 kvrocks4";
    assert_eq!(targets(&hold("all"), 1).join(" "), all);
    for seed in 0..SEEDS {
        assert!(targets(&hold("one"), seed)[0].starts_with("kvrocks"));
        let session = "{ fault: expire-session, target: one }";
        assert_eq!(targets(session, seed), ["zookeeper1"]);
    }
}

#[test]
fn a_controller_resigns_by_the_session_that_owns_its_office() {
    let expiry =
        |session| [Action::Expire { node: "zookeeper1".into(), session: SessionPick::Id(session) }];
    let plan = planned("{ fault: resign }", None, 1).expect("a leader");
    assert_eq!((plan.targets, plan.actions), (vec!["controller2".into()], expiry(7).to_vec()));
    let owner = "{ fault: expire-session, target: zookeeper, session: /some/lock }";
    assert_eq!(planned(owner, None, 1).expect("an owner").actions, expiry(7));
    assert_eq!(fault(owner).office(Role::Controller), Some("/some/lock"));
    let masters = planned("{ fault: resign, target: 'leader:kvrocks' }", None, 1);
    assert!(masters.unwrap_err().contains("no office"));
}

#[test]
fn parties_of_the_event_are_who_they_were() {
    let cause = Cause {
        sender: Some("kvrocks1".into()),
        ..Cause::now(5, "cluster import 12 1").at(Some("kvrocks3".into()))
    };
    let kill = |party: &str| format!("{{ fault: kill, target: {party}, for: 1s }}");
    for (party, node) in [("sender", "kvrocks1"), ("receiver", "kvrocks3"), ("seen", "kvrocks3")] {
        let plan = planned(&kill(party), Some(&cause), 1).expect(party);
        assert_eq!(plan.targets, [NodeName::from(node)]);
        assert!(planned(&kill(party), None, 1).unwrap_err().contains("the clock"), "{party}");
    }
    let by_client = Cause { sender: None, ..cause.clone() };
    let why = planned(&kill("sender"), Some(&by_client), 1).unwrap_err();
    assert_eq!(why, "no node sent it: cluster import 12 1");
    let cut = "{ fault: partition, shape: link, link: receiver<->controller, for: 1s }";
    let expected = [
        ("controller1", "kvrocks3"),
        ("controller2", "kvrocks3"),
        ("kvrocks3", "controller1"),
        ("kvrocks3", "controller2"),
    ];
    let plan = planned(cut, Some(&cause), 1).expect("a cut");
    assert_eq!((cut_links(&plan), plan.targets), (links(&expected), vec!["kvrocks3".into()]));
}

#[test]
fn a_bystander_is_a_master_with_no_part_in_the_message() {
    let message = |sender: &str, receiver: &str| Cause {
        sender: Some(sender.into()),
        ..Cause::now(5, "cluster import 12 0").at(Some(receiver.into()))
    };
    let kill = "{ fault: kill, target: bystander, for: 1s }";
    let to_replica = message("kvrocks1", "kvrocks4");
    for seed in 0..SEEDS {
        let plan = planned(kill, Some(&to_replica), seed).expect("a third");
        assert_eq!(plan.targets, [NodeName::from("kvrocks3")]);
    }
    let both = message("kvrocks1", "kvrocks3");
    assert_eq!(
        planned(kill, Some(&both), 1).unwrap_err(),
        "every master has a part in the message"
    );
}

fn cut_links(plan: &Plan) -> BTreeSet<Link> {
    super::cut(plan).clone()
}

#[test]
fn halves_are_of_all_nodes_and_an_isolated_role_is_cut_from_all_others() {
    for seed in 0..SEEDS {
        let halves = targets("{ fault: partition, shape: halves, for: 1s }", seed);
        assert!((3..=4).contains(&halves.len()), "{halves:?}");
    }
    let isolate = "{ fault: partition, shape: isolate, target: controller, for: 1s }";
    let plan = planned(isolate, None, 1).expect("a cut");
    assert_eq!(cut_links(&plan).len(), 2 * 2 * 5);
}

#[test]
fn what_a_replica_opens_to_a_master_is_met_at_the_clients_port() {
    let late = "toxic: { toxic: latency, delay: 1s, jitter: 0s }, for: 1s";
    let yaml = format!("{{ fault: toxic, link: 'replica->leader:kvrocks', {late} }}");
    let plan = planned(&yaml, None, 1).expect("a plan");
    let Action::Interpose { taps, .. } = &plan.actions[0] else { panic!("{plan:?}") };
    assert_eq!(taps.len(), 2);
    assert!(taps.iter().all(|tap| tap.side == Side::Outbound && tap.port == 6666));
    assert!(taps.iter().all(|tap| !tap.peers.contains(CLIENTS)));
}
