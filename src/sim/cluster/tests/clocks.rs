//! Clocks moved: which ones, for how long, and what a server then does.

use super::*;
use crate::cluster::{Clock, SessionEvent};

const HOUR: i64 = 3_600_000_000_000;

fn skew(node: &str, clock: Clock, by_ns: i64) -> Action {
    Action::Skew { node: node.into(), clock, by_ns }
}

/// How far a node's clocks are from those of zookeeper1, in seconds.
fn off(cluster: &SimCluster, node: u8) -> [i64; 2] {
    [Clock::Wall, Clock::Monotonic].map(|clock| {
        let shows = |node| cluster.inspect(|world| world.shows_ns(node, clock));
        (shows(node) - shows(0)) / 1_000_000_000
    })
}

#[test]
fn one_clock_of_one_node_moves_and_moves_back() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let action = skew("zookeeper2", Clock::Wall, -HOUR);
        let expected = |by: &str| {
            ["1 wall", "1 monotonic", "2 wall", "2 monotonic", "3 wall", "3 monotonic"].map(|it| {
                let by = if it == "2 wall" { by } else { "+0.000000 s" };
                format!("zookeeper{it} clock: {by} / {by}")
            })
        };
        let proof = installed(&cluster, &action).await;
        assert_eq!(told(&proof), expected("-3600.000000 s"));
        assert_eq!([off(&cluster, 1), off(&cluster, 2)], [[-3600, 0], [0, 0]]);
        let proof = installed(&cluster, &action.undo().unwrap()).await;
        assert_eq!(told(&proof), expected("+3600.000000 s"));
        assert_eq!(off(&cluster, 1), [0, 0]);
        let why = skipped(&cluster, &action.undo().unwrap()).await;
        assert_eq!(why, "zookeeper2's wall clock was not moved by -3600.000000 s");
    })
    .unwrap();
}

#[test]
fn a_moved_wall_clock_is_read_and_outlives_the_process() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let leads = leader(&cluster).await;
        let right = session(&cluster, &leads).await.id();
        let action = skew(&leads, Clock::Wall, 24 * HOUR);
        installed(&cluster, &action).await;
        let node = cluster.index(&leads).unwrap();
        assert_eq!(off(&cluster, node), [86_400, 0]);
        installed(&cluster, &Action::Crash { node: leads }).await;
        cluster.healthy().await;
        assert_eq!(off(&cluster, node), [86_400, 0]);
        // A server numbers its sessions by the time at which it started.
        let late = session(&cluster, &leads).await.id();
        let day_ms = 86_400_000 << 16;
        assert!(late - right > day_ms, "{late:x} and {right:x}");
        let proof = installed(&cluster, &action.undo().unwrap()).await;
        assert!(proof.packets > Some(0), "{:?} readings", proof.packets);
        installed(&cluster, &Action::Crash { node: leads }).await;
        cluster.healthy().await;
        assert!(session(&cluster, &leads).await.id() < late);
    })
    .unwrap();
}

#[test]
fn a_leader_whose_monotonic_clock_leaps_gives_up_its_followers() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let (leads, before) = (leader(&cluster).await, epoch(&cluster).await);
        seconds(5).await;
        assert_eq!(epoch(&cluster).await, before);
        let action = skew(&leads, Clock::Monotonic, HOUR);
        installed(&cluster, &action).await;
        seconds(5).await;
        cluster.healthy().await;
        assert!(epoch(&cluster).await > before, "silence for an hour is a reason");
        let node = cluster.index(&leads).unwrap();
        let pid = cluster.inspect(|world| world.pid(node));
        let proof = installed(&cluster, &action.undo().unwrap()).await;
        assert!(told(&proof)[0].starts_with(&format!("{leads} pid: a new one / ")));
        assert_ne!(cluster.inspect(|world| world.pid(node)), pid);
        assert_eq!(cluster.inspect(|world| world.offset_ns(node, Clock::Monotonic)), 0);
        cluster.healthy().await;
    })
    .unwrap();
}

#[test]
fn a_leader_whose_monotonic_clock_is_put_back_falls_silent() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let leads = leader(&cluster).await;
        let reader = session(&cluster, &followers(&cluster).await[0]).await;
        // A follower that hears nothing from its leader hangs up on its clients.
        let hung_up = async || {
            let changed = reader.changed(SessionEvent::Connected);
            tokio::time::timeout(Duration::from_secs(6), changed).await.is_ok()
        };
        assert!(!hung_up().await);
        let action = skew(&leads, Clock::Monotonic, -HOUR);
        installed(&cluster, &action).await;
        assert!(hung_up().await, "the next ping is due in an hour");
        installed(&cluster, &action.undo().unwrap()).await;
        cluster.healthy().await;
        seconds(3).await;
        assert!(!hung_up().await);
    })
    .unwrap();
}

/// For how many seconds a follower serves whose leader is frozen.
async fn patience(bumped_by_ns: i64, healed: bool) -> u64 {
    let cluster = up(3, 1).await;
    let follower = followers(&cluster).await[0];
    let action = skew(&follower, Clock::Monotonic, bumped_by_ns);
    installed(&cluster, &action).await;
    cluster.healthy().await;
    if healed {
        installed(&cluster, &action.undo().unwrap()).await;
        cluster.healthy().await;
        seconds(3).await;
    }
    installed(&cluster, &Action::Pause { node: leader(&cluster).await }).await;
    for second in 0.. {
        if cluster.view().await.nodes[&follower].state != NodeState::Serving {
            return second;
        }
        seconds(1).await;
    }
    0
}

#[test]
fn timers_run_on_the_monotonic_clock() {
    crate::sim::run(async {
        let late = patience(-20_000_000_000, false).await;
        assert!((18..=24).contains(&late), "{late} s with a clock that was put back by 20 s");
        let right = patience(-20_000_000_000, true).await;
        assert!(right <= 4, "{right} s after the heal");
    })
    .unwrap();
}

#[test]
fn clocks_of_processes_that_are_down_cannot_be_moved_but_put_right() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let action = skew("zookeeper1", Clock::Monotonic, HOUR);
        let kill = Action::Kill { node: "zookeeper1".into() };
        installed(&cluster, &action).await;
        installed(&cluster, &kill).await;
        let other = skew("zookeeper1", Clock::Wall, HOUR);
        assert_eq!(skipped(&cluster, &other).await, "zookeeper1 is down");
        installed(&cluster, &action.undo().unwrap()).await;
        assert_eq!(off(&cluster, 1), [0, 0]);
        assert_eq!(cluster.inspect(|world| world.pid(0)), None, "who is down stays down");
        installed(&cluster, &kill.undo().unwrap()).await;
        cluster.healthy().await;
    })
    .unwrap();
}
