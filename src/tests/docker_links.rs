//! Faults of links between real ZooKeeper servers and their clients: each proven, felt, and taken back.

use std::collections::BTreeSet;
use std::time::Duration;

use stormglass::cluster::{
    Action, Applied, CLIENTS, Cluster, Coordination, Effect, FaultId, Link, Manner, Needs, Proof,
    Refusal, Role, SessionEvent, Side, Tap, Toxic,
};
use stormglass::docker::DockerCluster;
use stormglass::duration::Span;
use stormglass::op::NodeName;

use crate::docker_cluster::harness::{Scratch, with_engine};

const FAULT: FaultId = FaultId(1);
const SESSION: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(30);
const CLIENT_PORT: u16 = 2181;

fn node(index: usize) -> NodeName {
    format!("zookeeper{index}").into()
}

fn both(one: NodeName, other: NodeName) -> BTreeSet<Link> {
    [Link { from: one, to: other }, Link { from: other, to: one }].into()
}

fn clients_of(node: NodeName) -> BTreeSet<Link> {
    both(node, CLIENTS.into())
}

async fn apply(cluster: &DockerCluster, action: &Action) -> Proof {
    match cluster.apply(action).await.expect("applied") {
        Applied::Installed { proof } => proof,
        other => panic!("{action:?}: {other:#?}"),
    }
}

async fn undo(cluster: &DockerCluster, action: &Action) -> Proof {
    apply(cluster, &action.undo().expect("it can be taken back")).await
}

fn seen(proof: &Proof, what: &str) -> String {
    let found = proof.checks.iter().find(|check| check.what == what);
    found.unwrap_or_else(|| panic!("no check of {what} in {proof:#?}")).seen.clone()
}

async fn event(session: &impl Coordination, wanted: SessionEvent) {
    let reached = async {
        while session.state() != wanted {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, reached).await;
    waited.unwrap_or_else(|_| panic!("never {wanted:?}, still {:?}", session.state()));
}

#[test]
fn cuts_in_every_manner_act_and_are_taken_back() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(3).await;
        let link = format!("{}→{}", node(1), node(2));
        for (refusal, port, probe, connection) in [
            (Refusal::Drop, Some(3888), "open", "cut"),
            (Refusal::Reset, Some(3888), "open", "refused"),
            (Refusal::Reset, None, "cut", "refused"),
            (Refusal::Drop, None, "cut", ""),
        ] {
            let manner = Manner { refusal, port };
            let cut = Action::Cut { fault: FAULT, links: both(node(1), node(2)), manner };
            let proof = apply(&cluster, &cut).await;
            assert_eq!(seen(&proof, &link), probe, "{manner:?}");
            let of_port = format!("{link} port {}", port.unwrap_or(1));
            if !connection.is_empty() {
                assert_eq!(seen(&proof, &of_port), connection, "{manner:?}");
            }
            println!("cut{manner}: {} us", proof.took_us);
            let proof = undo(&cluster, &cut).await;
            println!("joined{manner}: {} us, {:?} packets", proof.took_us, proof.packets);
            assert_eq!(seen(&proof, &link), "open", "{manner:?}");
            // Twice is once too often, and is seen.
            let again = cluster.apply(&cut.undo().expect("undo")).await.expect("applied");
            assert!(matches!(again, Applied::Indeterminate { .. }), "{again:?}");
        }
        scratch.down(cluster).await;
    });
}

#[test]
fn a_port_refused_to_clients_ends_their_session_there_and_nobody_elses() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(3).await;
        let cut_off = cluster.connect(&node(1), SESSION).await.expect("a session");
        let beside = cluster.connect(&node(2), SESSION).await.expect("a session");
        let manner = Manner { refusal: Refusal::Reset, port: Some(CLIENT_PORT) };
        let cut = Action::Cut { fault: FAULT, links: clients_of(node(1)), manner };
        let lost = cut_off.changed(SessionEvent::Connected);
        apply(&cluster, &cut).await;
        // Sent now, or kept until the connection is there again: its answer is not waited for.
        drop(cut_off.exists("/"));
        let lost = tokio::time::timeout(PATIENCE, lost).await.expect("it notices");
        assert_eq!(lost, SessionEvent::Disconnected);
        let another = cluster.connect(&node(1), Duration::from_secs(2)).await;
        assert!(another.is_err(), "a session over a refused link");
        assert!(beside.exists("/").await.is_ok(), "nobody else's");
        assert!(
            cluster.view().await.leaders(Role::Zookeeper).next().is_some(),
            "the servers reach each other"
        );
        let proof = undo(&cluster, &cut).await;
        assert!(proof.packets.is_some_and(|packets| packets > 0), "{proof:?}");
        event(&cut_off, SessionEvent::Connected).await;
        assert!(cut_off.exists("/").await.is_ok());
        scratch.down(cluster).await;
    });
}

