//! Clocks of one server moved, as its own log tells them, and put right again.

use std::sync::atomic::{AtomicU32, Ordering};

use jiff::civil::DateTime;
use jiff::{Timestamp, tz::TimeZone};

use stormglass::client::zookeeper::ask;
use stormglass::cluster::{
    Action, Applied, Check, Clock, Cluster, Concerning, Lookout, LookoutId, Needs, Sight,
};
use stormglass::docker::DockerCluster;

use super::harness::{Scratch, with_engine};
use super::{PATIENCE, apply, healthy, node};

const BY_SECONDS: i64 = 600;

fn skew(clock: Clock) -> Action {
    Action::Skew { node: node(2), clock, by_ns: BY_SECONDS * 1_000_000_000 }
}

fn undo(action: &Action) -> Action {
    action.undo().expect("an inverse")
}

/// Looks out for lines from here on, under a number that no line of before was seen with.
async fn look_out(cluster: &DockerCluster) -> Concerning {
    static NUMBER: AtomicU32 = AtomicU32::new(1);
    let id = LookoutId(NUMBER.fetch_add(1, Ordering::Relaxed));
    let nodes = cluster.topology().names().copied().collect();
    let sight = Sight::Log { nodes, pattern: "Processing (ruok) command".to_owned() };
    let lookouts = vec![Lookout { id, sight }];
    cluster.prepare(&Needs { lookouts, ..Needs::default() }).await.expect("prepared");
    Concerning::Lookout(id)
}

/// By how many seconds a server's clock is ahead, as its log has it, rounded to a minute.
async fn minutes_ahead(cluster: &DockerCluster, index: usize) -> i64 {
    let ours = look_out(cluster).await;
    let address = cluster.topology().node(&node(index)).expect("there").address;
    ask((address, 2181).into(), "ruok", PATIENCE).await.expect("an answer");
    let line = async {
        loop {
            let seen = cluster.observed().await;
            if seen.concerning == ours {
                break seen;
            }
        }
    };
    let seen = tokio::time::timeout(PATIENCE, line).await.expect("a line");
    assert_eq!(seen.node, node(index));
    // `2026-01-02 03:04:05,678 …`
    let time: DateTime = seen.what[..19].parse().expect("a time at the start of a line");
    let time = time.to_zoned(TimeZone::UTC).expect("a time").timestamp();
    (time.as_second() - Timestamp::now().as_second() + 30).div_euclid(60)
}

async fn all_ahead(cluster: &DockerCluster) -> [i64; 3] {
    let mut ahead = [0; 3];
    for (place, minutes) in ahead.iter_mut().enumerate() {
        *minutes = minutes_ahead(cluster, place + 1).await;
    }
    ahead
}

#[test]
fn a_wall_clock_is_moved_stays_so_after_a_restart_and_is_put_right() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(3).await;
        assert_eq!(all_ahead(&cluster).await, [0, 0, 0]);
        let proof = apply(&cluster, &skew(Clock::Wall)).await;
        println!("moved in {} us: {proof:#?}", proof.took_us);
        assert_eq!(proof.checks.len(), 6, "two clocks of three servers: {proof:#?}");
        assert_eq!(all_ahead(&cluster).await, [0, 10, 0]);

        let kill = Action::Kill { node: node(2) };
        apply(&cluster, &kill).await;
        let proof = apply(&cluster, &undo(&kill)).await;
        println!("started again: {proof:#?}");
        assert_eq!(all_ahead(&cluster).await, [0, 10, 0]);
        let proof = apply(&cluster, &undo(&skew(Clock::Wall))).await;
        println!("put right in {} us: {proof:#?}", proof.took_us);
        assert!(proof.packets.is_some_and(|readings| readings > 0), "{proof:#?}");
        assert_eq!(all_ahead(&cluster).await, [0, 0, 0]);
        healthy(&cluster).await;
        scratch.down(cluster).await;
    });
}

#[test]
fn a_monotonic_clock_is_moved_and_put_right_by_another_process() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let mut spec = scratch.spec(3);
        spec.needs.supervised = true;
        let cluster = scratch.up_by(&spec).await;
        apply(&cluster, &skew(Clock::Monotonic)).await;
        // To answer is to look at that clock; its log goes by the other one.
        assert_eq!(minutes_ahead(&cluster, 2).await, 0);
        let proof = apply(&cluster, &undo(&skew(Clock::Monotonic))).await;
        println!("put right in {} us: {proof:#?}", proof.took_us);
        assert!(proof.packets.is_some_and(|readings| readings > 0), "{proof:#?}");
        let read = proof.checks.iter().find(|check: &&Check| check.what == "zookeeper2 clocks");
        let read = read.expect("its clocks are read");
        assert_eq!(read.seen, "wall +0.000000 s, monotonic +0.000000 s");
        healthy(&cluster).await;
        // Nothing is left to take back.
        let again = cluster.apply(&undo(&skew(Clock::Monotonic))).await.expect("applied");
        assert!(matches!(again, Applied::Skipped { .. }), "{again:?}");
        scratch.down(cluster).await;
    });
}
