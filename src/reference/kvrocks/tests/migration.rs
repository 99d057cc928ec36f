//! Migrations that meet no fault, and those that lose one side.

use std::time::Duration;

use super::fleet::{Fleet, address, id, topology, usual, with_fleet};
use crate::reference::NodeVariant;
use crate::rng::Rng;

const AS_SHIPPED: NodeVariant = NodeVariant::AsShipped;
const TYPES: [&str; 2] = ["redis-command", "raw-key-value"];

/// Slot 5000.
const TAG: &str = "{t21117}";

/// The topology in which slot 5000 has gone to node 2.
fn moved() -> String {
    topology(&[(1, "0-4999 5001-8191"), (2, "5000 8192-16383")], &[(3, 1)])
}

async fn fill(fleet: &Fleet, keys: usize) {
    let mut peer = fleet.connect(1).await;
    for key in 0..keys {
        assert_eq!(peer.ask(&format!("SET {TAG}k{key} v{key}")).await, "OK");
    }
    assert_eq!(peer.ask(&format!("RPUSH {TAG}list a b c")).await, ":3");
}

async fn migrate(fleet: &Fleet, from: usize, to: usize, options: &str) -> String {
    let request = format!("CLUSTERX MIGRATE 5000 {}{options}", id(to));
    let words: Vec<&str> = request.split(' ').collect();
    fleet.connect(from).await.say_within(&words, Duration::from_secs(60)).await
}

fn moved_to(node: usize) -> String {
    format!("-MOVED 5000 {}:6666", address(node))
}

#[test]
fn a_slot_goes_there_and_back_with_all_that_is_written_meanwhile() {
    for migrate_type in TYPES {
        with_fleet(AS_SHIPPED, &[("migrate-type", migrate_type)], async |fleet| {
            fill(&fleet, 50).await;
            assert_eq!(migrate(&fleet, 1, 2, " SYNC 10").await, "OK");
            // Before any topology says so, the destination serves and the source sends there.
            assert_eq!(fleet.ask(1, &format!("GET {TAG}k7")).await, moved_to(2));
            assert_eq!(fleet.ask(2, &format!("GET {TAG}k7")).await, "v7");
            assert_eq!(fleet.ask(2, &format!("RPUSH {TAG}list d")).await, ":4");
            assert!(fleet.ask(1, "CLUSTER INFO").await.contains("migrating_state: success"));
            let again = migrate(&fleet, 1, 2, "").await;
            assert_eq!(again, "-ERR Can't migrate slot which has been migrated");
            // The topology makes the source delete what it had, and its slave with it.
            fleet.tell_all(&moved(), 3).await;
            assert_eq!(fleet.ask(1, &format!("KEYS {TAG}*")).await, "[]");
            fleet.settle(1, 3).await;
            assert_eq!(fleet.ask(3, &format!("KEYS {TAG}*")).await, "[]");
            assert_eq!(fleet.ask(2, &format!("LRANGE {TAG}list 0 -1")).await, "[a b c d]");
            // And back.
            assert_eq!(migrate(&fleet, 2, 1, " SYNC 10").await, "OK");
            fleet.tell_all(&usual(), 4).await;
            assert_eq!(fleet.ask(1, &format!("RPUSH {TAG}list e")).await, ":5");
            assert_eq!(fleet.ask(1, &format!("GET {TAG}k49")).await, "v49");
            assert_eq!(fleet.ask(2, &format!("GET {TAG}k49")).await, moved_to(1));
        });
    }
}

/// Every acknowledged write of a source that is written to all the time arrives, in order.
#[test]
fn nothing_acknowledged_is_lost_on_the_way() {
    for migrate_type in TYPES {
        let config = [
            ("migrate-type", migrate_type),
            ("migrate-speed", "2000"),
            ("migrate-pipeline-size", "4"),
            ("migrate-batch-rate-limit-mb", "1"),
            ("migrate-batch-size-kb", "1"),
            ("migrate-sequence-gap", "3"),
        ];
        with_fleet(AS_SHIPPED, &config, async |fleet| {
            fill(&fleet, 100).await;
            let mut rng = Rng::from_seed(7);
            let mut peer = fleet.connect(1).await;
            assert_eq!(migrate(&fleet, 1, 2, "").await, "OK");
            let (mut list, mut counter, mut redirected) = (Vec::new(), 0, false);
            for number in 0..20_000 {
                let reply = match rng.below(3) {
                    0 => {
                        let reply = peer.ask(&format!("RPUSH {TAG}log {number}")).await;
                        list.extend(reply.starts_with(':').then(|| number.to_string()));
                        reply
                    }
                    1 => {
                        let reply = peer.ask(&format!("INCR {TAG}n")).await;
                        counter += u64::from(reply.starts_with(':'));
                        reply
                    }
                    _ => peer.ask(&format!("DEL {TAG}k{}", rng.below(100))).await,
                };
                redirected = reply == moved_to(2);
                if redirected {
                    break;
                }
                fleet.pass(rng.below(3)).await;
            }
            assert!(redirected, "it ends");
            assert!(fleet.log(1, "epoch: 1").len() == 1, "it had to catch up");
            let list = list.join(" ");
            assert_eq!(fleet.ask(2, &format!("LRANGE {TAG}log 0 -1")).await, format!("[{list}]"));
            assert_eq!(fleet.ask(2, &format!("GET {TAG}n")).await, counter.to_string());
            let here = fleet.ask(1, &format!("KEYS {TAG}*")).await;
            assert_eq!(fleet.ask(2, &format!("KEYS {TAG}*")).await, here);
        });
    }
}

