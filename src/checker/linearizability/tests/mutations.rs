//! Good histories with one thing wrong in them, which must be found; and that the oracle agrees that it is.

use super::oracle::has_order;
use super::simulated::{Plan, Simulation};
use super::soundness::rounds;
use super::*;
use crate::rng::Rng;

/// A way to spoil a history; false where there is nothing to spoil.
type Mutation = fn(&mut Vec<Event>, &mut Rng) -> bool;

const MUTATIONS: [(&str, Mutation); 4] = [
    ("two reads swap their results", |events, rng| swap_reads(events, rng)),
    ("an acknowledged write is dropped", drop_write),
    ("an old value is read again", duplicate_read),
    ("a read comes before the write of its value", reorder),
];

/// Positions of the `ok` reads of something, with their values.
fn reads(events: &[Event]) -> Vec<(usize, Value)> {
    let is_read = |event: &Event| event.kind == Kind::Ok && &*event.f == "read";
    let reads = events.iter().enumerate().filter(|(_, event)| is_read(event));
    let reads = reads.filter(|(_, event)| event.value != Value::Nil);
    reads.map(|(place, event)| (place, event.value.clone())).collect()
}

fn swap_reads(events: &mut [Event], rng: &mut Rng) -> bool {
    let reads = reads(events);
    let (Some(one), Some(other)) = (rng.pick(&reads), rng.pick(&reads)) else { return false };
    events[one.0].value = other.1.clone();
    events[other.0].value = one.1.clone();
    one.1 != other.1
}

/// The client was told that its write happened, and what others saw of it is gone.
fn drop_write(events: &mut Vec<Event>, rng: &mut Rng) -> bool {
    let reads = reads(events);
    let Some((_, lost)) = rng.pick(&reads) else { return false };
    events.retain(|event| event.value != *lost || &*event.f != "write");
    true
}

fn duplicate_read(events: &mut Vec<Event>, rng: &mut Rng) -> bool {
    let reads = reads(events);
    let (Some(first), Some(last)) = (reads.first(), reads.last()) else { return false };
    let process = Process::Client(9_000 + rng.below(9) as u32);
    for kind in [Kind::Invoke, Kind::Ok] {
        let mut again = events[first.0].clone();
        (again.process, again.kind) = (process, kind);
        events.push(again);
    }
    first.1 != last.1
}

fn reorder(events: &mut Vec<Event>, rng: &mut Rng) -> bool {
    let reads = reads(events);
    let Some((place, value)) = rng.pick(&reads).cloned() else { return false };
    let process = events[place].process;
    let invoked = events[..place].iter().rposition(|event| event.process == process);
    let written = events.iter().position(|event| {
        event.kind == Kind::Invoke && &*event.f == "write" && event.value == value
    });
    let (Some(invoked), Some(written)) = (invoked, written) else { return false };
    if invoked < written {
        return false;
    }
    let completion = events.remove(place);
    let mut invocation = events.remove(invoked);
    let mut completion = completion;
    let fresh = Process::Client(9_500);
    (invocation.process, completion.process) = (fresh, fresh);
    events.splice(written..written, [invocation, completion]);
    true
}

#[test]
fn what_was_spoilt_is_found_and_nothing_else() {
    let rng = Rng::from_seed(31);
    let mut caught = [0; MUTATIONS.len()];
    for round in 0..rounds(2_500) {
        let mut rng = rng.fork(&round.to_string());
        let plan = Plan {
            operations: rng.between(4, 9) as usize,
            clients: rng.between(1, 3) as usize,
            domain: 0,
            cas: 0,
            info: 0,
            lies: 0,
            initial_is_zero: false,
        };
        let history = Simulation::run(plan, rng.fork("run"));
        for (number, (what, mutate)) in MUTATIONS.iter().enumerate() {
            let mut events = history.events().to_vec();
            if !mutate(&mut events, &mut rng) {
                continue;
            }
            for (index, event) in events.iter_mut().enumerate() {
                event.index = index as u64;
            }
            let spoilt = History::new(events);
            let wrong = !has_order(&register(&spoilt, &cas_register()).operations);
            let found = finish(&spoilt, cas_register()).verdict == Verdict::Invalid;
            assert_eq!(found, wrong, "{what}, round {round}: {spoilt:#?}");
            caught[number] += usize::from(wrong);
        }
    }
    assert!(caught.iter().all(|times| *times > rounds(200)), "{caught:?}");
}
