//! Slots that move.

use super::lab::{C0, LEADS, Lab, sleep_ms};
use crate::reference::ControllerVariant::AsShipped;
use crate::reference::testing::on_paused_clock;

async fn begin(lab: &Lab, controller: u8, slot: &str) {
    let body = format!("{{\"target\":1,\"slot\":\"{slot}\"}}");
    let answer = lab.post(controller, &format!("{C0}/migrate"), &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

fn end(lab: &Lab, state: &str) {
    lab.node(31).borrow_mut().migration.as_mut().expect("a migration").2 = state.to_owned();
}

fn ranges(lab: &Lab, shard: usize) -> String {
    lab.document()["shards"][shard]["slot_ranges"].to_string()
}

#[test]
fn the_source_is_told_before_the_version_rises_and_the_nodes_learn_that_at_once() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        begin(&lab, 22, "130").await;
        let (slot, to, _) = lab.node(31).borrow().migration.clone().expect("a migration");
        assert_eq!((slot.as_str(), to), ("130", lab.node(33).borrow().id.clone()));
        assert_eq!(lab.version(), 2);
        assert_eq!(lab.document()["shards"][0]["migrating_slot"], "130");
        let began = tokio::time::Instant::now();
        lab.until_pushed(2).await;
        assert!(began.elapsed().as_millis() < 100);
        // It goes on for as long as it takes.
        sleep_ms(30_000).await;
        assert_eq!(lab.version(), 2);
    });
}

#[test]
fn a_migration_that_succeeded_gives_the_slot_its_new_owner() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        begin(&lab, 22, "130-131").await;
        end(&lab, "success");
        lab.until_pushed(3).await;
        assert_eq!(ranges(&lab, 0), r#"["0-129","132-8191"]"#);
        assert_eq!(ranges(&lab, 1), r#"["130-131","8192-16383"]"#);
        assert!(lab.document()["shards"][0]["migrating_slot"].is_null());
        let log = lab.log(22);
        let said = log.iter().find(|line| line["msg"] == "Migrate the slot successfully");
        assert_eq!(said.expect("a line")["slot"], "130-131");
    });
}

#[test]
fn a_migration_that_failed_leaves_the_slot_and_makes_a_new_version() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        begin(&lab, 22, "130").await;
        end(&lab, "fail");
        lab.until_pushed(3).await;
        assert_eq!(ranges(&lab, 0), r#"["0-8191"]"#);
        assert_eq!(lab.document()["shards"][0]["target_shard_index"], -1);
        let log = lab.log(22);
        let said =
            log.iter().find(|line| line["msg"] == "Failed to migrate the slot").expect("a line");
        assert_eq!((said["level"].as_str(), said["slot"].as_str()), (Some("warn"), Some("130")));
        assert_eq!(
            (said["namespace"].as_str(), said["cluster"].as_str()),
            (Some("ns0"), Some("c0"))
        );
    });
}

#[test]
fn a_source_that_knows_of_no_such_migration_ends_it() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        begin(&lab, 22, "130").await;
        lab.node(31).borrow_mut().migration = None;
        lab.until_pushed(3).await;
        assert_eq!(ranges(&lab, 0), r#"["0-8191"]"#);
        assert_eq!(lab.has_said(22, "Mismatch migrating slot"), 1);
    });
}

#[test]
fn a_second_migration_waits_for_the_first_to_be_written_down() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        begin(&lab, 22, "130").await;
        let answer = lab.post(22, &format!("{C0}/migrate"), r#"{"target":1,"slot":"140"}"#).await;
        assert_eq!((answer.status, answer.text().contains("shard slot is migrating")), (500, true));
        let body = r#"{"target":1,"slot":"150","slot_only":true}"#;
        let answer = lab.post(22, &format!("{C0}/migrate"), body).await;
        assert_eq!(answer.status, 200);
        assert_eq!(ranges(&lab, 1), r#"["150","8192-16383"]"#);
    });
}

#[test]
fn what_a_node_refuses_is_told_and_nothing_is_written() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        lab.kill(31).await;
        let answer = lab.post(22, &format!("{C0}/migrate"), r#"{"target":1,"slot":"140"}"#).await;
        assert_eq!(answer.status, 500);
        assert!(answer.text().contains("dial tcp 10.0.0.31:6666"), "{}", answer.text());
        assert_eq!(lab.version(), 1);
    });
}

#[test]
fn a_migration_outlives_the_leader_that_began_it() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        begin(&lab, 22, "130").await;
        lab.kill(22).await;
        end(&lab, "success");
        lab.until("21 leads", || lab.has_said(21, LEADS) == 1).await;
        lab.until_pushed(3).await;
        assert_eq!(ranges(&lab, 1), r#"["130","8192-16383"]"#);
        assert_eq!(lab.has_said(21, "Migrate the slot successfully"), 1);
    });
}
