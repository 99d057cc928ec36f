//! The simulated cluster as the run loop uses it.

mod clocks;
mod interposers;
mod kvrocks;
mod links;
mod lookouts;
mod processes;
mod programs;
mod shout;
mod streams;
mod toxics;

use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use crate::cluster::{
    Coordination, CreateMode, Effect, FaultId, Link, Manner, Needs, Proof, Side, Tap,
};
use crate::rng::Rng;
use crate::sim::Variant;

const TIMEOUT: Duration = Duration::from_secs(4);

async fn up(servers: usize, seed: u64) -> SimCluster {
    let spec = SimSpec::ensemble(servers, Variant::AsShipped, Rng::from_seed(seed));
    SimCluster::up(spec).await.unwrap()
}

fn link(from: &str, to: &str) -> Link {
    Link { from: from.into(), to: to.into() }
}

fn cut(fault: u32, links: impl IntoIterator<Item = Link>) -> Action {
    Action::Cut {
        fault: FaultId(fault),
        links: BTreeSet::from_iter(links),
        manner: Default::default(),
    }
}

async fn installed(cluster: &SimCluster, action: &Action) -> Proof {
    match cluster.apply(action).await.unwrap() {
        Applied::Installed { proof } => proof,
        other => panic!("{action:?}: {other:?}"),
    }
}

async fn skipped(cluster: &SimCluster, action: &Action) -> String {
    match cluster.apply(action).await.unwrap() {
        Applied::Skipped { why } => why,
        other => panic!("{action:?}: {other:?}"),
    }
}

/// Performs an action that must not act at all.
async fn refused(cluster: &SimCluster, action: &Action) -> String {
    cluster.apply(action).await.unwrap_err().to_string()
}

fn both_ways(one: &str, other: &str) -> BTreeSet<Link> {
    [link(one, other), link(other, one)].into()
}

fn cut_so(fault: u32, links: BTreeSet<Link>, manner: Manner) -> Action {
    Action::Cut { fault: FaultId(fault), links, manner }
}

async fn leader(cluster: &SimCluster) -> NodeName {
    cluster.view().await.leaders(Role::Zookeeper).next().copied().expect("somebody leads")
}

async fn followers(cluster: &SimCluster) -> Vec<NodeName> {
    let leader = leader(cluster).await;
    cluster.topology().names().copied().filter(|name| *name != leader).collect()
}

async fn epoch(cluster: &SimCluster) -> u64 {
    let view = cluster.view().await;
    let leads = view.nodes.values().find(|node| node.leads);
    leads.and_then(|node| node.epoch).expect("a leader tells its epoch")
}

async fn session(cluster: &SimCluster, node: &str) -> ModelSession {
    cluster.connect(&node.into(), TIMEOUT).await.expect("the server serves")
}

async fn seconds(count: u64) {
    tokio::time::sleep(Duration::from_secs(count)).await;
}

/// How long something takes, in milliseconds of virtual time.
async fn timed<T>(what: impl Future<Output = T>) -> (T, u64) {
    let began = tokio::time::Instant::now();
    let result = what.await;
    (result, began.elapsed().as_millis() as u64)
}

fn tap(node: &str, side: Side, port: u16, peers: &[&str]) -> Tap {
    let peers = peers.iter().map(|peer| NodeName::from(*peer)).collect();
    Tap { node: node.into(), side, port, peers }
}

/// Where clients come in.
fn client_tap(node: &str) -> Tap {
    tap(node, Side::Inbound, 2181, &[CLIENTS])
}

async fn prepare(cluster: &SimCluster, taps: impl IntoIterator<Item = Tap>) {
    let needs = Needs { taps: taps.into_iter().collect(), ..Needs::default() };
    cluster.prepare(&needs).await.unwrap();
}

fn interpose(fault: u32, tap: Tap, effect: Effect) -> Action {
    Action::Interpose { fault: FaultId(fault), taps: [tap].into(), effect }
}

