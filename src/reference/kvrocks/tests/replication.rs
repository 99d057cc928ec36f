//! Masters and slaves: going on, beginning anew, promotion, and what is lost by it.

use super::fleet::{Fleet, address, topology, with_fleet};
use crate::reference::NodeVariant;

const AS_SHIPPED: NodeVariant = NodeVariant::AsShipped;

/// Node 3 has taken the place of node 1.
fn promoted() -> String {
    topology(&[(3, "0-8191"), (2, "8192-16383")], &[(1, 3)])
}

async fn write(fleet: &Fleet, node: usize, from: usize, to: usize) {
    let mut peer = fleet.connect(node).await;
    for number in from..to {
        let reply = peer.ask(&format!("RPUSH {{k2}}log {number}")).await;
        assert_eq!(reply, format!(":{}", number + 1));
    }
}

fn numbers(to: usize) -> String {
    format!("[{}]", (0..to).map(|number| number.to_string()).collect::<Vec<_>>().join(" "))
}

async fn read_at_slave(fleet: &Fleet, node: usize) -> String {
    let mut peer = fleet.connect(node).await;
    assert_eq!(peer.ask("READONLY").await, "OK");
    peer.ask("LRANGE {k2}log 0 -1").await
}

async fn syncs(fleet: &Fleet, node: usize) -> (u64, u64) {
    let info = fleet.ask(node, "INFO stats").await;
    let count = |name: &str| {
        let value = info.lines().find_map(|line| line.strip_prefix(name));
        value.expect("it is told").parse().expect("a number")
    };
    (count("sync_full:"), count("sync_partial_ok:"))
}

#[test]
fn a_slave_has_what_its_master_acknowledged_a_little_later() {
    with_fleet(AS_SHIPPED, &[], async |fleet| {
        fleet.lab.network.hold(address(1), address(3));
        write(&fleet, 1, 0, 10).await;
        assert_eq!(read_at_slave(&fleet, 3).await, "[]", "acknowledged before any slave has it");
        fleet.lab.network.release(address(1), address(3));
        fleet.settle(1, 3).await;
        assert_eq!(read_at_slave(&fleet, 3).await, numbers(10));
        let info = fleet.ask(1, "INFO replication").await;
        let slave = format!("slave0:ip={},port=6666,offset=10,lag=0", address(3));
        assert!(info.contains(&slave), "{info}");
        assert_eq!(fleet.ask(3, "GET k2").await, format!("-MOVED 449 {}:6666", address(1)));
        assert!(fleet.ask(3, "FLUSHALL").await.starts_with("-READONLY"));
    });
}

#[test]
fn a_slave_that_was_away_goes_on_from_where_it_was() {
    with_fleet(AS_SHIPPED, &[], async |fleet| {
        write(&fleet, 1, 0, 10).await;
        fleet.settle(1, 3).await;
        fleet.kill(3);
        write(&fleet, 1, 10, 30).await;
        let before = syncs(&fleet, 1).await;
        fleet.run(3).await;
        fleet.settle(1, 3).await;
        assert_eq!(read_at_slave(&fleet, 3).await, numbers(30));
        assert_eq!(syncs(&fleet, 1).await, (before.0, before.1 + 1));
    });
}

#[test]
fn a_slave_cut_off_says_so_and_serves_what_it_has() {
    with_fleet(AS_SHIPPED, &[], async |fleet| {
        write(&fleet, 1, 0, 5).await;
        fleet.settle(1, 3).await;
        fleet.lab.network.hold(address(1), address(3));
        fleet.until(3, "INFO replication", "master_link_status:down").await;
        assert_eq!(read_at_slave(&fleet, 3).await, numbers(5));
        fleet.lab.network.release(address(1), address(3));
        fleet.until(3, "INFO replication", "master_link_status:up").await;
    });
}

