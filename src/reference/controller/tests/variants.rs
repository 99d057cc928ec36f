//! What each variant loses, and what it does not.

use std::collections::BTreeSet;

use futures::future::join_all;

use super::lab::{C0, LEADS, LOST, Lab, address, sleep_ms};
use crate::cluster::MultiOp;
use crate::reference::ControllerVariant::{self, AsShipped, Cas, Fenced, WallClockLease};
use crate::reference::controller::Config;
use crate::reference::testing::on_paused_clock;
use crate::rng::Rng;

const NAMESPACES: &str = "/api/v1/namespaces";

fn shard_of(addr: &str) -> String {
    format!("{{\"nodes\":[\"{addr}\"]}}")
}

/// Adds a shard with this node; whether that was acknowledged.
async fn add(lab: &Lab, controller: u8, addr: &str) -> bool {
    lab.post(controller, &format!("{C0}/shards"), &shard_of(addr)).await.status == 201
}

/// Adds shards through both controllers at about the same time; the acknowledged ones that are not there.
async fn lost_of_many(lab: &Lab, seed: u64) -> usize {
    let mut rng = Rng::from_seed(seed);
    let mut acknowledged = BTreeSet::new();
    for round in 0..10 {
        let adds = [21, 22, 21, 22].iter().enumerate().map(|(index, controller)| {
            let (after_ms, addr) = (rng.below(8), format!("10.0.{round}.{index}:6666"));
            async move {
                sleep_ms(after_ms).await;
                add(lab, *controller, &addr).await.then_some(addr)
            }
        });
        acknowledged.extend(join_all(adds).await.into_iter().flatten());
    }
    assert!(acknowledged.len() >= 10, "{acknowledged:?}");
    let document = lab.document().to_string();
    acknowledged.iter().filter(|addr| !document.contains(*addr)).count()
}

#[test]
fn two_controllers_that_write_at_once_lose_updates_as_shipped_and_by_no_other_variant() {
    for variant in ControllerVariant::ALL {
        let lost = on_paused_clock(async {
            let lab = Lab::with_cluster(*variant).await;
            lost_of_many(&lab, 3).await
        });
        assert_eq!(lost > 0, *variant == AsShipped, "{variant} lost {lost}");
    }
}

/// Adds shards through both controllers while these are killed, cut off and left without answers; the
/// acknowledged ones that are not there in the end.
async fn lost_in_storm(lab: &Lab, rng: &mut Rng) -> usize {
    let (mut acknowledged, mut cut) = (BTreeSet::new(), BTreeSet::new());
    for step in 0..40 {
        let controller = 21 + rng.below(2) as u8;
        match rng.below(10) {
            0 => {
                lab.kill(controller).await;
                sleep_ms(rng.below(9_000)).await;
                lab.start_controller(controller);
            }
            1 if cut.insert(controller) => lab.cut(controller, 10),
            2 if cut.remove(&controller) => lab.join(controller, 10),
            3 => lab.zookeeper.lose_next_answer(),
            _ => {
                let addr = format!("10.1.{step}.1:6666");
                let (shards, shard) = (format!("{C0}/shards"), shard_of(&addr));
                let added = lab.try_post(controller, &shards, &shard);
                // Not listening yet, or without an answer for long: nothing is acknowledged.
                let added = tokio::time::timeout(std::time::Duration::from_secs(5), added).await;
                if let Ok(Ok(answer)) = added
                    && answer.status == 201
                {
                    acknowledged.insert(addr);
                }
            }
        }
        sleep_ms(rng.below(3_000)).await;
    }
    assert!(!acknowledged.is_empty());
    let document = lab.document().to_string();
    acknowledged.iter().filter(|addr| !document.contains(*addr)).count()
}

