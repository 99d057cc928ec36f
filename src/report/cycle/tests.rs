//! That boxes and labels of a drawing hide nothing, and that its size is bounded.

use super::layout::{Place, Way};
use super::*;

fn txn(number: usize, process: u32, op: u64) -> CycleTxn {
    CycleTxn {
        name: format!("T{number}"),
        process,
        op,
        did: vec!["append x 3".into(), "r y [1 2]".into()],
        invoked: Some(op * MILLISECOND),
        completed: Some((op + 2) * MILLISECOND),
        outcome: Kind::Ok,
    }
}

/// A cycle of transactions by these processes, in order of time.
fn cycle(processes: &[u32]) -> TxnCycle {
    let count = processes.len();
    let numbered = processes.iter().enumerate();
    let txns = numbered.map(|(place, process)| txn(place + 1, *process, 1 + 10 * place as u64));
    let edge = |from| CycleEdge {
        from,
        to: (from + 1) % count,
        kind: if from + 1 < count { CycleEdgeKind::Wr } else { CycleEdgeKind::Rw },
        key: Some("<x>".into()),
        value: Some("3".into()),
        why: "T1 & T2".into(),
    };
    TxnCycle { txns: txns.collect(), edges: (0..count).map(edge).collect(), left_out: 0 }
}

#[test]
fn each_transaction_has_a_box_and_each_edge_an_arrow_with_its_label() {
    let svg = drawing(&cycle(&[3, 4]), "c", "Cycle").into_string();
    for text in [
        "process 3",
        "process 4",
        "T1 · 0.001 s to 0.003 s",
        "append x 3",
        ">wr<",
        ">rw<",
        "key &lt;x&gt;: missed 3",
        "T1 &amp; T2",
    ] {
        assert!(svg.contains(text), "{text} is not in {svg}");
    }
    let count = |class: &str| svg.matches(&format!("class=\"{class}\"")).count();
    assert_eq!((count("box"), count("head")), (2, 2));
    let key = key(&cycle(&[3, 4])).into_string();
    assert!(key.contains("rw: it did not see") && !key.contains("realtime"), "{key}");
}

#[test]
fn no_label_is_over_a_box_or_another_label_or_outside() {
    for processes in [&[0, 1][..], &[1, 1], &[2, 1, 2], &[5, 1, 5, 2], &[0, 1, 2, 3, 4, 5]] {
        let layout = Layout::of(&cycle(processes));
        for (number, way) in layout.ways.iter().enumerate() {
            let (x, y) = way.label;
            let hides = |place: &Place| {
                let across = x > place.left && x < place.left + place.width;
                across && y + LINE > place.top && y - 12.0 < place.top + place.height
            };
            assert!(!layout.places.iter().any(hides), "{processes:?} {number}");
            assert!(y > 10.0 && y + LINE < layout.height, "{processes:?} {number}");
            let is_near =
                |other: &Way| (other.label.0 - x).abs() < 100.0 && (other.label.1 - y).abs() < 30.0;
            assert!(!layout.ways[..number].iter().any(is_near), "{processes:?} {number}");
        }
    }
}

#[test]
fn an_edge_to_nowhere_is_not_drawn() {
    let mut cycle = cycle(&[1, 2]);
    cycle.edges[0].to = 99;
    let svg = drawing(&cycle, "c", "Cycle").into_string();
    assert_eq!(svg.matches("class=\"head\"").count(), 1);
}
