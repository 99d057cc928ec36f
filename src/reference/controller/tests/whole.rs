//! Two controllers and four kvrocks nodes of our own, nothing pretended but ZooKeeper.

use std::net::SocketAddrV4;

use super::lab::{C0, LEADS, Lab, address, sleep_ms};
use crate::reference::ControllerVariant::AsShipped;
use crate::reference::testing::{Conversation, on_paused_clock};
use crate::resp::Value;

async fn whole() -> Lab {
    let lab = Lab::new(AsShipped);
    (31..=34).for_each(|last| lab.start_kvrocks(last));
    lab.start_controller(22);
    lab.until("22 leads", || lab.has_said(22, LEADS) == 1).await;
    lab.start_controller(21);
    lab.until_listening(21).await;
    lab.create_cluster().await;
    for last in 31..=34 {
        until_said(&lab, last, &["CLUSTER", "INFO"], "cluster_current_epoch:1\r\n").await;
    }
    lab
}

async fn talk(lab: &Lab, last: u8) -> Option<Conversation> {
    lab.lab.converse(address(99), SocketAddrV4::new(address(last), 6666)).await.ok()
}

async fn say(lab: &Lab, last: u8, words: &[&str]) -> String {
    let Some(mut conversation) = talk(lab, last).await else { return "refused".to_owned() };
    match conversation.call(words).await {
        Some(Value::Bulk(text)) => String::from_utf8_lossy(&text).into_owned(),
        Some(Value::Simple(text) | Value::Error(text)) => text,
        other => format!("{other:?}"),
    }
}

async fn until_said(lab: &Lab, last: u8, words: &[&str], expected: &str) {
    for _ in 0..6_000 {
        if say(lab, last, words).await.contains(expected) {
            return;
        }
        sleep_ms(10).await;
    }
    panic!("{last} never says {expected} to {words:?}: {}", say(lab, last, words).await);
}

/// The first key of this form in the slot.
fn key_in(slot: u16) -> String {
    let key = (0..).map(|number| format!("k{number}"));
    let mut found = key.filter(|key| crate::resp::slot_of(key.as_bytes()) == slot);
    found.next().expect("some key")
}

#[test]
fn a_slot_moves_with_its_data() {
    on_paused_clock(async {
        let lab = whole().await;
        let key = key_in(130);
        assert_eq!(say(&lab, 31, &["SET", &key, "here"]).await, "OK");
        let body = r#"{"target":1,"slot":"130"}"#;
        let answer = lab.post(22, &format!("{C0}/migrate"), body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        lab.until("the slot has moved", || lab.version() == 3).await;
        assert_eq!(lab.has_said(22, "Migrate the slot successfully"), 1);
        for last in 31..=34 {
            until_said(&lab, last, &["CLUSTER", "INFO"], "cluster_current_epoch:3\r\n").await;
        }
        assert_eq!(say(&lab, 33, &["GET", &key]).await, "here");
        assert_eq!(say(&lab, 31, &["GET", &key]).await, "MOVED 130 10.0.0.33:6666");
    });
}

#[test]
fn the_replica_of_a_killed_master_takes_its_place_with_the_data() {
    on_paused_clock(async {
        let lab = whole().await;
        let key = key_in(131);
        assert_eq!(say(&lab, 31, &["SET", &key, "here"]).await, "OK");
        let stale = format!("MOVED 131 {}", "10.0.0.31:6666");
        assert_eq!(say(&lab, 32, &["GET", &key]).await, stale);
        until_said(&lab, 32, &["INFO"], "master_link_status:up").await;
        sleep_ms(1_000).await;
        lab.kill(31).await;
        until_said(&lab, 32, &["INFO"], "role:master").await;
        assert_eq!(say(&lab, 32, &["GET", &key]).await, "here");
        assert_eq!(say(&lab, 32, &["SET", &key, "new"]).await, "OK");
        assert_eq!((lab.version(), lab.has_said(22, "Promote the new master")), (2, 1));
        // Back again, it follows.
        lab.start_kvrocks(31);
        until_said(&lab, 31, &["INFO"], "role:slave").await;
        until_said(&lab, 31, &["GET", &key], "MOVED 131 10.0.0.32:6666").await;
    });
}
