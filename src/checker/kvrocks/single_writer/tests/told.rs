//! Hand-made histories, and the story of each violation.

use expect_test::{Expect, expect};

use crate::checker::kvrocks::single_writer::SingleWriter;
use crate::checker::kvrocks::told;
use crate::checker::text::history;

fn check(text: &str, expected: Expect) {
    let checks = told::checks(Some(told::register()));
    told::check(&mut SingleWriter { checks }, &history(text), expected);
}

const VIEWED: &str = "
    0 nemesis phase main
    0.1 nemesis view kvrocks1=master@18:0-8191 kvrocks2=replica@18 kvrocks3=master@18:8192-16383 kvrocks4=replica@18";

#[test]
fn a_migration_pays_for_one_change_and_overlapping_answers_around_it_are_lawful() {
    check(
        &format!(
            "{VIEWED}
            1.0 0@kvrocks1 invoke write 1 key=7
            1.1 0@kvrocks1 ok write 1 key=7 slot=130 via=kvrocks1:ok
            2.0 9@controller1 invoke migrate {{\"slot\":130,\"target\":1}}
            2.1 9@controller1 info migrate nil
            2.2 0@kvrocks1 invoke write 2 key=7
            2.3 1@kvrocks1 invoke write 3 key=7
            2.4 1@kvrocks1 ok write 3 key=7 slot=130 via=kvrocks1:MOVED@1000,kvrocks3:ok@9000
            2.5 0@kvrocks1 ok write 2 key=7 slot=130 via=kvrocks1:ok
            3.0 1@kvrocks1 invoke write 4 key=7
            3.1 1@kvrocks1 ok write 4 key=7 slot=130 via=kvrocks1:MOVED,kvrocks3:ok"
        ),
        expect![[r#"
            valid: 4 acknowledged writes in 1 slot: every change of the node was paid for by a transfer
        "#]],
    );
}

#[test]
fn a_change_without_any_transfer_is_a_split_brain() {
    check(
        &format!(
            "{VIEWED}
            1.0 0@kvrocks1 invoke write 1 key=7
            1.1 0@kvrocks1 ok write 1 key=7 slot=130 via=kvrocks1:ok
            2.0 0@kvrocks1 invoke write 2 key=7
            2.1 0@kvrocks1 ok write 2 key=7 slot=130 via=kvrocks3:ok
            9.0 nemesis view kvrocks1=master@19:0-8191 kvrocks2=replica@19 kvrocks3=master@19:8192-16383 kvrocks4=replica@19"
        ),
        expect![[r#"
            invalid: 2 acknowledged writes in 1 slot: one slot had two writers
            split-brain: slot 130 was written at kvrocks1 and then at kvrocks3, to which it had not been given, from 1.000 s to 2.100 s: 1 write and 1 write were acknowledged, both under topology version 18
              1.000 s to 1.100 s: process 0: write 1 of key 7: kvrocks1 acknowledged it
              2.000 s to 2.100 s: process 0: write 2 of key 7: kvrocks3 acknowledged it
              the slot must have come to shard 1 once; migrations of it asked for: none
              kvrocks1 went by version 18 of the topology, and was seen to go by version 19 at 9.000 s; kvrocks3 went by version 18 of the topology, and was seen to go by version 19 at 9.000 s
              [kvrocks1 kvrocks3; key 7; ops [2, 4]; 1000 to 2100 ms]
        "#]],
    );
}

/// As the race was observed: the reply to `import SUCCESS` is lost, the source takes writes again.
#[test]
fn a_migration_that_failed_at_one_end_only_is_told_with_what_it_lost() {
    check(
        &format!(
            "{VIEWED}
            10.2 9@controller1 invoke migrate {{\"slot\":130,\"target\":1}}
            10.21 9@controller1 ok migrate {{\"slot\":130,\"target\":1,\"cluster\":{}}}
            10.4 nemesis view kvrocks1=master@19:0-8191 kvrocks2=replica@19 kvrocks3=master@19:8192-16383 kvrocks4=replica@19
            10.5 0@kvrocks1 invoke write 1 key=7
            10.6 0@kvrocks1 ok write 1 key=7 slot=130 via=kvrocks1:ok
            11.0 0@kvrocks1 invoke write 2 key=7
            11.01 0@kvrocks1 fail write 2 key=7 slot=130 via=kvrocks1:TRYAGAIN
            11.05 1@kvrocks3 invoke write 3 key=7
            11.06 1@kvrocks3 ok write 3 key=7 slot=130 via=kvrocks3:ok
            12.1 0@kvrocks1 invoke cas 1>4 key=7
            12.11 0@kvrocks1 ok cas 1>4 key=7 slot=130 via=kvrocks1:ok
            12.2 1@kvrocks3 invoke write 5 key=7
            12.21 1@kvrocks3 ok write 5 key=7 slot=130 via=kvrocks3:ok
            12.3 0@kvrocks1 invoke cas 4>6 key=7
            12.31 0@kvrocks1 ok cas 4>6 key=7 slot=130 via=kvrocks1:ok
            13.3 nemesis view kvrocks1=master@20:0-8191 kvrocks2=replica@20 kvrocks3=master@20:8192-16383 kvrocks4=replica@20
            20 nemesis phase drain
            20.1 0@kvrocks1 invoke read nil key=7
            20.2 0@kvrocks1 ok read 6 key=7 slot=130 via=kvrocks1:ok",
            told::document(19, Some((130, 1))),
        ),
        expect![[r#"
            invalid: 5 acknowledged writes in 1 slot: one slot had two writers
            split-brain: slot 130 was written at kvrocks3 and kvrocks1 at the same time from 11.050 s to 12.210 s: 2 writes and 1 write were acknowledged, at least 2 of them lost, both under topology version 19
              11.050 s to 11.060 s: process 1: write 3 of key 7: kvrocks3 acknowledged it
              12.100 s to 12.110 s: process 0: cas [1 4] of key 7: kvrocks1 acknowledged it
              the slot must have come to shard 0 once; migrations of it asked for: to shard 1 at 10.200 s
              kvrocks3 went by version 19 of the topology, and was seen to go by version 20 at 13.300 s; kvrocks1 went by version 19 of the topology, and was seen to go by version 20 at 13.300 s
              lost: write 3 of key 7, acknowledged by kvrocks3 at 11.060 s
              lost: write 5 of key 7, acknowledged by kvrocks3 at 12.210 s
              [kvrocks3 kvrocks1; key 7; ops [9, 11, 13]; 11050 to 12210 ms]
        "#]],
    );
}

#[test]
fn a_failover_pays_for_the_new_master_once_and_the_old_one_may_not_come_back_by_itself() {
    let promoted = format!(
        "{VIEWED}
        1.0 0@kvrocks1 invoke write 1 key=7
        1.1 0@kvrocks1 ok write 1 key=7 slot=130 via=kvrocks1:ok
        2.0 nemesis strike f1 cut kvrocks1
        11.5 nemesis view kvrocks1=master@18:0-8191 kvrocks2=master@19:0-8191 kvrocks3=master@19:8192-16383 kvrocks4=replica@19
        12.0 1@kvrocks2 invoke write 2 key=7
        12.1 1@kvrocks2 ok write 2 key=7 slot=130 via=kvrocks2:ok"
    );
    check(
        &promoted,
        expect![[r#"
            valid: 2 acknowledged writes in 1 slot: every change of the node was paid for by a transfer
        "#]],
    );
    check(
        &format!(
            "{promoted}
            13.0 0@kvrocks1 invoke write 3 key=7
            13.1 0@kvrocks1 ok write 3 key=7 slot=130 via=kvrocks1:ok"
        ),
        expect![[r#"
            valid: 3 acknowledged writes in 1 slot: every change of the node was paid for by a transfer
        "#]],
    );
}

#[test]
fn a_migration_that_is_over_pays_for_nothing_more() {
    let source_again = format!(
        "{VIEWED}
        1.0 9@controller1 invoke migrate {{\"slot\":130,\"target\":1}}
        1.1 9@controller1 ok migrate {{\"slot\":130,\"target\":1,\"cluster\":{}}}
        5.0 9@controller1 invoke topology nil
        5.1 9@controller1 ok topology {}
        6.0 0@kvrocks1 invoke write 1 key=7
        6.1 0@kvrocks1 ok write 1 key=7 slot=130 via=kvrocks1:ok
        7.0 0@kvrocks1 invoke write 2 key=7
        7.1 0@kvrocks1 ok write 2 key=7 slot=130 via=kvrocks3:ok
        8.0 0@kvrocks1 invoke write 3 key=7
        8.1 0@kvrocks1 ok write 3 key=7 slot=130 via=kvrocks1:ok
        9.0 0@kvrocks1 invoke write 4 key=7
        9.1 0@kvrocks1 ok write 4 key=7 slot=130 via=kvrocks3:ok",
        told::document(19, Some((130, 1))),
        told::document(20, None),
    );
    check(
        &source_again,
        expect![[r#"
            invalid: 4 acknowledged writes in 1 slot: one slot had two writers
            split-brain: slot 130 was written at kvrocks3 and kvrocks1 at the same time from 7.000 s to 8.100 s: 1 write and 1 write were acknowledged, kvrocks3 under version 18 or a later one of the topology, kvrocks1 under version 18 or a later one
              7.000 s to 7.100 s: process 0: write 2 of key 7: kvrocks3 acknowledged it
              8.000 s to 8.100 s: process 0: write 3 of key 7: kvrocks1 acknowledged it
              the slot must have come to shard 0 once; migrations of it asked for: to shard 1 at 1.000 s, known to be over at 5.100 s
              kvrocks3 went by version 18 or a later one of the topology; kvrocks1 went by version 18 or a later one of the topology
              [kvrocks3 kvrocks1; key 7; ops [8, 10]; 7000 to 8100 ms]
        "#]],
    );
}

#[test]
fn writes_without_a_slot_are_not_judged() {
    check(
        "
        1.0 0@kvrocks1 invoke write 1 key=7
        1.1 0@kvrocks1 ok write 1 key=7",
        expect![[r#"
            valid: 0 acknowledged writes in 0 slots: every change of the node was paid for by a transfer; not judged, for want of a slot: 1 write
        "#]],
    );
}

/// Nodes take up a failover one by one, seconds after the controller has answered.
#[test]
fn a_failover_pays_until_the_nodes_know_of_it() {
    let late = |third: &str| {
        format!(
            "{VIEWED}
            1.0 9@controller1 invoke failover {{\"shard\":0}}
            1.1 9@controller1 ok failover {{\"shard\":0,\"new_master_id\":\"x\"}}
            1.2 9@controller1 invoke topology nil
            1.3 9@controller1 ok topology {{\"version\":19,\"shards\":[{},{}]}}
            2.0 0@kvrocks1 invoke write 1 key=7
            2.1 0@kvrocks1 ok write 1 key=7 slot=130 via=kvrocks1:ok
            3.0 0@kvrocks1 invoke write 2 key=7
            3.1 0@kvrocks1 ok write 2 key=7 slot=130 via=kvrocks2:ok
            {third}
            6.0 nemesis view kvrocks1=replica@19 kvrocks2=master@19:0-8191 kvrocks3=master@19:8192-16383 kvrocks4=replica@19
            7.0 0@kvrocks1 invoke write 4 key=7
            7.1 0@kvrocks1 ok write 4 key=7 slot=130 via=kvrocks2:ok
            9.0 nemesis view kvrocks1=replica@20 kvrocks2=master@20:0-8191 kvrocks3=master@20:8192-16383 kvrocks4=replica@20",
            told::part("kvrocks2", "kvrocks1", "0-8191", None),
            told::part("kvrocks3", "kvrocks4", "8192-16383", None),
        )
    };
    check(
        &late(""),
        expect![[r#"
        valid: 3 acknowledged writes in 1 slot: every change of the node was paid for by a transfer
    "#]],
    );
    check(
        &late(
            "5.0 0@kvrocks1 invoke write 3 key=7
            5.1 0@kvrocks1 ok write 3 key=7 slot=130 via=kvrocks1:ok",
        ),
        expect![[r#"
            invalid: 4 acknowledged writes in 1 slot: one slot had two writers
            split-brain: slot 130: deposed master kvrocks1 acknowledged 1 write from 5.000 s to 5.100 s, though kvrocks2 had taken over by 3.100 s, kvrocks2 under version 18 or 19 of the topology, kvrocks1 under version 18 or 19
              3.000 s to 3.100 s: process 0: write 2 of key 7: kvrocks2 acknowledged it
              5.000 s to 5.100 s: process 0: write 3 of key 7: kvrocks1 acknowledged it
              kvrocks1 must have become the slot's master once; failovers of its shard: kvrocks2 under version 19, seen at 1.300 s
              kvrocks2 went by version 18 or 19 of the topology, and was seen to go by version 19 at 6.000 s; kvrocks1 went by version 18 or 19 of the topology, and was seen to go by version 19 at 6.000 s
              [kvrocks2 kvrocks1; key 7; ops [8, 10]; 5000 to 5100 ms]
        "#]],
    );
}
