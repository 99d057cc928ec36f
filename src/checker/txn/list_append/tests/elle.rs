//! The examples that Elle's own tests are about, found with the same names.

use super::{asking, judge, kinds, spelled};
use crate::checker::{ModelOptions, Verdict};

struct Example {
    name: &'static str,
    history: &'static str,
    options: ModelOptions,
    verdict: Verdict,
    kinds: &'static [&'static str],
    violates: &'static [&'static str],
}

const G0: &str = "0 ok ax1 ay1\n 0 ok ax2 ay2\n 0 ok rx12 ry21";
const G1A: &str = "0 fail ax1\n 0 ok rx1";
const G1B: &str = "0 pair ax1 ax2\n 0 pair rx1";
const G1C: &str = "0 ok ax1 ry1\n 0 ok ax2 ay1\n 0 ok rx12 ry1";
const G_SINGLE: &str = "0 ok ax1 ay1\n 0 ok ax2 ry\n 0 ok rx12";
const G2: &str = "0 ok ax1 ry\n 0 ok ay1 rx";
const STALE: &str = "0 pair ax1\n 1 pair ax2\n 2 pair rx1\n 3 pair rx12";
const STALE_SESSION: &str = "0 pair ax1\n 1 pair ax2\n 1 pair rx1\n 2 pair rx12";
const NONADJACENT_SESSION: &str = "0 pair rx rz1\n 1 pair ax1\n 1 pair rz\n 2 pair az1";
const CONTRADICTORY: &str = "0 ok ax1 ry1\n 0 ok ax2\n 0 ok ax3 ay1\n 0 ok rx13\n 0 ok rx123";
const LOST: &str = "0 pair ax0\n 0 pair rx0 ax1\n 0 pair rx0 ax2";
const UNOBSERVED: &str =
    "0 invoke ax1 ay1\n 1 invoke ax2 ay2\n 2 invoke ax3 ay3\n 3 invoke rx\n 4 invoke ry
    0 ok ax1 ay1\n 1 ok ax2 ay2\n 2 ok ax3 ay3\n 3 ok rx12\n 4 ok ry2";

fn example(
    name: &'static str,
    history: &'static str,
    (models, anomalies): (&[&str], &[&str]),
    verdict: Verdict,
    kinds: &'static [&'static str],
    violates: &'static [&'static str],
) -> Example {
    Example { name, history, options: asking(models, anomalies), verdict, kinds, violates }
}

