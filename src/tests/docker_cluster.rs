//! The docker world against a real engine and real ZooKeeper servers.

pub mod harness;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use stormglass::cluster::{
    Action, Applied, Cluster, Coordination, CoordinationError, CreateMode, FaultId, Link, MultiOp,
    MultiResult, NodeState, Proof, Role, SessionEvent, Watch, WatchKind, Watched,
};
use stormglass::docker::doctor::{Grade, examine};
use stormglass::docker::{
    DockerCluster, Engine, FoundRun, Life, RunId, Which, remove, runs, sweep,
};
use stormglass::op::NodeName;

use harness::{Scratch, left_of, with_engine};

const SESSION: Duration = Duration::from_secs(6);

/// Longer than any election here takes.
const PATIENCE: Duration = Duration::from_secs(30);

fn installed(applied: &Applied) -> &Proof {
    match applied {
        Applied::Installed { proof } => proof,
        other => panic!("not installed: {other:#?}"),
    }
}

async fn healthy(cluster: &DockerCluster) {
    let healthy = async {
        while !cluster.view().await.is_healthy() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, healthy).await.expect("a healthy cluster");
}

async fn leader(cluster: &DockerCluster) -> NodeName {
    *cluster.view().await.leaders(Role::Zookeeper).next().expect("a leader")
}

fn node(index: usize) -> NodeName {
    format!("zookeeper{index}").into()
}

/// Both directions between one node and each of the others.
pub fn around(cluster: &DockerCluster, alone: &NodeName) -> BTreeSet<Link> {
    let others = cluster.topology().names().filter(|name| *name != alone);
    let link = |from: &NodeName, to: &NodeName| Link { from: *from, to: *to };
    others.flat_map(|other| [link(alone, other), link(other, alone)]).collect()
}

#[test]
fn sessions_on_different_servers_do_all_that_zookeeper_does() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(3).await;
        assert!(cluster.view().await.is_healthy());
        let one = cluster.connect(&node(1), SESSION).await.expect("a session");
        let two = cluster.connect(&node(2), SESSION).await.expect("a session");
        assert_ne!(one.id(), two.id());
        assert_eq!((one.state(), one.timeout()), (SessionEvent::Connected, SESSION));

        assert_eq!(one.create("/a", b"0", CreateMode::Persistent).await, Ok("/a".to_owned()));
        let again = one.create("/a", b"0", CreateMode::Persistent).await;
        assert_eq!(again, Err(CoordinationError::NodeExists));
        two.sync("/a").await.expect("synced");
        let (data, stat) = two.get("/a").await.expect("read at another server");
        assert_eq!((data.as_slice(), stat.version, stat.ephemeral_owner), (&b"0"[..], 0, 0));

        let set = two.set("/a", b"1", Some(0)).await.expect("compared and set");
        assert_eq!(set.version, 1);
        assert_eq!(two.set("/a", b"2", Some(0)).await, Err(CoordinationError::BadVersion));
        assert_eq!(two.get("/none").await, Err(CoordinationError::NoNode));
        assert_eq!(one.exists("/none").await, Ok(None));
        assert_eq!(one.delete("/a", Some(7)).await, Err(CoordinationError::BadVersion));

        ordered_requests(&one).await;
        atomic_requests(&one).await;
        watches(&one, &two).await;
        ephemerals_end_with_their_session(&one, two).await;
        one.close().await.expect("closed");
        scratch.down(cluster).await;
    });
}

/// Requests are sent when the method is called, not when the future is awaited.
async fn ordered_requests(session: &impl Coordination) {
    let first = session.create("/q", b"", CreateMode::Persistent);
    let second = session.create("/q/n-", b"", CreateMode::PersistentSequential);
    let third = session.create("/q/n-", b"", CreateMode::PersistentSequential);
    let listed = session.children("/q");
    let names = listed.await.expect("listed");
    assert_eq!(names, ["n-0000000000", "n-0000000001"]);
    assert_eq!(third.await, Ok("/q/n-0000000001".to_owned()));
    assert_eq!(second.await, Ok("/q/n-0000000000".to_owned()));
    assert_eq!(first.await, Ok("/q".to_owned()));
    assert_eq!(session.delete("/q", None).await, Err(CoordinationError::NotEmpty));
}

