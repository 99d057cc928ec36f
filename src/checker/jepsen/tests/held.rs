//! What checkers that work while a run goes on keep of a long one: what is in flight, and what may still be
//! read.

use super::oracle::Count;
use super::random;
use super::*;
use crate::checker::Checker;
use crate::checker::jepsen::bank::Bank;
use crate::checker::jepsen::counter::Counter;
use crate::checker::jepsen::progress::Progress;
use crate::checker::jepsen::set_full::SetFull;
use crate::checker::jepsen::streaming::{Streaming, Workload};
use crate::op::{Kind, MILLISECOND, Process, Value};
use crate::rng::Rng;

const LONG: u64 = 200_000;

/// The most that was held at any time, in bytes.
fn held<W: Workload>(fresh: W, events: impl Iterator<Item = Event>) -> usize {
    let mut checker = Streaming::new(fresh, &ModelOptions::default()).expect("no options");
    events.fold(0, |most, event| {
        assert_eq!(checker.observe(&event), None);
        most.max(checker.bytes())
    })
}

/// Operations of five processes at the same time, each answered.
fn answered(f: &'static str, value: impl Fn(u64) -> Value) -> impl Iterator<Item = Event> {
    (0..LONG).map(move |index| {
        let (round, slot) = (index / 10, index % 10);
        let kind = if slot < 5 { Kind::Invoke } else { Kind::Ok };
        let process = Process::Client((slot % 5) as u32);
        let time = index * MILLISECOND;
        Event { index, time, value: value(round), ..Event::new(kind, process, f) }
    })
}

#[test]
fn a_counter_keeps_what_is_in_flight() {
    let mut rng = Rng::from_seed(1);
    let events = random::history(&mut rng, &mut Count { value: 0, wrong: 0.0 }, LONG);
    assert!(events.len() > 100_000);
    let most = held(Counter::default(), events.into_iter());
    assert!(most < 4_000, "{most} bytes");
}

#[test]
fn a_bank_keeps_its_accounts() {
    let balances = |round| Value::list(vec![(round % 50) as i64, 100 - (round % 50) as i64]);
    let most = held(Bank::default(), answered("read", balances));
    assert!(most < 4_000, "{most} bytes");
}

#[test]
fn a_set_keeps_its_elements_and_none_of_its_reads() {
    let elements: Vec<i64> = (0..100).collect();
    let adds = elements.iter().flat_map(|element| {
        [Kind::Invoke, Kind::Ok].map(|kind| {
            let value = Value::Int(*element);
            Event { value, ..Event::new(kind, Process::Client(9), "add") }
        })
    });
    let reads = answered("read", |_| Value::list(elements.clone())).take(20_000);
    let events = adds.chain(reads).zip(0..).map(|(event, index)| Event { index, ..event });
    let most = held(SetFull::default(), events);
    assert!(most < 60_000, "{most} bytes");
}

#[test]
fn progress_keeps_the_processes_at_work() {
    let mut progress = Progress::new(1_000 * MILLISECOND, &[]);
    let mut ids = [0, 1, 2, 3, 4];
    for event in answered("read", |_| Value::Nil) {
        let Process::Client(thread) = event.process else { panic!("{event:?}") };
        let process = Process::Client(ids[thread as usize]);
        // Now and then the answer never comes: the process ends, and another one takes its place.
        let is_lost = event.kind == Kind::Ok && event.index % 7 == 0;
        let kind = if is_lost { Kind::Info } else { event.kind };
        ids[thread as usize] += if is_lost { 5 } else { 0 };
        assert_eq!(progress.observe(&Event { kind, process, ..event }), None);
    }
    assert!(ids[0] > 10_000, "{ids:?}");
    assert!(progress.held() < 10_050, "{}", progress.held());
}