#[test]
fn whoever_waits_for_a_migration_learns_its_end_or_that_it_takes_longer() {
    with_fleet(AS_SHIPPED, &[("migrate-speed", "40")], async |fleet| {
        fill(&fleet, 200).await;
        assert_eq!(migrate(&fleet, 1, 2, " SYNC 1").await, "(nil)");
        let other = "CLUSTERX MIGRATE 5001 2222222222222222222222222222222222222222 SYNC 1";
        assert_eq!(fleet.ask(1, other).await, "-ERR There is already a migrating job");
        let nodes = fleet.ask(1, "CLUSTER NODES").await;
        assert!(nodes.contains(&format!("0-8191 [5000->-{}]\n", id(2))), "{nodes}");
        let nodes = fleet.ask(2, "CLUSTER NODES").await;
        assert!(nodes.contains(&format!("8192-16383 [5000-<-{}]\n", id(1))), "{nodes}");
        assert_eq!(fleet.ask(1, "CONFIG SET migrate-speed 4096").await, "OK");
        fleet.until(1, "CLUSTER INFO", "migrating_state: success").await;
        assert!(!fleet.ask(1, "CLUSTER NODES").await.contains("->-"));
    });
}

#[test]
fn a_topology_in_the_middle_ends_a_migration_by_commands_and_not_one_by_raw_values() {
    for (migrate_type, end) in [("redis-command", "fail"), ("raw-key-value", "success")] {
        let config = [
            ("migrate-type", migrate_type),
            ("migrate-speed", "100"),
            ("migrate-batch-size-kb", "1"),
            ("migrate-batch-rate-limit-mb", "1"),
        ];
        with_fleet(AS_SHIPPED, &config, async |fleet| {
            fill(&fleet, 200).await;
            assert_eq!(migrate(&fleet, 1, 2, "").await, "OK");
            fleet.until(2, "CLUSTER INFO", "import_state: start").await;
            fleet.tell_all(&usual(), 3).await;
            fleet.until(1, "CLUSTER INFO", &format!("migrating_state: {end}")).await;
            let served = if end == "fail" { 1 } else { 2 };
            assert_eq!(fleet.ask(served, &format!("GET {TAG}k3")).await, "v3");
            let refused = fleet.log(1, "got invalid response");
            assert_eq!(refused.is_empty(), end == "success");
            assert!(refused.iter().all(|line| line.contains(&moved_to(1))), "{refused:?}");
        });
    }
}

#[test]
fn asking_lets_one_request_at_half_imported_data_pass() {
    with_fleet(AS_SHIPPED, &[("migrate-speed", "40")], async |fleet| {
        fill(&fleet, 200).await;
        assert_eq!(migrate(&fleet, 1, 2, "").await, "OK");
        fleet.pass(1500).await;
        let mut peer = fleet.connect(2).await;
        let mut said = Vec::new();
        for request in ["GET", "ASKING", "GET", "GET", "ASKING", "MULTI", "GET", "EXEC"] {
            let request =
                if request == "GET" { format!("GET {TAG}k0") } else { request.to_owned() };
            said.push(peer.ask(&request).await);
        }
        let (moved, abort) = (moved_to(1), "-EXECABORT Transaction discarded");
        assert_eq!(said, [&moved, "OK", "v0", &moved, "OK", "OK", &moved, abort]);
        peer.ask("ASKING").await;
        assert_eq!(peer.ask(&format!("GET {TAG}k99")).await, "(nil)", "not here yet");
    });
}

