//! Needs of single faults, and of schedules.

use super::*;
use crate::cluster::{Node, Role, Side, Topology};
use crate::name::Name;
use crate::nemesis::plan::Moment;

fn topology() -> Topology {
    let node = |number: u8| Node {
        name: format!("zookeeper{number}").into(),
        role: Role::Zookeeper,
        address: [10, 0, 0, number].into(),
    };
    Topology { nodes: (1..=3).map(node).collect() }
}

fn roster(topology: &Topology) -> Roster<'_> {
    Roster { topology, leader: Role::Zookeeper }
}

/// The needs of faults as their files say them.
fn needs_of(faults: &[&str]) -> Needs {
    let faults: Vec<Fault> = faults
        .iter()
        .map(|yaml| serde_yaml::from_str(yaml).unwrap_or_else(|error| panic!("{yaml}: {error}")))
        .collect();
    let asker = |fault| Asker { nemesis: "mine", fault, is_optional: false };
    needs(faults.iter().map(asker), roster(&topology()))
}

fn told(taps: &BTreeSet<Tap>) -> String {
    taps.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn interposers_stand_wherever_the_target_could_be() {
    let late = "toxic: { toxic: latency, delay: 1s, jitter: 0s }, for: 1s";
    for (aim, expected) in [
        ("target: leader", "any→zookeeper1:2181 any→zookeeper2:2181 any→zookeeper3:2181"),
        ("target: zookeeper2", "any→zookeeper2:2181"),
        ("link: clients->zookeeper2", "clients→zookeeper2:2181"),
        ("link: zookeeper1->one", "zookeeper1→zookeeper2:2888 zookeeper1→zookeeper3:2888"),
    ] {
        let needs = needs_of(&[&format!("{{ fault: toxic, {aim}, {late} }}")]);
        assert_eq!(told(&needs.taps), expected, "{aim}");
    }
    let any_link = needs_of(&[&format!("{{ fault: toxic, link: follower->leader, {late} }}")]);
    assert_eq!(any_link.taps.len(), 6, "every ordered pair");
}

#[test]
fn a_plan_arms_only_taps_that_were_asked_for() {
    let late = "toxic: { toxic: latency, delay: 1s, jitter: 0s }, for: 1s";
    let view = crate::cluster::View {
        nodes: topology()
            .names()
            .map(|name| {
                let state = crate::cluster::NodeState::Serving;
                let leads = &**name == "zookeeper2";
                let seen = crate::cluster::NodeView {
                    leads,
                    ..crate::cluster::NodeView::new(
                        crate::cluster::Role::Zookeeper,
                        state,
                        String::new(),
                    )
                };
                (*name, seen)
            })
            .collect(),
    };
    for aim in ["target: one", "target: majority", "link: follower<->leader", "link: clients->one"]
    {
        let yaml = format!("{{ fault: toxic, {aim}, {late} }}");
        let fault: Fault = serde_yaml::from_str(&yaml).expect("a fault");
        let asked = needs_of(&[&yaml]).taps;
        for seed in 0..20 {
            let mut rng = crate::rng::Rng::from_seed(seed);
            let topology = topology();
            let (cause, session) = (None, None);
            let moment = Moment { roster: roster(&topology), view: &view, cause, session };
            let plan = fault.plan(crate::cluster::FaultId(1), &moment, &mut rng);
            for action in plan.expect("a plan").actions {
                let Action::Interpose { taps, .. } = action else { panic!("{action:?}") };
                assert!(!taps.is_empty() && taps.is_subset(&asked), "{aim}: {}", told(&taps));
            }
        }
    }
}

#[test]
fn triggers_are_looked_out_for_under_the_number_of_their_fault() {
    let needs = needs_of(&[
        "{ fault: kill, target: one, for: 1s }",
        "{ fault: kill, target: one, for: 1s, when: { log: LEADING, node: zookeeper2 } }",
        "{ fault: kill, target: one, for: 1s, when: { message: zookeeper set /a } }",
        "{ fault: kill, target: one, for: 1s, when: { znode: /a } }",
    ]);
    let [log, message] = &needs.lookouts[..] else { panic!("{:?}", needs.lookouts) };
    assert_eq!(log.id, LookoutId(2));
    let nodes = BTreeSet::from([Name::from("zookeeper2")]);
    assert_eq!(log.sight, Sight::Log { nodes, pattern: "LEADING".into() });
    assert_eq!(message.id, LookoutId(3));
    let Sight::Message { taps, .. } = &message.sight else { panic!("{message:?}") };
    assert!(taps.iter().all(|tap| tap.side == Side::Inbound && tap.port == 2181));
    assert_eq!((taps.len(), &needs.taps), (3, taps));
    assert_eq!(needs.mechanisms, [(Mechanism::Redirect, "mine".to_owned())]);
}

#[test]
fn each_mechanism_is_asked_for_once_and_optional_ones_not_at_all() {
    let of = |yaml| {
        needs_of(&[yaml, yaml]).mechanisms.into_iter().map(|(one, _)| one).collect::<Vec<_>>()
    };
    for (yaml, expected) in [
        ("{ fault: partition, shape: halves, for: 1s }", Some(Mechanism::BridgeTables)),
        ("{ fault: partition, shape: halves, refusal: reset, for: 1s }", Some(Mechanism::Reject)),
        ("{ fault: sever, target: one }", Some(Mechanism::CloseSockets)),
        ("{ fault: resign }", Some(Mechanism::CloseSockets)),
        ("{ fault: throttle, target: one, bytes_per_second: 1, for: 1s }", Some(Mechanism::Shape)),
        ("{ fault: clock, target: one, by: 1s, for: 1s }", Some(Mechanism::Trace)),
        ("{ fault: pause, target: one, for: 1s }", Some(Mechanism::Freeze)),
        ("{ fault: kill, target: one, for: 1s }", None),
        ("{ fault: expire-session, target: one }", None),
    ] {
        assert_eq!(of(yaml), Vec::from_iter(expected), "{yaml}");
    }
    assert!(needs_of(&["{ fault: crash, target: one }"]).supervised);
    let pause = Fault::new(FaultKind::Pause);
    let asker = Asker { nemesis: "mixed", fault: &pause, is_optional: true };
    let needs = needs([asker], roster(&topology()));
    assert_eq!((needs.mechanisms.len(), needs.optional), (0, [Mechanism::Freeze].into()));
}

#[test]
fn a_schedule_needs_what_its_actions_need() {
    let crash = Action::Crash { node: "zookeeper1".into() };
    let pause = Action::Pause { node: "zookeeper2".into() };
    let needs = needs_of_actions([("a", &crash), ("b", &pause)]);
    assert!(needs.supervised);
    assert_eq!(needs.mechanisms, [(Mechanism::Freeze, "b".to_owned())]);
}
