//! What the timeline of an anomaly shows, and that its size is bounded.

use super::*;
use crate::history::History;
use crate::op::{Event, Key, MILLISECOND, Process, SECOND, Value};

/// `(process, f, from ms, to ms or never, outcome)`, all on key 1 at one of two nodes.
type Line = (u32, &'static str, u64, Option<u64>, Kind);

fn history(lines: &[Line]) -> History {
    let event = |(process, f, ..): &Line, time: u64, kind| Event {
        index: 0,
        time: time * MILLISECOND,
        kind,
        process: Process::Client(*process),
        node: Some(["n1", "n2"][*process as usize % 2].into()),
        f: crate::name::Name::from(*f),
        key: Some(Key::Int(1)),
        value: Value::Int(7),
        error: None,
        route: None,
    };
    let mut events: Vec<Event> = Vec::new();
    for line in lines {
        events.push(event(line, line.2, Kind::Invoke));
        events.extend(line.3.map(|time| event(line, time, line.4)));
    }
    events.sort_by_key(|event| event.time);
    for (index, event) in events.iter_mut().enumerate() {
        event.index = index as u64;
    }
    History::new(events)
}

fn anomaly(ops: Vec<u64>) -> Anomaly {
    Anomaly {
        kind: "nonlinearizable".into(),
        summary: String::new(),
        details: Vec::new(),
        key: Some("1".into()),
        nodes: Vec::new(),
        ops,
        from: 0,
        to: 0,
        faults: None,
        cycle: None,
    }
}

fn svg(history: &History, ops: Vec<u64>) -> Option<String> {
    let digest = Digest::of(history);
    let timeline = Timeline::of(&digest, &anomaly(ops))?;
    Some(timeline.svg("t", "Timeline").into_string())
}

#[test]
fn operations_are_drawn_by_outcome_and_part() {
    let history = history(&[
        (0, "write", 0, Some(10), Kind::Ok),
        (1, "write", 5, Some(20), Kind::Info),
        (2, "cas", 8, Some(30), Kind::Fail),
        (3, "read", 25, Some(40), Kind::Ok),
    ]);
    // Invocations stand at 0, 1, 2 and 5; the failed one is not part of the counterexample.
    let svg = svg(&history, vec![0, 1, 5]).expect("the operations exist");
    for (part, times) in [
        ("<g class=\"op ok\">", 2),
        ("<g class=\"op info\">", 1),
        ("<g class=\"op fail context\">", 1),
        ("url(#t-fade)", 1),
        (">1 · write 7<", 1),
        (">3 · read 7<", 1),
        (">n1<", 1),
        (">n2<", 1),
    ] {
        assert_eq!(svg.matches(part).count(), times, "{part} in {svg}");
    }
    assert!(svg.contains("Process 1 on n2: write 7 unknown, from 0.005 s to 0.020 s."), "{svg}");
}

#[test]
fn idle_time_is_cut_and_the_cut_is_said() {
    let history = history(&[
        (0, "write", 0, Some(10), Kind::Ok),
        (1, "read", 30_000, Some(30_008), Kind::Ok),
    ]);
    let svg = svg(&history, vec![0, 2]).expect("the operations exist");
    assert!(svg.contains("30.0 s cut"), "{svg}");
}

#[test]
fn an_anomaly_without_operations_has_no_timeline() {
    let history = history(&[(0, "write", 0, Some(10), Kind::Ok)]);
    assert_eq!(svg(&history, vec![]), None);
    assert_eq!(svg(&history, vec![99]), None, "nor has one of another history");
}

#[test]
fn an_operation_that_never_ended_lasts_to_the_end() {
    let history =
        history(&[(0, "write", 0, None, Kind::Info), (1, "read", 50, Some(90), Kind::Ok)]);
    let svg = svg(&history, vec![0, 1]).expect("the operations exist");
    assert!(svg.contains("write 7 unfinished, from 0.000 s to 0.090 s"), "{svg}");
}

#[test]
fn the_drawing_is_bounded_whatever_the_history() {
    let lines: Vec<Line> = (0..20_000)
        .map(|number| (number as u32, "write", number, Some(number + 5_000), Kind::Ok))
        .collect();
    let history = history(&lines);
    let digest = Digest::of(&history);
    let all: Vec<u64> = digest.operations.iter().map(|op| op.invoke.index).collect();
    let timeline = Timeline::of(&digest, &anomaly(all)).expect("the operations exist");
    assert_eq!(timeline.core().len() + timeline.left_out(), 20_000);
    let svg = timeline.svg("t", "Timeline").into_string();
    assert!(svg.len() < 100_000, "{} bytes", svg.len());
    assert!(timeline.core().iter().all(|op| op.invoke.time > 19 * SECOND), "the end is kept");
}

#[test]
fn zones_of_a_register_show_when_each_value_was_there() {
    let with = |line: Line, value| (line, value);
    let lines = [
        with((0, "write", 0, Some(10), Kind::Ok), 1),
        with((0, "write", 20, Some(30), Kind::Ok), 2),
        with((1, "read", 40, Some(50), Kind::Ok), 1),
    ];
    let mut events: Vec<Event> = Vec::new();
    for (line, value) in lines {
        let of_one = history(&[line]);
        events.extend(of_one.events().iter().cloned().map(|event| Event {
            index: 0,
            value: Value::Int(value),
            ..event
        }));
    }
    for (index, event) in events.iter_mut().enumerate() {
        event.index = index as u64;
    }
    let svg = svg(&History::new(events), vec![0, 2, 4]).expect("the operations exist");
    for sentence in [
        "1 must have been there from 0.010 s to 0.040 s",
        "2 was there at some moment from 0.020 s to 0.030 s",
    ] {
        assert!(svg.contains(sentence), "{sentence} in {svg}");
    }
    assert_eq!(svg.matches("class=\"zone\"").count(), 2);
}
