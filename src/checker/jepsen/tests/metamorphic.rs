//! What must not change a verdict, and what must.

use super::oracle::{Count, Log, Sets, ops, shown};
use super::random::{self, Store};
use super::*;
use crate::checker::jepsen::{COMMENTS, COUNTER, SET, SET_FULL};
use crate::op::{Kind, Process, Value};
use crate::rng::Rng;

/// The models whose stores can be made right, and one of these.
fn stores() -> Vec<(&'static ModelKind, Box<dyn Store>)> {
    let sets = || Box::new(Sets { next: 0, held: Vec::new(), wrong: 0.0, reads: 0.5 });
    vec![
        (&SET, sets()),
        (&SET_FULL, sets()),
        (&COUNTER, Box::new(Count { value: 0, wrong: 0.0 })),
        (&COMMENTS, Box::new(Log { next: 0, held: Vec::new(), wrong: 0.0 })),
    ]
}

fn right(seed: u64, steps: u64, mut then: impl FnMut(&ModelKind, &mut Rng, Vec<Event>)) {
    for (model, mut store) in stores() {
        let mut rng = Rng::from_seed(seed);
        let events = random::history(&mut rng, store.as_mut(), steps);
        then(model, &mut rng, events);
    }
}

fn of(model: &ModelKind, events: &[Event]) -> Finding {
    judge_events(model, &ModelOptions::default(), events)
}

/// The reads' answers and the arguments, with something done to each number.
fn renamed(value: &Value, to: impl Fn(i64) -> i64 + Copy) -> Value {
    match value {
        Value::Int(number) => Value::Int(to(*number)),
        list => match list.as_list() {
            Some(items) => Value::list(items.into_iter().map(to).collect()),
            None => list.clone(),
        },
    }
}

#[test]
fn a_right_store_is_never_invalid() {
    for seed in seeds(150) {
        right(seed, 60, |model, _, events| {
            let finding = of(model, &events);
            let text = || format!("seed {seed}\n{}\n{}", told(&finding), shown(&events));
            assert_ne!(finding.verdict, Verdict::Invalid, "{}", text());
        });
    }
}

#[test]
fn a_wider_interval_another_name_and_another_time_change_nothing() {
    for seed in seeds(100) {
        right(seed, 40, |model, rng, events| {
            let verdict = of(model, &events).verdict;
            let mut moved = events.clone();
            for event in &mut moved {
                event.time += 5_000_000_000;
                if let Process::Client(id) = &mut event.process {
                    *id += 100;
                }
            }
            assert_eq!(of(model, &moved).verdict, verdict);
            if model.name != "counter" {
                for event in &mut moved {
                    event.value = renamed(&event.value, |n| 7 * n + 100_000);
                }
                assert_eq!(of(model, &moved).verdict, verdict);
            }
            let wider = widened(rng, &events);
            assert_ne!(of(model, &wider).verdict, Verdict::Invalid, "{}", shown(&wider));
        });
    }
}

/// One completion swapped with the event after it, of another process: it lasts longer.
fn widened(rng: &mut Rng, events: &[Event]) -> Vec<Event> {
    let mut events = events.to_vec();
    for _ in 0..10 {
        let at = rng.below(events.len().max(2) as u64 - 1) as usize;
        let (Some(one), Some(next)) = (events.get(at), events.get(at + 1)) else { break };
        if one.kind != Kind::Invoke && next.process != one.process && next.kind == Kind::Invoke {
            events.swap(at, at + 1);
        }
    }
    for (index, event) in events.iter_mut().enumerate() {
        event.index = index as u64;
    }
    events
}

#[test]
fn an_acknowledged_element_that_the_last_reads_lack_is_always_caught() {
    let mut caught = 0;
    for seed in seeds(100) {
        right(seed, 60, |model, _, mut events| {
            if !["set", "set-full"].contains(&model.name) {
                return;
            }
            let ops = ops(&events);
            let Some(last) = ops.iter().filter(|op| op.is_ok("read")).max_by_key(|op| op.invoke)
            else {
                return;
            };
            let added = |op: &&super::oracle::Op| op.is_ok("add") && op.done() < last.invoke;
            let Some(add) = ops.iter().find(added) else { return };
            let Value::Int(gone) = add.asked else { panic!("{add:?}") };
            // From the last read to begin on, and in the last to complete.
            for read in ops.iter().filter(|op| op.is_ok("read") && op.done() >= last.done()) {
                let event = &mut events[read.done()];
                let seen = read.seen().into_iter().filter(|value| *value != gone).collect();
                event.value = Value::list(seen);
            }
            caught += 1;
            let finding = of(model, &events);
            assert_eq!(finding.verdict, Verdict::Invalid, "{}\n{}", model.name, shown(&events));
        });
    }
    assert!(caught > 50, "{caught}");
}

#[test]
fn what_is_told_stays_small_whatever_the_history() {
    let mut text = String::new();
    for value in 0..500 {
        text += &format!("1 0 invoke add {value}\n1 0 ok add {value}\n");
    }
    text += "2 0 invoke read nil\n3 0 ok read []";
    for model in [SET, SET_FULL] {
        let finding = judge(&model, &text);
        assert_eq!((finding.anomalies.len(), count(&finding, "lost")), (20, 500));
        assert!(told(&finding).len() < 10_000);
    }
}
