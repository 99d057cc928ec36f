//! What is told of minimal histories, good and bad.

use expect_test::{Expect, expect};

use super::super::Objects;
use crate::checker::kvrocks::KvrocksObject;
use crate::checker::kvrocks::told::{self, checks};
use crate::checker::text::history;
use crate::op::SECOND;

fn check(object: KvrocksObject, text: &str, expected: Expect) {
    let mut checker = Objects { checks: checks(Some(object)) };
    told::check(&mut checker, &history(text), expected);
}

const LOCK: KvrocksObject = KvrocksObject::Lock { ttl: 2 * SECOND };

/// kvrocks1 is cut off at 5 s, kvrocks2 is seen as its successor at 10 s.
const FAILOVER: &str = "
    0 nemesis phase main
    1 nemesis view kvrocks1=master@1:0-8191 kvrocks2=replica@1 kvrocks3=master@1:8192-16383 kvrocks4=replica@1
    5 nemesis strike f1 cut kvrocks1
    10 nemesis view kvrocks1=master@1:0-8191 kvrocks2=master@2:0-8191 kvrocks3=master@2:8192-16383 kvrocks4=replica@2";

/// kvrocks1 is back and knows.
const KNOWN: &str = "
    20 nemesis heal f1 cut kvrocks1
    21 nemesis view kvrocks1=replica@2 kvrocks2=master@2:0-8191 kvrocks3=master@2:8192-16383 kvrocks4=replica@2
    40 nemesis phase heal
    41 nemesis phase recover
    42 nemesis view kvrocks1=replica@2 kvrocks2=master@2:0-8191 kvrocks3=master@2:8192-16383 kvrocks4=replica@2";