async fn atomic_requests(session: &impl Coordination) {
    let create = |path: &str| MultiOp::Create {
        path: path.to_owned(),
        data: b"m".to_vec(),
        mode: CreateMode::Persistent,
    };
    let check = |version| MultiOp::Check { path: "/a".to_owned(), version };
    let failed = session.multi(vec![create("/m"), check(9), create("/m2")]).await;
    assert_eq!(failed, Err((Some(1), CoordinationError::BadVersion)));
    assert_eq!(session.exists("/m").await, Ok(None));
    let set = MultiOp::Set { path: "/a".to_owned(), data: b"9".to_vec(), version: Some(1) };
    let delete = MultiOp::Delete { path: "/m".to_owned(), version: None };
    let done = session.multi(vec![check(1), create("/m"), set, delete]).await.expect("performed");
    let [MultiResult::Check, created, MultiResult::Set { stat }, MultiResult::Delete] = &done[..]
    else {
        panic!("unexpected results: {done:?}");
    };
    assert_eq!(created, &MultiResult::Create { path: "/m".to_owned() });
    assert_eq!(stat.version, 2);
}

async fn watches(one: &impl Coordination, two: &impl Coordination) {
    let created = one.watch("/w", Watch::Data).await.expect("set on a path to come");
    two.create("/w", b"", CreateMode::Persistent).await.expect("created");
    assert_eq!(created.fired().await.kind, WatchKind::Created);
    let children = one.watch("/w", Watch::Children).await.expect("set");
    let data = one.watch("/w", Watch::Data).await.expect("set");
    two.create("/w/x", b"", CreateMode::Persistent).await.expect("created");
    two.set("/w", b"1", None).await.expect("set");
    let fired = children.fired().await;
    assert_eq!((fired.kind, fired.path.as_str()), (WatchKind::ChildrenChanged, "/w"));
    assert_eq!(data.fired().await.kind, WatchKind::DataChanged);
}

async fn ephemerals_end_with_their_session(one: &impl Coordination, two: impl Coordination) {
    two.create("/e", b"", CreateMode::Ephemeral).await.expect("created");
    let below = two.create("/e/x", b"", CreateMode::Persistent).await;
    assert_eq!(below, Err(CoordinationError::NoChildrenForEphemerals));
    one.sync("/e").await.expect("synced");
    let gone = one.watch("/e", Watch::Data).await.expect("set");
    let (_, stat) = one.get("/e").await.expect("there");
    assert_eq!(stat.ephemeral_owner, two.id());
    two.close().await.expect("closed");
    assert_eq!(gone.fired().await.kind, WatchKind::Deleted);
}

#[test]
fn a_leader_is_cut_off_and_joined_again() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(3).await;
        let old = leader(&cluster).await;
        let session = cluster.connect(&old, SESSION).await.expect("a session");
        session.create("/p", b"", CreateMode::Persistent).await.expect("created");
        let (fault, links) = (FaultId(1), around(&cluster, &old));
        let cut = Action::Cut { fault, links: links.clone(), manner: Default::default() };
        let applied = cluster.apply(&cut).await.expect("applied");
        let proof = installed(&applied);
        println!("cut proven in {} us", proof.took_us);
        let seen = |what: &str| proof.checks.iter().filter(|check| check.seen == what).count();
        // Four links are cut; two between the others and six to the clients are not; four before.
        assert_eq!((seen("cut"), seen("open")), (4, 12), "{proof:#?}");

        let unanswered = session.set("/p", b"lost", None).await.expect_err("no quorum");
        assert!(!unanswered.surely_not_done(), "{unanswered:?}");
        let elected = async {
            while cluster.view().await.leaders(Role::Zookeeper).all(|name| *name == old) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, elected).await.expect("another leader");

        let applied = cluster.apply(&cut.undo().unwrap()).await.expect("applied");
        let proof = installed(&applied);
        println!("join proven in {} us, {:?} packets", proof.took_us, proof.packets);
        assert!(proof.packets.is_some_and(|packets| packets > 0), "{proof:#?}");
        assert!(proof.checks.iter().all(|check| check.seen != "cut"), "{proof:#?}");
        healthy(&cluster).await;
        scratch.down(cluster).await;
    });
}

