//! The race between a migration's SUCCESS and its source's patience, step by step as it was measured.

use std::time::Duration;

use super::fleet::{Fleet, address, id, usual, with_fleet};
use crate::reference::NodeVariant;
use crate::reference::testing::Tap;

const SUCCESS: [&[u8]; 2] = [b"import", b"\r\n$1\r\n1\r\n"];
const RAW: &[(&str, &str)] = &[("migrate-type", "raw-key-value")];

/// Slot 5001.
const KEY: &str = "{t196}k0";

/// What the source says once it has SUCCESS under way.
const FORBIDDEN: &str =
    "-TRYAGAIN Can't write to slot being migrated which is in write forbidden phase";

/// Begins a migration of slot 5001 whose SUCCESS arrives and is not answered; returns when it is there.
async fn lose_the_answer(fleet: &Fleet) {
    assert_eq!(fleet.ask(1, &format!("SET {KEY} v0")).await, "OK");
    let words = SUCCESS.iter().map(|word| word.to_vec()).collect();
    let (source, destination) = (address(1), address(2));
    let hold = (destination, source);
    fleet.lab.network.tap(Tap { from: source, to: destination, words, hold });
    assert_eq!(fleet.ask(1, &format!("CLUSTERX MIGRATE 5001 {}", id(2))).await, "OK");
    fleet.until(2, "CLUSTER INFO", "import_state: success").await;
}

/// What was measured: from then on nothing passes on that connection.
async fn kill_the_connection(fleet: &Fleet) {
    lose_the_answer(fleet).await;
    fleet.lab.network.hold(address(1), address(2));
}

async fn both(fleet: &Fleet, request: &str) -> [String; 2] {
    [fleet.ask(1, request).await, fleet.ask(2, request).await]
}

fn moved_to(node: usize) -> String {
    format!("-MOVED 5001 {}:6666", address(node))
}

#[test]
fn with_the_answer_lost_both_take_writes_and_the_destinations_are_lost() {
    with_fleet(NodeVariant::AsShipped, RAW, async |fleet| {
        kill_the_connection(&fleet).await;
        // The destination serves at once, the source reads only.
        assert_eq!(both(&fleet, &format!("GET {KEY}")).await, ["v0", "v0"]);
        assert_eq!(both(&fleet, "SET {t196}w 1").await, [FORBIDDEN, "OK"]);
        assert!(fleet.ask(1, "CLUSTER INFO").await.contains("migrating_state: start"));
        // After a second the source takes writes again.
        fleet.pass(1010).await;
        assert!(fleet.ask(1, "CLUSTER INFO").await.contains("migrating_state: start"));
        assert_eq!(fleet.ask(1, &format!("SET {KEY} at-source")).await, "OK");
        assert_eq!(fleet.ask(2, &format!("SET {KEY} at-dest")).await, "OK");
        assert_eq!(both(&fleet, &format!("GET {KEY}")).await, ["at-source", "at-dest"]);
        assert_eq!(both(&fleet, "INCR {t196}ctr").await, [":1", ":1"]);
        // After another one it says so; the destination never learns of it.
        fleet.pass(1000).await;
        assert!(fleet.ask(1, "CLUSTER INFO").await.contains("migrating_state: fail"));
        assert!(fleet.ask(2, "CLUSTER INFO").await.contains("import_state: success"));
        assert_eq!(both(&fleet, &format!("GET {KEY}")).await, ["at-source", "at-dest"]);
        for words in [
            "Failed to finish a successful migration of slot(s) 5001. Error: failed to set import \
             status on destination node: failed to check the response from the destination node: \
             failed to read response: Resource temporarily unavailable",
            "Failed to finish a failed migration of slot(s) 5001",
            "Failed to migrate a slot(s) 5001",
        ] {
            assert_eq!(fleet.log(1, words).len(), 1, "{words}");
        }
        assert_eq!(fleet.log(2, "[import] Mark the importing slot(s) 5001 as succeed").len(), 1);
        // The next topology ends it; what the destination acknowledged cannot be reached any more.
        assert_eq!(fleet.tell(2, &usual(), 3).await, "OK");
        assert_eq!(both(&fleet, &format!("GET {KEY}")).await, ["at-source".into(), moved_to(1)]);
        assert!(fleet.ask(2, "CLUSTER INFO").await.contains("import_state: success"));
        assert!(fleet.ask(2, "KEYS {t196}*").await.contains("{t196}w"));
    });
}

#[test]
fn the_same_topology_again_does_not_end_it() {
    with_fleet(NodeVariant::AsShipped, RAW, async |fleet| {
        kill_the_connection(&fleet).await;
        fleet.pass(2100).await;
        fleet.tell_all(&usual(), 2).await;
        assert_eq!(both(&fleet, &format!("SET {KEY} x")).await, ["OK", "OK"]);
    });
}

