//! Which term an operation belongs to.

use super::*;
use crate::checker::kvrocks::told;
use crate::checker::text::history;
use crate::op::SECOND;

/// kvrocks1 is deposed by kvrocks2 at about 10 s, which is deposed by kvrocks1 at about 30 s; kvrocks1 is
/// cut off from 5 s to 20 s and learns that it was deposed by 21 s.
const THERE_AND_BACK: &str = "
    0 nemesis phase main
    1 nemesis view kvrocks1=master@1:0-8191 kvrocks2=replica@1 kvrocks3=master@1:8192-16383 kvrocks4=replica@1
    5 nemesis strike f1 cut kvrocks1
    10 nemesis view kvrocks1=master@1:0-8191 kvrocks2=master@2:0-8191 kvrocks3=master@2:8192-16383 kvrocks4=replica@2
    20 nemesis heal f1 cut kvrocks1
    21 nemesis view kvrocks1=replica@2 kvrocks2=master@2:0-8191 kvrocks3=master@2:8192-16383 kvrocks4=replica@2
    30 nemesis view kvrocks1=master@3:0-8191 kvrocks2=replica@3 kvrocks3=master@3:8192-16383 kvrocks4=replica@3
    60 nemesis view kvrocks1=master@3:0-8191 kvrocks2=replica@3 kvrocks3=master@3:8192-16383 kvrocks4=replica@3";

fn check(text: &str, slot: u16, expected: &[(&str, u64, u64, RangeInclusive<usize>)]) {
    let history = history(text);
    let pairs = history.operations();
    let evidence = Evidence::of(&history, &pairs, &told::checks(None).shards);
    let terms = Terms::of(&evidence, Some(slot));
    for (node, start, end, range) in expected {
        let found = terms.range(&(*node).into(), start * SECOND, end * SECOND);
        assert_eq!(found, *range, "{node} from {start} s to {end} s");
    }
}

#[test]
fn a_deposed_master_acts_in_its_old_term_until_it_has_learned() {
    check(
        THERE_AND_BACK,
        130,
        &[
            ("kvrocks1", 2, 3, 0..=0),
            ("kvrocks2", 9, 9, 1..=1),
            ("kvrocks1", 15, 16, 0..=0),
            ("kvrocks2", 15, 16, 1..=1),
            // Nobody knows whether it had learned already.
            ("kvrocks1", 20, 26, 0..=2),
            ("kvrocks1", 22, 26, 2..=2),
            ("kvrocks1", 40, 41, 2..=2),
            ("kvrocks2", 29, 31, 1..=1),
        ],
    );
}

#[test]
fn of_another_shard_only_the_time_tells() {
    check(
        THERE_AND_BACK,
        130,
        &[
            ("kvrocks3", 2, 3, 0..=0),
            ("kvrocks3", 4, 6, 0..=1),
            ("kvrocks3", 11, 12, 1..=1),
            ("kvrocks3", 11, 31, 1..=2),
            ("kvrocks3", 40, 41, 2..=2),
            ("stranger1", 40, 41, 2..=2),
        ],
    );
}

#[test]
fn a_failover_of_a_shard_that_does_not_own_the_slot_begins_no_term() {
    check(THERE_AND_BACK, 9000, &[("kvrocks3", 2, 50, 0..=0), ("kvrocks1", 20, 26, 0..=0)]);
}

#[test]
fn around_failovers_that_nobody_saw_everything_is_open() {
    let unseen = "
        0 nemesis phase main
        1 nemesis view kvrocks1=master@1:0-8191 kvrocks2=replica@1 kvrocks3=master@1:8192-16383
        5 9 invoke failover {\"shard\":0}
        6 9 ok failover nil
        7 9 invoke failover {\"shard\":0}
        8 9 ok failover nil
        20 nemesis view kvrocks1=master@3:0-8191 kvrocks2=replica@3 kvrocks3=master@3:8192-16383";
    check(
        unseen,
        130,
        &[
            ("kvrocks1", 0, 0, 0..=0),
            ("kvrocks1", 10, 11, 0..=0),
            ("kvrocks1", 16, 17, 0..=2),
            ("kvrocks2", 16, 17, 0..=2),
            ("kvrocks1", 21, 22, 1..=2),
            ("kvrocks2", 21, 22, 0..=2),
            ("kvrocks3", 21, 22, 2..=2),
        ],
    );
}
