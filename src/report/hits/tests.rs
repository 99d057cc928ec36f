//! Which operation a hit message belonged to.

use expect_test::{Expect, expect};

use super::*;
use crate::checker::text::{history, merge, record};

fn message(form: Form, request: &str, subject: &str) -> MessageSeen {
    MessageSeen {
        request: request.into(),
        subject: (!subject.is_empty()).then(|| subject.into()),
        reply: (form != Form::DropRequest).then(|| "ok zxid=0x7".into()),
        applied: form != Form::DropRequest,
        connection: "10.0.0.1:4711→10.0.0.11:2181".into(),
        form,
        nth: 1,
    }
}

fn hit(message: MessageSeen) -> Event {
    let (fault, node) = (FaultId(1), "n1".into());
    let happened = 10 * crate::op::SECOND;
    record(10.0, "reply-loss", &FaultRecord::Hit { fault, node, sender: None, message, happened })
}

fn verified(what: &str, holds: bool) -> Event {
    let (expected, seen) = ("17".into(), if holds { "17" } else { "3" }.into());
    let check = Check { what: what.into(), expected, seen, holds };
    record(16.0, "reply-loss", &FaultRecord::Verified { fault: FaultId(1), check })
}

/// The sentence of the only hit.
fn check(work: &str, records: Vec<Event>, expected: Expect) {
    let (hits, total) = hits(&merge(&history(work), records));
    assert_eq!((hits.len(), total), (1, 1));
    expected.assert_eq(&hits[0].words);
}

fn set() -> MessageSeen {
    message(Form::Hold, "set /sg/r3 = \"17\"", "/sg/r3")
}

#[test]
fn the_operation_is_found_by_node_time_outcome_key_and_value() {
    check(
        "9.9 7@n1 invoke write 17 key=3
         9.9 8@n1 invoke write 18 key=3
         9.9 9@n1 invoke write 17 key=13
         9.9 5@n2 invoke write 17 key=3
         9.9 4@n1 invoke read nil key=3
         10.1 4@n1 ok read 17 key=3
         14 7@n1 info write 17 key=3
         14 8@n1 info write 18 key=3
         14 9@n1 info write 17 key=13
         14 5@n2 info write 17 key=3",
        vec![hit(set()), verified("/sg/r3 at n2", true)],
        expect![
            "n1 applied `set /sg/r3 = \"17\"` (ok zxid=0x7); its reply was held; process 7 recorded info 4.0 s later; it is there (/sg/r3 at n2: 17)."
        ],
    );
}

#[test]
fn a_compare_and_set_writes_its_second_value() {
    check(
        "9.9 7@n1 invoke cas 4>17 key=3\n9.9 8@n1 invoke cas 17>4 key=3\n14 7@n1 info cas 4>17 key=3",
        vec![hit(set()), verified("/sg/r3", false)],
        expect![
            "n1 applied `set /sg/r3 = \"17\"` (ok zxid=0x7); its reply was held; process 7 recorded info 4.0 s later; afterwards NOT as expected (/sg/r3: expected 17, saw 3)."
        ],
    );
}

#[test]
fn an_operation_that_never_ended_is_told_so() {
    check(
        "9.9 7@n1 invoke write 17 key=3",
        vec![hit(message(Form::Close, "set /sg/r3 = \"17\"", "/sg/r3"))],
        expect![
            "n1 applied `set /sg/r3 = \"17\"` (ok zxid=0x7); its reply was lost and the connection closed; process 7 never heard of it."
        ],
    );
}

#[test]
fn where_none_or_several_fit_it_is_said() {
    check(
        "9.9 7@n1 invoke write 17 key=3\n9.95 7@n1 ok write 17 key=3",
        vec![hit(set())],
        expect![
            "n1 applied `set /sg/r3 = \"17\"` (ok zxid=0x7); its reply was held; no operation of a client at n1 fits it."
        ],
    );
    check(
        "9.9 7@n1 invoke read nil key=3\n9.9 8@n1 invoke read nil key=3\n14 7@n1 info read nil key=3",
        vec![hit(message(Form::DropRequest, "get /sg/r3", "/sg/r3"))],
        expect!["`get /sg/r3` was sent to n1; it never arrived; 2 operations at n1 fit it alike."],
    );
}

#[test]
fn a_late_reply_may_still_be_ok() {
    check(
        "9.9 7@n1 invoke read nil key=3\n10.4 7@n1 ok read 17 key=3",
        vec![hit(message(Form::Delay, "get /sg/r3", "/sg/r3"))],
        expect![
            "n1 applied `get /sg/r3` (ok zxid=0x7); its reply came late; process 7 recorded ok 400 ms later."
        ],
    );
}

#[test]
fn checks_go_to_the_hits_that_they_name() {
    let second = message(Form::Hold, "set /sg/r4 = \"9\"", "/sg/r4");
    let records =
        vec![hit(set()), hit(second), verified("/sg/r4 at n2", true), verified("all", false)];
    let (hits, _) = hits(&merge(&history(""), records));
    let told: Vec<&str> =
        hits.iter().filter_map(|hit| hit.verified.as_ref()).map(|check| &*check.what).collect();
    assert_eq!(told, ["all", "/sg/r4 at n2"]);
}

#[test]
fn hits_beyond_the_limit_are_only_counted() {
    let records = (0..HITS_MAX + 7).map(|_| hit(set())).collect();
    let (hits, total) = hits(&merge(&history(""), records));
    assert_eq!((hits.len(), total), (HITS_MAX, HITS_MAX as u64 + 7));
}

#[test]
fn what_a_node_sent_is_no_operation_of_a_client() {
    let (fault, node) = (FaultId(1), "kvrocks3".into());
    let message =
        MessageSeen { reply: Some("OK".into()), ..message(Form::Hold, "cluster import 130 1", "") };
    let sender = Some("kvrocks1".into());
    let hit = FaultRecord::Hit { fault, node, sender, message, happened: 10 };
    let (found, _) =
        hits(&merge(&history("1 0@kvrocks3 invoke read nil"), vec![record(10.0, "x", &hit)]));
    let expected = "kvrocks3 applied `cluster import 130 1` of kvrocks1 (OK); its reply was held.";
    assert_eq!((found[0].words.as_str(), &found[0].operation), (expected, &None));
}

#[test]
fn a_client_is_found_by_whom_it_asked_on_its_way() {
    let node = |name: &str| -> NodeName { name.into() };
    let of = |at| {
        let history = history(
            "
            9.9 7@kvrocks1 invoke write 17 key=3
            14 7@kvrocks1 info write 17 key=3 slot=1 via=kvrocks1:MOVED,kvrocks3:no-answer
            9.9 8@kvrocks3 invoke write 18 key=4",
        );
        operation_of(at, 10 * crate::op::SECOND, &set(), &history.operations())
            .map(|operation| operation.process)
    };
    assert_eq!(of(node("kvrocks3")), Ok("7".to_owned()));
    assert!(of(node("kvrocks2")).is_err());
}
