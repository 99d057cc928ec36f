//! Changes that must not make a good history bad, and changes that must.

use serde_json::{Value as Json, json};

use super::stores::{Promise, history};
use super::{asking, judge, kinds, seeds};
use crate::checker::Verdict;
use crate::op::{Event, Kind, Process, Value};
use crate::rng::Rng;

fn ops(event: &Event) -> Vec<Json> {
    match &event.value {
        Value::Json(json) => json.as_array().cloned().unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The history with every micro-operation changed.
fn with(events: &[Event], change: impl Fn(&Event, Json) -> Json) -> Vec<Event> {
    let changed = events.iter().map(|event| {
        let ops = ops(event).into_iter().map(|op| change(event, op));
        Event { value: Value::Json(Box::new(Json::Array(ops.collect()))), ..event.clone() }
    });
    changed.collect()
}

fn renamed(value: &Json) -> Json {
    match value {
        Json::Array(list) => list.iter().map(renamed).collect(),
        Json::Number(number) => json!(format!("value {number}")),
        other => other.clone(),
    }
}

#[test]
fn names_and_clocks_do_not_matter() {
    for seed in 0..seeds(30) {
        let mut rng = Rng::from_seed(seed);
        let promise = [Promise::Strict, Promise::Snapshot, Promise::Committed][seed as usize % 3];
        let events = history(promise, &mut rng, 60);
        let before = judge(&events, &asking(&[], &[]));
        let values = with(&events, |_, op| json!([op[0], op[1], renamed(&op[2])]));
        let keys = with(&events, |_, op| json!([op[0], [op[1], "key"], op[2]]));
        let mut shifted = events.clone();
        shifted.iter_mut().for_each(|event| event.time += 1_000_000_000);
        let mut processes = events.clone();
        for event in &mut processes {
            if let Process::Client(process) = event.process {
                event.process = Process::Client(1_000 - process);
            }
        }
        for changed in [values, keys, shifted, processes] {
            let after = judge(&changed, &asking(&[], &[]));
            assert_eq!(
                (after.verdict, kinds(&after)),
                (before.verdict, kinds(&before)),
                "seed {seed}"
            );
            assert_eq!(after.why, before.why, "seed {seed}");
        }
    }
}

/// A completion that comes later, or one that says less, leaves all explanations as they are.
#[test]
fn to_know_less_accuses_nobody() {
    for seed in 0..seeds(30) {
        let mut rng = Rng::from_seed(seed);
        let events = history(Promise::Strict, &mut rng, 60);
        let number = rng.below(events.len() as u64) as usize;
        if events[number].kind != Kind::Ok {
            continue;
        }
        let mut unsure = events.clone();
        unsure[number].kind = Kind::Info;
        let mut late = events.clone();
        let event = late.remove(number);
        // Not beyond the next invocation of its process.
        let next = late[number..].iter().position(|other| other.process == event.process);
        let end = next.map_or(late.len(), |next| number + next);
        late.insert(number + rng.below((end - number) as u64 + 1) as usize, event);
        let dropped = with(&events, |event, op| {
            let read = event.kind == Kind::Ok && event.index == number as u64 && op[0] == "r";
            if read { json!(["r", format!("{}", op[1]), null]) } else { op }
        });
        for changed in [unsure, late, dropped] {
            let finding = judge(&changed, &asking(&[], &[]));
            assert_ne!(finding.verdict, Verdict::Invalid, "seed {seed}: {}", finding.why);
        }
    }
}

/// The last ok read of a list of at least two: its event and its place.
fn long_read(events: &[Event]) -> Option<(usize, usize)> {
    let ok = events.iter().enumerate().rev().filter(|(_, event)| event.kind == Kind::Ok);
    ok.flat_map(|(number, event)| ops(event).into_iter().enumerate().map(move |op| (number, op)))
        .find(|(_, (_, op))| op[0] == "r" && op[2].as_array().is_some_and(|list| list.len() > 1))
        .map(|(number, (place, _))| (number, place))
}

/// Appends a last transaction that reads a list so.
fn then_read(events: &[Event], key: &Json, list: Vec<Json>) -> Vec<Event> {
    let mut events = events.to_vec();
    for (kind, value) in [(Kind::Invoke, Json::Null), (Kind::Ok, Json::Array(list))] {
        let index = events.len() as u64;
        let value = Value::Json(Box::new(json!([["r", key, value]])));
        let event = Event {
            index,
            time: index * 1_000_000,
            value,
            ..Event::new(kind, Process::Client(77), "txn")
        };
        events.push(event);
    }
    events
}

#[test]
fn reads_of_what_cannot_be_are_caught() {
    let mut tried = 0;
    for seed in 0..seeds(30) {
        let mut rng = Rng::from_seed(seed);
        let events = history(Promise::Strict, &mut rng, 40);
        let Some((number, place)) = long_read(&events) else { continue };
        tried += 1;
        let op = ops(&events[number])[place].clone();
        let list = op[2].as_array().expect("a list").clone();
        let without_last = list[..list.len() - 1].to_vec();
        let without_first = list[1..].to_vec();
        let swapped = list.iter().rev().cloned().collect();
        let doubled = [&list[..], &list[..1]].concat();
        let unwritten = [&list[..], &[json!(999_999)]].concat();
        for (what, list, kind) in [
            ("stale", without_last, "realtime"),
            ("lost", without_first, "incompatible-order"),
            ("swapped", swapped, "incompatible-order"),
            ("twice", doubled, "duplicate-elements"),
            ("never written", unwritten, "garbage-read"),
        ] {
            let finding = judge(&then_read(&events, &op[1], list), &asking(&[], &[]));
            assert_eq!(finding.verdict, Verdict::Invalid, "seed {seed}, {what}: {}", finding.why);
            let named = kinds(&finding).iter().any(|found| found.contains(kind));
            assert!(named || what == "stale", "seed {seed}, {what}: {:?}", kinds(&finding));
        }
    }
    assert!(tried > 20, "{tried}");
}

#[test]
fn an_append_whose_transaction_failed_must_not_be_seen() {
    let mut tried = 0;
    for seed in 0..seeds(30) {
        let mut rng = Rng::from_seed(seed);
        let mut events = history(Promise::Strict, &mut rng, 40);
        let Some((number, place)) = long_read(&events) else { continue };
        let op = ops(&events[number])[place].clone();
        let wrote = |event: &Event| {
            let append = json!(["append", op[1], op[2][0]]);
            event.kind == Kind::Ok && ops(event).contains(&append)
        };
        let Some(writer) = events.iter().position(wrote).filter(|writer| *writer != number) else {
            continue;
        };
        tried += 1;
        events[writer].kind = Kind::Fail;
        let finding = judge(&events, &asking(&[], &[]));
        assert!(kinds(&finding).contains(&"G1a"), "seed {seed}: {}", finding.why);
    }
    assert!(tried > 15, "{tried}");
}
