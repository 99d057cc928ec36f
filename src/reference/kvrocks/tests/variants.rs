//! What each of the other variants does otherwise, beside the same as shipped.

use std::time::Duration;

use super::fleet::{Fleet, address, id, topology, usual, with_fleet};
use crate::reference::NodeVariant;

const RAW: &[(&str, &str)] = &[("migrate-type", "raw-key-value")];

/// Slot 5001.
const KEY: &str = "{t196}k0";

fn moved() -> String {
    topology(&[(1, "0-5000 5002-8191"), (2, "5001 8192-16383")], &[(3, 1)])
}

fn moved_to(node: usize) -> String {
    format!("-MOVED 5001 {}:6666", address(node))
}

async fn migrate(fleet: &Fleet) {
    assert_eq!(fleet.ask(1, &format!("SET {KEY} v0")).await, "OK");
    let request = format!("CLUSTERX MIGRATE 5001 {} SYNC 10", id(2));
    let words: Vec<&str> = request.split(' ').collect();
    let mut peer = fleet.connect(1).await;
    assert_eq!(peer.say_within(&words, Duration::from_secs(11)).await, "OK");
}

#[test]
fn asking_only_serves_an_imported_slot_to_those_that_ask_until_it_is_given() {
    with_fleet(NodeVariant::AskingOnly, RAW, async |fleet| {
        migrate(&fleet).await;
        let asked = format!("-ASK 5001 {}:6666", address(2));
        assert_eq!(fleet.ask(1, &format!("GET {KEY}")).await, asked);
        let mut peer = fleet.connect(2).await;
        assert_eq!(peer.ask(&format!("GET {KEY}")).await, moved_to(1));
        assert_eq!(peer.ask("ASKING").await, "OK");
        assert_eq!(peer.ask(&format!("SET {KEY} v1")).await, "OK");
        assert_eq!(peer.ask(&format!("GET {KEY}")).await, moved_to(1));
        fleet.tell_all(&moved(), 3).await;
        assert_eq!(peer.ask(&format!("GET {KEY}")).await, "v1");
    });
}

#[test]
fn without_imported_slots_nobody_serves_until_a_topology_comes() {
    with_fleet(NodeVariant::NoImportedSlots, RAW, async |fleet| {
        migrate(&fleet).await;
        assert_eq!(fleet.ask(2, &format!("GET {KEY}")).await, moved_to(1));
        assert_eq!(fleet.ask(1, &format!("SET {KEY} late")).await, moved_to(2));
        assert_eq!(fleet.ask(1, &format!("GET {KEY}")).await, moved_to(2));
        fleet.tell_all(&moved(), 3).await;
        assert_eq!(fleet.ask(2, &format!("GET {KEY}")).await, "v0");
        assert_eq!(fleet.ask(1, "KEYS {t196}*").await, "[]");
    });
}

#[test]
fn a_lower_version_is_taken_only_where_that_is_planted() {
    let refused = "-ERR Invalid cluster version";
    for (variant, reply, version) in
        [(NodeVariant::AsShipped, refused, "2"), (NodeVariant::LowerVersion, "OK", "1")]
    {
        with_fleet(variant, &[], async |fleet| {
            assert_eq!(fleet.tell(1, &usual(), 1).await, reply);
            assert_eq!(fleet.ask(1, "CLUSTERX VERSION").await, version);
            assert_eq!(fleet.tell(1, &usual(), -1).await, refused);
        });
    }
}

#[test]
fn a_write_acknowledged_before_it_is_logged_dies_with_the_process() {
    for (variant, read) in [(NodeVariant::AsShipped, "v"), (NodeVariant::AckBeforeLog, "(nil)")] {
        with_fleet(variant, &[], async |fleet| {
            assert_eq!(fleet.ask(1, "SET k2 v").await, "OK");
            assert_eq!(fleet.ask(1, "GET k2").await, "v");
            fleet.kill(1);
            fleet.run(1).await;
            assert_eq!(fleet.ask(1, "GET k2").await, read);
            // What had its time is logged, and goes with migrations and to slaves.
            assert_eq!(fleet.ask(1, "SET k2 w").await, "OK");
            fleet.pass(600).await;
            fleet.until(3, "INFO replication", "slave_repl_offset:").await;
            fleet.settle(1, 3).await;
            fleet.kill(1);
            fleet.run(1).await;
            assert_eq!(fleet.ask(1, "GET k2").await, "w");
        });
    }
}

#[test]
fn even_the_unlogged_is_migrated() {
    with_fleet(NodeVariant::AckBeforeLog, RAW, async |fleet| {
        migrate(&fleet).await;
        assert_eq!(fleet.ask(2, &format!("GET {KEY}")).await, "v0");
    });
}