fn told(proof: &Proof) -> Vec<String> {
    let told = proof.checks.iter();
    told.map(|check| format!("{}: {} / {}", check.what, check.expected, check.seen)).collect()
}

#[test]
fn an_ensemble_elects_one_leader_and_takes_writes_at_every_server() {
    crate::sim::run(async {
        for servers in [1, 2, 3, 5] {
            let cluster = up(servers, servers as u64).await;
            assert!(cluster.view().await.is_healthy());
            for node in cluster.topology().names().cloned().collect::<Vec<_>>() {
                let session = cluster.connect(&node, TIMEOUT).await.unwrap();
                let path = format!("/{node}");
                let made = session.create(&path, b"x", CreateMode::Persistent).await;
                assert_eq!(made, Ok(path.clone()));
                let (data, stat) = session.get(&path).await.unwrap();
                assert_eq!((data.as_slice(), stat.version), (&b"x"[..], 0));
                session.close().await.unwrap();
            }
        }
    })
    .unwrap();
}

#[test]
fn the_topology_has_names_roles_and_addresses() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let nodes = &cluster.topology().nodes;
        let shown: Vec<String> =
            nodes.iter().map(|it| format!("{} {} {}", it.name, it.role, it.address)).collect();
        let expected = [
            "zookeeper1 zookeeper 10.0.0.1",
            "zookeeper2 zookeeper 10.0.0.2",
            "zookeeper3 zookeeper 10.0.0.3",
        ];
        assert_eq!(shown, expected);
        let refused = |servers| {
            let rng = Rng::from_seed(1);
            SimCluster::up(SimSpec::ensemble(servers, Variant::AsShipped, rng))
        };
        for servers in [0, 16] {
            let why = refused(servers).await.err().unwrap().to_string();
            assert_eq!(why, format!("an ensemble has 1 to 15 servers, not {servers}"));
        }
    })
    .unwrap();
}

#[test]
fn a_cut_and_its_join_are_proven_by_probes_and_count_packets() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        // On a fresh ensemble the highest number wins, so there is traffic on these links.
        assert!(cluster.view().await.leaders(Role::Zookeeper).eq([&"zookeeper3".into()]));
        let links = [link("zookeeper1", "zookeeper3"), link("zookeeper3", "zookeeper1")];
        let action = cut(1, links);
        let proof = installed(&cluster, &action).await;
        let blocked = [
            "zookeeper1→zookeeper3: blocked by f1 / blocked",
            "zookeeper3→zookeeper1: blocked by f1 / blocked",
        ];
        assert_eq!((told(&proof), proof.packets), (blocked.map(String::from).into(), None));
        assert!(proof.took_us > 0);
        assert_eq!(skipped(&cluster, &action).await, "f1 has cut these links already");
        tokio::time::sleep(Duration::from_secs(3)).await;
        let proof = installed(&cluster, &action.undo().unwrap()).await;
        let passes =
            ["zookeeper1→zookeeper3: passes / passes", "zookeeper3→zookeeper1: passes / passes"];
        assert_eq!(told(&proof), passes);
        assert!(proof.packets > Some(0), "{:?}: votes and pings were dropped", proof.packets);
        assert_eq!(
            skipped(&cluster, &action.undo().unwrap()).await,
            "f1 has cut none of these links"
        );
    })
    .unwrap();
}

#[test]
fn a_link_that_two_faults_cut_is_proven_cut_until_the_second_joins() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let one_way = link("zookeeper1", "zookeeper2");
        installed(&cluster, &cut(1, [one_way.clone()])).await;
        installed(&cluster, &cut(2, [one_way.clone()])).await;
        let proof = installed(&cluster, &cut(1, [one_way.clone()]).undo().unwrap()).await;
        assert_eq!(told(&proof), ["zookeeper1→zookeeper2: blocked by f2 / blocked"]);
        let proof = installed(&cluster, &cut(2, [one_way]).undo().unwrap()).await;
        assert_eq!(told(&proof), ["zookeeper1→zookeeper2: passes / passes"]);
    })
    .unwrap();
}