#[test]
fn where_only_answers_are_lost_the_destination_deletes_what_it_goes_on_serving() {
    with_fleet(NodeVariant::AsShipped, RAW, async |fleet| {
        lose_the_answer(&fleet).await;
        assert_eq!(fleet.ask(2, &format!("SET {KEY} at-dest")).await, "OK");
        fleet.pass(1010).await;
        assert!(fleet.ask(2, "CLUSTER INFO").await.contains("import_state: error"));
        assert_eq!(both(&fleet, &format!("GET {KEY}")).await, ["v0", "(nil)"]);
        assert_eq!(both(&fleet, &format!("SET {KEY} x")).await, ["OK", "OK"]);
    });
}

#[test]
fn with_the_request_lost_instead_there_is_no_split() {
    with_fleet(
        NodeVariant::AsShipped,
        &[RAW[0], ("migrate-batch-size-kb", "1"), ("migrate-batch-rate-limit-mb", "1")],
        async |fleet| {
            assert_eq!(fleet.ask(1, &format!("SET {KEY} v0")).await, "OK");
            // The last thing that arrives is the snapshot.
            let hold = (address(1), address(2));
            let words = vec![b"APPLYBATCH".to_vec()];
            fleet.lab.network.tap(Tap { from: address(1), to: address(2), words, hold });
            assert_eq!(fleet.ask(1, &format!("CLUSTERX MIGRATE 5001 {}", id(2))).await, "OK");
            fleet.until(1, &format!("SET {KEY} v1"), "TRYAGAIN").await;
            for _ in 0..300 {
                assert_eq!(fleet.ask(2, &format!("GET {KEY}")).await, moved_to(1));
                assert_eq!(fleet.ask(1, &format!("GET {KEY}")).await, "v0");
                fleet.pass(10).await;
            }
            assert!(fleet.ask(1, "CLUSTER INFO").await.contains("migrating_state: fail"));
            assert_eq!(fleet.ask(1, &format!("SET {KEY} v2")).await, "OK");
            assert_eq!(fleet.ask(2, &format!("SET {KEY} v2")).await, moved_to(1));
        },
    );
}

#[test]
fn the_source_killed_after_success_leaves_a_slave_that_knows_nothing_of_it() {
    with_fleet(NodeVariant::AsShipped, RAW, async |fleet| {
        assert_eq!(fleet.ask(1, &format!("SET {KEY} v0")).await, "OK");
        fleet.settle(1, 3).await;
        let migrate = format!("CLUSTERX MIGRATE 5001 {} SYNC 5", id(2));
        let mut peer = fleet.connect(1).await;
        let words: Vec<&str> = migrate.split(' ').collect();
        assert_eq!(peer.say_within(&words, Duration::from_secs(5)).await, "OK");
        assert_eq!(fleet.ask(1, &format!("SET {KEY} x")).await, moved_to(2));
        assert_eq!(fleet.ask(2, &format!("SET {KEY} at-dest")).await, "OK");
        fleet.kill(1);
        let promoted = super::fleet::topology(&[(3, "0-8191"), (2, "8192-16383")], &[(1, 3)]);
        assert_eq!(fleet.tell(3, &promoted, 3).await, "OK");
        assert_eq!(fleet.tell(2, &promoted, 3).await, "OK");
        assert_eq!(fleet.ask(3, &format!("GET {KEY}")).await, "v0");
        assert_eq!(fleet.ask(2, &format!("GET {KEY}")).await, moved_to(3));
    });
}

#[test]
fn a_topology_for_another_reason_ends_the_destinations_service_after_success() {
    with_fleet(NodeVariant::AsShipped, RAW, async |fleet| {
        assert_eq!(fleet.ask(1, &format!("SET {KEY} v0")).await, "OK");
        assert_eq!(fleet.ask(1, &format!("CLUSTERX MIGRATE 5001 {}", id(2))).await, "OK");
        fleet.until(1, "CLUSTER INFO", "migrating_state: success").await;
        assert_eq!(fleet.ask(2, &format!("SET {KEY} at-dest")).await, "OK");
        fleet.tell_all(&usual(), 3).await;
        assert_eq!(fleet.ask(2, &format!("GET {KEY}")).await, moved_to(1));
        // The source reads what it had, and takes no writes: that phase never ended.
        assert_eq!(fleet.ask(1, &format!("GET {KEY}")).await, "v0");
        assert_eq!(fleet.ask(1, &format!("SET {KEY} x")).await, FORBIDDEN);
        assert!(fleet.ask(1, "CLUSTER INFO").await.contains("migrating_state: success"));
    });
}
