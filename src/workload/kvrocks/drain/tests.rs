//! The end of a run in worlds that settle late, refuse, or whose replicas lag.

use std::collections::BTreeSet;

use serde_json::json;

use super::super::tests::workload;
use super::*;
use crate::client::kvrocks::ClientKind;
use crate::generator::{Asked, Reply, Simulated, Threads, limit, sequence, simulate};
use crate::op::{Key, Outcome};
use crate::rng::Rng;
use crate::workload::Workload;

const OPERATIONS: usize = 100;

fn topology(is_migrating: bool) -> Value {
    let slot = if is_migrating { json!("1") } else { json!(null) };
    let shard = json!({
        "nodes": [], "slot_ranges": [], "target_shard_index": 1, "migrating_slot": slot
    });
    Value::Json(Box::new(json!({ "version": 1, "shards": [shard] })))
}

/// A hundred operations, then the drain in this world; the drain's events.
fn drained(yaml: &str, mut world: impl FnMut(&Asked) -> Outcome) -> Vec<Event> {
    let workload = workload(yaml);
    let work = limit(OPERATIONS as u64, workload.source(Rng::from_seed(1)));
    let mut all = sequence(vec![Box::new(work), workload.drain()]);
    let mut count = 0;
    let run: Simulated = simulate(&mut all, Threads::with_operators(24, 4, 2), |asked| {
        count += 1;
        let outcome = match count > OPERATIONS {
            false => Outcome::Ok(Value::Nil),
            true => world(asked),
        };
        Some(Reply { after: MILLISECOND, outcome })
    });
    assert!(!run.stuck);
    let begins = run.events.iter().filter(|event| event.kind == Kind::Invoke);
    let first = begins.clone().nth(OPERATIONS).expect("a drain").index;
    run.events[first as usize..].to_vec()
}

fn fine(asked: &Asked) -> Outcome {
    match asked.f {
        "topology" => Outcome::Ok(topology(false)),
        _ => Outcome::Ok(Value::Int(1)),
    }
}

fn invoked<'a>(events: &'a [Event], f: &'a str) -> impl Iterator<Item = &'a Event> {
    events.iter().filter(move |event| event.kind == Kind::Invoke && &*event.f == f)
}

#[test]
fn every_key_is_read_by_somebody_who_finds_it_and_every_node_dumped() {
    let workload = workload("{}");
    let events = drained("{ops_per_key: 5}", fine);
    assert_eq!(invoked(&events, "topology").count(), 1);
    let keys: BTreeSet<&Key> = invoked(&events, "read").filter_map(|e| e.key.as_ref()).collect();
    assert!(keys.len() > 15, "{keys:?}");
    assert_eq!(invoked(&events, "read").count(), keys.len());
    for read in invoked(&events, "read") {
        let Process::Client(process) = read.process else { panic!("{read:?}") };
        assert_ne!(workload.kind(process as usize % 26, 4), ClientKind::Pinned);
    }
    let nodes: Vec<_> = invoked(&events, "dump").filter_map(|event| event.node).collect();
    assert_eq!(nodes.len(), 4);
    assert_eq!(nodes.iter().collect::<BTreeSet<_>>().len(), 4);
    let last_read = events.iter().rfind(|event| &*event.f == "read").expect("reads");
    let first_dump = invoked(&events, "dump").next().expect("dumps");
    assert_eq!(first_dump.time, last_read.time + CATCH_UP);
}

#[test]
fn it_waits_for_migrations_to_end_but_not_for_ever() {
    let mut looks = 0;
    let events = drained("{}", |asked| match asked.f {
        "topology" => {
            looks += 1;
            Outcome::Ok(topology(looks < 5))
        }
        _ => fine(asked),
    });
    assert_eq!(invoked(&events, "topology").count(), 5);
    let stuck = drained("{}", |asked| match asked.f {
        "topology" => Outcome::Fail("307".into()),
        _ => fine(asked),
    });
    assert_eq!(invoked(&stuck, "topology").count(), MOST_LOOKS as usize);
    assert_eq!(invoked(&stuck, "dump").count(), 4);
}

#[test]
fn nodes_of_a_shard_are_asked_again_until_they_agree_but_not_for_ever() {
    let mut lagging = 9;
    let mut world = |asked: &Asked| match asked.f {
        "dump" => {
            lagging -= i32::from(lagging > 0);
            let value = if lagging > 0 { json!({ "1": lagging }) } else { json!({ "1": 7 }) };
            Outcome::Ok(Value::Json(Box::new(value)))
        }
        _ => fine(asked),
    };
    // Two rounds of four nodes differ, the third round does not.
    assert_eq!(invoked(&drained("{}", &mut world), "dump").count(), 12);
    let mut count = 0;
    let never = drained("{}", |asked| match asked.f {
        "dump" => {
            count += 1;
            Outcome::Ok(Value::Json(Box::new(json!({ "1": count }))))
        }
        _ => fine(asked),
    });
    let times = || invoked(&never, "dump").map(|event| event.time);
    let length = times().max().unwrap_or(0) - times().min().unwrap_or(0);
    assert!((AGREE_WITHIN..AGREE_WITHIN + SECOND).contains(&length), "{length}");
    // What nodes of different shards hold, or only one told of, need not agree.
    let mut node = 0;
    let apart = drained("{}", |asked| match asked.f {
        "dump" => {
            node += 1;
            Outcome::Ok(Value::Json(Box::new(
                json!({ "1": (node - 1) / 2, format!("k{node}"): 0 }),
            )))
        }
        _ => fine(asked),
    });
    assert_eq!(invoked(&apart, "dump").count(), 4);
}

#[test]
fn what_is_refused_is_tried_again_and_given_up_in_the_end() {
    let sound = invoked(&drained("{}", fine), "read").count();
    let never = drained("{}", |asked| match asked.f {
        "read" => Outcome::Fail("TRYAGAIN".into()),
        _ => fine(asked),
    });
    let (first, last) = (invoked(&never, "read").next(), invoked(&never, "read").last());
    let asked = last.expect("reads").time - first.expect("reads").time;
    assert!((PATIENCE..PATIENCE + SECOND).contains(&asked), "for {asked} ns");
    assert!(invoked(&never, "read").count() > sound * ATTEMPTS as usize);
    let pinned = drained("{clients: {pinned: 1}}", fine);
    assert_eq!(invoked(&pinned, "read").count(), sound, "even where nobody follows");
}
