//! The story of a split brain, told of a small history.

use expect_test::{Expect, expect};

use super::*;
use crate::checker::text::{history, merge, record};
use crate::cluster::{FaultId, Form, MessageSeen, NodeState, NodeView, Role, View};
use crate::history::History;
use crate::report::hits;

/// Both masters, the owner of slot 130, and the version that they go by.
fn view(at: f64, owner: &str, version: u64) -> crate::op::Event {
    let node = |name: &str| {
        let slots = if name == owner { "130" } else { "9" };
        let serving = NodeView::new(Role::Kvrocks, NodeState::Serving, "");
        let (epoch, slots) = (Some(version), Some(slots.to_owned()));
        (name.into(), NodeView { leads: true, epoch, slots, ..serving })
    };
    let nodes = ["kvrocks1", "kvrocks3"].map(node).into_iter().collect();
    record(at, "view", &FaultRecord::View { view: View { nodes } })
}

fn lost_reply(at: f64, applied: bool) -> crate::op::Event {
    let message = MessageSeen {
        request: "cluster import 130 1".into(),
        subject: None,
        reply: applied.then(|| "OK".to_owned()),
        applied,
        connection: "10.0.0.101:1→10.0.0.103:6666".into(),
        form: if applied { Form::Hold } else { Form::DropRequest },
        nth: 1,
    };
    let (node, sender) = ("kvrocks3".into(), Some("kvrocks1".into()));
    let happened = (at * 1e9) as u64;
    record(
        at,
        "reply-loss",
        &FaultRecord::Hit { fault: FaultId(1), node, sender, message, happened },
    )
}

