//! What a node knows after a restart, and what it says of a disk that it cannot use.

use super::fleet::{address, id, usual, with_fleet};
use crate::reference::NodeVariant;
use crate::reference::host::Disk;

const AS_SHIPPED: NodeVariant = NodeVariant::AsShipped;

#[test]
fn topology_and_data_are_there_again() {
    with_fleet(AS_SHIPPED, &[], async |fleet| {
        assert_eq!(fleet.ask(1, "SET k2 v").await, "OK");
        assert_eq!(fleet.ask(1, "RPUSH {k2}l a b").await, ":2");
        for node in 1..=3 {
            fleet.kill(node);
            fleet.run(node).await;
            assert_eq!(fleet.ask(node, "CLUSTERX MYID").await, id(node));
            assert_eq!(fleet.ask(node, "CLUSTERX VERSION").await, "2");
        }
        assert_eq!(fleet.ask(1, "GET k2").await, "v");
        assert_eq!(fleet.ask(1, "LRANGE {k2}l 0 -1").await, "[a b]");
        assert_eq!(fleet.ask(1, "GET k0").await, format!("-MOVED 8579 {}:6666", address(2)));
        fleet.until(3, "INFO replication", "master_link_status:up").await;
        let kept =
            fleet.machine(1).disk.read("nodes.conf").expect("it reads").expect("it is there");
        let kept = String::from_utf8(kept).expect("text");
        assert!(kept.starts_with(&format!("version 2\nid {}\nnode {} ", id(1), id(1))), "{kept}");
    });
}

#[test]
fn without_persistence_it_starts_without_a_topology() {
    with_fleet(AS_SHIPPED, &[("persist-cluster-nodes-enabled", "no")], async |fleet| {
        fleet.kill(1);
        fleet.run(1).await;
        assert_eq!(fleet.ask(1, "CLUSTERX VERSION").await, "-1");
        assert_eq!(fleet.ask(1, "GET k2").await, "-CLUSTERDOWN Hash slot not served");
    });
}

#[test]
fn a_damaged_file_is_named_and_the_node_does_not_start() {
    for (file, said) in [
        ("nodes.conf", "ended: nodes.conf: line 1: expected `version N`, `id X` or `node ...`"),
        ("history.conf", "ended: history.conf: expected `term NAME` and `before NAME N`"),
    ] {
        with_fleet(AS_SHIPPED, &[], async |fleet| {
            fleet.kill(1);
            fleet.machine(1).disk.replace(file, b"garbage\n").expect("room");
            fleet.run(1).await;
            assert_eq!(fleet.log(1, said).len(), 1, "{:?}", fleet.log(1, ""));
            assert_eq!(fleet.ask(1, "PING").await, "(refused)");
        });
    }
}

#[test]
fn a_write_that_the_disk_refuses_is_an_error_and_the_next_one_may_do() {
    with_fleet(AS_SHIPPED, &[("rocksdb.write_options.sync", "yes")], async |fleet| {
        assert_eq!(fleet.ask(1, "SET k2 v").await, "OK");
        fleet.machine(1).disk.fail_next_write_after(3);
        let refused = fleet.ask(1, "SET k2 w").await;
        assert!(refused.starts_with("-ERR IO error: "), "{refused}");
        assert_eq!(fleet.ask(1, "GET k2").await, "v");
        fleet.machine(1).disk.fail_next_sync();
        assert!(fleet.ask(1, "SET k2 w").await.starts_with("-ERR IO error: "));
        assert_eq!(fleet.ask(1, "SET k2 x").await, "OK");
        fleet.kill(1);
        fleet.machine(1).disk.lose_power();
        fleet.run(1).await;
        assert_eq!(fleet.ask(1, "GET k2").await, "x");
    });
}

#[test]
fn a_topology_that_cannot_be_kept_is_an_error() {
    with_fleet(AS_SHIPPED, &[], async |fleet| {
        fleet.machine(1).disk.fail_next_write_after(0);
        let refused = fleet.tell(1, &usual(), 3).await;
        assert!(refused.starts_with("-ERR cannot write nodes.conf: "), "{refused}");
    });
}