#[test]
fn kills_cuts_and_lost_answers_lose_no_update_of_the_sound_variants() {
    for variant in [Cas, Fenced, WallClockLease] {
        for seed in 0..3 {
            let lost = on_paused_clock(async {
                let lab = Lab::with_cluster(variant).await;
                lost_in_storm(&lab, &mut Rng::from_seed(seed)).await
            });
            assert_eq!(lost, 0, "{variant} with seed {seed}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = || {
        on_paused_clock(async {
            let lab = Lab::with_cluster(AsShipped).await;
            let lost = lost_in_storm(&lab, &mut Rng::from_seed(8)).await;
            (lost, lab.raw_log(21), lab.raw_log(22), lab.document().to_string())
        })
    };
    assert_eq!(run(), run());
}

#[test]
fn of_two_writes_of_one_version_cas_refuses_the_second() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(Cas).await;
        let shards = format!("{C0}/shards");
        let (one, other) = (shard_of("10.0.0.35:6666"), shard_of("10.0.0.36:6666"));
        let (one, other) =
            futures::join!(lab.post(21, &shards, &one), lab.post(22, &shards, &other));
        let mut statuses = [one.status, other.status];
        statuses.sort();
        assert_eq!(statuses, [201, 500]);
        let refused = if one.status == 500 { one } else { other };
        assert!(refused.text().contains("the cluster has been updated by others"));
        assert_eq!(lab.version(), 2);
    });
}

/// What every variant can do.
async fn works(lab: &Lab) {
    (31..=34).for_each(|last| lab.node(last).borrow_mut().sequence = 5000);
    let body = r#"{"target":1,"slot":"130"}"#;
    assert_eq!(lab.post(22, &format!("{C0}/migrate"), body).await.status, 200);
    lab.node(31).borrow_mut().migration.as_mut().expect("a migration").2 = "success".to_owned();
    lab.until_pushed(3).await;
    lab.kill(31).await;
    lab.until("32 is master", || lab.node(32).borrow().role() == "master").await;
    assert_eq!(lab.version(), 4);
    lab.kill(22).await;
    lab.until("21 leads", || lab.has_said(21, LEADS) == 1).await;
    lab.start_node(31);
    lab.until("31 is slave", || lab.node(31).borrow().role() == "slave").await;
    lab.kill(33).await;
    lab.until("34 is master", || lab.node(34).borrow().role() == "master").await;
    assert_eq!(lab.version(), 5);
    let ours = lab.get(21, C0).await;
    assert!(ours.status == 200 && ours.text().contains("\"version\":5"), "{}", ours.text());
}

#[test]
fn every_variant_migrates_fails_over_and_gives_its_office_on() {
    for variant in ControllerVariant::ALL {
        on_paused_clock(async { works(&Lab::with_cluster(*variant).await).await });
    }
}

#[test]
fn followers_of_variants_that_bind_writes_to_the_office_only_redirect_them() {
    for variant in [Fenced, WallClockLease] {
        on_paused_clock(async {
            let lab = Lab::with_cluster(variant).await;
            let answer = lab.post(21, NAMESPACES, r#"{"namespace":"other"}"#).await;
            assert_eq!((answer.status, answer.body.len()), (307, 0));
            let location = Some("http://10.0.0.22:9379/api/v1/namespaces");
            assert_eq!(answer.header("location"), location);
            assert_eq!(lab.zookeeper.text("/kvrocks/metadata/other"), "");
            assert!(lab.get(21, C0).await.header("location").is_some());
        });
    }
}

#[test]
fn a_deposed_leader_that_is_fenced_writes_nothing() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(Fenced).await;
        lab.cut(22, 10);
        lab.until("21 leads", || lab.has_said(21, LEADS) == 1).await;
        lab.join(22, 10);
        while lab.has_said(22, LOST) == 0 {
            assert!(!add(&lab, 22, "10.0.0.35:6666").await);
            sleep_ms(50).await;
        }
        assert!(!add(&lab, 22, "10.0.0.35:6666").await);
        assert_eq!(lab.version(), 1);
        assert!(add(&lab, 21, "10.0.0.36:6666").await);
    });
}

#[test]
fn an_election_that_a_fenced_leader_has_not_heard_of_ends_its_writes() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(Fenced).await;
        assert!(add(&lab, 22, "10.0.0.35:6666").await);
        let path = format!("{}-epoch", Config::ELECT_PATH);
        let part = MultiOp::Set { path, data: b"somebody else".to_vec(), version: None };
        lab.zookeeper.tree.borrow_mut().perform(0, &[part]).expect("written");
        let answer = lab.post(22, &format!("{C0}/shards"), &shard_of("10.0.0.36:6666")).await;
        assert_eq!(answer.status, 500);
        assert!(answer.text().contains("this controller does not lead any more"));
        assert_eq!(lab.version(), 2);
    });
}

