//! Registers in ownership terms.

use std::ops::RangeInclusive;

use super::*;
use crate::checker::linearizability::parts::divide;
use crate::checker::text::history;

/// What becomes of each term, where the operations of a history belong to these terms in turn.
fn check(text: &str, terms: usize, ranges: &[RangeInclusive<usize>], expected: &str) {
    let register = register(&history(text), &cas_register());
    let (parts, _) = divide(register, terms, |o| ranges[o.origin as usize].clone());
    let told = parts.iter().map(|part| match part.decide(&UNLIMITED).0 {
        Decision::Linearizable(_) => "yes",
        Decision::Violated { .. } => "no",
        Decision::Undecided { .. } => "unknown",
    });
    assert_eq!(told.collect::<Vec<_>>().join(" "), expected, "{text}");
}

#[test]
fn a_term_begins_with_one_state_that_was_there_before() {
    let reads = |one: &str, other: &str| {
        format!(
            "1 0 invoke write 1\n2 0 ok write 1\n3 0 invoke write 2\n4 0 ok write 2
            5 0 invoke read nil\n6 0 ok read {one}\n7 0 invoke read nil\n8 0 ok read {other}"
        )
    };
    let ranges = [0..=0, 0..=0, 1..=1, 1..=1];
    for (one, other, expected) in [
        ("1", "1", "yes yes"),
        ("2", "2", "yes yes"),
        ("nil", "nil", "yes yes"),
        ("1", "2", "yes no"),
        ("nil", "1", "yes no"),
        ("9", "9", "yes no"),
    ] {
        check(&reads(one, other), 2, &ranges, expected);
        // All in one term, only the last will do.
        let single = if (one, other) == ("2", "2") { "yes" } else { "no" };
        check(&reads(one, other), 1, &ranges, single);
    }
}

#[test]
fn what_was_perhaps_done_before_may_be_what_a_term_begins_with() {
    check(
        "1 0 invoke write 13\n2 0 ok write 13\n3 0 invoke cas 13>19\n4 0 ok cas 13>19
        5 0 invoke cas 19>27\n6 1 invoke read nil\n7 1 ok read 27\n8 0 ok cas 19>27",
        2,
        &[0..=0, 0..=1, 1..=1, 1..=1],
        "yes yes",
    );
    check(
        "1 0 invoke write 13\n2 0 ok write 13\n3 0 invoke cas 13>19\n4 0 ok cas 13>19
        5 0 invoke cas 19>27\n6 1 invoke read nil\n7 1 ok read 27\n8 0 ok cas 19>27",
        3,
        &[1..=1, 1..=2, 2..=3, 2..=2].map(|range| *range.start() - 1..=*range.end() - 1),
        "yes yes yes",
    );
}

#[test]
fn a_value_written_again_may_still_be_what_its_term_begins_with() {
    let ranges = [0..=0, 1..=1, 1..=1, 1..=1];
    let text = "1 0 invoke write 1\n2 0 ok write 1\n3 0 invoke read nil\n4 0 ok read 1
        5 0 invoke write 1\n6 0 ok write 1\n7 0 invoke read nil\n8 0 ok read 1";
    check(text, 2, &ranges, "yes yes");
    check(&text.replace("4 0 ok read 1", "4 0 ok read 9"), 2, &ranges, "yes no");
}

#[test]
fn a_term_that_may_begin_with_too_many_states_is_not_refused() {
    let text = |states: usize| {
        let mut lines = String::new();
        for state in 1..=states {
            lines += &format!("{state} 0 invoke write {state}\n{state} 0 ok write {state}\n");
        }
        for state in 1..=states {
            lines += &format!("500 {} invoke cas {state}>1000\n", 100 + state);
        }
        lines
            + "600 0 invoke read nil\n601 0 ok read 1000\n602 0 invoke read nil\n603 0 ok read 7777"
    };
    for (states, expected) in [(62, "yes no"), (63, "yes unknown")] {
        let mut ranges = vec![0..=0; 2 * states];
        ranges.extend([1..=1, 1..=1]);
        check(&text(states), 2, &ranges, expected);
    }
}
