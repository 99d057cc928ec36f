//! Programs of our own on simulated hosts: how they begin, talk, are killed, frozen and started again.

use std::io;
use std::rc::Rc;

use futures::io::{AsyncReadExt, AsyncWriteExt};

use super::shout::{PORT, dial, line, say, shouting};
use super::*;
use crate::cluster::{Clock, Coordination, CreateMode, SessionPick};
use crate::reference::host::Host;
use crate::sim::SimHost;
use crate::sim::program::{Program, Running};

const SECOND: Duration = Duration::from_secs(1);

async fn ask(cluster: &SimCluster, node: &str, words: &str) -> String {
    say(&mut dial(cluster, node).await, words).await.unwrap()
}

fn node(name: &str) -> NodeName {
    name.into()
}

#[test]
fn a_program_answers_clients_and_other_programs() {
    crate::sim::run(async {
        let cluster = shouting(2, 1).await;
        assert_eq!(ask(&cluster, "kvrocks1", "hello").await, "HELLO");
        let mut stream = dial(&cluster, "kvrocks1").await;
        let who = say(&mut stream, "who").await.unwrap();
        assert!(who.starts_with("10.0.0.254:"), "{who}");
        assert_eq!(say(&mut stream, "ask 10.0.0.102:6666").await.unwrap(), "HELLO");
        assert_eq!(say(&mut stream, "ask 10.0.0.101:6666").await.unwrap(), "HELLO", "itself");
        assert_eq!(say(&mut stream, "ask 10.0.0.102:1").await.unwrap(), "connection refused");
        assert_eq!(say(&mut stream, "ask 10.0.0.1:2181").await.unwrap(), "timed out");
        assert_eq!(say(&mut stream, "ask 10.9.9.9:1").await.unwrap(), "timed out");
        assert_eq!(say(&mut stream, "sleep 250").await.unwrap(), "250");
        assert_eq!(say(&mut stream, "port 6666").await.unwrap(), "address in use");
        assert_eq!(say(&mut stream, "port 7").await.unwrap(), "free");
        let refused = cluster.dial(&node("kvrocks1"), 7).await.map(drop).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        let (lucky, again) = (say(&mut stream, "luck x").await, say(&mut stream, "luck x").await);
        assert_eq!(lucky.unwrap(), again.unwrap());
        assert_ne!(
            ask(&cluster, "kvrocks1", "luck y").await,
            ask(&cluster, "kvrocks2", "luck y").await
        );
    })
    .unwrap();
}

