//! A store that is strictly serializable by construction, at sizes that no oracle follows, under every
//! trust: any anomaly is a false alarm. Then the same with one stale read, which must be caught.

use super::*;
use crate::rng::Rng;

/// Each transaction takes effect at one moment between its events.
pub(super) fn serial_store(rng: &mut Rng, txns: usize, processes: usize, keys: usize) -> History {
    let mut events: Vec<(u64, Event)> = Vec::new();
    let mut free = vec![0_u64; processes];
    let mut ids: Vec<u32> = (0..processes as u32).collect();
    let mut store = vec![0_i64; keys];
    let mut next = 0;
    for at in 0..txns as u64 {
        let thread = rng.below(processes as u64) as usize;
        let effect = 1_000 * (at + 1);
        let reach = 900 * processes as u64;
        let invoke = free[thread].max(effect.saturating_sub(1 + rng.below(reach)));
        if invoke >= effect {
            continue;
        }
        let complete = effect + 1 + rng.below(reach);
        let (mut asked, mut done) = (Vec::new(), Vec::new());
        let is_lost = rng.below(50) == 0;
        for _ in 0..1 + rng.below(4) {
            let key = rng.below(keys as u64) as usize;
            if rng.below(2) == 0 {
                next += 1;
                // An indeterminate one may or may not have taken effect.
                if !is_lost || at.is_multiple_of(2) {
                    store[key] = next;
                }
                asked.push(serde_json::json!(["w", key, next]));
                done.push(serde_json::json!(["w", key, next]));
            } else {
                asked.push(serde_json::json!(["r", key, null]));
                let seen = (store[key] != 0).then_some(store[key]);
                done.push(serde_json::json!(["r", key, seen]));
            }
        }
        let event = |kind, value: Vec<serde_json::Value>| Event {
            value: crate::op::Value::Json(Box::new(value.into())),
            ..Event::new(kind, Process::Client(ids[thread]), "txn")
        };
        events.push((invoke, event(EventKind::Invoke, asked.clone())));
        let (kind, value) = match is_lost {
            true => (EventKind::Info, asked),
            false => (EventKind::Ok, done),
        };
        events.push((complete, event(kind, value)));
        free[thread] = complete + 1;
        if is_lost {
            ids[thread] += processes as u32;
        }
    }
    events.sort_by_key(|(place, _)| *place);
    let numbered = events.into_iter().zip(0..);
    History::new(numbered.map(|((time, event), index)| Event { index, time, ..event }).collect())
}

fn trusts() -> Vec<ModelOptions> {
    let flags = |bits: u8| {
        options(serde_json::json!({
            "linearizable_keys": bits & 1 != 0,
            "sequential_keys": bits & 2 != 0,
            "wfr_keys": bits & 4 != 0,
        }))
    };
    let weak = |name: &str| options(serde_json::json!({"consistency_models": [name]}));
    let weak = ["causal", "read-atomic", "read-committed"].map(weak);
    (0..8).map(flags).chain(weak).collect()
}

#[test]
fn a_serial_store_is_never_accused() {
    for (seed, txns) in [(1, 20), (2, 200), (3, 2_000)] {
        for processes in [2, 8] {
            let keys = 2 + txns / 40;
            let history = serial_store(&mut Rng::from_seed(seed), txns, processes, keys);
            for options in trusts() {
                let finding = find(&history, &options);
                assert!(
                    finding.verdict != Verdict::Invalid,
                    "seed {seed}, {txns} transactions by {processes}: {finding:#?}"
                );
            }
        }
    }
}

#[test]
fn one_stale_read_is_caught_wherever_it_is() {
    for seed in 0..20 {
        let history = serial_store(&mut Rng::from_seed(seed), 300, 4, 5);
        let mut events = history.events().to_vec();
        let last = events[events.len() - 1].clone();
        let at = |event: &Event, index: u64| Event {
            index,
            time: last.time + index * 1_000_000,
            ..event.clone()
        };
        let length = events.len() as u64;
        for (line, offset) in [
            "90 invoke wx1000001",
            "90 ok wx1000001",
            "90 invoke wx1000002",
            "90 ok wx1000002",
            "91 invoke rx_",
            "91 ok rx1000001",
        ]
        .iter()
        .zip(0..)
        {
            let event = super::event(line, 0);
            events.push(at(&event, length + offset));
        }
        let trusted = options(serde_json::json!({"linearizable_keys": true}));
        let finding = find(&History::new(events), &trusted);
        assert_eq!(finding.verdict, Verdict::Invalid, "seed {seed}: {finding:#?}");
    }
}
