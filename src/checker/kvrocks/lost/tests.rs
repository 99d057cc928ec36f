//! What final reads prove gone, and what failovers excuse.

use expect_test::{Expect, expect};

use super::LostWrites;
use crate::checker::kvrocks::{KvrocksObject, told};
use crate::checker::text::history;

fn check(object: KvrocksObject, text: &str, expected: Expect) {
    let checks = told::checks(Some(object));
    told::check(&mut LostWrites { checks }, &history(text), expected);
}

const FIRST: &str =
    "kvrocks1=master@1:0-8191 kvrocks2=replica@1 kvrocks3=master@1:8192-16383 kvrocks4=replica@1";

/// kvrocks1 takes elements 1 to 4; a final read at some node sees some of them.
fn set(between: &str, reader: &str, seen: &str) -> String {
    let adds: String = (1..=4)
        .map(|n| {
            format!(
                "{n}.0 0@kvrocks1 invoke add {n} key=7
                {n}.1 0@kvrocks1 ok add {n} key=7 slot=130 via=kvrocks1:ok\n"
            )
        })
        .collect();
    // The masters go on being who they were.
    let mut views = between.lines().filter_map(|line| line.split_once("nemesis view "));
    let masters = views.next_back().map_or(FIRST, |(_, masters)| masters);
    let version = masters.split(['@', ':', ' ']).find(|word| word.parse::<u64>().is_ok());
    let masters = masters.replace("down", &format!("replica@{}", version.expect("a version")));
    format!(
        "0 nemesis phase main
        0.1 nemesis view {FIRST}
        {adds}
        {between}
        9.5 nemesis phase heal
        10 nemesis heal f1 kill kvrocks1
        11 nemesis phase recover
        11.2 nemesis view {masters}
        13 nemesis phase drain
        21.0 1@kvrocks1 invoke read nil key=7
        21.1 1@kvrocks1 ok read {seen} key=7 slot=130 via={reader}:ok
        21.2 nemesis view {masters}"
    )
}

const FAILOVER: &str = "
    4.5 nemesis strike f1 kill kvrocks1
    8.6 nemesis view kvrocks1=down kvrocks2=master@2:0-8191 kvrocks3=master@2:8192-16383 kvrocks4=replica@2";