#[test]
fn a_transaction_that_meets_the_forbidden_phase_changes_nothing() {
    with_fleet(AS_SHIPPED, &[("migrate-type", "raw-key-value")], async |fleet| {
        fill(&fleet, 10).await;
        let mut peer = fleet.connect(1).await;
        assert_eq!(peer.ask("MULTI").await, "OK");
        assert_eq!(peer.ask(&format!("GET {TAG}k1")).await, "QUEUED");
        assert_eq!(peer.ask(&format!("SET {TAG}k1 x")).await, "QUEUED");
        assert_eq!(migrate(&fleet, 1, 2, " SYNC 5").await, "OK");
        let moved = moved_to(2);
        assert_eq!(peer.ask("EXEC").await, format!("[{moved} {moved}]"));
        assert_eq!(fleet.ask(2, &format!("GET {TAG}k1")).await, "v1");
    });
}

#[test]
fn a_destination_that_dies_fails_the_migration_and_keeps_orphans_until_the_next_import() {
    with_fleet(AS_SHIPPED, &[("migrate-speed", "40")], async |fleet| {
        fill(&fleet, 200).await;
        assert_eq!(migrate(&fleet, 1, 2, "").await, "OK");
        fleet.pass(1500).await;
        fleet.kill(2);
        fleet.until(1, "CLUSTER INFO", "migrating_state: fail").await;
        assert_eq!(fleet.ask(1, &format!("SET {TAG}k0 x")).await, "OK");
        fleet.run(2).await;
        let orphans = fleet.ask(2, &format!("KEYS {TAG}*")).await;
        assert!(orphans.contains(&format!("{TAG}k0")), "{orphans}");
        assert!(!fleet.ask(2, "CLUSTER INFO").await.contains("import"), "forgotten");
        assert_eq!(fleet.ask(1, &format!("DEL {TAG}k0")).await, ":1");
        fleet.ask(1, "CONFIG SET migrate-speed 0").await;
        assert_eq!(migrate(&fleet, 1, 2, " SYNC 10").await, "OK");
        assert_eq!(fleet.ask(2, &format!("EXISTS {TAG}k0")).await, ":0");
    });
}

#[test]
fn a_source_that_dies_takes_the_half_copy_with_it() {
    with_fleet(AS_SHIPPED, &[("migrate-speed", "40")], async |fleet| {
        fill(&fleet, 200).await;
        assert_eq!(migrate(&fleet, 1, 2, "").await, "OK");
        fleet.pass(1500).await;
        assert_ne!(fleet.ask(2, &format!("KEYS {TAG}*")).await, "[]");
        fleet.kill(1);
        fleet.until(2, "CLUSTER INFO", "import_state: error").await;
        assert_eq!(fleet.ask(2, &format!("KEYS {TAG}*")).await, "[]");
    });
}

#[test]
fn a_source_that_becomes_a_slave_stops() {
    with_fleet(AS_SHIPPED, &[("migrate-speed", "40")], async |fleet| {
        fill(&fleet, 200).await;
        assert_eq!(migrate(&fleet, 1, 2, "").await, "OK");
        fleet.pass(500).await;
        fleet.tell_all(&topology(&[(3, "0-8191"), (2, "8192-16383")], &[(1, 3)]), 3).await;
        for _ in 0..300 {
            fleet.pass(10).await;
        }
        assert_eq!(fleet.log(1, "Failed to migrate a slot(s) 5000").len(), 1);
        assert_eq!(fleet.ask(2, &format!("GET {TAG}k0")).await, moved_to(3));
    });
}

#[test]
fn anybody_can_make_a_node_serve_a_slot_by_plain_commands() {
    with_fleet(AS_SHIPPED, &[], async |fleet| {
        assert_eq!(fleet.ask(1, &format!("SET {TAG}k orig")).await, "OK");
        // Whoever says both on one connection; half of it ends with the connection.
        assert_eq!(fleet.ask(2, "CLUSTER IMPORT 5000 0").await, "OK");
        fleet.until(2, "CLUSTER INFO", "import_state: error").await;
        let mut peer = fleet.connect(2).await;
        assert_eq!(peer.ask("CLUSTER IMPORT 5000 0").await, "OK");
        assert_eq!(peer.ask("CLUSTER IMPORT 5000 1").await, "OK");
        assert_eq!(fleet.ask(2, &format!("GET {TAG}k")).await, "(nil)");
        assert_eq!(fleet.ask(2, &format!("SET {TAG}k at-dest")).await, "OK");
        assert_eq!(fleet.ask(1, &format!("GET {TAG}k")).await, "orig");
        fleet.tell_all(&usual(), 3).await;
        assert_eq!(fleet.ask(2, &format!("GET {TAG}k")).await, moved_to(1));
    });
}
