//! Random histories of a store that is nearly right.

use crate::op::{Event, Kind, MILLISECOND, Nanos, Process, Value};
use crate::rng::Rng;

/// A store: what its clients ask for, and what it answers.
pub(super) trait Store {
    fn ask(&mut self, rng: &mut Rng) -> (&'static str, Value);
    /// Its effect, if it has one, at a moment between invocation and completion.
    fn act(&mut self, rng: &mut Rng, f: &'static str, asked: &Value) -> Value;
}

struct Open {
    f: &'static str,
    asked: Value,
    answer: Option<Value>,
}

/// A history of so many steps. Of the operations some fail, some stay open.
pub(super) fn history(rng: &mut Rng, store: &mut dyn Store, steps: u64) -> Vec<Event> {
    let processes = rng.between(1, 4) as usize;
    let mut open: Vec<Option<Open>> = (0..processes).map(|_| None).collect();
    let mut ids: Vec<u32> = (0..processes as u32).collect();
    let mut events = Vec::new();
    let mut time: Nanos = MILLISECOND;
    for _ in 0..steps {
        time += rng.between(1, 3 * MILLISECOND);
        let thread = rng.below(processes as u64) as usize;
        let (kind, f, value) = match open[thread].take() {
            None => {
                let (f, asked) = store.ask(rng);
                open[thread] = Some(Open { f, asked: asked.clone(), answer: None });
                (Kind::Invoke, f, asked)
            }
            Some(mut op) if op.answer.is_none() && rng.chance(0.5) => {
                op.answer = Some(store.act(rng, op.f, &op.asked));
                open[thread] = Some(op);
                continue;
            }
            Some(op) => end(rng, store, op),
        };
        let process = Process::Client(ids[thread]);
        if kind == Kind::Info {
            ids[thread] += processes as u32;
        }
        let index = events.len() as u64;
        events.push(Event { index, time, value, ..Event::new(kind, process, f) });
    }
    events
}

fn end(rng: &mut Rng, store: &mut dyn Store, op: Open) -> (Kind, &'static str, Value) {
    let Open { f, asked, answer } = op;
    match (answer, rng.below(10)) {
        (None, 0..=3) => (Kind::Fail, f, asked),
        (_, 0) => (Kind::Info, f, asked),
        (Some(answer), _) => (Kind::Ok, f, answer),
        (None, _) => {
            let answer = store.act(rng, f, &asked);
            (Kind::Ok, f, answer)
        }
    }
}

/// A list as a value.
pub(super) fn list(items: &[i64]) -> Value {
    Value::list(items.to_vec())
}