#[test]
fn all_there_is_valid_and_a_read_that_never_came_is_unknown() {
    check(
        KvrocksObject::Set,
        &set("", "kvrocks1", "[1,2,3,4]"),
        expect![[r#"
            valid: 4 acknowledged writes of 1 key: none is lost
        "#]],
    );
    let cut =
        set("", "kvrocks1", "[1,2,3,4]").replace("21.1 1@kvrocks1 ok", "21.1 1@kvrocks1 fail");
    check(
        KvrocksObject::Set,
        &cut,
        expect![[r#"
            unknown: 0 acknowledged writes of 0 keys: none is lost; 1 key not judged, for want of a final read
        "#]],
    );
    let before_drain = set("", "kvrocks1", "[1]").replace("13 nemesis phase drain", "");
    check(
        KvrocksObject::Set,
        &before_drain,
        expect![[r#"
        unknown: the run never came to its final reads
    "#]],
    );
}

#[test]
fn without_a_failover_nothing_may_be_lost() {
    check(
        KvrocksObject::Set,
        &set("", "kvrocks1", "[1,2]"),
        expect![[r#"
            invalid: 4 acknowledged writes of 1 key: 2 lost
            lost-write: 2 writes (slot 130) that kvrocks1 acknowledged from 3.100 s to 4.100 s are lost (first element 3 of key 7, which kvrocks1 did not have at 21.000 s), and no failover of its shard explains it
              3.000 s to 3.100 s: process 0: add 3 of key 7: kvrocks1 acknowledged it
              4.000 s to 4.100 s: process 0: add 4 of key 7: kvrocks1 acknowledged it
              the proof: 21.000 s to 21.100 s: process 1: read [1,2] of key 7: kvrocks1 answered
              [kvrocks1; key 7; ops [6, 8, 16]; 3000 to 21100 ms]
        "#]],
    );
}

#[test]
fn a_failover_may_take_the_last_writes_of_the_master_that_it_deposes() {
    check(
        KvrocksObject::Set,
        &set(FAILOVER, "kvrocks2", "[1,2]"),
        expect![[r#"
            valid: 4 acknowledged writes of 1 key, 2 lost as failovers may, within 1000 ms of the last acknowledgement
        "#]],
    );
}

#[test]
fn a_failover_may_not_take_one_from_the_middle() {
    check(
        KvrocksObject::Set,
        &set(FAILOVER, "kvrocks2", "[1,2,4]"),
        expect![[r#"
            invalid: 4 acknowledged writes of 1 key: 1 lost
            lost-write: element 3 of key 7 (slot 130) was acknowledged by kvrocks1 at 3.100 s and is lost (kvrocks2 did not have it at 21.000 s), though kvrocks1's successor has what it acknowledged later (add 4 of key 7)
              3.000 s to 3.100 s: process 0: add 3 of key 7: kvrocks1 acknowledged it
              the proof: 21.000 s to 21.100 s: process 1: read [1,2,4] of key 7: kvrocks2 answered
              what survived: 4.000 s to 4.100 s: process 0: add 4 of key 7: kvrocks1 acknowledged it
              [kvrocks1 kvrocks2; key 7; ops [6, 19]; 3000 to 21100 ms]
        "#]],
    );
}

#[test]
fn a_failover_excuses_nothing_that_its_new_master_had_taken_itself() {
    let own = format!(
        "{FAILOVER}
        9.0 0@kvrocks1 invoke add 9 key=7
        9.1 0@kvrocks1 ok add 9 key=7 slot=130 via=kvrocks2:ok"
    );
    check(
        KvrocksObject::Set,
        &set(&own, "kvrocks2", "[1,2,3,4]"),
        expect![[r#"
            invalid: 5 acknowledged writes of 1 key: 1 lost
            lost-write: element 9 of key 7 (slot 130) was acknowledged by kvrocks2 at 9.100 s and is lost (kvrocks2 did not have it at 21.000 s), and no failover of its shard explains it
              9.000 s to 9.100 s: process 0: add 9 of key 7: kvrocks2 acknowledged it
              the proof: 21.000 s to 21.100 s: process 1: read [1,2,3,4] of key 7: kvrocks2 answered
              [kvrocks2; key 7; ops [13, 21]; 9000 to 21100 ms]
        "#]],
    );
}

#[test]
fn a_failover_of_the_destination_excuses_nothing_that_was_taken_for_a_slot_it_never_owned() {
    let imported = "
        4.5 9@controller1 invoke migrate {\"slot\":130,\"target\":1}
        4.6 9@controller1 info migrate nil
        5.0 0@kvrocks1 invoke add 5 key=7
        5.1 0@kvrocks1 ok add 5 key=7 slot=130 via=kvrocks1:MOVED,kvrocks3:ok
        6.0 nemesis strike f1 kill kvrocks3
        9.0 nemesis view kvrocks1=master@3:0-8191 kvrocks2=replica@3 kvrocks3=down kvrocks4=master@3:8192-16383";
    check(
        KvrocksObject::Set,
        &set(imported, "kvrocks1", "[1,2,3,4]"),
        expect![[r#"
            invalid: 5 acknowledged writes of 1 key: 1 lost
            lost-write: element 5 of key 7 (slot 130) was acknowledged by kvrocks3 at 5.100 s and is lost (kvrocks1 did not have it at 21.000 s), and no failover of its shard explains it, for the topology gave the slot to shard 0
              5.000 s to 5.100 s: process 0: add 5 of key 7: kvrocks3 acknowledged it
              the proof: 21.000 s to 21.100 s: process 1: read [1,2,3,4] of key 7: kvrocks1 answered
              [kvrocks3 kvrocks1; key 7; ops [12, 23]; 5000 to 21100 ms]
        "#]],
    );
}

#[test]
fn the_source_dies_after_the_destination_has_taken_over() {
    let lost = "
        4.5 9@controller1 invoke migrate {\"slot\":130,\"target\":1}
        4.6 9@controller1 info migrate nil
        5.0 0@kvrocks1 invoke add 5 key=7
        5.1 0@kvrocks1 ok add 5 key=7 slot=130 via=kvrocks1:MOVED,kvrocks3:ok
        6.0 nemesis strike f1 kill kvrocks1
        9.0 nemesis view kvrocks1=down kvrocks2=master@3:0-8191 kvrocks3=master@3:8192-16383 kvrocks4=replica@3";
    check(
        KvrocksObject::Set,
        &set(lost, "kvrocks2", "[1,2,3,4]"),
        expect![[r#"
            invalid: 5 acknowledged writes of 1 key: 1 lost
            lost-write: element 5 of key 7 (slot 130) was acknowledged by kvrocks3 at 5.100 s and is lost (kvrocks2 did not have it at 21.000 s), and no failover of its shard explains it, for the topology gave the slot to shard 0
              5.000 s to 5.100 s: process 0: add 5 of key 7: kvrocks3 acknowledged it
              the proof: 21.000 s to 21.100 s: process 1: read [1,2,3,4] of key 7: kvrocks2 answered
              [kvrocks3 kvrocks2; key 7; ops [12, 23]; 5000 to 21100 ms]
        "#]],
    );
}

#[test]
fn an_element_that_is_seen_again_was_only_late() {
    let again = "
        22.0 1@kvrocks1 invoke read nil key=7
        22.1 1@kvrocks1 ok read [1,2,3,4] key=7 slot=130 via=kvrocks1:ok";
    let text = set("", "kvrocks1", "[1,2]") + again;
    check(
        KvrocksObject::Set,
        &text,
        expect![[r#"
            valid: 4 acknowledged writes of 1 key: none is lost
        "#]],
    );
}

#[test]
fn lists_are_read_in_transactions() {
    check(
        KvrocksObject::List,
        r#"
        1.0 0@kvrocks1 invoke txn [["append",7,1],["append",8,2]]
        1.1 0@kvrocks1 ok txn [["append",7,1],["append",8,2]] slot=130 via=kvrocks1:ok
        2.0 0@kvrocks1 invoke txn [["r",7,null],["r",8,null]]
        2.1 0@kvrocks1 ok txn [["r",7,[]],["r",8,[2]]] slot=130 via=kvrocks1:ok"#,
        expect![[r#"
            invalid: 2 acknowledged writes of 2 keys: 1 lost
            lost-write: element 1 of key 7 (slot 130) was acknowledged by kvrocks1 at 1.100 s and is lost (kvrocks1 did not have it at 2.000 s), and no failover of its shard explains it
              1.000 s to 1.100 s: process 0: txn [["append",7,1],["append",8,2]]: kvrocks1 acknowledged it
              the proof: 2.000 s to 2.100 s: process 0: txn [["r",7,[]],["r",8,[2]]]: kvrocks1 answered
              [kvrocks1; key 7; ops [0, 2]; 1000 to 2100 ms]
        "#]],
    );
}

#[test]
fn of_a_register_only_what_the_final_value_never_followed_is_gone() {
    let work = "
        1.0 0@kvrocks1 invoke write 1 key=7
        1.1 0@kvrocks1 ok write 1 key=7 slot=130 via=kvrocks1:ok
        2.0 0@kvrocks1 invoke write 2 key=7
        2.1 0@kvrocks1 ok write 2 key=7 slot=130 via=kvrocks1:ok
        3.0 0@kvrocks1 invoke cas 1>3 key=7
        3.1 0@kvrocks1 info cas 1>3 key=7
        4.0 0@kvrocks1 invoke write 4 key=7
        4.1 0@kvrocks1 ok write 4 key=7 slot=130 via=kvrocks1:ok
        9.0 0@kvrocks1 invoke read nil key=7
        9.1 0@kvrocks1 ok read VALUE key=7 slot=130 via=kvrocks1:ok";
    let register = told::register;
    check(
        register(),
        &work.replace("VALUE", "4"),
        expect![[r#"
            valid: 3 acknowledged writes of 1 key: none is lost
        "#]],
    );
    check(
        register(),
        &work.replace("VALUE", "3"),
        expect![[r#"
            invalid: 3 acknowledged writes of 1 key: 1 lost
            lost-write: write 2 of key 7 (slot 130) was acknowledged by kvrocks1 at 2.100 s and is lost (kvrocks1 did not have it at 9.000 s), and no failover of its shard explains it
              2.000 s to 2.100 s: process 0: write 2 of key 7: kvrocks1 acknowledged it
              the proof: 9.000 s to 9.100 s: process 0: read 3 of key 7: kvrocks1 answered
              [kvrocks1; key 7; ops [2, 8]; 2000 to 9100 ms]
        "#]],
    );
    check(
        register(),
        &work.replace("VALUE", "1"),
        expect![[r#"
            invalid: 3 acknowledged writes of 1 key: 2 lost
            lost-write: 2 writes (slot 130) that kvrocks1 acknowledged from 2.100 s to 4.100 s are lost (first write 2 of key 7, which kvrocks1 did not have at 9.000 s), and no failover of its shard explains it
              2.000 s to 2.100 s: process 0: write 2 of key 7: kvrocks1 acknowledged it
              4.000 s to 4.100 s: process 0: write 4 of key 7: kvrocks1 acknowledged it
              the proof: 9.000 s to 9.100 s: process 0: read 1 of key 7: kvrocks1 answered
              [kvrocks1; key 7; ops [2, 6, 8]; 2000 to 9100 ms]
        "#]],
    );
    check(
        register(),
        &work.replace("VALUE", "nil"),
        expect![[r#"
            invalid: 3 acknowledged writes of 1 key: 3 lost
            lost-write: 3 writes (slot 130) that kvrocks1 acknowledged from 1.100 s to 4.100 s are lost (first write 1 of key 7, which kvrocks1 did not have at 9.000 s), and no failover of its shard explains it
              1.000 s to 1.100 s: process 0: write 1 of key 7: kvrocks1 acknowledged it
              2.000 s to 2.100 s: process 0: write 2 of key 7: kvrocks1 acknowledged it
              4.000 s to 4.100 s: process 0: write 4 of key 7: kvrocks1 acknowledged it
              the proof: 9.000 s to 9.100 s: process 0: read of key 7: kvrocks1 answered
              [kvrocks1; key 7; ops [0, 2, 6, 8]; 1000 to 9100 ms]
        "#]],
    );
}

#[test]
fn of_two_increments_with_one_answer_the_one_that_its_node_lost_is_gone() {
    let work = "
        1.0 0@kvrocks1 invoke incr nil key=7
        1.1 0@kvrocks1 ok incr 1 key=7 slot=130 via=kvrocks1:ok
        2.0 0@kvrocks1 invoke incr nil key=7
        2.1 0@kvrocks1 ok incr 2 key=7 slot=130 via=kvrocks3:ok
        3.0 0@kvrocks1 invoke incr nil key=7
        3.1 0@kvrocks1 ok incr 2 key=7 slot=130 via=kvrocks1:ok
        4.0 0@kvrocks1 invoke incr nil key=7
        4.1 0@kvrocks1 ok incr 3 key=7 slot=130 via=kvrocks3:ok
        9.0 0@kvrocks1 invoke read nil key=7
        9.1 0@kvrocks1 ok read 2 key=7 slot=130 via=kvrocks1:ok";
    check(
        KvrocksObject::Counter,
        work,
        expect![[r#"
            invalid: 4 acknowledged writes of 1 key: 2 lost
            lost-write: 2 writes (slot 130) that kvrocks3 acknowledged from 2.100 s to 4.100 s are lost (first increment of key 7 to 2, which kvrocks1 did not have at 9.000 s), and no failover of its shard explains it
              2.000 s to 2.100 s: process 0: incr of key 7: kvrocks3 acknowledged it
              4.000 s to 4.100 s: process 0: incr of key 7: kvrocks3 acknowledged it
              the proof: 9.000 s to 9.100 s: process 0: read 2 of key 7: kvrocks1 answered
              [kvrocks3 kvrocks1; key 7; ops [2, 6, 8]; 2000 to 9100 ms]
        "#]],
    );
}
