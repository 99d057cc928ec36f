//! A watch sees what a check of so much history would, at once or at the next look.

mod models;
mod worlds;

use std::time::{Duration, Instant};

use super::*;
use crate::checker::text::history;
use crate::checker::{Availability, Finding, Linearizability, RegisterModel, Verdict};

/// Reports every event of this name at once.
struct Naming(&'static str);

impl Checker for Naming {
    fn name(&self) -> &'static str {
        "naming"
    }

    fn shows(&self) -> Shows {
        Shows::AtOnce
    }

    fn observe(&mut self, event: &Event) -> Option<Anomaly> {
        (*event.f == *self.0).then(|| Anomaly {
            kind: "named".to_owned(),
            summary: format!("index {}", event.index),
            details: Vec::new(),
            key: None,
            nodes: Vec::new(),
            ops: Vec::new(),
            from: event.time,
            to: event.time,
            faults: None,
            cycle: None,
        })
    }

    fn finish(&mut self, _history: &History, _budget: &Budget) -> Finding {
        Finding::new("naming", Verdict::Valid, "")
    }
}

const STALE: &str = "
    0.1 0@n1 invoke write 1
    0.2 0@n1 ok write 1
    0.3 1@n2 invoke read nil
    0.4 1@n2 ok read nil
    0.5 1@n2 invoke poke nil";

/// Judges whole histories only.
struct AtTheEnd(Linearizability);

impl Checker for AtTheEnd {
    fn name(&self) -> &'static str {
        "at-the-end"
    }

    fn finish(&mut self, history: &History, budget: &Budget) -> Finding {
        self.0.finish(history, budget)
    }
}

fn registers() -> Vec<Box<dyn Checker>> {
    let of_the_model = Linearizability::new(RegisterModel::REGISTER);
    vec![Box::new(Availability), Box::new(AtTheEnd(of_the_model))]
}

#[test]
fn what_works_event_by_event_tells_at_once_and_only_then() {
    let mut watch = Watch::new(vec![Box::new(Naming("poke")), Box::new(Naming("read"))], 1 << 20);
    let seen: Vec<Option<String>> = history(STALE)
        .events()
        .iter()
        .map(|event| watch.observe(event).map(|violation| violation.summary))
        .collect();
    let index = |index: u64| Some(format!("index {index}"));
    assert_eq!(seen, [None, None, index(2), index(3), index(4)]);
    assert_eq!(watch.look(&|| false), None);
}

#[test]
fn the_others_tell_when_looked_at_what_a_check_of_so_much_would() {
    let mut watch = Watch::new(registers(), 1 << 20);
    let kinds: Vec<Option<String>> = history(STALE)
        .events()
        .iter()
        .take(4)
        .map(|event| {
            assert_eq!(watch.observe(event), None);
            watch.look(&|| false).map(|violation| violation.kind)
        })
        .collect();
    assert_eq!(kinds, [None, None, None, Some("stale-read".to_owned())]);
    assert_eq!(watch.look(&|| true), None);
}

#[test]
fn registers_are_judged_event_by_event() {
    let register = Box::new(Linearizability::new(RegisterModel::REGISTER));
    let mut watch = Watch::new(vec![register], 1 << 20);
    let seen: Vec<Option<String>> = history(STALE)
        .events()
        .iter()
        .take(4)
        .map(|event| watch.observe(event).map(|violation| violation.kind))
        .collect();
    assert_eq!(seen, [None, None, None, Some("nonlinearizable".to_owned())]);
}

#[test]
fn a_long_history_is_looked_at_now_and_then() {
    let mut watch = Inline::new(Watch::new(registers(), 1 << 20));
    let pair = history("0.1 0@n1 invoke write 1\n0.2 0@n1 ok write 1");
    let stale = history("0.1 1@n2 invoke read nil\n0.2 1@n2 ok read 7");
    let mut index = 0;
    let mut give = |events: &History| {
        let mut seen = None;
        for event in events.events() {
            seen = seen.or(watch.observe(&Event { index, time: index, ..event.clone() }));
            index += 1;
        }
        seen
    };
    assert_eq!(give(&stale), None);
    let seen = (1..2 * FEWEST_BETWEEN_LOOKS).find(|_| give(&pair).is_some());
    assert_eq!(seen, Some(FEWEST_BETWEEN_LOOKS / 2 - 1));
}

#[test]
fn a_history_is_kept_only_for_whom_it_is_needed_and_as_long_as_it_fits() {
    let mut at_once = Watch::new(vec![Box::new(Naming("poke")), Box::new(Availability)], 1 << 20);
    let mut whole = Watch::new(registers(), 2_000);
    let pair = history("0.1 0@n1 invoke write 1\n0.2 0@n1 ok write 1");
    for event in std::iter::repeat_n(pair.events(), 20).flatten() {
        at_once.observe(event);
        whole.observe(event);
    }
    assert_eq!((at_once.events(), at_once.bytes, at_once.is_full()), (40, 0, false));
    assert!(whole.is_full() && whole.history.is_empty() && whole.bytes < 2_000);
    assert_eq!(whole.look(&|| false), None);
}

#[test]
fn a_thread_of_its_own_sees_the_same() {
    let watch = || Watch::new(registers(), 1 << 20);
    let mut background = Background::start(watch).expect("a thread");
    assert_eq!(background.seen(), None);
    for event in history(STALE).events().iter().take(4) {
        background.observe(event);
    }
    let deadline = Instant::now() + Duration::from_secs(60);
    while background.seen().is_none() {
        assert!(Instant::now() < deadline, "nothing was seen");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(background.seen().map(|seen| &*seen.kind), Some("stale-read"));
}

#[test]
fn a_thread_that_has_seen_nothing_ends_with_its_owner() {
    let mut background = Background::start(|| Watch::new(Vec::new(), 1 << 20)).expect("a thread");
    background.observe(&history(STALE).events()[0]);
    drop(background);
}
