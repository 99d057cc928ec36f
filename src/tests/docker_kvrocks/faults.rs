//! Every kind of fault on nodes and controllers, proven, felt and taken back.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::{AsyncReadExt, AsyncWriteExt};
use stormglass::cluster::{
    Action, Applied, CLIENTS, Check, Clock, Cluster, Concerning, Coordination, Effect, FaultId,
    Form, Link, Lookout, LookoutId, Manner, MessageRule, Needs, Observed, Refusal, Role,
    SessionPick, Side, Sight, Tap, Toxic,
};
use stormglass::docker::DockerCluster;
use stormglass::duration::Span;
use stormglass::op::NodeName;
use stormglass::resp::{Value, encode_command};

use super::desk::{
    PATIENCE, apply, controller, form, kvrocks, leader, must_be, own_key, post, resp, settled,
    seven,
};
use crate::docker_cluster::harness::{Scratch, with_engine};

const FAULT: FaultId = FaultId(1);
const ELECTED: LookoutId = LookoutId(1);
const SESSION: Duration = Duration::from_secs(10);

async fn undo(cluster: &DockerCluster, action: &Action) {
    apply(cluster, &action.undo().expect("an inverse")).await;
}

async fn formed(scratch: &Scratch) -> DockerCluster {
    let cluster = scratch.up_by(&seven(scratch)).await;
    form(&cluster).await;
    settled(&cluster).await;
    cluster
}

async fn next(cluster: &DockerCluster) -> Observed {
    tokio::time::timeout(PATIENCE, cluster.observed()).await.expect("something seen")
}

fn both(one: NodeName, other: NodeName) -> [Link; 2] {
    [Link { from: one, to: other }, Link { from: other, to: one }]
}

