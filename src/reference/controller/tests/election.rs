//! Who leads, and who believes it.

use super::lab::{LEADS, LOST, Lab, sleep_ms};
use crate::http::Method;
use crate::reference::ControllerVariant::AsShipped;
use crate::reference::controller::Config;
use crate::reference::testing::on_paused_clock;

const NAMESPACES: &str = "/api/v1/namespaces";

#[test]
fn the_leaders_znode_names_who_it_is_and_the_log_says_so_in_the_real_ones_form() {
    on_paused_clock(async {
        let lab = Lab::six(AsShipped).await;
        let leader = lab.zookeeper.text(Config::ELECT_PATH);
        let (session, addr) = leader.split_once('/').expect("two parts");
        assert_eq!((session.len(), addr), (8, "10.0.0.22:9379"));
        let (_, stat) = lab.zookeeper.tree.borrow().get(Config::ELECT_PATH).expect("a znode");
        assert_ne!(stat.ephemeral_owner, 0);
        let line = &lab.log(22)[0];
        let keys: Vec<&String> = line.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["caller", "level", "msg", "timestamp"]);
        assert_eq!((line["level"].as_str(), line["msg"].as_str()), (Some("info"), Some(LEADS)));
        assert!(
            line["caller"].as_str().is_some_and(|place| place.starts_with("controller/office.rs:"))
        );
        assert!(lab.raw_log(22)[0].starts_with("{\"level\":\"info\",\"timestamp\":\"2026-"));
        assert!(lab.messages(21).is_empty());
    });
}

#[test]
fn after_a_kill_another_one_leads_when_the_session_has_expired() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        let killed = tokio::time::Instant::now();
        lab.kill(22).await;
        lab.until("21 leads", || lab.has_said(21, LEADS) == 1).await;
        let seconds = killed.elapsed().as_secs_f64();
        assert!((5.5..8.5).contains(&seconds), "{seconds}");
        // It looks after the cluster that the other one made.
        let answer = lab.post(
            21,
            "/api/v1/namespaces/ns0/clusters/c0/shards",
            r#"{"nodes":["10.0.0.35:6666"]}"#,
        );
        assert_eq!(answer.await.status, 201);
        lab.until_pushed(2).await;
    });
}

#[test]
fn a_killed_leader_that_is_back_at_once_sends_clients_to_itself() {
    on_paused_clock(async {
        let lab = Lab::new(AsShipped);
        lab.start_controller(22);
        lab.until_listening(22).await;
        let before = lab.zookeeper.text(Config::ELECT_PATH);
        lab.kill(22).await;
        lab.start_controller(22);
        lab.until_listening(22).await;
        let answer = lab.get(22, NAMESPACES).await;
        assert_eq!(answer.status, 307);
        assert_eq!(answer.header("location"), Some("http://10.0.0.22:9379/api/v1/namespaces"));
        assert!(answer.text().ends_with("{\"data\":{\"namespaces\":[]}}"));
        lab.until("22 leads", || lab.has_said(22, LEADS) == 1).await;
        assert_ne!(lab.zookeeper.text(Config::ELECT_PATH), before);
        assert_eq!(lab.get(22, NAMESPACES).await.status, 200);
    });
}

#[test]
fn a_leader_without_zookeeper_believes_in_itself_until_it_is_back() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        lab.cut(22, 10);
        lab.until("21 leads", || lab.has_said(21, LEADS) == 1).await;
        sleep_ms(60_000).await;
        // Two lead. The old one neither redirects nor can it do anything.
        let answer = lab.get(22, NAMESPACES).await;
        assert_eq!((answer.status, answer.header("location")), (500, None));
        assert!(answer.text().contains("zk: could not connect to a server"), "{}", answer.text());
        assert_eq!(lab.has_said(22, LOST), 0);
        lab.join(22, 10);
        lab.until("22 knows it", || lab.has_said(22, LOST) == 1).await;
        let answer = lab.get(22, NAMESPACES).await;
        assert_eq!((answer.status, answer.header("location").is_some()), (307, true));
    });
}

#[test]
fn a_short_loss_of_zookeeper_changes_nothing() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(AsShipped).await;
        let leader = lab.zookeeper.text(Config::ELECT_PATH);
        lab.cut(22, 10);
        sleep_ms(4_000).await;
        assert_eq!(lab.get(22, NAMESPACES).await.status, 500);
        lab.join(22, 10);
        sleep_ms(20_000).await;
        assert_eq!(lab.zookeeper.text(Config::ELECT_PATH), leader);
        assert_eq!((lab.has_said(22, LEADS), lab.has_said(22, LOST)), (1, 0));
        assert_eq!(lab.get(22, NAMESPACES).await.status, 200);
    });
}

#[test]
fn a_follower_does_what_it_redirects_and_a_cluster_of_its_making_waits_for_the_next_leader() {
    on_paused_clock(async {
        let lab = Lab::six(AsShipped).await;
        let answer = lab.post(21, NAMESPACES, r#"{"namespace":"ns0"}"#).await;
        assert_eq!(answer.status, 201);
        let location = answer.header("location").expect("a location").to_owned();
        assert!(location.ends_with("/10.0.0.22:9379/api/v1/namespaces"), "{location}");
        let body = r#"{"name":"c0","nodes":["10.0.0.31:6666","10.0.0.32:6666"],"replicas":2}"#;
        assert_eq!(lab.post(21, "/api/v1/namespaces/ns0/clusters", body).await.status, 201);
        sleep_ms(10_000).await;
        assert!(lab.node(31).borrow().pushes.is_empty());
        lab.kill(22).await;
        lab.until("it is told", || lab.node(31).borrow().version == 1).await;
        let answer = lab.ask(21, Method::DELETE, "/api/v1/namespaces/ns0/clusters/c0", "").await;
        assert_eq!(answer.expect("an answer").status, 204);
        assert_eq!(
            lab.zookeeper.tree.borrow().paths().last().map(String::as_str),
            Some("/kvrocks/metadata/ns0/cluster")
        );
    });
}
