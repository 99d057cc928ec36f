//! What a person is told of each kind of object: one good and one bad history each.

use expect_test::{Expect, expect};

use super::told::{finding, told};
use crate::checker::objects::models::*;
use crate::checker::{Budget, ModelKind};

fn check(model: &ModelKind, lines: &str, expected: Expect) {
    expected.assert_eq(&told(model, lines));
}

#[test]
fn lists() {
    check(
        &LIST,
        "0.1 0 invoke append 1 key=l
         0.2 1 invoke append 2 key=l
         0.3 0 ok append 1 key=l
         0.4 1 ok append 2 key=l
         0.5 2 invoke read nil key=l
         0.6 2 ok read [2,1] key=l",
        expect![[r#"
            valid: as list, 1 of 1 objects are linearizable
        "#]],
    );
    check(
        &LIST,
        "0.1 0 invoke append 1 key=l
         0.2 1 invoke append 2 key=l
         0.3 0 ok append 1 key=l
         0.4 1 ok append 2 key=l
         0.5 2 invoke read nil key=l
         0.6 2 ok read [2,1] key=l
         0.7 3 invoke read nil key=l
         0.8 3 ok read [1,2] key=l",
        expect![[r#"
            invalid: as list, 1 of 1 objects are not linearizable
            nonlinearizable: no order of 4 operations on key l explains the read of [1 2] by process 3 at 0.800 s
              (1) 0.100 s to 0.300 s: process 0: append of 1: ok
              (2) 0.200 s to 0.400 s: process 1: append of 2: ok
              (3) 0.500 s to 0.600 s: process 2: read of [2 1]: ok
              (4) 0.700 s to 0.800 s: process 3: read of [1 2]: ok
              after (1) (2) the list is [1 2], and (3), the read of [2 1], cannot follow
              after (2) (1) (3) the list is [2 1], and (4), the read of [1 2], cannot follow
        "#]],
    );
}

#[test]
fn sets() {
    check(
        &LINEARIZABLE_SET,
        "0.1 0 invoke add 1
         0.2 0 ok add 1
         0.3 1 invoke add 2
         0.4 2 invoke read nil
         0.5 2 ok read [1]
         0.6 1 info add 2",
        expect![[r#"
            valid: as linearizable-set, 1 of 1 objects are linearizable
        "#]],
    );
    check(
        &LINEARIZABLE_SET,
        "0.1 0 invoke add 1
         0.2 0 ok add 1
         0.3 1 invoke add 2
         0.4 1 ok add 2
         0.5 2 invoke read nil
         0.6 2 ok read [1,3]
         0.7 3 invoke add 3
         0.8 3 ok add 3",
        expect![[r#"
            invalid: as linearizable-set, 1 of 1 objects are not linearizable
            nonlinearizable: the read of [3] by process 2 at 0.600 s cannot be: nothing before it can have brought it about, and at first the set is []
              (1) 0.500 s to 0.600 s: process 2: read of [3]: ok
              at first the set is [], and (1), the read of [3], cannot follow
        "#]],
    );
    check(
        &LINEARIZABLE_SET,
        "0.1 0 invoke add 1
         0.2 0 ok add 1
         0.3 1 invoke remove 1
         0.4 1 ok remove 1
         0.5 2 invoke contains 1
         0.6 2 ok contains [1,true]",
        expect![[r#"
            invalid: as linearizable-set, 1 of 1 objects are not linearizable
            nonlinearizable: the sight of 1 by process 2 at 0.600 s cannot be: after the add of 1 by process 0, the remove of 1 by process 1, the set is []
              (1) 0.100 s to 0.200 s: process 0: add of 1: ok
              (2) 0.300 s to 0.400 s: process 1: remove of 1: ok
              (3) 0.500 s to 0.600 s: process 2: sight of 1: ok
              after (1) (2) the set is [], and (3), the sight of 1, cannot follow
        "#]],
    );
}

#[test]
fn counters() {
    check(
        &LINEARIZABLE_COUNTER,
        "0.1 0 invoke add 2
         0.2 1 invoke read nil
         0.3 1 ok read 2
         0.4 0 info add 2
         0.5 2 invoke incr nil
         0.6 2 ok incr 3",
        expect![[r#"
            valid: as linearizable-counter, 1 of 1 objects are linearizable
        "#]],
    );
    check(
        &LINEARIZABLE_COUNTER,
        "0.1 0 invoke add 2
         0.2 0 ok add 2
         0.3 1 invoke add 3
         0.4 1 ok add 3
         0.5 2 invoke read nil
         0.6 2 ok read 3",
        expect![[r#"
            invalid: as linearizable-counter, 1 of 1 objects are not linearizable
            nonlinearizable: the read of 3 by process 2 at 0.600 s cannot be: after the add of 2 by process 0, the add of 3 by process 1, the counter is 5
              (1) 0.100 s to 0.200 s: process 0: add of 2: ok
              (2) 0.300 s to 0.400 s: process 1: add of 3: ok
              (3) 0.500 s to 0.600 s: process 2: read of 3: ok
              after (1) (2) the counter is 5, and (3), the read of 3, cannot follow
        "#]],
    );
}

#[test]
fn queues() {
    let swapped = "0.1 0@n1 invoke enqueue 1
                   0.2 0@n1 ok enqueue 1
                   0.3 0@n1 invoke enqueue 2
                   0.4 0@n1 ok enqueue 2
                   0.5 1@n2 invoke dequeue nil
                   0.6 1@n2 ok dequeue 2
                   0.7 1@n2 invoke dequeue nil
                   0.8 1@n2 ok dequeue 1";
    check(
        &UNORDERED_QUEUE,
        swapped,
        expect![[r#"
        valid: as unordered-queue, 1 of 1 objects are linearizable
    "#]],
    );
    check(
        &FIFO_QUEUE,
        swapped,
        expect![[r#"
        invalid: as fifo-queue, 1 of 1 objects are not linearizable
        nonlinearizable: the dequeue of 2 by process 1 on n2 at 0.600 s cannot be: after the enqueue of 1 by process 0 on n1, the enqueue of 2 by process 0 on n1, the queue is [1 2]
          (1) 0.100 s to 0.200 s: process 0 on n1: enqueue of 1: ok
          (2) 0.300 s to 0.400 s: process 0 on n1: enqueue of 2: ok
          (3) 0.500 s to 0.600 s: process 1 on n2: dequeue of 2: ok
          after (1) (2) the queue is [1 2], and (3), the dequeue of 2, cannot follow
    "#]],
    );
    let twice = "0.1 0 invoke enqueue 1
                 0.2 0 ok enqueue 1
                 0.3 1 invoke dequeue nil
                 0.4 1 ok dequeue 1
                 0.5 2 invoke dequeue nil
                 0.6 2 ok dequeue 1";
    check(
        &UNORDERED_QUEUE,
        twice,
        expect![[r#"
        invalid: as unordered-queue, 1 of 1 objects are not linearizable
        nonlinearizable: the dequeue of 1 by process 2 at 0.600 s cannot be: after the enqueue of 1 by process 0, the dequeue of 1 by process 1, the queue is empty
          (1) 0.100 s to 0.200 s: process 0: enqueue of 1: ok
          (2) 0.300 s to 0.400 s: process 1: dequeue of 1: ok
          (3) 0.500 s to 0.600 s: process 2: dequeue of 1: ok
          after (1) (2) the queue is empty, and (3), the dequeue of 1, cannot follow
    "#]],
    );
    let not_empty = "0.1 0 invoke enqueue 1
                     0.2 0 ok enqueue 1
                     0.3 1 invoke dequeue nil
                     0.4 1 ok dequeue nil";
    check(
        &FIFO_QUEUE,
        not_empty,
        expect![[r#"
        invalid: as fifo-queue, 1 of 1 objects are not linearizable
        nonlinearizable: the dequeue that found nothing by process 1 at 0.400 s cannot be: after the enqueue of 1 by process 0, the queue is [1]
          (1) 0.100 s to 0.200 s: process 0: enqueue of 1: ok
          (2) 0.300 s to 0.400 s: process 1: dequeue that found nothing: ok
          after (1) the queue is [1], and (2), the dequeue that found nothing, cannot follow
    "#]],
    );
}

#[test]
fn stacks() {
    let swapped = "0.1 0 invoke push 1
                   0.2 0 ok push 1
                   0.3 0 invoke push 2
                   0.4 0 ok push 2
                   0.5 1 invoke pop nil
                   0.6 1 ok pop 1";
    check(
        &STACK,
        swapped,
        expect![[r#"
        invalid: as stack, 1 of 1 objects are not linearizable
        nonlinearizable: the pop of 1 by process 1 at 0.600 s cannot be: after the push of 1 by process 0, the push of 2 by process 0, the stack is [1 2], its top last
          (1) 0.100 s to 0.200 s: process 0: push of 1: ok
          (2) 0.300 s to 0.400 s: process 0: push of 2: ok
          (3) 0.500 s to 0.600 s: process 1: pop of 1: ok
          after (1) (2) the stack is [1 2], its top last, and (3), the pop of 1, cannot follow
    "#]],
    );
    let good = "0.1 0 invoke push 1
                0.2 1 invoke pop nil
                0.3 1 ok pop 1
                0.4 1 invoke pop nil
                0.5 1 ok pop nil
                0.6 0 ok push 1";
    check(
        &STACK,
        good,
        expect![[r#"
        valid: as stack, 1 of 1 objects are linearizable
    "#]],
    );
}

/// Each two of the values nest, all three do not.
#[test]
fn stacks_whose_values_cross_in_a_ring() {
    let ring = "0.1 1 invoke push 1
                0.2 1 ok push 1
                0.3 2 invoke push 2
                0.4 3 invoke push 3
                0.5 2 ok push 2
                0.6 1 invoke pop nil
                0.7 3 ok push 3
                0.8 2 invoke pop nil
                0.9 1 ok pop 1
                1.0 2 ok pop 2
                1.1 3 invoke pop nil
                1.2 3 ok pop 3";
    check(
        &STACK,
        ring,
        expect![[r#"
            invalid: as stack, 1 of 1 objects are not linearizable
            nonlinearizable: no order of 5 operations explains the pop of 1 by process 1 at 0.900 s
              (1) 0.100 s to 0.200 s: process 1: push of 1: ok
              (2) 0.300 s to 0.500 s: process 2: push of 2: ok
              (3) 0.400 s to 0.700 s: process 3: push of 3: ok
              (4) 0.600 s to 0.900 s: process 1: pop of 1: ok
              (5) 0.800 s to 1.000 s: process 2: pop of 2: ok
              from 0.200 s to the end the stack was never empty, so one of these values lay at its bottom all that time; but
              it was not 1: its pop was over at 0.900 s
              it was not 2: its push began only at 0.300 s
              it was not 3: its push began only at 0.400 s
        "#]],
    );
}

#[test]
fn priority_queues() {
    let lines = "0.1 0 invoke insert 2
                 0.2 0 ok insert 2
                 0.3 1 invoke insert 1
                 0.4 2 invoke delete-min nil
                 0.5 2 ok delete-min 2
                 0.6 1 ok insert 1";
    check(
        &PRIORITY_QUEUE,
        lines,
        expect![[r#"
        valid: as priority-queue, 1 of 1 objects are linearizable
    "#]],
    );
    let wrong = "0.1 0 invoke insert 2
                 0.2 0 ok insert 2
                 0.3 1 invoke insert 1
                 0.4 1 ok insert 1
                 0.5 2 invoke delete-min nil
                 0.6 2 ok delete-min 2";
    check(
        &PRIORITY_QUEUE,
        wrong,
        expect![[r#"
        invalid: as priority-queue, 1 of 1 objects are not linearizable
        nonlinearizable: the delete-min of 2 by process 2 at 0.600 s cannot be: after the insert of 2 by process 0, the insert of 1 by process 1, the queue is [1 2]
          (1) 0.100 s to 0.200 s: process 0: insert of 2: ok
          (2) 0.300 s to 0.400 s: process 1: insert of 1: ok
          (3) 0.500 s to 0.600 s: process 2: delete-min of 2: ok
          after (1) (2) the queue is [1 2], and (3), the delete-min of 2, cannot follow
    "#]],
    );
    let text = "0.1 0 invoke insert a
                0.2 0 ok insert a";
    check(
        &PRIORITY_QUEUE,
        text,
        expect![[r#"
        unknown: as priority-queue, no violation was found in 1 objects; 1 undecided, first the object: the insert of index 0 has the value "a": expected a whole number, the least of which comes out first
    "#]],
    );
}

#[test]
fn a_queue_that_was_never_empty() {
    let relay = "0.1 1 invoke enqueue 1
                 0.2 1 ok enqueue 1
                 0.3 2 invoke enqueue 2
                 0.4 4 invoke dequeue nil
                 0.5 2 ok enqueue 2
                 0.6 3 invoke enqueue 3
                 0.6 1 invoke dequeue nil
                 0.7 3 ok enqueue 3
                 0.8 1 ok dequeue 1
                 0.9 2 invoke dequeue nil
                 1.0 2 ok dequeue 2
                 1.1 4 ok dequeue nil";
    for model in [&UNORDERED_QUEUE, &FIFO_QUEUE] {
        let finding = finding(model, relay, &Budget::UNBOUNDED);
        let details = &finding.anomalies[0].details;
        let told = details[details.len() - 4..].join("\n");
        expect![[r#"
            from 0.400 s to 1.100 s, when nothing was found, something was always there:
            1 had gone in by 0.200 s, and nobody asked for it before 0.600 s
            2 had gone in by 0.500 s, and nobody asked for it before 0.900 s
            3 had gone in by 0.700 s, and nobody took it"#]]
        .assert_eq(&told);
    }
}

/// Many pushes and pops in flight at once, so that a search would try for long.
#[test]
fn a_value_that_came_out_more_often_than_it_went_in_needs_no_search() {
    for (odd, summary) in [(9, "pop of 9"), (0, "pop of 0")] {
        let mut text = String::new();
        for process in 0..20 {
            text += &format!("0.1 {process} invoke push {}\n", process % 3);
            text += &format!("0.1 {} invoke pop nil\n", 100 + process);
        }
        for process in 0..20 {
            let value = if process == 4 { odd } else { process % 3 };
            text += &format!("0.2 {process} ok push {}\n", process % 3);
            text += &format!("0.2 {} ok pop {value}\n", 100 + process);
        }
        let finding = finding(&STACK, &text, &Budget::UNBOUNDED);
        assert_eq!(finding.figures["search-steps"], 0.0, "{finding:?}");
        assert!(finding.anomalies[0].summary.contains(summary), "{finding:?}");
    }
}

#[test]
fn locks() {
    let two_holders = "0.1 0 invoke acquire nil
                       0.2 0 ok acquire nil
                       0.3 1 invoke acquire nil
                       0.4 1 ok acquire nil
                       0.5 0 invoke release nil
                       0.6 0 ok release nil";
    check(
        &MUTEX,
        two_holders,
        expect![[r#"
        invalid: as mutex, 1 of 1 objects are not linearizable
        nonlinearizable: the acquire by process 1 at 0.400 s cannot be: after the acquire by process 0, the lock is held
          (1) 0.100 s to 0.200 s: process 0: acquire: ok
          (2) 0.300 s to 0.400 s: process 1: acquire: ok
          after (1) the lock is held, and (2), the acquire, cannot follow
    "#]],
    );
    let others = "0.1 0 invoke acquire alice
                  0.2 0 ok acquire alice
                  0.3 1 invoke release bob
                  0.4 1 ok release bob";
    check(
        &MUTEX,
        others,
        expect![[r#"
        valid: as mutex, 1 of 1 objects are linearizable
    "#]],
    );
    check(
        &LOCK,
        others,
        expect![[r#"
        invalid: as lock, 1 of 1 objects are not linearizable
        nonlinearizable: the release for bob by process 1 at 0.400 s cannot be: after the acquire for alice by process 0, alice holds the lock
          (1) 0.100 s to 0.200 s: process 0: acquire for alice: ok
          (2) 0.300 s to 0.400 s: process 1: release for bob: ok
          after (1) alice holds the lock, and (2), the release for bob, cannot follow
    "#]],
    );
    let again = r#"0.1 0 invoke acquire {"client":"n1"}
                   0.2 0 ok acquire {"client":"n1"}
                   0.3 0 invoke acquire {"client":"n1"}
                   0.4 0 ok acquire {"client":"n1"}"#;
    check(
        &REENTRANT_MUTEX,
        again,
        expect![[r#"
        valid: as reentrant-mutex, 1 of 1 objects are linearizable
    "#]],
    );
    check(
        &OWNER_MUTEX,
        again,
        expect![[r#"
        invalid: as owner-mutex, 1 of 1 objects are not linearizable
        nonlinearizable: the acquire for n1 by process 0 at 0.400 s cannot be: after the acquire for n1 by process 0, n1 holds the lock
          (1) 0.100 s to 0.200 s: process 0: acquire for n1: ok
          (2) 0.300 s to 0.400 s: process 0: acquire for n1: ok
          after (1) n1 holds the lock, and (2), the acquire for n1, cannot follow
    "#]],
    );
    let fences = r#"0.1 0 invoke acquire nil
                    0.2 0 ok acquire {"fence":7}
                    0.3 0 invoke release nil
                    0.4 0 ok release nil
                    0.5 1 invoke acquire nil
                    0.6 1 ok acquire {"fence":6}"#;
    check(
        &FENCED_LOCK,
        fences,
        expect![[r#"
        invalid: as fenced-lock, 1 of 1 objects are not linearizable
        nonlinearizable: the acquire for process 1 with token 6 by process 1 at 0.600 s cannot be: after the acquire for process 0 with token 7 by process 0, the release for process 0 by process 0, nobody holds the lock and its last token was 7
          (1) 0.100 s to 0.200 s: process 0: acquire for process 0 with token 7: ok
          (2) 0.300 s to 0.400 s: process 0: release for process 0: ok
          (3) 0.500 s to 0.600 s: process 1: acquire for process 1 with token 6: ok
          after (1) (2) nobody holds the lock and its last token was 7, and (3), the acquire for process 1 with token 6, cannot follow
    "#]],
    );
}
