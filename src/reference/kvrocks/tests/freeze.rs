//! The variant `freeze-until-topology` under the three schedules that split the real one.

use std::time::Duration;

use super::fleet::{Fleet, address, id, topology, usual, with_fleet};
use crate::reference::NodeVariant;
use crate::reference::testing::Tap;

const FREEZE: NodeVariant = NodeVariant::FreezeUntilTopology;
const RAW: &[(&str, &str)] = &[("migrate-type", "raw-key-value")];

/// Slot 5001.
const KEY: &str = "{t196}k0";

fn get() -> String {
    format!("GET {KEY}")
}

fn set(value: &str) -> String {
    format!("SET {KEY} {value}")
}

/// Slot 5001 has gone to node 2.
fn moved() -> String {
    topology(&[(1, "0-5000 5002-8191"), (2, "5001 8192-16383")], &[(3, 1)])
}

/// Node 3 has taken the place of node 1.
fn promoted() -> String {
    topology(&[(3, "0-8191"), (2, "8192-16383")], &[(1, 3)])
}

fn moved_to(node: usize) -> String {
    format!("-MOVED 5001 {}:6666", address(node))
}

async fn migrate(fleet: &Fleet) -> String {
    let request = format!("CLUSTERX MIGRATE 5001 {} SYNC 10", id(2));
    let words: Vec<&str> = request.split(' ').collect();
    fleet.connect(1).await.say_within(&words, Duration::from_secs(11)).await
}

fn is_refused(reply: &str) -> bool {
    reply.starts_with("-TRYAGAIN")
}

#[test]
fn with_the_answer_lost_one_at_most_takes_writes_at_any_time() {
    for with_requests_lost in [true, false] {
        with_fleet(FREEZE, RAW, async |fleet| {
            assert_eq!(fleet.ask(1, &set("v0")).await, "OK");
            let words = vec![b"import".to_vec(), b"\r\n$1\r\n1\r\n".to_vec()];
            let hold = (address(2), address(1));
            fleet.lab.network.tap(Tap { from: address(1), to: address(2), words, hold });
            fleet.ask(1, &format!("CLUSTERX MIGRATE 5001 {}", id(2))).await;
            fleet.until(2, "CLUSTER INFO", "import_state: success").await;
            if with_requests_lost {
                fleet.lab.network.hold(address(1), address(2));
            }
            for _ in 0..150 {
                assert!(is_refused(&fleet.ask(1, &set("x")).await));
                assert_eq!(fleet.ask(2, &set("x")).await, moved_to(1));
                // Nobody can have written: reading is safe.
                assert_eq!(fleet.ask(1, &get()).await, "v0");
                fleet.pass(20).await;
            }
            assert!(fleet.ask(1, "CLUSTER INFO").await.contains("migrating_state: fail"));
            fleet.tell_all(&usual(), 3).await;
            assert_eq!(fleet.ask(1, &set("v1")).await, "OK");
            assert_eq!(fleet.ask(2, &get()).await, moved_to(1));
        });
    }
}

#[test]
fn after_success_nobody_serves_the_slot_until_a_topology_names_its_owner() {
    with_fleet(FREEZE, RAW, async |fleet| {
        assert_eq!(fleet.ask(1, &set("v0")).await, "OK");
        assert_eq!(migrate(&fleet).await, "OK");
        assert!(fleet.ask(1, "CLUSTER INFO").await.contains("migrating_state: success"));
        for request in [get(), set("x")] {
            assert!(is_refused(&fleet.ask(1, &request).await));
            assert_eq!(fleet.ask(2, &request).await, moved_to(1));
        }
        // The destination may hear of it long before the source does.
        assert_eq!(fleet.tell(2, &moved(), 3).await, "OK");
        assert_eq!(fleet.ask(2, &get()).await, "v0");
        assert_eq!(fleet.ask(2, &set("v1")).await, "OK");
        for request in [get(), set("x")] {
            assert!(is_refused(&fleet.ask(1, &request).await));
        }
        assert_eq!(fleet.tell(1, &moved(), 3).await, "OK");
        assert_eq!(fleet.ask(1, &get()).await, moved_to(2));
        assert_eq!(fleet.ask(1, "KEYS {t196}*").await, "[]");
    });
}

#[test]
fn the_source_killed_after_success_leaves_a_slave_with_all_that_was_acknowledged() {
    with_fleet(FREEZE, RAW, async |fleet| {
        assert_eq!(fleet.ask(1, &set("v0")).await, "OK");
        fleet.settle(1, 3).await;
        assert_eq!(migrate(&fleet).await, "OK");
        fleet.kill(1);
        assert_eq!(fleet.ask(2, &set("x")).await, moved_to(1));
        fleet.tell_all(&promoted(), 3).await;
        assert_eq!(fleet.ask(3, &get()).await, "v0");
        assert_eq!(fleet.ask(3, &set("v1")).await, "OK");
        assert_eq!(fleet.ask(2, &get()).await, moved_to(3));
    });
}