#[test]
fn live_connections_of_clients_are_closed_once() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(3).await;
        let severed = cluster.connect(&node(1), SESSION).await.expect("a session");
        let beside = cluster.connect(&node(2), SESSION).await.expect("a session");
        let sever = |port| Action::Sever { links: clients_of(node(1)), port: Some(port) };
        match cluster.apply(&sever(1)).await.expect("applied") {
            Applied::Skipped { why } => assert_eq!(why, "there was no live connection with port 1"),
            other => panic!("severed nothing: {other:?}"),
        }
        let before = severed.exists("/").await;
        assert!(before.is_ok(), "no other port: {before:?}");
        let pending = severed.exists("/");
        let proof = apply(&cluster, &sever(CLIENT_PORT)).await;
        println!("severed: {proof:?}");
        drop(pending);
        event(&severed, SessionEvent::Connected).await;
        assert!(beside.exists("/").await.is_ok());
        // Between the servers too, whatever the port: they come together again by themselves.
        let links = both(node(1), node(2));
        println!("severed: {:?}", apply(&cluster, &Action::Sever { links, port: None }).await);
        scratch.down(cluster).await;
    });
}

#[test]
fn a_cap_is_measured_when_it_comes_and_when_it_goes() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(3).await;
        let links = both(node(1), node(2)).into_iter().chain(clients_of(node(3))).collect();
        let throttle = |fault, bytes_per_second| {
            let links: BTreeSet<Link> = BTreeSet::clone(&links);
            Action::Throttle { fault, links, bytes_per_second }
        };
        let (first, second) = (throttle(FAULT, 50_000), throttle(FaultId(2), 20_000));
        let proof = apply(&cluster, &first).await;
        println!("{proof:#?}");
        let class = format!("class of {}→{}", node(1), node(2));
        assert!(seen(&proof, &class).starts_with("50000 B/s at veth"), "{proof:?}");
        // The slower of two; and a cut beside them is proven all the same.
        let proof = apply(&cluster, &second).await;
        assert!(seen(&proof, &class).starts_with("20000 B/s at veth"), "{proof:?}");
        let manner = Manner::default();
        let cut = Action::Cut { fault: FaultId(3), links: both(node(2), node(3)), manner };
        apply(&cluster, &cut).await;
        undo(&cluster, &cut).await;
        undo(&cluster, &second).await;
        let proof = undo(&cluster, &first).await;
        println!("{proof:#?}");
        assert!(proof.packets.is_some(), "{proof:?}");
        let again = cluster.apply(&first.undo().expect("undo")).await.expect("applied");
        assert!(matches!(again, Applied::Indeterminate { .. }), "{again:?}");
        scratch.down(cluster).await;
    });
}

/// A service is up or not, whoever is cut off from it.
#[test]
fn a_server_cut_off_from_its_clients_is_started_and_resumed() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(1).await;
        let node = node(1);
        for refusal in [Refusal::Reset, Refusal::Drop] {
            let manner = Manner { refusal, port: None };
            let cut = Action::Cut { fault: FAULT, links: clients_of(node), manner };
            apply(&cluster, &cut).await;
            for action in [Action::Kill { node }, Action::Stop { node }, Action::Pause { node }] {
                apply(&cluster, &action).await;
                let proof = undo(&cluster, &action).await;
                assert_eq!(seen(&proof, "zookeeper1 ruok"), "imok", "{action:?}");
            }
            apply(&cluster, &Action::Crash { node }).await;
            undo(&cluster, &cut).await;
        }
        scratch.down(cluster).await;
    });
}

#[test]
fn connections_that_pass_an_interposer_are_severed_by_the_port_they_were_opened_to() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(1).await;
        let node = node(1);
        let tap = Tap { node, side: Side::Inbound, port: CLIENT_PORT, peers: BTreeSet::new() };
        let needs = Needs { taps: [tap].into(), ..Needs::default() };
        cluster.prepare(&needs).await.expect("prepared");
        let session = cluster.connect(&node, SESSION).await.expect("a session");
        let sever = |port| Action::Sever { links: clients_of(node), port: Some(port) };
        let other = cluster.apply(&sever(3888)).await.expect("applied");
        assert!(matches!(other, Applied::Skipped { .. }), "{other:?}");
        // The client may be back before anyone sees it away: the proof tells that it was closed.
        apply(&cluster, &sever(CLIENT_PORT)).await;
        let again = async { while session.exists("/").await.is_err() {} };
        tokio::time::timeout(PATIENCE, again).await.expect("it comes back by itself");
        scratch.down(cluster).await;
    });
}

#[test]
fn a_server_behind_an_interposer_that_passes_nothing_is_started() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(1).await;
        let node = node(1);
        let tap = Tap { node, side: Side::Inbound, port: CLIENT_PORT, peers: BTreeSet::new() };
        let taps = BTreeSet::from([tap]);
        let needs = Needs { taps: taps.clone(), ..Needs::default() };
        cluster.prepare(&needs).await.expect("prepared");
        let minute = Span::seconds(60);
        let effect = Effect::Toxic(Toxic::Latency { delay: minute, jitter: Span::seconds(0) });
        let slow = Action::Interpose { fault: FAULT, taps, effect };
        apply(&cluster, &slow).await;
        apply(&cluster, &Action::Kill { node }).await;
        let proof = apply(&cluster, &Action::Start { node }).await;
        assert_eq!(seen(&proof, "zookeeper1 ruok"), "imok");
        undo(&cluster, &slow).await;
        scratch.down(cluster).await;
    });
}
