//! Cuts by port, by reset and from clients; severed connections; capped links.

use super::*;
use crate::cluster::{Refusal, SessionEvent};

const RESET: Manner = Manner { refusal: Refusal::Reset, port: None };

fn at_port(port: u16, refusal: Refusal) -> Manner {
    Manner { refusal, port: Some(port) }
}

fn throttle(links: BTreeSet<Link>, bytes_per_second: u64) -> Action {
    Action::Throttle { fault: FaultId(1), links, bytes_per_second }
}

#[test]
fn a_cut_that_resets_ends_connections_and_refuses_new_ones_until_it_is_joined() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let inside = session(&cluster, "zookeeper1").await;
        inside.create("/a", b"0", CreateMode::Persistent).await.unwrap();
        let action = cut_so(1, both_ways(CLIENTS, "zookeeper1"), RESET);
        let proof = installed(&cluster, &action).await;
        let expected = [
            "clients→zookeeper1: refused by f1 / refused",
            "zookeeper1→clients: refused by f1 / refused",
        ];
        assert_eq!(told(&proof), expected);
        let (lost, took_ms) = timed(inside.get("/a")).await;
        assert_eq!(lost, Err(CoordinationError::ConnectionLoss));
        assert!(took_ms < 10, "{took_ms} ms: a reset tells at once");
        let refused = cluster.connect(&"zookeeper1".into(), Duration::from_secs(1)).await;
        assert!(matches!(refused, Err(CoordinationError::NotConnected(_))));
        let proof = installed(&cluster, &action.undo().unwrap()).await;
        assert!(proof.packets > Some(1), "{:?}: handshakes were refused", proof.packets);
        assert_eq!(inside.get("/a").await.unwrap().0, b"0");
    })
    .unwrap();
}

#[test]
fn clients_cut_off_from_a_node_leave_the_nodes_to_each_other() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let (before, leads) = (epoch(&cluster).await, leader(&cluster).await);
        let follower = followers(&cluster).await[0];
        let inside = session(&cluster, &leads).await;
        inside.create("/a", b"0", CreateMode::Persistent).await.unwrap();
        let action = cut_so(1, both_ways(CLIENTS, &leads), Manner::default());
        installed(&cluster, &action).await;
        let lost = inside.set("/a", b"1", None).await;
        assert_eq!(lost, Err(CoordinationError::ConnectionLoss));
        let other = session(&cluster, &follower).await;
        assert_eq!(cluster.view().await.nodes[&leads].detail, "unreachable");
        other.set("/a", b"2", None).await.unwrap();
        installed(&cluster, &action.undo().unwrap()).await;
        cluster.healthy().await;
        assert_eq!((leader(&cluster).await, epoch(&cluster).await), (leads, before));
        assert_eq!(session(&cluster, &leads).await.get("/a").await.unwrap().0, b"2");
    })
    .unwrap();
}

#[test]
fn a_cut_of_one_port_leaves_the_others_alone() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let before = epoch(&cluster).await;
        let (leads, follower) = (leader(&cluster).await, followers(&cluster).await[0]);
        for (port, touched) in [(3888, false), (2888, true)] {
            let action = cut_so(1, both_ways(&leads, &follower), at_port(port, Refusal::Drop));
            let proof = installed(&cluster, &action).await;
            let there = [
                format!("{follower}→{leads}:{port}: blocked by f1 / blocked"),
                format!("{follower}→{leads}: passes / passes"),
            ];
            for check in there {
                assert!(told(&proof).contains(&check), "{check} in {:?}", told(&proof));
            }
            seconds(5).await;
            let serves = cluster.view().await.nodes[&follower].state == NodeState::Serving;
            assert_eq!(serves, !touched, "port {port}");
            let outside = session(&cluster, &leads).await;
            outside.set("/", b"", None).await.unwrap();
            let proof = installed(&cluster, &action.undo().unwrap()).await;
            assert_eq!(proof.packets > Some(0), touched, "port {port}: {:?}", proof.packets);
            cluster.healthy().await;
        }
        assert_eq!(epoch(&cluster).await, before, "the quorum was never lost");
    })
    .unwrap();
}

#[test]
fn a_cut_of_a_port_concerns_just_what_one_end_opens_to_the_other() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let (leads, follower) = (leader(&cluster).await, followers(&cluster).await[0]);
        let manner = at_port(2888, Refusal::Drop);
        // Followers open to the leader, so nothing is on this way but the answers to nobody.
        let wrong_way = cut_so(1, [link(&leads, &follower)].into(), manner);
        installed(&cluster, &wrong_way).await;
        seconds(5).await;
        assert!(cluster.view().await.is_healthy());
        let proof = installed(&cluster, &wrong_way.undo().unwrap()).await;
        assert_eq!(proof.packets, Some(0));
        let right_way = cut_so(1, [link(&follower, &leads)].into(), manner);
        installed(&cluster, &right_way).await;
        seconds(5).await;
        assert_eq!(cluster.view().await.nodes[&follower].state, NodeState::Running);
    })
    .unwrap();
}

