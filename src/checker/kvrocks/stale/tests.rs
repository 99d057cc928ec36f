//! Reads that see enough, and reads that do not.

use expect_test::{Expect, expect};

use super::StaleReads;
use crate::checker::kvrocks::{KvrocksObject, told};
use crate::checker::text::history;

fn check(object: KvrocksObject, text: &str, expected: Expect) {
    let checks = told::checks(Some(object));
    told::check(&mut StaleReads { checks }, &history(text), expected);
}

const VIEWED: &str = "
    0 nemesis phase main
    0.1 nemesis view kvrocks1=master@1:0-8191 kvrocks2=replica@1 kvrocks3=master@1:8192-16383 kvrocks4=replica@1";

#[test]
fn a_replaced_value_is_stale_by_the_first_write_after_it() {
    check(
        told::register(),
        &format!(
            "{VIEWED}
            1.0 0@kvrocks1 invoke write 1 key=7
            1.1 0@kvrocks1 ok write 1 key=7 slot=130 via=kvrocks1:ok
            2.0 0@kvrocks1 invoke write 2 key=7
            2.1 0@kvrocks1 ok write 2 key=7 slot=130 via=kvrocks3:ok
            3.0 0@kvrocks1 invoke write 3 key=7
            3.1 0@kvrocks1 ok write 3 key=7 slot=130 via=kvrocks3:ok
            3.0 1@kvrocks1 invoke read nil key=7
            3.2 1@kvrocks1 ok read 2 key=7 slot=130 via=kvrocks3:ok
            4.5 1@kvrocks1 invoke read nil key=7
            4.6 1@kvrocks1 ok read 1 key=7 slot=130 via=kvrocks1:ok
            4.5 2@kvrocks1 invoke read nil key=7
            4.6 2@kvrocks1 ok read 2 key=7 slot=130 via=kvrocks1:ok
            4.5 3@kvrocks1 invoke stale-read nil key=7
            4.6 3@kvrocks1 ok stale-read 1 key=7 slot=130 via=kvrocks2:ok"
        ),
        expect![[r#"
            invalid: 3 reads: 2 stale, by 2400 ms and 2 writes at worst
            stale-read: kvrocks1 answered 2 reads with what had been replaced, by 2400 ms at worst: process 1 asked for read 1 of key 7 at 4.500 s and did not see write 2 of key 7, which kvrocks3 had acknowledged at 2.100 s
              2.000 s to 2.100 s: process 0: write 2 of key 7: kvrocks3 acknowledged it
              4.500 s to 4.600 s: process 1: read 1 of key 7: kvrocks1 answered
              stale by 2400 ms, at least 2 writes
              3.000 s to 3.100 s: process 0: write 3 of key 7: kvrocks3 acknowledged it
              4.500 s to 4.600 s: process 2: read 2 of key 7: kvrocks1 answered
              stale by 1400 ms, at least 1 write
              [kvrocks1 kvrocks3; key 7; ops [4, 10]; 2000 to 4600 ms]
        "#]],
    );
}

#[test]
fn a_value_of_unknown_end_is_settled_by_the_first_sight_of_it() {
    let work = |seen: &str| {
        format!(
            "
            1.0 0@kvrocks1 invoke write 1 key=7
            1.1 0@kvrocks1 info write 1 key=7
            1.2 1@kvrocks1 invoke read nil key=7
            1.3 1@kvrocks1 ok read {seen} key=7 slot=130 via=kvrocks1:ok
            2.0 1@kvrocks1 invoke write 2 key=7
            2.1 1@kvrocks1 ok write 2 key=7 slot=130 via=kvrocks1:ok
            3.0 1@kvrocks1 invoke read nil key=7
            3.1 1@kvrocks1 ok read 1 key=7 slot=130 via=kvrocks1:ok"
        )
    };
    check(
        told::register(),
        &work("nil"),
        expect![[r#"
        valid: 2 reads: none was stale
    "#]],
    );
    check(
        told::register(),
        &work("1"),
        expect![[r#"
        invalid: 2 reads: 1 stale, by 900 ms and 1 writes at worst
        stale-read: kvrocks1 answered 1 read with what had been replaced, by 900 ms at worst: process 1 asked for read 1 of key 7 at 3.000 s and did not see write 2 of key 7, which kvrocks1 had acknowledged at 2.100 s
          2.000 s to 2.100 s: process 1: write 2 of key 7: kvrocks1 acknowledged it
          3.000 s to 3.100 s: process 1: read 1 of key 7: kvrocks1 answered
          stale by 900 ms, at least 1 write
          [kvrocks1; key 7; ops [4, 6]; 2000 to 3100 ms]
    "#]],
    );
}

#[test]
fn what_a_failover_took_back_need_not_be_seen() {
    check(
        told::register(),
        &format!(
            "{VIEWED}
            1.0 0@kvrocks1 invoke write 1 key=7
            1.1 0@kvrocks1 ok write 1 key=7 slot=130 via=kvrocks1:ok
            2.0 0@kvrocks1 invoke write 2 key=7
            2.1 0@kvrocks1 ok write 2 key=7 slot=130 via=kvrocks1:ok
            2.5 nemesis strike f1 kill kvrocks1
            7 nemesis view kvrocks1=down kvrocks2=master@2:0-8191 kvrocks3=master@2:8192-16383 kvrocks4=replica@2
            8.0 0@kvrocks1 invoke read nil key=7
            8.1 0@kvrocks1 ok read 1 key=7 slot=130 via=kvrocks2:ok"
        ),
        expect![[r#"
            valid: 0 reads: none was stale; 1 read around failovers not judged
        "#]],
    );
}

#[test]
fn an_element_is_missed_if_it_is_seen_again_and_lost_if_not() {
    let work = |last: &str| {
        format!(
            "
            1.0 0@kvrocks1 invoke add 1 key=7
            1.1 0@kvrocks1 ok add 1 key=7 slot=130 via=kvrocks1:ok
            2.0 0@kvrocks1 invoke add 2 key=7
            2.1 0@kvrocks1 ok add 2 key=7 slot=130 via=kvrocks1:ok
            2.0 1@kvrocks1 invoke read nil key=7
            2.1 1@kvrocks1 ok read [1] key=7 slot=130 via=kvrocks1:ok
            3.0 1@kvrocks1 invoke read nil key=7
            3.1 1@kvrocks1 ok read [1] key=7 slot=130 via=kvrocks1:ok
            4.0 1@kvrocks1 invoke read nil key=7
            4.1 1@kvrocks1 ok read {last} key=7 slot=130 via=kvrocks1:ok"
        )
    };
    check(
        KvrocksObject::Set,
        &work("[1,2]"),
        expect![[r#"
        invalid: 3 reads: 1 stale, by 900 ms and 1 writes at worst
        stale-read: kvrocks1 answered 1 read with what had been replaced, by 900 ms at worst: process 1 asked for read [1] of key 7 at 3.000 s and did not see add 2 of key 7, which kvrocks1 had acknowledged at 2.100 s
          2.000 s to 2.100 s: process 0: add 2 of key 7: kvrocks1 acknowledged it
          3.000 s to 3.100 s: process 1: read [1] of key 7: kvrocks1 answered
          stale by 900 ms, at least 1 write
          [kvrocks1; key 7; ops [2, 6]; 2000 to 3100 ms]
    "#]],
    );
    check(
        KvrocksObject::Set,
        &work("[1]"),
        expect![[r#"
        valid: 3 reads: none was stale
    "#]],
    );
}

#[test]
fn a_counter_does_not_go_back() {
    check(
        KvrocksObject::Counter,
        "
        1.0 0@kvrocks1 invoke incr nil key=7
        1.1 0@kvrocks1 ok incr 1 key=7 slot=130 via=kvrocks1:ok
        2.0 0@kvrocks1 invoke incr nil key=7
        2.1 0@kvrocks1 ok incr 2 key=7 slot=130 via=kvrocks1:ok
        2.5 0@kvrocks1 invoke incr nil key=7
        2.6 0@kvrocks1 ok incr 3 key=7 slot=130 via=kvrocks1:ok
        3.0 1@kvrocks1 invoke read nil key=7
        3.1 1@kvrocks1 ok read 1 key=7 slot=130 via=kvrocks1:ok
        4.0 1@kvrocks1 invoke read nil key=7
        4.1 1@kvrocks1 ok read 3 key=7 slot=130 via=kvrocks1:ok",
        expect![[r#"
            invalid: 2 reads: 1 stale, by 900 ms and 2 writes at worst
            stale-read: kvrocks1 answered 1 read with what had been replaced, by 900 ms at worst: process 1 asked for read 1 of key 7 at 3.000 s and did not see incr of key 7, which kvrocks1 had acknowledged at 2.100 s
              2.000 s to 2.100 s: process 0: incr of key 7: kvrocks1 acknowledged it
              3.000 s to 3.100 s: process 1: read 1 of key 7: kvrocks1 answered
              stale by 900 ms, at least 2 writes
              [kvrocks1; key 7; ops [2, 6]; 2000 to 3100 ms]
        "#]],
    );
}