#[test]
fn a_promoted_slave_is_deaf_for_a_second_and_a_half_and_then_master() {
    with_fleet(AS_SHIPPED, &[], async |fleet| {
        write(&fleet, 1, 0, 10).await;
        fleet.settle(1, 3).await;
        fleet.kill(1);
        fleet.until(3, "INFO replication", "master_link_status:down").await;
        let nodes = promoted();
        let (told, heard) = futures::join!(fleet.tell(3, &nodes, 3), async {
            fleet.pass(1).await;
            fleet.ask(3, "PING").await
        });
        assert_eq!((told.as_str(), heard.as_str()), ("OK", "(silence)"));
        assert!(fleet.ask(3, "INFO replication").await.contains("role:master"));
        write(&fleet, 3, 10, 20).await;
        // With its master alive there is nothing to wait for.
        fleet.run(1).await;
        assert_eq!(fleet.tell(1, &promoted(), 3).await, "OK");
        fleet.until(1, "INFO replication", "master_link_status:up").await;
        assert_eq!(read_at_slave(&fleet, 1).await, numbers(20));
    });
}

#[test]
fn a_deposed_master_loses_what_it_wrote_alone() {
    with_fleet(AS_SHIPPED, &[], async |fleet| {
        write(&fleet, 1, 0, 10).await;
        fleet.settle(1, 3).await;
        // Cut off from its slave, it goes on acknowledging.
        fleet.lab.network.hold(address(1), address(3));
        fleet.lab.network.hold(address(3), address(1));
        write(&fleet, 1, 10, 15).await;
        assert_eq!(fleet.tell(3, &promoted(), 3).await, "OK");
        // As long as the other one writes, but not the same.
        let mut peer = fleet.connect(3).await;
        for word in ["a", "b", "c", "d", "e", "f", "g"] {
            assert!(peer.ask(&format!("RPUSH {{k2}}log {word}")).await.starts_with(':'));
        }
        fleet.lab.network.release(address(1), address(3));
        fleet.lab.network.release(address(3), address(1));
        assert_eq!(fleet.tell(1, &promoted(), 3).await, "OK");
        fleet.settle(3, 1).await;
        let survived = "[0 1 2 3 4 5 6 7 8 9 a b c d e f g]";
        assert_eq!(read_at_slave(&fleet, 1).await, survived);
        assert_eq!(syncs(&fleet, 3).await.0, 1, "all of the data were sent");
    });
}

#[test]
fn a_master_that_starts_again_is_master_until_it_is_told_otherwise() {
    with_fleet(AS_SHIPPED, &[], async |fleet| {
        write(&fleet, 1, 0, 10).await;
        fleet.settle(1, 3).await;
        fleet.kill(1);
        fleet.until(3, "INFO replication", "master_link_status:down").await;
        assert_eq!(fleet.tell(3, &promoted(), 3).await, "OK");
        fleet.run(1).await;
        assert!(fleet.ask(1, "CLUSTERX VERSION").await == "2");
        write(&fleet, 1, 10, 12).await;
        assert_eq!(fleet.tell(1, &promoted(), 3).await, "OK");
        fleet.settle(3, 1).await;
        assert_eq!(read_at_slave(&fleet, 1).await, numbers(10));
    });
}

#[test]
fn a_slave_with_a_gap_takes_no_notice_only_in_its_variant() {
    for (variant, kept) in [(AS_SHIPPED, true), (NodeVariant::ReplicaGap, false)] {
        with_fleet(variant, &[], async |fleet| {
            write(&fleet, 1, 0, 10).await;
            fleet.settle(1, 3).await;
            fleet.lab.network.hold(address(1), address(3));
            fleet.until(3, "INFO replication", "master_link_status:down").await;
            write(&fleet, 1, 10, 20).await;
            fleet.lab.network.release(address(1), address(3));
            fleet.until(3, "INFO replication", "master_link_status:up").await;
            write(&fleet, 1, 20, 22).await;
            fleet.settle(1, 3).await;
            let all = read_at_slave(&fleet, 3).await;
            let gapped = "[0 1 2 3 4 5 6 7 8 9 20 21]";
            assert_eq!(all, if kept { numbers(22) } else { gapped.to_owned() });
        });
    }
}