#[test]
fn severed_clients_reconnect_and_their_requests_are_lost() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let inside = session(&cluster, "zookeeper1").await;
        let outside = session(&cluster, "zookeeper2").await;
        let links = BTreeSet::from([link(CLIENTS, "zookeeper1")]);
        let sever = |port| Action::Sever { links: links.clone(), port };
        assert!(sever(None).undo().is_none());
        let why = "there is no connection between these ends";
        assert_eq!(skipped(&cluster, &sever(Some(2888))).await, why);
        let under_way = inside.create("/a", b"", CreateMode::Persistent);
        let unharmed = outside.create("/b", b"", CreateMode::Persistent);
        let proof = installed(&cluster, &sever(Some(2181))).await;
        assert_eq!(told(&proof), ["clients→zookeeper1 1 connections: gone / gone"]);
        assert_eq!(under_way.await, Err(CoordinationError::ConnectionLoss));
        assert_eq!(unharmed.await, Ok("/b".to_owned()));
        assert_eq!(inside.changed(SessionEvent::Disconnected).await, SessionEvent::Connected);
        inside.get("/b").await.unwrap();
    })
    .unwrap();
}

#[test]
fn a_leader_whose_followers_are_severed_from_it_is_deposed_and_a_new_epoch_begins() {
    crate::sim::run(async {
        for seed in 1..=6 {
            let cluster = up(if seed % 2 == 0 { 3 } else { 5 }, seed).await;
            let (leads, before) = (leader(&cluster).await, epoch(&cluster).await);
            let links = followers(&cluster).await.into_iter().map(|to| link(&leads, &to)).collect();
            installed(&cluster, &Action::Sever { links, port: Some(2888) }).await;
            seconds(2).await;
            cluster.healthy().await;
            let after = epoch(&cluster).await;
            assert!(after > before, "seed {seed}: epoch {after} after {before}");
            let view = cluster.view().await;
            assert!(view.nodes.values().all(|node| node.epoch == Some(after)), "{view:?}");
        }
    })
    .unwrap();
}

#[test]
fn a_capped_link_passes_so_many_bytes_a_second_until_it_is_freed() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let writer = session(&cluster, "zookeeper1").await;
        let other = session(&cluster, "zookeeper2").await;
        writer.create("/a", b"", CreateMode::Persistent).await.unwrap();
        let data = [7; 1_000];
        assert!(timed(writer.set("/a", &data, None)).await.1 < 20);
        let action = throttle([link(CLIENTS, "zookeeper1")].into(), 1_000);
        let proof = installed(&cluster, &action).await;
        assert!(
            told(&proof)[0].starts_with("clients→zookeeper1: at least 100.0 ms for 100 B / 10")
        );
        assert_eq!(skipped(&cluster, &action).await, "f1 caps these links already");
        let (set, took_ms) = timed(writer.set("/a", &data, None)).await;
        set.unwrap();
        assert!((1_000..1_300).contains(&took_ms), "{took_ms} ms");
        assert!(timed(other.set("/a", &data, None)).await.1 < 20, "another link is free");
        // What waits in the queue when the cap goes comes at once.
        let under_way = writer.set("/a", &[7; 50_000], None);
        let proof = installed(&cluster, &action.undo().unwrap()).await;
        assert_eq!(told(&proof), ["clients→zookeeper1: passes / passes"]);
        assert!(proof.packets > Some(1), "{:?}", proof.packets);
        let (set, took_ms) = timed(under_way).await;
        set.unwrap();
        assert!(took_ms < 20, "{took_ms} ms");
        assert!(timed(writer.set("/a", &data, None)).await.1 < 20);
        assert_eq!(skipped(&cluster, &action.undo().unwrap()).await, "f1 caps none of these links");
    })
    .unwrap();
}

#[test]
fn of_two_caps_the_lower_one_counts() {
    crate::sim::run(async {
        let cluster = up(3, 1).await;
        let links = BTreeSet::from([link("zookeeper1", "zookeeper2")]);
        let cap = |fault, bytes_per_second| Action::Throttle {
            fault: FaultId(fault),
            links: links.clone(),
            bytes_per_second,
        };
        installed(&cluster, &cap(1, 100_000)).await;
        installed(&cluster, &cap(2, 50_000)).await;
        let proof = installed(&cluster, &cap(2, 50_000).undo().unwrap()).await;
        let text = told(&proof).remove(0);
        assert!(
            text.starts_with("zookeeper1→zookeeper2: at least 50.0 ms for 5000 B / 50."),
            "{text}"
        );
        installed(&cluster, &cap(1, 100_000).undo().unwrap()).await;
        assert!(refused(&cluster, &cap(3, 0)).await.contains("is cut"));
    })
    .unwrap();
}