const SPLIT: &str = "
    1.0 9@controller1 invoke migrate {\"slot\":130,\"target\":1}
    1.1 9@controller1 ok migrate {\"slot\":130,\"target\":1}
    1.2 0@kvrocks1 invoke write 1 key=7
    1.3 0@kvrocks1 ok write 1 key=7 slot=130 via=kvrocks1:ok
    2.2 1@kvrocks1 invoke write 2 key=7
    2.3 1@kvrocks1 ok write 2 key=7 slot=130 via=kvrocks1:MOVED@20000,kvrocks3:ok@90000
    2.4 1@kvrocks3 invoke write 3 key=8
    2.5 1@kvrocks3 ok write 3 key=8 slot=130 via=kvrocks3:ok
    3.0 0@kvrocks1 invoke read nil key=7
    3.1 0@kvrocks1 ok read 1 key=7 slot=130 via=kvrocks1:ok
    3.2 0@kvrocks1 invoke write 4 key=8
    3.3 0@kvrocks1 ok write 4 key=8 slot=130 via=kvrocks1:ok
    3.4 1@kvrocks3 invoke write 5 key=9
    3.5 1@kvrocks3 ok write 5 key=9 slot=130 via=kvrocks3:ok
    5.0 0@kvrocks1 invoke read nil key=8
    5.1 0@kvrocks1 ok read 4 key=8 slot=130 via=kvrocks1:ok";

fn split() -> History {
    let views = [view(0.5, "kvrocks1", 6), view(4.0, "kvrocks1", 7)];
    merge(&history(SPLIT), views.into_iter().chain([lost_reply(2.0, true)]).collect())
}

/// A split brain of the operations invoked at these times, the first and the last of both.
fn anomaly(history: &History, proof: [f64; 2], both: (f64, f64)) -> Anomaly {
    let nanos = |seconds: f64| (seconds * 1e9).round() as u64;
    let ops = history.operations();
    let at = |time: f64| ops.iter().find(|(invoke, _)| invoke.time == nanos(time));
    let index = |time: f64| at(time).expect("an operation of that time").0.index;
    Anomaly {
        kind: "split-brain".into(),
        summary: String::new(),
        details: Vec::new(),
        key: None,
        nodes: vec!["kvrocks3".into(), "kvrocks1".into()],
        ops: proof.map(index).into(),
        from: nanos(both.0),
        to: nanos(both.1),
        faults: None,
        cycle: None,
    }
}

fn told(history: &History, proof: [f64; 2], both: (f64, f64), expected: Expect) {
    let digest = Digest::of(history);
    let (hits, _) = hits(history);
    let versions = Versions::of(&digest);
    let anomaly = anomaly(history, proof, both);
    let overlap = Overlap::of(&digest, &anomaly, &hits, &versions).expect("a split brain");
    let seconds = |at: Nanos| at as f64 / 1e9;
    let mut lines: Vec<String> = overlap
        .steps
        .iter()
        .map(|step| format!("{} [{}] {}", seconds(step.at), step.short, step.told))
        .collect();
    for side in &overlap.sides {
        let (writes, reads) = side.within(overlap.both);
        let refused = side.refused.len();
        lines.push(format!("{}: {writes} writes {reads} reads {refused} refused", side.node));
    }
    expected.assert_eq(&(lines.join("\n") + "\n"));
}

#[test]
fn a_lost_reply_is_told_from_the_request_to_what_is_gone() {
    told(
        &split(),
        [2.4, 3.2],
        (2.2, 3.5),
        expect![[r#"
        1 [migrate] A migration of slot 130 to shard 1 was asked for.
        2 [reply lost] The nemesis reply-loss (f1): kvrocks3 applied `cluster import 130 1` of kvrocks1 (OK); its reply was held. This is import SUCCESS: kvrocks3 serves slot 130 from here on. kvrocks1 never hears of it; once it gives the migration up, it takes writes again.
        2.3 [kvrocks3 writes] kvrocks3 acknowledged a write: write 2 of key 7, by process 1.
        3.3 [kvrocks1 writes] kvrocks1 acknowledged a write, too: write 4 of key 8, by process 0.
        4 [version 7] kvrocks3 and kvrocks1 were seen to go by version 7 of the topology: the slot is kvrocks1's alone.
        4 [1 write gone] 1 write is gone that kvrocks3 had acknowledged: write 2 of key 7, by process 1 (at 3.000 s kvrocks1 still answered read → 1). 1 more was never seen again; later writes may have replaced them.
        kvrocks3: 3 writes 0 reads 0 refused
        kvrocks1: 1 writes 1 reads 0 refused
    "#]],
    );
}

#[test]
fn a_split_that_no_topology_ends_is_told_as_such() {
    let history = merge(&history(SPLIT), vec![view(0.5, "kvrocks1", 6)]);
    told(
        &history,
        [2.4, 3.2],
        (2.2, 3.5),
        expect![[r#"
        1 [migrate] A migration of slot 130 to shard 1 was asked for.
        2.3 [kvrocks3 writes] kvrocks3 acknowledged a write: write 2 of key 7, by process 1.
        3.3 [kvrocks1 writes] kvrocks1 acknowledged a write, too: write 4 of key 8, by process 0.
        3.5 [no end seen] No later topology was seen to end it.
        kvrocks3: 3 writes 0 reads 0 refused
        kvrocks1: 1 writes 1 reads 0 refused
    "#]],
    );
}

#[test]
fn a_promotion_before_it_is_part_of_the_story() {
    let mut promoted = view(2.1, "kvrocks1", 6);
    promoted.value = {
        let record = FaultRecord::of(&promoted);
        let Some(FaultRecord::View { mut view }) = record else { unreachable!() };
        let serving = NodeView::new(Role::Kvrocks, NodeState::Serving, "");
        view.nodes.insert("kvrocks2".into(), NodeView { leads: true, ..serving });
        FaultRecord::View { view }.to_value()
    };
    let history = merge(&history(SPLIT), vec![view(0.5, "kvrocks1", 6), promoted]);
    told(
        &history,
        [2.4, 3.2],
        (2.2, 3.5),
        expect![[r#"
        1 [migrate] A migration of slot 130 to shard 1 was asked for.
        2.1 [kvrocks2 master] kvrocks2 was seen to be a master from now on: a failover.
        2.3 [kvrocks3 writes] kvrocks3 acknowledged a write: write 2 of key 7, by process 1.
        3.3 [kvrocks1 writes] kvrocks1 acknowledged a write, too: write 4 of key 8, by process 0.
        3.5 [no end seen] No later topology was seen to end it.
        kvrocks3: 3 writes 0 reads 0 refused
        kvrocks1: 1 writes 1 reads 0 refused
    "#]],
    );
}

#[test]
fn other_anomalies_and_histories_without_slots_have_no_such_story() {
    let history = split();
    let digest = Digest::of(&history);
    let versions = Versions::of(&digest);
    let mut other = anomaly(&history, [2.4, 3.2], (2.2, 3.5));
    other.ops = vec![0, 99_999];
    assert!(Overlap::of(&digest, &other, &[], &versions).is_none(), "no operation tells a slot");
    other = anomaly(&history, [2.4, 3.2], (2.2, 3.5));
    other.kind = "lost-write".into();
    assert!(Overlap::of(&digest, &other, &[], &versions).is_none());
}

#[test]
fn elements_of_lists_and_sets_are_gone_where_nobody_finds_them() {
    let text = "
        1.0 0@kvrocks3 invoke add 3 key=8
        1.1 0@kvrocks3 ok add 3 key=8 slot=130 via=kvrocks3:ok
        1.2 0@kvrocks3 invoke txn [[\"append\",5,6]]
        1.3 0@kvrocks3 ok txn [[\"append\",5,6]] slot=130 via=kvrocks3:ok
        2.0 0@kvrocks1 invoke read nil key=8
        2.1 0@kvrocks1 ok read [1,2,4] key=8 slot=130 via=kvrocks1:ok
        2.2 0@kvrocks1 invoke txn [[\"r\",5,null]]
        2.3 0@kvrocks1 ok txn [[\"r\",5,[6]]] slot=130 via=kvrocks1:ok";
    let history = history(text);
    let digest = Digest::of(&history);
    let end = End { at: 0, version: 2, owner: "kvrocks1".into() };
    let fates = fate::Fates::at(&digest.operations, end);
    let fate = |position: usize| fates.of(&digest.operations[position]);
    assert!(matches!(fate(0), Fate::Gone { .. }), "the set lacks it");
    assert!(matches!(fate(1), Fate::Unknown), "the list has it");
    assert!(matches!(fate(2), Fate::Unknown), "a read is no write");
}