#[test]
fn a_half_closed_stream_still_brings_answers() {
    crate::sim::run(async {
        let cluster = shouting(1, 1).await;
        let mut stream = dial(&cluster, "kvrocks1").await;
        stream.write_all(b"sleep 500\nhello\n").await.unwrap();
        stream.close().await.unwrap();
        assert_eq!(stream.write(b"x").await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(line(&mut stream).await.unwrap(), "500");
        assert_eq!(line(&mut stream).await.unwrap(), "HELLO");
        assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
    })
    .unwrap();
}

#[test]
fn large_writes_wait_for_their_reader() {
    crate::sim::run(async {
        let cluster = shouting(1, 1).await;
        let mut stream = dial(&cluster, "kvrocks1").await;
        installed(&cluster, &Action::Pause { node: node("kvrocks1") }).await;
        let text = format!("{}\n", "a".repeat(2_000_000));
        let much = async {
            stream.write_all(text.as_bytes()).await.unwrap();
        };
        let waited = tokio::time::timeout(5 * SECOND, much).await;
        assert!(waited.is_err(), "the node reads nothing, so the sender waits");
        installed(&cluster, &Action::Resume { node: node("kvrocks1") }).await;
        let mut stream = dial(&cluster, "kvrocks1").await;
        stream.write_all(text.as_bytes()).await.unwrap();
        assert_eq!(line(&mut stream).await.unwrap().len(), 2_000_000);
    })
    .unwrap();
}

#[test]
fn a_killed_program_loses_all_but_its_disk() {
    crate::sim::run(async {
        let cluster = shouting(1, 1).await;
        let mut stream = dial(&cluster, "kvrocks1").await;
        say(&mut stream, "keep one,").await.unwrap();
        let luck = say(&mut stream, "luck x").await.unwrap();
        installed(&cluster, &Action::Kill { node: node("kvrocks1") }).await;
        let lost = say(&mut stream, "hello").await.unwrap_err().kind();
        assert!(
            matches!(lost, io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset),
            "{lost}"
        );
        let again = say(&mut stream, "hello").await.unwrap_err().kind();
        assert_eq!(again, io::ErrorKind::ConnectionReset, "the write itself seemed to succeed");
        let again = say(&mut stream, "hello").await.unwrap_err().kind();
        assert_eq!(again, io::ErrorKind::BrokenPipe);
        let refused = cluster.dial(&node("kvrocks1"), PORT).await.map(drop).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(cluster.view().await.nodes[&node("kvrocks1")].state, NodeState::Down);
        installed(&cluster, &Action::Start { node: node("kvrocks1") }).await;
        seconds(1).await;
        let mut stream = dial(&cluster, "kvrocks1").await;
        say(&mut stream, "keep two").await.unwrap();
        assert_eq!(say(&mut stream, "notes").await.unwrap(), "one,two");
        assert_ne!(say(&mut stream, "luck x").await.unwrap(), luck, "another process");
        installed(&cluster, &Action::Crash { node: node("kvrocks1") }).await;
        assert!(say(&mut stream, "hello").await.is_err());
        seconds(1).await;
        assert_eq!(ask(&cluster, "kvrocks1", "notes").await, "one,two");
    })
    .unwrap();
}

#[test]
fn a_frozen_program_is_accepted_by_its_kernel_and_reads_before_it_gives_up() {
    crate::sim::run(async {
        let cluster = shouting(2, 1).await;
        let mut asking = dial(&cluster, "kvrocks2").await;
        let mut stream = dial(&cluster, "kvrocks1").await;
        installed(&cluster, &Action::Pause { node: node("kvrocks1") }).await;
        let mut late = dial(&cluster, "kvrocks1").await;
        let (silent, relayed) = tokio::join!(
            tokio::time::timeout(3 * SECOND, say(&mut stream, "sleep 10")),
            say(&mut asking, "ask 10.0.0.101:6666")
        );
        assert!(silent.is_err());
        assert_eq!(relayed.unwrap(), "timed out", "it accepts and never answers");
        assert_eq!(cluster.view().await.nodes[&node("kvrocks1")].state, NodeState::Paused);
        installed(&cluster, &Action::Resume { node: node("kvrocks1") }).await;
        assert_eq!(line(&mut stream).await.unwrap(), "10");
        assert_eq!(say(&mut late, "hello").await.unwrap(), "HELLO");
        // An answer and a timeout that both came meanwhile: the answer is found first.
        installed(&cluster, &cut(1, both_ways("kvrocks1", "kvrocks2"))).await;
        asking.write_all(b"ask 10.0.0.101:6666\n").await.unwrap();
        tokio::time::sleep(SECOND / 10).await;
        installed(&cluster, &Action::Pause { node: node("kvrocks2") }).await;
        installed(&cluster, &cut(1, both_ways("kvrocks1", "kvrocks2")).undo().unwrap()).await;
        seconds(5).await;
        installed(&cluster, &Action::Resume { node: node("kvrocks2") }).await;
        assert_eq!(line(&mut asking).await.unwrap(), "timed out", "it connected just then");
    })
    .unwrap();
}

#[test]
fn cuts_and_severed_connections_act_between_programs() {
    crate::sim::run(async {
        let cluster = shouting(2, 1).await;
        let mut stream = dial(&cluster, "kvrocks1").await;
        let action = cut(1, [link("kvrocks1", "kvrocks2")]);
        installed(&cluster, &action).await;
        assert_eq!(say(&mut stream, "ask 10.0.0.102:6666").await.unwrap(), "timed out");
        let proof = installed(&cluster, &action.undo().unwrap()).await;
        assert!(proof.packets > Some(0), "it was felt: {proof:?}");
        assert_eq!(say(&mut stream, "ask 10.0.0.102:6666").await.unwrap(), "HELLO");
        let manner = Manner { refusal: crate::cluster::Refusal::Reset, port: Some(PORT) };
        let action = cut_so(2, [link("kvrocks1", "kvrocks2")].into(), manner);
        installed(&cluster, &action).await;
        assert_eq!(say(&mut stream, "ask 10.0.0.102:6666").await.unwrap(), "connection refused");
        installed(&cluster, &action.undo().unwrap()).await;
        let sever = Action::Sever { links: both_ways(CLIENTS, "kvrocks1"), port: Some(PORT) };
        assert_eq!(installed(&cluster, &sever).await.packets, Some(1));
        let lost = say(&mut stream, "hello").await.unwrap_err().kind();
        assert_eq!(lost, io::ErrorKind::ConnectionReset);
    })
    .unwrap();
}

#[test]
fn a_program_s_session_outlives_its_process_and_dies_of_a_cut() {
    crate::sim::run(async {
        let cluster = shouting(1, 1).await;
        let watcher = session(&cluster, "zookeeper1").await;
        let is_locked = || async { watcher.exists("/lock").await.unwrap().is_some() };
        let locked = ask(&cluster, "kvrocks1", "lock 10.0.0.1:2181").await;
        assert!(locked.starts_with("locked"), "{locked}");
        installed(&cluster, &Action::Kill { node: node("kvrocks1") }).await;
        seconds(5).await;
        assert!(is_locked().await, "the session is still open");
        seconds(3).await;
        assert!(!is_locked().await, "and has expired by now");
        installed(&cluster, &Action::Start { node: node("kvrocks1") }).await;
        seconds(1).await;
        ask(&cluster, "kvrocks1", "lock 10.0.0.1:2181").await;
        installed(&cluster, &Action::Stop { node: node("kvrocks1") }).await;
        assert!(!is_locked().await, "who is asked to end closes its session");
        installed(&cluster, &Action::Start { node: node("kvrocks1") }).await;
        seconds(1).await;
        ask(&cluster, "kvrocks1", "lock 10.0.0.1:2181").await;
        let action = cut(1, both_ways("kvrocks1", "zookeeper1"));
        installed(&cluster, &action).await;
        seconds(5).await;
        assert!(is_locked().await);
        seconds(3).await;
        assert!(!is_locked().await);
        installed(&cluster, &action.undo().unwrap()).await;
        let mut again = String::new();
        for _ in 0..20 {
            again = ask(&cluster, "kvrocks1", "lock 10.0.0.1:2181").await;
            if again.starts_with("locked") {
                break;
            }
        }
        assert!(is_locked().await, "{again}");
        // A frozen process does not keep its session alive.
        installed(&cluster, &Action::Pause { node: node("kvrocks1") }).await;
        seconds(8).await;
        assert!(!is_locked().await);
        let expire = Action::Expire { node: node("kvrocks1"), session: SessionPick::Nth(0) };
        assert!(skipped(&cluster, &expire).await.contains("no ZooKeeper server"));
    })
    .unwrap();
}

#[test]
fn a_program_s_clocks_can_be_moved_and_its_readings_are_counted() {
    crate::sim::run(async {
        let cluster = shouting(1, 1).await;
        let mut stream = dial(&cluster, "kvrocks1").await;
        let before: i64 = say(&mut stream, "wall").await.unwrap().parse().unwrap();
        let skew = |clock, by: i64| Action::Skew {
            node: node("kvrocks1"),
            clock,
            by_ns: by * 1_000_000_000,
        };
        installed(&cluster, &skew(Clock::Wall, 3_600)).await;
        let after: i64 = say(&mut stream, "wall").await.unwrap().parse().unwrap();
        assert!((3_600_000..3_601_000).contains(&(after - before)), "{after} {before}");
        let proof = installed(&cluster, &skew(Clock::Wall, 3_600).undo().unwrap()).await;
        assert_eq!(proof.packets, Some(1));
        stream.write_all(b"sleep 60000\n").await.unwrap();
        seconds(1).await;
        installed(&cluster, &skew(Clock::Monotonic, 50)).await;
        let (slept, took_ms) = timed(line(&mut stream)).await;
        assert_eq!(slept.unwrap(), "60000", "its own clock says so");
        assert!((8_500..9_500).contains(&took_ms), "{took_ms}");
        installed(&cluster, &skew(Clock::Monotonic, 50).undo().unwrap()).await;
        assert!(say(&mut stream, "hello").await.is_err(), "only a new process heals that");
    })
    .unwrap();
}

#[test]
fn a_program_s_lines_are_told_to_who_looks_out_for_them() {
    crate::sim::run(async {
        let cluster = shouting(1, 1).await;
        let sight =
            crate::cluster::Sight::Log { nodes: [node("kvrocks1")].into(), pattern: "^two".into() };
        let id = crate::cluster::LookoutId(1);
        let lookouts = vec![crate::cluster::Lookout { id, sight }];
        cluster.prepare(&Needs { lookouts, ..Needs::default() }).await.unwrap();
        ask(&cluster, "kvrocks1", "log one").await;
        ask(&cluster, "kvrocks1", "log two three").await;
        let seen = tokio::time::timeout(SECOND, cluster.observed()).await.unwrap();
        assert_eq!((&*seen.node, seen.what.as_str()), ("kvrocks1", "two three"));
    })
    .unwrap();
}

fn alone(program: impl Fn(SimHost) -> Running + 'static) -> SimCluster {
    let mut spec = SimSpec::ensemble(1, Variant::AsShipped, Rng::from_seed(1));
    spec.services.insert(Role::Kvrocks, 1);
    let program: Program = Rc::new(program);
    SimCluster::start_with(&spec, Role::Kvrocks, &program).unwrap()
}

#[test]
fn a_program_that_fails_is_down_and_says_why() {
    crate::sim::run(async {
        let cluster = alone(|host: SimHost| {
            Box::pin(async move {
                host.run(std::future::pending());
                anyhow::bail!("no room")
            })
        });
        seconds(3).await;
        let seen = cluster.view().await.nodes[&node("kvrocks1")].clone();
        assert_eq!((seen.state, seen.role), (NodeState::Down, Role::Kvrocks));
        assert_eq!(seen.detail, "down: failed: no room");
        assert!(cluster.dial(&node("kvrocks1"), PORT).await.is_err());
        let ill = cluster.risen().await.map(drop).unwrap_err().to_string();
        assert_eq!(ill, "the simulated cluster never got well: kvrocks1: down: failed: no room");
    })
    .unwrap();
}

#[test]
fn a_world_that_breaks_says_so() {
    crate::sim::run(async {
        let cluster = alone(|host: SimHost| {
            Box::pin(async move {
                host.sleep(SECOND).await;
                panic!("on purpose")
            })
        });
        let trouble = tokio::time::timeout(5 * SECOND, cluster.trouble()).await;
        assert!(trouble.unwrap().contains("panicked"));
        let lost = session_at(&cluster).await;
        assert!(lost.contains("the simulation has ended"), "{lost}");
    })
    .unwrap();
}

async fn session_at(cluster: &SimCluster) -> String {
    let session = cluster.connect(&node("zookeeper1"), SECOND).await;
    session.map(drop).unwrap_err().to_string()
}

#[test]
fn interposers_at_zookeeper_act_on_sessions_of_programs() {
    crate::sim::run(async {
        let cluster = shouting(1, 1).await;
        prepare(&cluster, [tap("zookeeper1", Side::Inbound, 2181, &["kvrocks1"])]).await;
        let mine = session(&cluster, "zookeeper1").await;
        let rule = crate::cluster::MessageRule {
            pattern: "zookeeper create /lock".parse().unwrap(),
            form: crate::cluster::Form::Close,
            nth: 1,
            times: Some(1),
            delay: None,
        };
        let at = tap("zookeeper1", Side::Inbound, 2181, &["kvrocks1"]);
        installed(&cluster, &interpose(1, at, Effect::Message(rule))).await;
        let lost = mine.create("/lock", b"", CreateMode::Ephemeral).await;
        assert!(lost.is_ok(), "clients pass");
        mine.delete("/lock", None).await.unwrap();
        assert_eq!(ask(&cluster, "kvrocks1", "lock 10.0.0.1:2181").await, "connection loss");
        assert!(mine.exists("/lock").await.unwrap().is_some(), "it was done all the same");
        let seen = cluster.observed().await.message.unwrap();
        assert!(seen.applied && seen.connection.starts_with("10.0.0.101:"), "{seen:?}");
        assert!(seen.connection.ends_with("→10.0.0.1:2181"), "{seen:?}");
    })
    .unwrap();
}