#[test]
fn killed_and_frozen_servers_come_back() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(3).await;
        let name = leader(&cluster).await;
        let kill = Action::Kill { node: name };
        installed(&cluster.apply(&kill).await.expect("applied"));
        let again = cluster.apply(&kill).await.expect("applied");
        assert!(matches!(again, Applied::Skipped { .. }), "{again:?}");
        assert_eq!(cluster.view().await.nodes[&name].state, NodeState::Down);
        let started = Instant::now();
        let refused = cluster.connect(&name, SESSION).await.expect_err("nobody there");
        assert!(refused.surely_not_done() && started.elapsed() < SESSION, "{refused:?}");
        installed(&cluster.apply(&kill.undo().unwrap()).await.expect("applied"));
        let again = cluster.apply(&kill.undo().unwrap()).await.expect("applied");
        assert!(matches!(again, Applied::Skipped { .. }), "{again:?}");
        healthy(&cluster).await;

        let pause = Action::Pause { node: name };
        let session = cluster.connect(&name, SESSION).await.expect("a session");
        installed(&cluster.apply(&pause).await.expect("applied"));
        let again = cluster.apply(&pause).await.expect("applied");
        assert!(matches!(again, Applied::Skipped { .. }), "{again:?}");
        assert_eq!(cluster.view().await.nodes[&name].state, NodeState::Paused);
        let unanswered = session.set("/zookeeper", b"", None).await.expect_err("frozen");
        assert_eq!(unanswered, CoordinationError::ConnectionLoss);
        cluster.connect(&name, Duration::from_secs(2)).await.expect_err("frozen");
        installed(&cluster.apply(&pause.undo().unwrap()).await.expect("applied"));
        healthy(&cluster).await;
        let log = scratch.log(&name);
        scratch.down(cluster).await;
        let starts = std::fs::read_to_string(log).expect("a log");
        let starts = starts.matches("Reading configuration from").count();
        assert_eq!(starts, 2, "the log goes on after a restart, and repeats nothing");
    });
}

#[test]
fn two_runs_at_once_do_not_meet() {
    with_engine(|engine| async move {
        let (one, two) = (Scratch::new(engine.clone()), Scratch::new(engine.clone()));
        let (first, second) = tokio::join!(one.up(1), two.up(1));
        let addresses = |cluster: &DockerCluster| cluster.topology().nodes[0].address;
        assert_ne!(addresses(&first).octets()[..3], addresses(&second).octets()[..3]);
        let session = first.connect(&node(1), SESSION).await.expect("a session");
        session.create("/only-here", b"", CreateMode::Persistent).await.expect("created");
        let other = second.connect(&node(1), SESSION).await.expect("a session");
        assert_eq!(other.exists("/only-here").await, Ok(None));
        let swept = sweep(&engine, &Which::One(two.run.clone())).await.expect("swept");
        assert_eq!(swept.removed, []);
        assert_eq!(swept.spared.iter().map(|run| run.life).collect::<Vec<_>>(), [Life::Alive]);
        one.down(first).await;
        assert_eq!(other.exists("/only-here").await, Ok(None), "the other run is not touched");
        two.down(second).await;
    });
}

/// Not a test by itself: the orchestrator that the next one kills.
#[test]
fn an_orchestrator_to_be_killed() {
    let Ok(run) = std::env::var(harness::VICTIM) else { return };
    with_engine(|engine| async move {
        let scratch = Scratch::of(engine, run.parse().expect("a run id"));
        let cluster = scratch.up(3).await;
        let cut = Action::Cut {
            fault: FaultId(1),
            links: around(&cluster, &node(1)),
            manner: Default::default(),
        };
        installed(&cluster.apply(&cut).await.expect("applied"));
        installed(&cluster.apply(&Action::Pause { node: node(2) }).await.expect("applied"));
        println!("\n{}", harness::READY);
        std::future::pending().await
    });
}

