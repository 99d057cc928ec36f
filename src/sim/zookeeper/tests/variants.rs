//! Planted bugs at work: the smallest story in which each can be told from the sound ensemble.

use std::cell::Cell;
use std::rc::Rc;

use super::lab::{Lab, create, milliseconds, sleep, text, with_variant};
use crate::cluster::Coordination;
use crate::sim::Variant;

/// In how many of ten seeds the story ends badly.
fn bad_endings<F: Future<Output = bool>>(variant: Variant, story: impl Fn(Lab) -> F) -> usize {
    let ends_badly = |seed: &u64| {
        let ending = Rc::new(Cell::new(false));
        let (told, story) = (Rc::clone(&ending), &story);
        with_variant(3, *seed, variant, async move |lab| told.set(story(lab).await));
        ending.get()
    };
    (0..10).filter(ends_badly).count()
}

fn check<F: Future<Output = bool>>(variant: Variant, story: impl Fn(Lab) -> F) {
    assert_eq!(bad_endings(Variant::AsShipped, &story), 0, "the sound ensemble");
    let bad = bad_endings(variant, &story);
    assert!(bad > 0, "{variant} never shows");
}

#[test]
fn a_confirmed_write_is_lost_with_the_leader_that_acknowledged_it() {
    check(Variant::LosesAckedWrite, async |lab| {
        let leader = lab.leader().await;
        let session = lab.session(&leader).await;
        create(&session, "/a").await.unwrap();
        sleep(milliseconds(200)).await;
        session.set("/a", b"1", None).await.unwrap();
        lab.kill(&leader).await;
        let next = lab.led_by_another(&leader).await;
        text(&lab.session(&next).await, "/a").await.unwrap() == "0"
    });
}

#[test]
fn a_read_behind_a_write_misses_what_was_confirmed_before() {
    check(Variant::StaleBarrier, async |lab| {
        let names = lab.names();
        let (writer, reader) = (lab.session(&names[0]).await, lab.session(&names[1]).await);
        create(&writer, "/a").await.unwrap();
        create(&reader, "/scratch").await.unwrap();
        sleep(milliseconds(100)).await;
        writer.set("/a", b"1", None).await.unwrap();
        reader.set("/scratch", b"", None).await.unwrap();
        text(&reader, "/a").await.unwrap() == "0"
    });
}

#[test]
fn a_crash_of_all_loses_what_was_not_flushed() {
    check(Variant::AcksUnflushed, async |lab| {
        let session = lab.session(&lab.names()[0]).await;
        create(&session, "/a").await.unwrap();
        sleep(milliseconds(1_000)).await;
        session.set("/a", b"1", None).await.unwrap();
        session.set("/a", b"2", None).await.unwrap();
        for name in lab.names() {
            lab.kill(&name).await;
        }
        for name in lab.names() {
            lab.start(&name).await;
        }
        lab.healthy().await;
        text(&lab.session(&lab.names()[0]).await, "/a").await.unwrap() != "2"
    });
}

#[test]
fn a_lagging_server_that_is_elected_throws_committed_writes_away() {
    check(Variant::VotesById, async |lab| {
        // The highest number lags while the others go on, and is there when they vote again.
        let names = lab.names();
        let session = lab.session(&names[0]).await;
        create(&session, "/a").await.unwrap();
        lab.kill(&names[2]).await;
        lab.led_by_another(&names[2]).await;
        session.set("/a", b"1", None).await.unwrap();
        lab.kill(&names[0]).await;
        lab.kill(&names[1]).await;
        lab.start(&names[2]).await;
        lab.start(&names[0]).await;
        lab.start(&names[1]).await;
        lab.healthy().await;
        text(&lab.session(&names[0]).await, "/a").await.unwrap() != "1"
    });
}

#[test]
fn two_compare_and_sets_of_one_version_both_succeed() {
    check(Variant::CasRaces, async |lab| {
        let names = lab.names();
        let (one, two) = (lab.session(&names[0]).await, lab.session(&names[1]).await);
        create(&one, "/a").await.unwrap();
        let (first, second) = (one.set("/a", b"1", Some(0)), two.set("/a", b"2", Some(0)));
        first.await.is_ok() && second.await.is_ok()
    });
}
