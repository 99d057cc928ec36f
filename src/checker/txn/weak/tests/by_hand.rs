//! The smallest histories that tell the levels apart.

use super::plain::{parse, table};
use super::*;

fn verdicts(text: &str) -> [bool; 3] {
    let table = table(&parse(text), true);
    Level::ALL.map(|level| wrong(&table, level).is_empty())
}

#[test]
fn a_serial_history_satisfies_every_level() {
    let text = "w 0 1\nw 1 1\n=====\nr 0 1\nw 0 2\n-----\nr 0 2\nr 1 1\n";
    assert_eq!(verdicts(text), [true, true, true]);
}

#[test]
fn a_lost_update_and_a_long_fork_are_causal() {
    assert_eq!(verdicts("r 0 0\nw 0 1\n=====\nr 0 0\nw 0 2\n"), [true, true, true]);
    let fork = "w 0 1\n-----\nr 0 1\nr 1 0\n=====\nw 1 1\n-----\nr 1 1\nr 0 0\n";
    assert_eq!(verdicts(fork), [true, true, true]);
}

#[test]
fn an_effect_without_its_cause_is_read_atomic_and_not_causal() {
    let text = "w 0 1\n=====\nr 0 1\nw 1 1\n=====\nr 1 1\nr 0 0\n";
    assert_eq!(verdicts(text), [true, true, false]);
}

#[test]
fn half_of_a_transaction_is_read_committed_only_if_the_older_half_is_read_first() {
    let writer = "w 0 1\nw 1 1\n=====\n";
    assert_eq!(verdicts(&format!("{writer}r 0 0\nr 1 1\n")), [true, false, false]);
    assert_eq!(verdicts(&format!("{writer}r 1 1\nr 0 0\n")), [false, false, false]);
}

#[test]
fn a_session_that_forgets_its_own_write_is_not_read_atomic() {
    assert_eq!(verdicts("w 0 1\n-----\nr 0 0\n"), [true, false, false]);
}

#[test]
fn reads_in_a_circle_break_every_level() {
    let circle = "r 1 1\n-----\nw 0 1\n=====\nr 0 1\n-----\nw 1 1\n";
    assert_eq!(verdicts(circle), [false, false, false]);
}

#[test]
fn a_second_read_may_differ_when_only_committed() {
    assert_eq!(verdicts("w 0 1\n=====\nr 0 0\nr 0 1\n"), [true, false, false]);
    assert_eq!(verdicts("w 0 1\nr 0 0\n"), [false, false, false]);
}

#[test]
fn a_value_that_was_overwritten_at_once_or_comes_too_early_is_never_seen() {
    assert_eq!(verdicts("w 0 1\nw 0 2\n=====\nr 0 1\n"), [false, false, false]);
    assert_eq!(verdicts("r 0 1\nw 0 1\n"), [false, false, false]);
}

#[test]
fn one_unwritten_value_may_have_been_there_at_first_and_two_may_not() {
    assert_eq!(verdicts("r 0 7\n=====\nr 0 7\n"), [true, true, true]);
    assert_eq!(verdicts("r 0 7\n=====\nr 0 8\n"), [false, false, false]);
}
