//! Failovers as views and documents show them, and what they leave open.

use expect_test::{Expect, expect};

use crate::checker::kvrocks::evidence::Evidence;
use crate::checker::text::history;
use crate::op::{Nanos, SECOND};

fn check(text: &str, expected: Expect) {
    let history = history(text);
    let shards = [vec!["kvrocks1".into(), "kvrocks2".into()], vec!["kvrocks3".into()]];
    let pairs = history.operations();
    let evidence = Evidence::of(&history, &pairs, &shards);
    let seconds = |time: Nanos| time as f64 / SECOND as f64;
    let mut told = String::new();
    for (shard, (node, seen)) in &evidence.promotions.first {
        told += &format!("shard {shard} begins with {node}, seen at {}\n", seconds(*seen));
    }
    for promotion in &evidence.promotions.all {
        told += &format!(
            "shard {}: {} to {}, versions {} to {}, from {} to {}\n",
            promotion.shard,
            promotion.from,
            promotion.to,
            promotion.last_before,
            promotion.version,
            seconds(promotion.not_before),
            seconds(promotion.seen),
        );
    }
    for unseen in &evidence.promotions.unseen {
        let (from, until) = (seconds(unseen.from), seconds(unseen.until));
        let (count, shard, above) = (unseen.count, unseen.shard, unseen.above);
        told += &format!("shard {shard}: {count} unseen above {above}, from {from} to {until}\n");
    }
    expected.assert_eq(&told);
}

#[test]
fn a_failover_lies_between_what_is_known_before_and_the_first_sight_of_it() {
    check(
        "
        0 nemesis phase main
        1 nemesis view kvrocks1=master@1 kvrocks2=replica@1 kvrocks3=master@1
        10 nemesis strike f1 kill kvrocks1
        10.2 nemesis view kvrocks1=down kvrocks2=replica@1 kvrocks3=master@1
        14.1 nemesis view kvrocks1=down kvrocks2=master@2 kvrocks3=master@2
        30 nemesis phase heal",
        expect![[r#"
            shard 0 begins with kvrocks1, seen at 1
            shard 1 begins with kvrocks3, seen at 1
            shard 0: kvrocks1 to kvrocks2, versions 1 to 2, from 5.2 to 14.1
            shard 0: 13 unseen above 2, from 5.2 to 30
        "#]],
    );
}

#[test]
fn a_version_that_nobody_saw_may_hide_failovers_only_if_something_caused_them() {
    let quiet = "
        0 nemesis phase main
        1 nemesis view kvrocks1=master@1 kvrocks2=replica@1 kvrocks3=master@1
        9 nemesis view kvrocks1=master@4 kvrocks2=replica@4 kvrocks3=master@4";
    check(
        quiet,
        expect![[r#"
            shard 0 begins with kvrocks1, seen at 1
            shard 1 begins with kvrocks3, seen at 1
        "#]],
    );
    check(
        &format!("{quiet}\n8.5 5 invoke failover {{\"shard\":0}}\n10 5 info failover nil"),
        expect![[r#"
            shard 0 begins with kvrocks1, seen at 1
            shard 1 begins with kvrocks3, seen at 1
            shard 0: 1 unseen above 1, from 4 to 9
            shard 0: 1 unseen above 4, from 4 to 10
        "#]],
    );
}

#[test]
fn a_node_that_says_its_old_role_under_its_new_version_is_not_believed_once_it_says_otherwise() {
    check(
        "
        1 nemesis view kvrocks1=master@1 kvrocks2=replica@1
        2 nemesis view kvrocks1=master@2 kvrocks2=replica@1
        3 nemesis view kvrocks1=replica@2 kvrocks2=master@2",
        expect![[r#"
            shard 0 begins with kvrocks1, seen at 1
            shard 0: kvrocks1 to kvrocks2, versions 1 to 2, from 0 to 3
        "#]],
    );
}

#[test]
fn documents_tell_masters_and_the_time_before_which_nothing_had_begun() {
    let document = |version: u64, masters: [&str; 2]| {
        let part = |master: &str| {
            let master = crate::checker::kvrocks::told::node(master, "master");
            format!(r#"{{"nodes":[{master}],"slot_ranges":[]}}"#)
        };
        format!(r#"{{"version":{version},"shards":[{}]}}"#, masters.map(part).join(","))
    };
    check(
        &format!(
            "
            4 9@controller1 invoke topology nil
            5 9@controller1 ok topology {}
            6 9@controller1 invoke topology nil
            7 9@controller1 ok topology {}",
            document(3, ["kvrocks1", "kvrocks3"]),
            document(4, ["kvrocks2", "kvrocks3"]),
        ),
        expect![[r#"
            shard 0 begins with kvrocks1, seen at 5
            shard 1 begins with kvrocks3, seen at 5
            shard 0: kvrocks1 to kvrocks2, versions 3 to 4, from 4 to 7
        "#]],
    );
}