fn examples() -> Vec<Example> {
    use Verdict::{Invalid, Unknown, Valid};
    vec![
        example("G0", G0, (&[], &["G0"]), Invalid, &["G0"], &["read-uncommitted"]),
        example("G0 is G1", G0, (&[], &["G1"]), Invalid, &["G0"], &["read-uncommitted"]),
        example("G0 is no G2", G0, (&[], &["G2"]), Valid, &[], &["read-uncommitted"]),
        example(
            "G1a unasked",
            G1A,
            (&["read-uncommitted"], &[]),
            Unknown,
            &[],
            &["read-committed"],
        ),
        example("G1a", G1A, (&["read-committed"], &[]), Invalid, &["G1a"], &["read-committed"]),
        example("G1a is no G2", G1A, (&[], &["G2"]), Unknown, &[], &["read-committed"]),
        example("G1b is no G0", G1B, (&[], &["G0"]), Valid, &[], &["read-committed"]),
        example("G1b", G1B, (&[], &["G1"]), Invalid, &["G1b"], &["read-committed"]),
        example(
            "G1b and G2",
            G1B,
            (&[], &["G2"]),
            Invalid,
            &["G-single-item"],
            &["read-committed"],
        ),
        example(
            "G1b strictly",
            G1B,
            (&[], &[]),
            Invalid,
            &["G-single-item", "G1b"],
            &["read-committed"],
        ),
        example("G1c is no G0", G1C, (&[], &["G0"]), Valid, &[], &["read-committed"]),
        example("G1c", G1C, (&[], &["G1"]), Invalid, &["G1c"], &["read-committed"]),
        example("G1c is no G2", G1C, (&[], &["G2"]), Valid, &[], &["read-committed"]),
        example("G-single is no G1", G_SINGLE, (&[], &["G1"]), Valid, &[], &["consistent-view"]),
        example(
            "G-single",
            G_SINGLE,
            (&[], &["G-single"]),
            Invalid,
            &["G-single-item"],
            &["consistent-view", "repeatable-read"],
        ),
        example(
            "G-single is G2",
            G_SINGLE,
            (&[], &["G2"]),
            Invalid,
            &["G-single-item"],
            &["consistent-view", "repeatable-read"],
        ),
        example("G2 is no G1", G2, (&[], &["G1"]), Valid, &[], &["repeatable-read"]),
        example("G2 committed", G2, (&["read-committed"], &[]), Valid, &[], &["repeatable-read"]),
        example("G2", G2, (&["repeatable-read"], &[]), Invalid, &["G2-item"], &["repeatable-read"]),
        example("stale", STALE, (&["serializable"], &[]), Valid, &[], &[]),
        example("stale, no G2", STALE, (&[], &["G2"]), Valid, &[], &[]),
        example(
            "stale, strict",
            STALE,
            (&[], &[]),
            Invalid,
            &["G-single-item-realtime"],
            &["strong-snapshot-isolation"],
        ),
        example(
            "stale in a session",
            STALE_SESSION,
            (&["strong-session-snapshot-isolation"], &[]),
            Invalid,
            &["G-single-item-process"],
            &["strong-session-snapshot-isolation"],
        ),
        example(
            "nonadjacent in a session",
            NONADJACENT_SESSION,
            (&["strong-session-snapshot-isolation"], &[]),
            Invalid,
            &["G-nonadjacent-item-process"],
            &["strong-session-snapshot-isolation"],
        ),
        example(
            "nonadjacent, no session",
            NONADJACENT_SESSION,
            (&["serializable"], &[]),
            Valid,
            &[],
            &[],
        ),
        example(
            "contradictory orders",
            CONTRADICTORY,
            (&[], &["G1"]),
            Invalid,
            &["G1c", "incompatible-order"],
            &["read-committed"],
        ),
        example("only a failed one", "0 fail ax1", (&[], &["dirty-update"]), Unknown, &[], &[]),
        example(
            "dirty update",
            "0 fail ax1\n 1 ok ax2\n 2 ok rx12",
            (&[], &["dirty-update"]),
            Invalid,
            &["dirty-update"],
            &["read-committed"],
        ),
        example(
            "indirect dirty update",
            "0 fail ax1\n 1 info ax2\n 2 ok ax3\n 3 ok rx123",
            (&[], &["dirty-update"]),
            Invalid,
            &["dirty-update"],
            &["read-committed"],
        ),
        example(
            "duplicates",
            "0 ok ax1 ry1\n 0 ok ax2 ay1\n 0 ok rx121",
            (&["read-committed"], &[]),
            Invalid,
            &["G1c", "duplicate-elements"],
            &["read-uncommitted"],
        ),
        example(
            "internal",
            "0 ok ax1 ax2 ax4\n 0 ok ax3 rx1234",
            (&[], &["internal"]),
            Invalid,
            &["internal"],
            &["read-uncommitted"],
        ),
        example(
            "unobserved",
            UNOBSERVED,
            (&["serializable"], &[]),
            Invalid,
            &["G-single-item", "G0"],
            &["read-uncommitted"],
        ),
        example(
            "lost update",
            LOST,
            (&["serializable"], &[]),
            Invalid,
            &["G2-item", "lost-update"],
            &["ROLA", "cursor-stability"],
        ),
        example("one double write", "0 pair rx ax1 ax2\n 0 pair rx12", (&[], &[]), Valid, &[], &[]),
        example(
            "adjacent",
            "0 pair rx5 ay1\n 0 pair ry az2\n 0 pair rz at3\n 0 pair rt3 au4\n 0 pair ru ax5",
            (&["snapshot-isolation"], &[]),
            Valid,
            &[],
            &[],
        ),
        example(
            "nonadjacent",
            "0 pair ax1\n 0 pair rx1 ry\n 0 pair ay1\n 0 pair ry1 rx",
            (&["serializable"], &[]),
            Invalid,
            &["G-nonadjacent-item"],
            &["snapshot-isolation", "repeatable-read"],
        ),
        example(
            "future read",
            "0 pair rx1 ax1",
            (&["read-committed"], &[]),
            Invalid,
            &["future-read"],
            &["read-committed"],
        ),
        example(
            "future read of several",
            "0 pair rx012 ax1",
            (&["read-atomic"], &[]),
            Invalid,
            &["future-read", "garbage-read"],
            &["read-committed"],
        ),
        example(
            "read, append, read",
            "0 ok rx12 ax3 rx12\n 1 ok ax1 ax2",
            (&["serializable"], &[]),
            Invalid,
            &["internal"],
            &["read-atomic"],
        ),
        example(
            "append, read",
            "0 ok ax3 rx34\n 1 ok ax4",
            (&["serializable"], &[]),
            Invalid,
            &["G1c", "internal"],
            &["read-atomic"],
        ),
        example(
            "append, read nothing",
            "0 ok ax3 rx\n 1 ok rx3",
            (&["serializable"], &[]),
            Invalid,
            &["internal"],
            &["read-atomic"],
        ),
        example(
            "own order",
            "0 pair ax1 ax2\n 1 pair rx21",
            (&["read-committed"], &[]),
            Invalid,
            &["G1b", "incompatible-order"],
            &["read-committed"],
        ),
        example("empty", "", (&[], &[]), Unknown, &[], &[]),
        example("reads of nothing", "0 ok rx\n 1 ok ry", (&[], &[]), Unknown, &[], &[]),
        example(
            "only indeterminate",
            "0 invoke ax1\n 1 invoke ax2\n 0 info ax1",
            (&[], &[]),
            Unknown,
            &[],
            &[],
        ),
        example(
            "appended twice",
            "0 pair ax1\n 1 pair ax1\n 2 pair rx1",
            (&[], &[]),
            Unknown,
            &[],
            &[],
        ),
    ]
}

