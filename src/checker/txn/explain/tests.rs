//! What cycles are told as: text for people, and a structure for drawings and tools.

use crate::checker::{Anomaly, Budget, CycleEdgeKind, MODELS, ModelOptions};
use crate::history::{History, parse_line};

fn anomalies(model: &str, lines: &[&str]) -> Vec<Anomaly> {
    let model = MODELS.iter().find(|kind| kind.name == model).expect("a model");
    let mut checkers = (model.checkers)(&ModelOptions::default()).expect("no options");
    let events = lines.iter().zip(0..).map(|(line, index)| parse_line(line, index).expect(line));
    let history = History::new(events.collect());
    for event in history.events() {
        checkers[0].observe(event);
    }
    checkers[0].finish(&history, &Budget::UNBOUNDED).anomalies
}

/// Write skew on lists: each transaction missed what the other appended.
const SKEW: [&str; 6] = [
    r#"{"type":"invoke","process":0,"f":"txn","value":[["r","x",null],["append","y",1]],"time":1000000}"#,
    r#"{"type":"invoke","process":1,"f":"txn","value":[["r","y",null],["append","x",2]],"time":2000000}"#,
    r#"{"type":"ok","process":0,"f":"txn","value":[["r","x",[]],["append","y",1]],"time":3000000}"#,
    r#"{"type":"ok","process":1,"f":"txn","value":[["r","y",[]],["append","x",2]],"time":4000000}"#,
    r#"{"type":"invoke","process":2,"f":"txn","value":[["r","x",null],["r","y",null]],"time":5000000}"#,
    r#"{"type":"ok","process":2,"f":"txn","value":[["r","x",[2]],["r","y",[1]]],"time":6000000}"#,
];

#[test]
fn a_cycle_of_lists_names_its_transactions_and_edges() {
    let found = anomalies("list-append", &SKEW);
    let skew = found.iter().find(|one| one.kind == "G2-item").expect("write skew");
    let cycle = skew.cycle.as_ref().expect("a cycle");
    let mut edges: Vec<_> = cycle
        .edges
        .iter()
        .map(|edge| (edge.kind, edge.key.as_deref(), edge.value.as_deref()))
        .collect();
    edges.sort_by_key(|edge| edge.1);
    let expected =
        [(CycleEdgeKind::Rw, Some("x"), Some("2")), (CycleEdgeKind::Rw, Some("y"), Some("1"))];
    assert_eq!(edges, expected);
    let first = cycle.txns.iter().find(|txn| txn.process == 0).expect("process 0's");
    assert_eq!((first.invoked, first.completed), (Some(1_000_000), Some(3_000_000)));
    assert_eq!(first.did, ["r x []", "append y 1"]);
    for edge in &cycle.edges {
        assert!(skew.details.iter().any(|line| line.contains(&edge.why)), "{}", edge.why);
    }
}

#[test]
fn a_cycle_of_registers_does_too_and_shows_only_the_keys_that_matter() {
    let found = anomalies(
        "rw-register",
        &[
            r#"{"type":"invoke","process":0,"f":"txn","value":[["w","x",1],["r","y",null],["r","z",null]]}"#,
            r#"{"type":"invoke","process":1,"f":"txn","value":[["w","y",2],["r","x",null]]}"#,
            r#"{"type":"ok","process":0,"f":"txn","value":[["w","x",1],["r","y",2],["r","z",null]]}"#,
            r#"{"type":"ok","process":1,"f":"txn","value":[["w","y",2],["r","x",1]]}"#,
        ],
    );
    let circle = found.iter().find(|one| one.kind == "G1c").expect("a circle of reads");
    let cycle = circle.cycle.as_ref().expect("a cycle");
    assert!(cycle.edges.iter().all(|edge| edge.kind == CycleEdgeKind::Wr));
    let first = cycle.txns.iter().find(|txn| txn.process == 0).expect("process 0's");
    assert_eq!(first.did, ["w x 1", "r y 2", ".."]);
}

/// Each of many transactions reads what the next one appends.
#[test]
fn a_long_cycle_is_cut_and_says_so() {
    let count = 40;
    let micro_ops = |number: usize, read: &str| {
        let next = (number + 1) % count;
        format!(r#"[["append",{number},{number}],["r",{next},{read}]]"#)
    };
    let mut lines: Vec<String> = Vec::new();
    for (kind, is_ok) in [("invoke", false), ("ok", true)] {
        for number in 0..count {
            let read = if is_ok { format!("[{}]", (number + 1) % count) } else { "null".into() };
            let value = micro_ops(number, &read);
            lines.push(format!(
                r#"{{"type":"{kind}","process":{number},"f":"txn","value":{value}}}"#
            ));
        }
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let found = anomalies("list-append", &lines);
    let cycle = found[0].cycle.as_ref().expect("a cycle");
    assert_eq!((cycle.txns.len(), cycle.edges.len(), cycle.left_out), (12, 12, 28));
    let cut: Vec<_> =
        cycle.edges.iter().filter(|edge| edge.kind == CycleEdgeKind::Omitted).collect();
    assert_eq!(cut.len(), 1);
    assert!(cut[0].why.contains("28 more transactions"), "{}", cut[0].why);
    assert!(found[0].details.iter().any(|line| line.contains("28 more transactions")));
}
