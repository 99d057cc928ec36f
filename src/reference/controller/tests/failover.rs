//! Probes, pushes and dead masters.

use super::lab::{C0, LEADS, Lab, sleep_ms};
use crate::reference::ControllerVariant::AsShipped;
use crate::reference::testing::on_paused_clock;

fn fill(lab: &Lab) {
    (31..=34).for_each(|last| lab.node(last).borrow_mut().sequence = 5000 + u64::from(last));
}

fn role(lab: &Lab, shard: usize, node: usize) -> String {
    lab.document()["shards"][shard]["nodes"][node]["role"].as_str().expect("a role").to_owned()
}

#[test]
fn a_killed_master_is_replaced_at_the_third_failed_probe() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        fill(&lab);
        let killed = tokio::time::Instant::now();
        lab.kill(31).await;
        lab.until("32 is master", || lab.node(32).borrow().role() == "master").await;
        let seconds = killed.elapsed().as_secs_f64();
        assert!((2.0..4.0).contains(&seconds), "{seconds}");
        assert_eq!(
            (role(&lab, 0, 0), role(&lab, 0, 1), lab.version()),
            ("slave".into(), "master".into(), 2)
        );
        lab.until("34 is told", || lab.node(34).borrow().version == 2).await;
        for message in [
            "Failed to probe the node",
            "Get slave node info successfully",
            "Promote the new master",
            "Updated the cluster version",
            "Succeed to sync the cluster topology to the node",
            "Failed to sync the cluster topology to the node",
        ] {
            assert!(lab.has_said(22, message) > 0, "{message}");
        }
        let log = lab.log(22);
        let failed = log.iter().find(|line| line["failure_count"] == 1).expect("a first failure");
        assert_eq!(
            (failed["addr"].as_str(), failed["is_master"].as_bool()),
            (Some("10.0.0.31:6666"), Some(true))
        );
        let found = log.iter().find(|line| line["sequence"] == 5032).expect("a sequence");
        assert_eq!(found["role"], "slave");
        // The old one learns what it is now as soon as it is back.
        lab.start_node(31);
        lab.until("31 is slave", || lab.node(31).borrow().role() == "slave").await;
    });
}

#[test]
fn a_paused_master_is_replaced_after_three_rounds_of_three_seconds() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        fill(&lab);
        let paused = tokio::time::Instant::now();
        lab.node(31).borrow_mut().is_paused = true;
        lab.until("32 is master", || lab.node(32).borrow().role() == "master").await;
        let seconds = paused.elapsed().as_secs_f64();
        assert!((9.0..11.0).contains(&seconds), "{seconds}");
    });
}

#[test]
fn a_master_that_only_the_controller_cannot_reach_is_replaced_too() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        fill(&lab);
        lab.cut(31, 22);
        lab.until("32 is master", || lab.node(32).borrow().role() == "master").await;
        assert_eq!(lab.node(31).borrow().role(), "master");
        lab.join(31, 22);
        lab.until("31 is slave", || lab.node(31).borrow().role() == "slave").await;
    });
}

#[test]
fn a_slave_without_data_is_never_promoted() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        lab.kill(31).await;
        let message = "Failed to promote the new master";
        lab.until("it has tried twice", || lab.has_said(22, message) == 2).await;
        assert_eq!(lab.version(), 1);
        assert!(lab.has_said(22, "Skip the node due to role or sequence invalid") >= 2);
        let log = lab.log(22);
        let counts = log.iter().filter_map(|line| line["failure_count"].as_u64()).max();
        assert!(counts >= Some(5), "{counts:?}");
    });
}

#[test]
fn neither_a_dead_slave_nor_a_loading_master_is_replaced() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        fill(&lab);
        lab.kill(32).await;
        lab.node(33).borrow_mut().says =
            Some("LOADING kvrocks is restoring the db from backup".into());
        sleep_ms(30_000).await;
        assert_eq!(lab.version(), 1);
        assert!(lab.has_said(22, "The node is restoring the db from backup") > 10);
        let log = lab.log(22);
        let failed = log.iter().filter(|line| line["failure_count"].is_u64());
        assert!(failed.into_iter().all(|line| line["addr"] == "10.0.0.32:6666"));
    });
}

#[test]
fn an_answer_in_between_makes_the_count_begin_anew() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        fill(&lab);
        for _ in 0..4 {
            lab.node(31).borrow_mut().says = Some("ERR busy".into());
            let before = lab.has_said(22, "Failed to probe the node");
            lab.until("two failures", || {
                lab.has_said(22, "Failed to probe the node") >= before + 2
            })
            .await;
            lab.node(31).borrow_mut().says = None;
            sleep_ms(1_500).await;
        }
        assert_eq!(lab.version(), 1);
    });
}

#[test]
fn a_failover_is_starved_by_leaders_that_do_not_live_long_enough_to_count() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        fill(&lab);
        lab.kill(31).await;
        sleep_ms(1_000).await;
        lab.kill(22).await;
        let (mut leader, mut other) = (21, 22);
        for _ in 0..4 {
            lab.start_controller(other);
            lab.until("the other leads", || lab.has_said(leader, LEADS) == 1).await;
            sleep_ms(1_200).await;
            lab.kill(leader).await;
            (leader, other) = (other, leader);
        }
        assert_eq!((lab.version(), lab.node(32).borrow().role()), (1, "slave"));
        lab.until("left alone it promotes", || lab.node(32).borrow().role() == "master").await;
    });
}

#[test]
fn a_node_with_a_newer_topology_is_believed() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        {
            let node = lab.node(33);
            let mut node = node.borrow_mut();
            node.version = 7;
            node.lines = node.lines.replace("0-8191", "0-8000").replace("8192-16383", "8001-16383");
        }
        lab.until_pushed(7).await;
        let document = lab.document();
        assert_eq!(
            (document["version"].as_i64(), &document["shards"][1]["slot_ranges"][0]),
            (Some(7), &"8001-16383".into())
        );
        assert!(lab.has_said(22, "The node is in a higher version") > 0);
        assert!(lab.node(32).borrow().lines.contains("0-8000"));
        let shown = lab.get(22, C0).await;
        assert!(shown.text().contains("\"version\":7,\"name\":\"c0\""), "{}", shown.text());
    });
}