/// Waits until this node leads its role in a later epoch.
async fn takes_over(cluster: &DockerCluster, node: NodeName, epoch: u64) {
    let taken = async {
        loop {
            let view = cluster.view().await;
            let seen = &view.nodes[&node];
            if seen.leads && seen.epoch.is_some_and(|now| now > epoch) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    if tokio::time::timeout(PATIENCE, taken).await.is_err() {
        panic!("{node} never leads: {:#?}", cluster.view().await);
    }
}

/// What comes back until the connection is closed.
async fn unanswered(cluster: &DockerCluster, node: NodeName, words: &[&str]) -> Vec<u8> {
    let mut stream = cluster.dial(&node, 6666).await.expect("a connection");
    let (mut request, mut answer) = (Vec::new(), Vec::new());
    encode_command(words, &mut request);
    stream.write_all(&request).await.expect("sent");
    let closed = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    // Closed by reset or not is all the same.
    drop(closed.expect("closed in time"));
    answer
}

fn tap(node: NodeName, side: Side, port: u16) -> Tap {
    Tap { node, side, port, peers: BTreeSet::new() }
}

fn message(tap: &Tap, pattern: &str, form: Form) -> Action {
    let pattern = pattern.parse().expect("a pattern");
    let rule = MessageRule { pattern, form, nth: 1, times: Some(1), delay: None };
    Action::Interpose {
        fault: FAULT,
        taps: BTreeSet::from([tap.clone()]),
        effect: Effect::Message(rule),
    }
}

#[test]
fn messages_to_nodes_and_controllers_are_hit_one_by_one() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let at_node = tap(kvrocks(1), Side::Inbound, 6666);
        let of_controllers = [1, 2].map(|number| {
            [(Side::Inbound, 9379), (Side::Outbound, 6666)]
                .map(|(side, port)| tap(controller(number), side, port))
        });
        let at_zookeeper = tap(Role::Zookeeper.node_name(1), Side::Inbound, 2181);
        let mut spec = seven(&scratch);
        spec.needs.taps = [at_node.clone(), at_zookeeper.clone()].into();
        spec.needs.taps.extend(of_controllers.iter().flatten().cloned());
        let cluster = scratch.up_by(&spec).await;
        cluster.prepare(&spec.needs).await.expect("prepared");
        form(&cluster).await;
        settled(&cluster).await;
        let leader = leader(&cluster).await;
        let [at_controller, of_controller] = &of_controllers[usize::from(leader == controller(2))];

        let key = own_key(1);
        let lost = message(&at_node, "resp set *", Form::Close);
        apply(&cluster, &lost).await;
        let answer = unanswered(&cluster, kvrocks(1), &["SET", &key, "1"]).await;
        assert_eq!(answer, Vec::<u8>::new());
        let seen = next(&cluster).await;
        let hit = seen.message.expect("a message");
        assert!(
            seen.node == kvrocks(1) && hit.request.starts_with("SET ") && hit.applied,
            "{hit:?}"
        );
        undo(&cluster, &lost).await;
        must_be(resp(&cluster, kvrocks(1), &["GET", &key]).await, &Value::bulk("1"));

        let twice = message(at_controller, "http POST /api/v1/namespaces", Form::Duplicate);
        apply(&cluster, &twice).await;
        let made = post(&cluster, leader, "", r#"{"namespace":"other"}"#).await;
        println!("made twice: {made:?}");
        let hit = next(&cluster).await.message.expect("a message");
        assert!(hit.request.starts_with("POST /api/v1/namespaces"), "{hit:?}");
        undo(&cluster, &twice).await;

        let probes = message(of_controller, "resp cluster info", Form::DropRequest);
        apply(&cluster, &probes).await;
        let hit = next(&cluster).await.message.expect("a message");
        assert!(hit.request.to_lowercase().starts_with("cluster info"), "{hit:?}");
        undo(&cluster, &probes).await;

        // Sessions that are as old as the cluster are led through an interposer as well.
        let stored = message(&at_zookeeper, "zookeeper set /kvrocks/metadata/*", Form::Delay);
        let Action::Interpose { effect: Effect::Message(rule), .. } = &stored else {
            unreachable!()
        };
        let rule = MessageRule { delay: Some(Span::seconds(1)), ..rule.clone() };
        let stored = Action::Interpose {
            fault: FAULT,
            taps: BTreeSet::from([at_zookeeper]),
            effect: Effect::Message(rule),
        };
        apply(&cluster, &stored).await;
        let failed_over =
            post(&cluster, leader, "/stormglass/clusters/c0/shards/0/failover", "{}").await;
        println!("{failed_over:?}");
        let hit = next(&cluster).await.message.expect("a message");
        assert!(hit.request.starts_with("set /kvrocks/metadata/stormglass"), "{hit:?}");
        undo(&cluster, &stored).await;

        let minute = Toxic::Latency { delay: Span::seconds(1), jitter: Span::seconds(0) };
        let slow = Action::Interpose {
            fault: FAULT,
            taps: BTreeSet::from([at_node]),
            effect: Effect::Toxic(minute),
        };
        apply(&cluster, &slow).await;
        apply(&cluster, &Action::Kill { node: kvrocks(1) }).await;
        apply(&cluster, &Action::Start { node: kvrocks(1) }).await;
        undo(&cluster, &slow).await;
        settled(&cluster).await;
        scratch.down(cluster).await;
    });
}

#[test]
fn clocks_of_nodes_and_controllers_are_moved_and_put_right() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = formed(&scratch).await;
        let hour = 3_600_000_000_000;
        let moved = |check: &Check| check.holds && !check.seen.starts_with("0.0");
        for (node, clock) in [
            (controller(1), Clock::Wall),
            (kvrocks(2), Clock::Wall),
            (kvrocks(1), Clock::Monotonic),
        ] {
            let skew = Action::Skew { node, clock, by_ns: hour };
            let proof = apply(&cluster, &skew).await;
            let of_node = proof.checks.iter().filter(|check| check.what.contains(&*node));
            assert!(of_node.clone().any(moved), "{proof:#?}");
            println!("{node}: {:?}", of_node.collect::<Vec<_>>());
            apply(&cluster, &Action::Kill { node }).await;
            apply(&cluster, &Action::Start { node }).await;
            undo(&cluster, &skew).await;
        }
        settled(&cluster).await;
        scratch.down(cluster).await;
    });
}

