//! Log lines and messages that are looked out for: told where they should be, and never otherwise.

use super::*;
use crate::cluster::{Concerning, Lookout, LookoutId, Sight};

fn line(id: u32, nodes: &[&str], pattern: &str) -> Lookout {
    let nodes = nodes.iter().map(|name| NodeName::from(*name)).collect();
    Lookout { id: LookoutId(id), sight: Sight::Log { nodes, pattern: pattern.to_owned() } }
}

fn message(id: u32, node: &str, pattern: &str) -> Lookout {
    let taps = [client_tap(node)].into();
    let pattern = pattern.parse().expect("a pattern");
    Lookout { id: LookoutId(id), sight: Sight::Message { taps, pattern } }
}

async fn look_out(cluster: &SimCluster, lookouts: impl IntoIterator<Item = Lookout>) {
    let lookouts = lookouts.into_iter().collect();
    cluster.prepare(&Needs { lookouts, ..Needs::default() }).await.unwrap();
}

/// All that is seen within so many seconds.
async fn seen(cluster: &SimCluster, count: u64) -> Vec<Observed> {
    let mut all = Vec::new();
    let end = tokio::time::Instant::now() + Duration::from_secs(count);
    while let Ok(observed) = tokio::time::timeout_at(end, cluster.observed()).await {
        all.push(observed);
    }
    all
}

const ALL: [&str; 3] = ["zookeeper1", "zookeeper2", "zookeeper3"];

#[test]
fn elections_are_told_by_the_lines_that_servers_write() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        look_out(
            &cluster,
            [
                line(1, &ALL, r"LEADING - LEADER ELECTION TOOK - \d+ MS$"),
                line(2, &["zookeeper3"], "LEADING"),
                line(3, &ALL, r"Have quorum of supporters, sids: .*zxid: 0x200000000"),
            ],
        )
        .await;
        assert_eq!(leader(&cluster).await, "zookeeper3".into());
        assert!(seen(&cluster, 20).await.is_empty(), "nothing happens");
        installed(&cluster, &Action::Kill { node: "zookeeper3".into() }).await;
        let all = seen(&cluster, 20).await;
        let told: Vec<_> = all.iter().map(|it| (it.concerning, &*it.node)).collect();
        let lookout = |id| Concerning::Lookout(LookoutId(id));
        let leads = leader(&cluster).await;
        assert_eq!(told, [(lookout(1), &*leads), (lookout(3), &*leads)]);
        assert!(all[0].what.starts_with("2024-01-01 00:00:"), "{}", all[0].what);
        assert!(all.iter().all(|it| it.message.is_none() && it.age_us < 1_000), "{all:?}");
        look_out(&cluster, []).await;
        installed(&cluster, &Action::Kill { node: leads }).await;
        assert!(seen(&cluster, 20).await.is_empty(), "nobody looks out");
    })
    .unwrap();
}

#[test]
fn servers_write_what_real_ones_write() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let leads = leader(&cluster).await;
        let follower = followers(&cluster).await[0];
        let expected = [
            (follower, "Created server with tickTime 500 ms minSessionTimeout 1000 ms"),
            (follower, r"^\S+ \S+ \[myid:1\] - INFO  \[\w+\] - LOOKING$"),
            (follower, r"New election. My id = 1, proposed zxid=0x1[0-9a-f]{8}$"),
            (follower, r"FOLLOWING - LEADER ELECTION TOOK - \d+ MS"),
            (follower, "Peer state changed: following - discovery"),
            (follower, r"Snapshotting: 0x[0-9a-f]+ to /data/version-2/snapshot.[0-9a-f]+"),
            (follower, "Peer state changed: following - broadcast"),
            (leads, "Shutdown called. For the reason Not sufficient followers synced"),
            (leads, "Shutting down"),
            (leads, "Peer state changed: leading - discovery"),
            (leads, "Peer state changed: leading - synchronization"),
            (leads, "Peer state changed: leading - broadcast"),
            (leads, r"Expiring session 0x[0-9a-f]+"),
        ];
        let lookouts = expected.iter().zip(1..).map(|((node, words), id)| line(id, &[node], words));
        look_out(&cluster, lookouts).await;
        drop(session(&cluster, &follower).await);
        installed(&cluster, &Action::Crash { node: follower }).await;
        seconds(10).await;
        cluster.healthy().await;
        // A client that is cut off is expired by the leader.
        let lost = session(&cluster, &follower).await;
        let cut = cut_so(1, both_ways(CLIENTS, &follower), Manner::default());
        installed(&cluster, &cut).await;
        seconds(20).await;
        installed(&cluster, &cut.undo().unwrap()).await;
        drop(lost);
        for _ in 0..4 {
            let leads = leader(&cluster).await;
            let rest = followers(&cluster).await;
            let links = rest.iter().flat_map(|to| both_ways(&leads, to)).collect();
            let action = cut_so(2, links, Manner::default());
            installed(&cluster, &action).await;
            seconds(10).await;
            installed(&cluster, &action.undo().unwrap()).await;
            cluster.healthy().await;
        }
        let all = seen(&cluster, 5).await;
        for ((node, words), id) in expected.iter().zip(1..) {
            let concerning = Concerning::Lookout(LookoutId(id));
            assert!(all.iter().any(|it| it.concerning == concerning), "{node} wrote no {words}");
        }
    })
    .unwrap();
}

#[test]
fn requests_are_told_where_they_are_looked_out_for() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        look_out(
            &cluster,
            [
                message(1, "zookeeper1", "zookeeper set /a"),
                message(2, "zookeeper2", "zookeeper {set,create} /a*"),
                message(3, "zookeeper3", "zookeeper delete"),
            ],
        )
        .await;
        let first = session(&cluster, "zookeeper1").await;
        let second = session(&cluster, "zookeeper2").await;
        first.create("/a", b"", CreateMode::Persistent).await.unwrap();
        second.create("/b", b"", CreateMode::Persistent).await.unwrap();
        second.sync("/a").await.unwrap();
        second.set("/a", b"1", None).await.unwrap();
        first.set("/a", b"2", None).await.unwrap();
        first.delete("/b", None).await.unwrap();
        let told: Vec<_> = seen(&cluster, 20)
            .await
            .into_iter()
            .map(|it| (it.concerning, it.node, it.what, it.message.map(|seen| seen.nth)))
            .collect();
        let lookout = |id| Concerning::Lookout(LookoutId(id));
        let expected = [
            (lookout(2), "zookeeper2".into(), r#"set /a = "1""#.to_owned(), Some(1)),
            (lookout(1), "zookeeper1".into(), r#"set /a = "2""#.to_owned(), Some(1)),
        ];
        assert_eq!(told, expected);
    })
    .unwrap();
}

#[test]
fn what_cannot_be_looked_out_for_is_an_error() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let why = async |lookout| {
            let needs = Needs { lookouts: vec![lookout], ..Needs::default() };
            cluster.prepare(&needs).await.unwrap_err().to_string()
        };
        assert_eq!(why(line(1, &ALL, "(")).await, "`(` is no regular expression for a log line");
        assert!(why(line(1, &["zookeeper9"], "x")).await.contains("no node `zookeeper9`"));
        let resp = why(message(1, "zookeeper1", "resp SET")).await;
        assert!(resp.contains("does not speak resp"), "{resp}");
        let mut strange = client_tap("zookeeper1");
        strange.peers = ["nobody".into()].into();
        let needs = Needs { taps: [strange].into(), ..Needs::default() };
        let why = cluster.prepare(&needs).await.unwrap_err().to_string();
        assert!(why.contains("no node `nobody`"), "{why}");
    })
    .unwrap();
}