#[test]
fn what_a_killed_orchestrator_leaves_is_swept_away() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine.clone());
        let mut victim =
            harness::victim("docker_cluster::an_orchestrator_to_be_killed", &scratch.run);
        let found = of(&engine, &scratch.run).await;
        assert_eq!((found.life, found.containers, found.networks), (Life::Alive, 7, 1));
        let spared = sweep(&engine, &Which::One(scratch.run.clone())).await.expect("swept");
        assert_eq!((spared.removed.len(), spared.spared.len()), (0, 1));
        victim.kill().and_then(|()| victim.wait()).expect("killed");
        assert_eq!(of(&engine, &scratch.run).await.life, Life::Gone);
        let swept = sweep(&engine, &Which::One(scratch.run.clone())).await.expect("swept");
        assert_eq!((swept.removed.len(), swept.spared.len()), (1, 0));
        assert_eq!(left_of(&engine, &scratch.run).await, Vec::<String>::new());
        let again = sweep(&engine, &Which::One(scratch.run.clone())).await.expect("swept");
        assert_eq!((again.removed.len(), again.spared.len()), (0, 0));
    });
}

async fn of(engine: &Engine, run: &RunId) -> FoundRun {
    let found = runs(engine).await.expect("listed");
    found.into_iter().find(|found| found.run == run.as_str()).expect("found by its label")
}

#[test]
fn a_subnet_that_is_taken_is_refused_and_nothing_is_left() {
    with_engine(|engine| async move {
        let (one, two) = (Scratch::new(engine.clone()), Scratch::new(engine.clone()));
        let cluster = one.up(1).await;
        let octets = cluster.topology().nodes[0].address.octets();
        let mut spec = two.spec(1);
        spec.subnet = Some(
            format!("{}.{}.{}.0/24", octets[0], octets[1], octets[2]).parse().expect("a subnet"),
        );
        let refused = DockerCluster::up(&engine, &spec, &|_| {}).await;
        let text = refused.err().expect("taken").to_string();
        assert!(text.contains("is taken") && text.contains(&format!("sg-{}", one.run)), "{text}");
        assert_eq!(left_of(&engine, &two.run).await, Vec::<String>::new());
        one.down(cluster).await;
    });
}

#[test]
fn a_server_that_ends_early_is_an_error_with_its_last_lines() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine.clone());
        let mut spec = scratch.spec(1);
        // Less than its heap, so that the kernel ends it.
        spec.limits.memory_bytes = 24 << 20;
        let failed = DockerCluster::up(&engine, &spec, &|_| {}).await;
        let text = failed.err().expect("it cannot come up").to_string();
        assert!(text.contains("zookeeper1 ended before it served, with exit code 137"), "{text}");
        assert_eq!(left_of(&engine, &scratch.run).await, Vec::<String>::new());
    });
}

#[test]
fn a_cluster_that_is_left_goes_on_until_it_is_removed() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine.clone());
        let cluster = scratch.up(1).await;
        let address = cluster.topology().nodes[0].address;
        let lines = cluster.leave().await.expect("left");
        assert!(lines[0].starts_with(&format!("zookeeper1: {address}:2181")), "{lines:?}");
        assert!(lines[1].contains(scratch.run.as_str()), "{lines:?}");
        let found = of(&engine, &scratch.run).await;
        assert_eq!((found.containers, found.networks), (2, 1));
        remove(&engine, &scratch.run).await.expect("removed");
        assert_eq!(left_of(&engine, &scratch.run).await, Vec::<String>::new());
    });
}

#[test]
fn the_doctor_finds_this_engine_fit() {
    with_engine(|engine| async move {
        let findings = examine(Ok(engine)).await;
        for finding in &findings {
            println!("{:4} {}: {}", finding.grade.name(), finding.name, finding.what);
            assert_eq!(finding.mend.is_some(), finding.grade != Grade::Ok, "{finding:?}");
        }
        assert!(findings.iter().all(|finding| finding.grade != Grade::Fail));
        for name in ["engine", "permission", "kernel", "partitions", "container addresses"] {
            assert!(findings.iter().any(|finding| finding.name == name), "{name}");
        }
    });
}