#[test]
fn a_master_cut_off_from_its_controllers_is_replaced_and_comes_back_as_a_replica() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = formed(&scratch).await;
        must_be(resp(&cluster, kvrocks(1), &["SET", &own_key(1), "1"]).await, &Value::ok());
        let epoch = cluster.view().await.nodes[&kvrocks(2)].epoch.expect("a topology");
        let others = [controller(1), controller(2), kvrocks(2)];
        let links = others.into_iter().flat_map(|other| both(kvrocks(1), other)).collect();
        let cut = Action::Cut { fault: FAULT, links, manner: Manner::default() };
        apply(&cluster, &cut).await;
        takes_over(&cluster, kvrocks(2), epoch).await;
        assert!(cluster.view().await.nodes[&kvrocks(1)].leads, "it has not heard of it");
        undo(&cluster, &cut).await;
        let deposed = async {
            while cluster.view().await.nodes[&kvrocks(1)].leads {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, deposed).await.expect("it hears of it");
        settled(&cluster).await;
        scratch.down(cluster).await;
    });
}

#[test]
fn links_of_clients_to_nodes_and_controllers_are_severed_refused_and_capped() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = formed(&scratch).await;
        for (node, port) in [(kvrocks(1), 6666), (controller(1), 9379)] {
            let links: BTreeSet<Link> = both(node, CLIENTS.into()).into();
            let mut open = cluster.dial(&node, port).await.expect("a connection");
            let sever = Action::Sever { links: links.clone(), port: Some(port) };
            apply(&cluster, &sever).await;
            let ended = open.read(&mut [0]).await;
            assert!(ended.as_ref().map_or(true, |length| *length == 0), "{ended:?}");

            let manner = Manner { refusal: Refusal::Reset, port: Some(port) };
            let refuse = Action::Cut { fault: FAULT, links: links.clone(), manner };
            apply(&cluster, &refuse).await;
            assert!(cluster.dial(&node, port).await.is_err(), "{node} is reached");
            for action in [Action::Stop { node }, Action::Pause { node }] {
                apply(&cluster, &action).await;
                undo(&cluster, &action).await;
            }
            undo(&cluster, &refuse).await;
            assert!(cluster.dial(&node, port).await.is_ok());

            let cap = Action::Throttle { fault: FAULT, links, bytes_per_second: 50_000 };
            apply(&cluster, &cap).await;
            undo(&cluster, &cap).await;
        }
        settled(&cluster).await;
        scratch.down(cluster).await;
    });
}

#[test]
fn a_controller_whose_session_is_ended_loses_the_office_and_says_so() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = formed(&scratch).await;
        let pattern = "Became the leader".to_owned();
        let nodes = [controller(1), controller(2)].into();
        let lookouts = vec![Lookout { id: ELECTED, sight: Sight::Log { nodes, pattern } }];
        cluster.prepare(&Needs { lookouts, ..Needs::default() }).await.expect("prepared");

        let path = Role::Controller.leader_znode().expect("controllers elect");
        let zookeeper = Role::Zookeeper.node_name(1);
        let session = cluster.connect(&zookeeper, SESSION).await.expect("a session");
        let (_, before) = session.get(path).await.expect("somebody leads");
        let owner = SessionPick::Id(before.ephemeral_owner);
        apply(&cluster, &Action::Expire { node: zookeeper, session: owner }).await;
        let seen = next(&cluster).await;
        assert_eq!(seen.concerning, Concerning::Lookout(ELECTED));
        takes_over(&cluster, seen.node, before.czxid as u64).await;

        let victim = leader(&cluster).await;
        let kill = Action::Kill { node: victim };
        let epoch = cluster.view().await.nodes[&victim].epoch.expect("an election");
        apply(&cluster, &kill).await;
        let other = if victim == controller(1) { controller(2) } else { controller(1) };
        assert_eq!(next(&cluster).await.node, other);
        takes_over(&cluster, other, epoch).await;
        undo(&cluster, &kill).await;
        settled(&cluster).await;

        // Our own session is nobody's to end: of the others there are two.
        let held = stormglass::client::zookeeper::sessions;
        let address = cluster.topology().node(&zookeeper).expect("there").address;
        drop(session.close().await);
        let count = held((address, 2181).into(), PATIENCE).await.expect("listed").len();
        assert_eq!(count, 3, "two controllers and the one who looks who leads");
        let node = controller(1);
        let nobody = Action::Expire { node, session: SessionPick::Nth(0) };
        let skipped = cluster.apply(&nobody).await.expect("applied");
        assert!(matches!(skipped, Applied::Skipped { .. }), "{skipped:?}");
        scratch.down(cluster).await;
    });
}