#[test]
fn two_reads_of_a_list_that_cannot_both_be() {
    check(
        KvrocksObject::List,
        r#"
        1.0 0@kvrocks1 invoke txn [["append",1,5],["append",1,6]]
        1.0 1@kvrocks3 invoke txn [["append",1,7]]
        1.2 0@kvrocks1 info txn nil
        1.2 1@kvrocks3 info txn nil
        1.3 2@kvrocks1 invoke txn [["r",1,null]]
        1.3 3@kvrocks3 invoke txn [["r",1,null]]
        1.5 2@kvrocks1 ok txn [["r",1,[5,6]]] slot=130 via=kvrocks1:ok
        1.6 3@kvrocks3 ok txn [["r",1,[7]]] slot=130 via=kvrocks3:ok"#,
        expect![[r#"
            invalid: 2 answers: 1 contradiction
            incompatible-order: the list of key 1 has two histories: kvrocks1 had element 5 first at 1.500 s, kvrocks3 had 7 there at 1.600 s
              1.300 s to 1.500 s: process 2: txn [["r",1,[5,6]]]: kvrocks1 answered
              1.300 s to 1.600 s: process 3: txn [["r",1,[7]]]: kvrocks3 answered
              [kvrocks1 kvrocks3; key 1; ops [4, 5]; 1300 to 1600 ms]
        "#]],
    );
}

#[test]
fn an_element_that_changes_its_place() {
    check(
        KvrocksObject::List,
        r#"
        1.0 0@kvrocks1 invoke txn [["append",1,5]]
        1.0 1@kvrocks1 invoke txn [["append",1,6]]
        1.1 0@kvrocks1 ok txn [["append",1,5]]
        1.1 1@kvrocks1 ok txn [["append",1,6]]
        2.0 2@kvrocks1 invoke txn [["r",1,null]]
        2.1 2@kvrocks1 ok txn [["r",1,[5,6]]]
        3.0 4@kvrocks2 invoke stale-txn [["r",1,null]]
        3.1 4@kvrocks2 ok stale-txn [["r",1,[6,5]]]
        3.5 4@kvrocks2 invoke stale-txn [["r",1,null]]
        3.6 4@kvrocks2 ok stale-txn [["r",1,[5]]]"#,
        expect![[r#"
            invalid: 3 answers: 1 contradiction
            incompatible-order: element 6 of key 1 stands in two places: after 5 as kvrocks1 answered at 2.100 s, after nothing as kvrocks2 answered at 3.100 s
              2.000 s to 2.100 s: process 2: txn [["r",1,[5,6]]]: kvrocks1 answered
              3.000 s to 3.100 s: process 4: stale-txn [["r",1,[6,5]]]: kvrocks2 answered
              [kvrocks1 kvrocks2; key 1; ops [4, 6]; 2000 to 3100 ms]
        "#]],
    );
}

#[test]
fn elements_that_are_there_twice_or_that_nobody_added() {
    check(
        KvrocksObject::List,
        r#"
        1.0 0@kvrocks1 invoke txn [["append",1,5]]
        1.1 0@kvrocks1 fail txn [["append",1,5]] error=TRYAGAIN
        2.0 1@kvrocks1 invoke txn [["append",1,6],["r",1,null]]
        2.1 1@kvrocks1 ok txn [["append",1,6],["r",1,[5,6]]]
        3.0 1@kvrocks1 invoke txn [["r",1,null]]
        3.1 1@kvrocks1 ok txn [["r",1,[6,6,7,8]]]
        4.0 0@kvrocks1 invoke txn [["append",1,8]]
        4.1 0@kvrocks1 ok txn [["append",1,8]]"#,
        expect![[r#"
            invalid: 2 answers: 5 contradictions
            unwritten-element: kvrocks1 showed element 5 of key 1 at 2.100 s, which process 0 had been refused at 1.000 s; and 2 more like it
              2.000 s to 2.100 s: process 1: txn [["append",1,6],["r",1,null]]: kvrocks1 acknowledged it
              also, at 3.000 s: kvrocks1 showed element 7 of key 1 at 3.100 s, which nobody ever asked for
              also, at 3.000 s: kvrocks1 showed element 8 of key 1 at 3.100 s, which process 0 asked for only at 4.000 s
              [kvrocks1; key 1; ops [0, 2]; 1000 to 2100 ms]
            vanished-element: kvrocks1 acknowledged element 5 of key 1 at 2.100 s (txn [["append",1,6],["r",1,null]]), and kvrocks1 did not show it to process 1 that asked at 3.000 s; no failover lies between
              2.000 s to 2.100 s: process 1: txn [["append",1,6],["r",1,null]]: kvrocks1 acknowledged it
              3.000 s to 3.100 s: process 1: txn [["r",1,[6,6,7,8]]]: kvrocks1 answered
              [kvrocks1; key 1; ops [2, 4]; 2000 to 3100 ms]
            duplicate-element: kvrocks1 showed element 6 of key 1 twice at 3.100 s, though it was added once
              3.000 s to 3.100 s: process 1: txn [["r",1,[6,6,7,8]]]: kvrocks1 answered
              [kvrocks1; key 1; ops [4]; 3000 to 3100 ms]
        "#]],
    );
}

#[test]
fn torn_transactions() {
    check(
        KvrocksObject::List,
        r#"
        1.0 0@kvrocks1 invoke txn [["append",1,5],["append",2,6]]
        1.0 1@kvrocks1 invoke txn [["r",1,null],["r",2,null]]
        1.1 1@kvrocks1 ok txn [["r",1,[5]],["r",2,[]]]
        1.2 0@kvrocks1 ok txn [["append",1,5],["append",2,6]]
        2.0 0@kvrocks1 invoke txn [["append",1,7],["r",1,null],["append",1,8]]
        2.0 2@kvrocks1 invoke txn [["append",1,9]]
        2.1 0@kvrocks1 ok txn [["append",1,7],["r",1,[5,7,9]],["append",1,8]]
        2.1 2@kvrocks1 ok txn [["append",1,9]]
        3.0 3@kvrocks2 invoke stale-txn [["r",1,null]]
        3.1 3@kvrocks2 ok stale-txn [["r",1,[5,7,9,8]]]"#,
        expect![[r#"
            invalid: 4 answers: 3 contradictions
            torn-transaction: process 1 saw the transaction that process 0 began at 1.000 s only in part: 6 of key 2 was not there (kvrocks1 answered at 1.100 s); and 2 more like it
              1.000 s to 1.200 s: process 0: txn [["append",1,5],["append",2,6]]: kvrocks1 acknowledged it
              1.000 s to 1.100 s: process 1: txn [["r",1,[5]],["r",2,[]]]: kvrocks1 answered
              also, at 2.000 s: a transaction of process 0 that kvrocks1 executed by 2.100 s read [5, 7, 9] of key 1, where its own appends so far are [7]: it did not take effect at one moment
              also, at 2.000 s: process 3 saw the transaction that process 0 began at 2.000 s torn apart: [7, 8] of key 1 were not one after the other (kvrocks2 answered at 3.100 s)
              [kvrocks1; key 2; ops [0, 1]; 1000 to 1200 ms]
        "#]],
    );
}

#[test]
fn a_failover_may_give_a_list_two_histories() {
    let text = format!(
        "{FAILOVER}{}{KNOWN}",
        r#"
        11.0 0@kvrocks1 invoke txn [["append",1,5]]
        11.1 0@kvrocks1 ok txn [["append",1,5]] slot=130 via=kvrocks1:ok
        11.2 0@kvrocks1 invoke txn [["r",1,null]]
        11.3 0@kvrocks1 ok txn [["r",1,[5]]] slot=130 via=kvrocks1:ok
        12.0 1@kvrocks2 invoke txn [["append",1,6]]
        12.1 1@kvrocks2 ok txn [["append",1,6]] slot=130 via=kvrocks2:ok
        12.2 1@kvrocks2 invoke txn [["r",1,null]]
        12.3 1@kvrocks2 ok txn [["r",1,[6]]] slot=130 via=kvrocks2:ok"#
    );
    check(
        KvrocksObject::List,
        &text,
        expect![[r#"
        valid: 2 answers: no contradiction; 1 permitted, as a failover explains them: the list of key 1 has two histories: kvrocks1 had element 5 first at 11.300 s, kvrocks2 had 6 there at 12.300 s
    "#]],
    );
}

#[test]
fn an_element_that_is_gone_before_any_failover() {
    check(
        KvrocksObject::Set,
        r#"
        1.0 0@kvrocks1 invoke add 5 key=1
        1.0 2@kvrocks1 invoke add 6 key=1
        1.1 0@kvrocks1 info add 5 key=1
        1.1 2@kvrocks1 ok add 6 key=1
        2.0 1@kvrocks1 invoke read nil key=1
        2.1 1@kvrocks1 ok read [5,6] key=1
        3.0 1@kvrocks1 invoke read nil key=1
        3.1 1@kvrocks1 ok read [6] key=1"#,
        expect![[r#"
            invalid: 2 answers: 1 contradiction
            vanished-element: kvrocks1 showed element 5 of key 1 at 2.100 s (read of key 1), and kvrocks1 did not show it to process 1 that asked at 3.000 s; no failover lies between
              2.000 s to 2.100 s: process 1: read [5,6] of key 1: kvrocks1 answered
              3.000 s to 3.100 s: process 1: read [6] of key 1: kvrocks1 answered
              [kvrocks1; key 1; ops [4, 6]; 2000 to 3100 ms]
        "#]],
    );
}

#[test]
fn reads_of_a_set_at_the_same_time_that_cannot_both_be() {
    check(
        KvrocksObject::Set,
        r#"
        1.0 0@kvrocks1 invoke add 5 key=1
        1.0 1@kvrocks1 invoke add 6 key=1
        1.0 2@kvrocks1 invoke read nil key=1
        1.0 3@kvrocks1 invoke read nil key=1
        2.0 0@kvrocks1 ok add 5 key=1
        2.0 1@kvrocks1 ok add 6 key=1
        2.0 2@kvrocks1 ok read [5] key=1
        2.0 3@kvrocks1 ok read [6] key=1"#,
        expect![[r#"
            invalid: 2 answers: 1 contradiction
            incompatible-order: two reads of set 1 at the same time cannot both be: kvrocks1 showed 5 without 6 at 2.000 s, kvrocks1 showed 6 without 5 at 2.000 s
              1.000 s to 2.000 s: process 2: read [5] of key 1: kvrocks1 answered
              1.000 s to 2.000 s: process 3: read [6] of key 1: kvrocks1 answered
              [kvrocks1; key 1; ops [2, 3]; 1000 to 2000 ms]
        "#]],
    );
}

#[test]
fn a_count_that_was_answered_twice() {
    check(
        KvrocksObject::Counter,
        "
        1.0 0@kvrocks1 invoke incr nil key=1
        1.1 0@kvrocks1 ok incr 1 key=1 slot=130 via=kvrocks1:ok
        1.0 1@kvrocks3 invoke incr nil key=1
        1.1 1@kvrocks3 ok incr 1 key=1 slot=130 via=kvrocks3:ok",
        expect![[r#"
            invalid: 2 answers: 1 contradiction
            duplicate-count: two increments of key 1 were both answered 1: by kvrocks1 at 1.100 s and by kvrocks3 at 1.100 s
              1.000 s to 1.100 s: process 0: incr of key 1: kvrocks1 acknowledged it
              1.000 s to 1.100 s: process 1: incr of key 1: kvrocks3 acknowledged it
              [kvrocks1 kvrocks3; key 1; ops [0, 2]; 1000 to 1100 ms]
        "#]],
    );
}

#[test]
fn counts_that_go_back_or_come_from_nowhere() {
    check(
        KvrocksObject::Counter,
        "
        1.0 0@kvrocks1 invoke incr nil key=1
        1.1 0@kvrocks1 ok incr 1 key=1
        1.2 2@kvrocks1 invoke incr nil key=1
        1.3 2@kvrocks1 info incr nil key=1
        2.0 1@kvrocks1 invoke read nil key=1
        2.1 1@kvrocks1 ok read 2 key=1
        3.0 0@kvrocks1 invoke incr nil key=1
        3.1 0@kvrocks1 ok incr 2 key=1
        1.0 5@kvrocks1 invoke incr nil key=2
        1.1 5@kvrocks1 ok incr 3 key=2",
        expect![[r#"
            invalid: 4 answers: 2 contradictions
            impossible-count: kvrocks1 told 3 of key 2 at 1.100 s, but 2 counts up to there nobody was told of, and of unknown fate were only 0 increments by then
              1.000 s to 1.100 s: process 5: incr of key 2: kvrocks1 acknowledged it
              [kvrocks1; key 2; ops [8]; 1000 to 1100 ms]
            backward-count: kvrocks1 answered 2 to an increment of key 1 that was asked for at 3.000 s, though kvrocks1 had told 2 by 2.100 s (read of key 1)
              2.000 s to 2.100 s: process 1: read 2 of key 1: kvrocks1 answered
              3.000 s to 3.100 s: process 0: incr of key 1: kvrocks1 acknowledged it
              [kvrocks1; key 1; ops [4, 6]; 2000 to 3100 ms]
        "#]],
    );
}

#[test]
fn a_failover_may_set_a_counter_back() {
    let text = format!(
        "{FAILOVER}{}{KNOWN}",
        "
        11.0 0@kvrocks1 invoke incr nil key=1
        11.1 0@kvrocks1 ok incr 1 key=1 slot=130 via=kvrocks1:ok
        12.0 1@kvrocks2 invoke incr nil key=1
        12.1 1@kvrocks2 ok incr 1 key=1 slot=130 via=kvrocks2:ok
        13.0 1@kvrocks2 invoke incr nil key=1
        13.1 1@kvrocks2 ok incr 2 key=1 slot=130 via=kvrocks2:ok"
    );
    check(
        KvrocksObject::Counter,
        &text,
        expect![[r#"
        valid: 3 answers: no contradiction; 1 permitted, as a failover explains them: two increments of key 1 were both answered 1: by kvrocks1 at 11.100 s and by kvrocks2 at 12.100 s
    "#]],
    );
}

#[test]
fn a_lock_with_two_holders() {
    check(
        LOCK,
        "
        1.0 0@kvrocks1 invoke acquire 7 key=1
        1.1 0@kvrocks1 ok acquire 1 key=1
        2.0 1@kvrocks1 invoke acquire 8 key=1
        2.1 1@kvrocks1 ok acquire 2 key=1
        2.2 1@kvrocks1 invoke store 2>50 key=1
        2.3 1@kvrocks1 ok store 2>50 key=1
        2.4 0@kvrocks1 invoke store 1>51 key=1
        2.5 0@kvrocks1 ok store 1>51 key=1",
        expect![[r#"
            invalid: 4 answers: 2 contradictions
            two-holders: lock 1 had two holders: kvrocks1 gave it to process 0 (owner 7) by 1.100 s for 2000 ms, so it was held until 2.997 s at least, and kvrocks1 gave it to process 1 (owner 8) between 2.000 s and 2.100 s
              1.000 s to 1.100 s: process 0: acquire 7 of key 1: kvrocks1 acknowledged it
              2.000 s to 2.100 s: process 1: acquire 8 of key 1: kvrocks1 acknowledged it
              [kvrocks1; key 1; ops [0, 2]; 1000 to 2100 ms]
            stale-token: kvrocks1 took a store under token 1 of lock 1 at 2.500 s (process 0), though kvrocks1 had taken one under token 2 by 2.300 s
              2.200 s to 2.300 s: process 1: store [2 50] of key 1: kvrocks1 acknowledged it
              2.400 s to 2.500 s: process 0: store [1 51] of key 1: kvrocks1 acknowledged it
              [kvrocks1; key 1; ops [4, 6]; 2200 to 2500 ms]
        "#]],
    );
}

#[test]
fn a_lock_that_was_given_back_or_has_run_out_may_be_taken() {
    check(
        LOCK,
        "
        1.0 0@kvrocks1 invoke acquire 7 key=1
        1.1 0@kvrocks1 ok acquire 1 key=1
        1.2 0@kvrocks1 invoke release 7 key=1
        1.3 1@kvrocks1 invoke acquire 8 key=1
        1.4 1@kvrocks1 ok acquire 2 key=1
        1.9 0@kvrocks1 info release 7 key=1
        3.0 2@kvrocks1 invoke acquire 9 key=1
        3.4 2@kvrocks1 ok acquire 3 key=1
        3.5 1@kvrocks1 invoke release 9 key=1
        3.6 1@kvrocks1 fail release 9 key=1",
        expect![[r#"
            valid: 3 answers: no contradiction
        "#]],
    );
}

#[test]
fn a_failover_may_lose_a_lock_and_what_its_store_had_seen() {
    let text = format!(
        "{FAILOVER}{}{KNOWN}",
        "
        11.0 0@kvrocks1 invoke acquire 7 key=1
        11.1 0@kvrocks1 ok acquire 1 key=1 slot=130 via=kvrocks1:ok
        12.0 1@kvrocks2 invoke acquire 8 key=1
        12.1 1@kvrocks2 ok acquire 1 key=1 slot=130 via=kvrocks2:ok"
    );
    check(
        LOCK,
        &text,
        expect![[r#"
            valid: 2 answers: no contradiction; 2 permitted, as a failover explains them: lock 1 had two holders: kvrocks1 gave it to process 0 (owner 7) by 11.100 s for 2000 ms, so it was held until 12.997 s at least, and kvrocks2 gave it to process 1 (owner 8) between 12.000 s and 12.100 s
        "#]],
    );
}

#[test]
fn where_a_failover_may_or_may_not_lie_between_nothing_is_decided() {
    let text = format!(
        "{FAILOVER}{}",
        "
        11.0 0@kvrocks1 invoke acquire 7 key=1
        11.1 0@kvrocks1 ok acquire 1 key=1 slot=130 via=kvrocks1:ok
        20 nemesis heal f1 cut kvrocks1
        30 nemesis view kvrocks1=master@3:0-8191 kvrocks2=replica@3 kvrocks3=master@3:8192-16383 kvrocks4=replica@3
        31.0 1@kvrocks1 invoke acquire 8 key=1
        31.1 1@kvrocks1 ok acquire 2 key=1 slot=130 via=kvrocks1:ok
        25.0 2@kvrocks1 invoke acquire 9 key=1
        25.1 2@kvrocks1 ok acquire 2 key=1 slot=130 via=kvrocks1:ok"
    );
    check(
        LOCK,
        &text,
        expect![[r#"
        unknown: 3 answers: no contradiction; 1 that a failover may explain or not: kvrocks1 gave out token 2 of lock 1 at 31.100 s (process 1), though kvrocks1 had given out token 2 by 25.100 s
    "#]],
    );
}