#[test]
fn a_holder_without_zookeeper_stops_before_another_one_takes_the_lease() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(WallClockLease).await;
        lab.cut(22, 10);
        let led = || lab.has_said(21, LEADS) == 1;
        while !led() {
            let old = lab.get(22, C0).await.status;
            assert!(old == 200 || !led(), "22 still answers as leader");
            sleep_ms(20).await;
        }
        assert_ne!(lab.get(22, C0).await.status, 200);
        assert!(!add(&lab, 22, "10.0.0.35:6666").await);
        lab.until("22 knows it", || lab.has_said(22, LOST) == 1).await;
        lab.join(22, 10);
        sleep_ms(20_000).await;
        assert_eq!((lab.has_said(21, LOST), lab.has_said(22, LEADS)), (0, 1));
    });
}

#[test]
fn a_write_whose_answer_was_lost_does_not_stop_the_holder_of_a_lease() {
    on_paused_clock(async {
        let lab = Lab::with_cluster(WallClockLease).await;
        lab.zookeeper.lose_next_answer();
        assert!(!add(&lab, 22, "10.0.0.35:6666").await);
        assert!(add(&lab, 22, "10.0.0.36:6666").await);
        let document = lab.document().to_string();
        assert!(document.contains("10.0.0.35:6666") && document.contains("10.0.0.36:6666"));
        assert_eq!(lab.version(), 3);
    });
}

/// A write that is under way for longer than the lease of the holder who sent it.
async fn late_write(successor_writes_first: bool) {
    let lab = Lab::with_cluster(WallClockLease).await;
    lab.zookeeper.hold(address(22));
    let late = add(&lab, 22, "10.0.0.35:6666");
    let successor = async {
        lab.until("21 leads", || lab.has_said(21, LEADS) == 1).await;
        assert_eq!(lab.get(21, C0).await.status, 200);
        if successor_writes_first {
            assert!(add(&lab, 21, "10.0.0.36:6666").await);
        }
        lab.zookeeper.release(address(22));
        sleep_ms(2_000).await;
        assert!(add(&lab, 21, "10.0.0.37:6666").await);
    };
    let (acknowledged, ()) = futures::join!(late, successor);
    assert!(!acknowledged);
    let document = lab.document().to_string();
    assert!(!document.contains("10.0.0.35:6666") && document.contains("10.0.0.37:6666"));
    assert_eq!(document.contains("10.0.0.36:6666"), successor_writes_first);
}

#[test]
fn a_write_that_comes_later_than_its_lease_lasted_changes_nothing() {
    on_paused_clock(late_write(false));
    on_paused_clock(late_write(true));
}

/// Until the holder has just renewed its lease.
async fn renewal(lab: &Lab) {
    let path = format!("{}-lease", Config::ELECT_PATH);
    let before = lab.zookeeper.text(&path);
    lab.until("a renewal", || lab.zookeeper.text(&path) != before).await;
}

#[test]
fn clocks_that_differ_make_two_leaders_of_whom_one_overwrites_the_other() {
    // Either the follower's clock is ahead, or the holder's is set back.
    for (skewed, skew_ms) in [(21, 60_000), (22, -60_000)] {
        on_paused_clock(async {
            let lab = Lab::with_cluster(WallClockLease).await;
            renewal(&lab).await;
            lab.set_skew_ms(skewed, skew_ms);
            lab.until("21 leads", || lab.has_said(21, LEADS) == 1).await;
            assert_eq!(lab.has_said(22, LOST), 0);
            let both = [lab.get(21, C0).await.status, lab.get(22, C0).await.status];
            assert_eq!(both, [200, 200], "two act as leader");
            assert!(add(&lab, 21, "10.0.0.35:6666").await);
            assert!(lab.document().to_string().contains("10.0.0.35:6666"));
            assert!(add(&lab, 22, "10.0.0.36:6666").await);
            // Version 2 has had two contents, and an acknowledged change is gone.
            assert_eq!(lab.version(), 2);
            assert!(!lab.document().to_string().contains("10.0.0.35:6666"));
            lab.until("22 knows it", || lab.has_said(22, LOST) == 1).await;
        });
    }
}

#[test]
fn clocks_that_differ_do_nothing_to_the_other_variants() {
    for variant in [AsShipped, Cas, Fenced] {
        on_paused_clock(async {
            let lab = Lab::with_cluster(variant).await;
            lab.set_skew_ms(21, 3_600_000);
            lab.set_skew_ms(22, -3_600_000);
            sleep_ms(20_000).await;
            assert_eq!((lab.has_said(21, LEADS), lab.has_said(22, LOST)), (0, 0));
        });
    }
}