#[test]
fn what_elle_finds_is_found_by_its_names() {
    for example in examples() {
        let finding = judge(&spelled::history(example.history), &example.options);
        assert_eq!(finding.verdict, example.verdict, "{}: {}", example.name, finding.why);
        assert_eq!(kinds(&finding), example.kinds, "{}", example.name);
        let violates = finding.consistency.unwrap_or_default().violates;
        for model in example.violates {
            assert!(violates.iter().any(|other| other == model), "{}: {violates:?}", example.name);
        }
        assert_eq!(
            example.violates.is_empty(),
            violates.is_empty(),
            "{}: {violates:?}",
            example.name
        );
    }
}

#[test]
fn what_an_indeterminate_transaction_read_says_nothing() {
    let text = "0 info ax2 ry\n 1 ok ax1 ay1\n 2 ok rx12 ry1";
    let finding = judge(&spelled::history(text), &asking(&["serializable"], &[]));
    assert_eq!(finding.verdict, Verdict::Valid, "{}", finding.why);
}

#[test]
fn an_append_that_may_have_been_is_seen_or_not() {
    for read in ["rx1", "rx12", "rx"] {
        let text = format!(
            "0 invoke ax2\n 1 pair rx\n 1 invoke ax1\n 0 info ax2\n 1 ok ax1\n 2 pair {read}"
        );
        let finding = judge(&spelled::history(&text), &asking(&[], &[]));
        let expected = if read == "rx" { Verdict::Invalid } else { Verdict::Valid };
        assert_eq!(finding.verdict, expected, "{read}: {}", finding.why);
    }
}

#[test]
fn a_read_in_another_order_still_depends_on_who_appended_its_last_element() {
    // By the longest read x is [1 2 3]; the read of [2] is no beginning of that, and yet it saw 2.
    let text = "0 ok ax1\n 1 ok ax2 ry1\n 2 ok ax3\n 3 ok rx2 ay1\n 4 ok rx123";
    let finding = judge(&spelled::history(text), &asking(&["serializable"], &[]));
    assert_eq!(kinds(&finding), ["G1c", "incompatible-order"]);
}

#[test]
fn who_read_all_there_is_overlooked_every_append_that_nobody_saw() {
    // Many appends of which no read tells, and many readers: all of them before all appends.
    let mut text = String::new();
    for number in 1..=8 {
        text += &format!("{number} ok ax{number}\n");
    }
    for process in 11..=18 {
        text += &format!("{process} ok rx\n");
    }
    let serializable = asking(&["serializable"], &[]);
    assert_eq!(judge(&spelled::history(&text), &serializable).verdict, Verdict::Valid);
    for number in 1..=8 {
        // One of the readers read what one of the appenders appended elsewhere.
        let text = text
            .replace(&format!("{number} ok ax{number}"), &format!("{number} ok ax{number} ay1"));
        for process in [11, 14, 18] {
            let text = text.replace(&format!("{process} ok rx"), &format!("{process} ok rx ry1"));
            let finding = judge(&spelled::history(&text), &serializable);
            assert_eq!(kinds(&finding), ["G-single-item"], "{text}");
        }
    }
}

#[test]
fn two_reads_of_a_transaction_that_part_contradict_each_other() {
    let text = "0 ok ax1\n 1 ok ax2\n 2 ok ax3\n 3 ok rx12 rx13";
    let finding = judge(&spelled::history(text), &asking(&["serializable"], &[]));
    assert!(kinds(&finding).contains(&"internal"), "{:?}", kinds(&finding));
}