#[test]
fn a_topology_for_another_reason_does_not_thaw_what_was_announced() {
    with_fleet(FREEZE, RAW, async |fleet| {
        assert_eq!(fleet.ask(1, &set("v0")).await, "OK");
        assert_eq!(migrate(&fleet).await, "OK");
        fleet.tell_all(&usual(), 3).await;
        for request in [get(), set("x")] {
            assert!(is_refused(&fleet.ask(1, &request).await));
            assert_eq!(fleet.ask(2, &request).await, moved_to(1));
        }
        fleet.tell_all(&moved(), 4).await;
        assert_eq!(fleet.ask(2, &get()).await, "v0");
        assert_eq!(fleet.ask(1, &get()).await, moved_to(2));
    });
}

#[test]
fn a_deposed_source_that_comes_back_tells_of_no_success_any_more() {
    with_fleet(FREEZE, RAW, async |fleet| {
        assert_eq!(fleet.ask(1, &set("v0")).await, "OK");
        fleet.settle(1, 3).await;
        assert_eq!(migrate(&fleet).await, "OK");
        fleet.tell_all(&promoted(), 3).await;
        assert_eq!(fleet.ask(3, &set("v1")).await, "OK");
        fleet.settle(3, 1).await;
        fleet.tell_all(&usual(), 4).await;
        assert!(!fleet.ask(1, "CLUSTER INFO").await.contains("migrating"));
        assert_eq!(fleet.ask(1, &get()).await, "v1");
        assert_eq!(fleet.ask(1, &set("v2")).await, "OK");
    });
}

#[test]
fn what_was_announced_outlives_the_process() {
    with_fleet(FREEZE, RAW, async |fleet| {
        assert_eq!(fleet.ask(1, &set("v0")).await, "OK");
        assert_eq!(migrate(&fleet).await, "OK");
        for _ in 0..2 {
            fleet.kill(1);
            fleet.run(1).await;
            assert!(is_refused(&fleet.ask(1, &set("x")).await));
            assert!(fleet.ask(1, "CLUSTER INFO").await.contains("migrating_state: success"));
            let again = fleet.ask(1, &format!("CLUSTERX MIGRATE 5001 {}", id(2))).await;
            assert_eq!(again, "-ERR Can't migrate slot which has been migrated");
        }
        fleet.tell_all(&moved(), 3).await;
        assert_eq!(fleet.ask(1, "KEYS {t196}*").await, "[]");
        assert_eq!(fleet.ask(2, &get()).await, "v0");
        // And it is over then, also for the next process.
        fleet.kill(1);
        fleet.run(1).await;
        fleet.tell_all(&usual(), 4).await;
        assert_eq!(fleet.ask(1, &set("v2")).await, "OK");
    });
}

#[test]
fn a_mark_that_cannot_be_kept_is_not_announced() {
    with_fleet(FREEZE, RAW, async |fleet| {
        assert_eq!(fleet.ask(1, &set("v0")).await, "OK");
        fleet.machine(1).disk.fail_next_write_after(0);
        let reply = migrate(&fleet).await;
        assert!(reply.contains("cannot write frozen.conf"), "{reply}");
        fleet.until(1, "CLUSTER INFO", "migrating_state: fail").await;
        assert!(is_refused(&fleet.ask(1, &set("x")).await));
        fleet.tell_all(&usual(), 3).await;
        assert_eq!(fleet.ask(1, &set("v1")).await, "OK");
    });
}

#[test]
fn an_import_is_bound_to_the_connection_that_began_it() {
    with_fleet(FREEZE, RAW, async |fleet| {
        let (mut first, mut second) = (fleet.connect(2).await, fleet.connect(2).await);
        assert_eq!(first.ask("CLUSTER IMPORT 5001 0").await, "OK");
        assert_eq!(second.ask("CLUSTER IMPORT 5001 0").await, "OK");
        let late = first.ask("CLUSTER IMPORT 5001 1").await;
        assert!(late.contains("not under way on this connection"), "{late}");
        assert_eq!(first.ask(&set("x")).await, moved_to(1), "it fills it no more");
        drop(first);
        fleet.pass(5).await;
        assert_eq!(second.ask(&set("v")).await, "OK");
        assert_eq!(second.ask("CLUSTER IMPORT 5001 1").await, "OK");
    });
}