#[test]
fn processes_are_proven_by_state_and_number_and_pointless_actions_skipped() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let node: NodeName = "zookeeper2".into();
        let kill = Action::Kill { node };
        let pause = Action::Pause { node };
        assert_eq!(skipped(&cluster, &kill.undo().unwrap()).await, "zookeeper2 runs already");
        assert_eq!(skipped(&cluster, &pause.undo().unwrap()).await, "zookeeper2 is not paused");
        let expected = ["zookeeper2 pid: 1002 / 1002", "zookeeper2 state: paused / paused"];
        assert_eq!(told(&installed(&cluster, &pause).await), expected);
        assert_eq!(skipped(&cluster, &pause).await, "zookeeper2 is paused already");
        assert_eq!(cluster.view().await.nodes[&node].state, NodeState::Paused);
        let expected = ["zookeeper2 pid: 1002 / 1002", "zookeeper2 state: running / running"];
        assert_eq!(told(&installed(&cluster, &pause.undo().unwrap()).await), expected);
        let expected = ["zookeeper2 pid: none / none", "zookeeper2 state: down / down"];
        assert_eq!(told(&installed(&cluster, &kill).await), expected);
        for action in [&kill, &pause, &pause.undo().unwrap()] {
            assert_eq!(skipped(&cluster, action).await, "zookeeper2 is down");
        }
        assert_eq!(cluster.view().await.nodes[&node].state, NodeState::Down);
        let expected = ["zookeeper2 pid: a new one / 1004", "zookeeper2 state: running / running"];
        assert_eq!(told(&installed(&cluster, &kill.undo().unwrap()).await), expected);
        cluster.healthy().await;
    })
    .unwrap();
}

#[test]
fn actions_on_nodes_that_are_not_there_are_errors() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let nobody = Action::Kill { node: "zookeeper9".into() };
        let known = "it has zookeeper1, zookeeper2, zookeeper3";
        let why = cluster.apply(&nobody).await.unwrap_err().to_string();
        assert_eq!(why, format!("no node `zookeeper9` in this cluster; {known}"));
        let itself = cut(1, [link("zookeeper1", "zookeeper1")]);
        let why = cluster.apply(&itself).await.unwrap_err().to_string();
        assert_eq!(why, "a link needs two nodes, `zookeeper1→zookeeper1` has one");
        assert_eq!(skipped(&cluster, &cut(1, [])).await, "no links to cut");
    })
    .unwrap();
}

#[test]
fn sessions_end_with_the_cluster() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let name = cluster.topology().nodes[0].name;
        let session = cluster.connect(&name, TIMEOUT).await.unwrap();
        let under_way = session.create("/a", b"", CreateMode::Persistent);
        let connecting = cluster.connect(&name, TIMEOUT);
        drop(cluster);
        let lost = under_way.await;
        assert_eq!(lost, Err(CoordinationError::SessionExpired { sent: true }));
        assert!(matches!(connecting.await, Err(CoordinationError::NotConnected(_))));
        assert_eq!(session.state(), crate::cluster::SessionEvent::Closed);
        assert!(session.get("/a").await.unwrap_err().surely_not_done());
        session.close().await.unwrap();
    })
    .unwrap();
}

#[test]
fn a_skewed_clock_changes_nothing_that_clients_see() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        for (node, rate_ppm) in [(0, 200_000), (1, -200_000), (2, 0)] {
            cluster.inspect(|world| world.skew(node, -3_600_000_000_000, rate_ppm));
        }
        tokio::time::sleep(Duration::from_secs(30)).await;
        assert!(cluster.view().await.is_healthy());
    })
    .unwrap();
}
