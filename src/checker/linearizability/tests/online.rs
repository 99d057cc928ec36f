//! The online form against the oracle, event by event.

use super::oracle::has_order;
use super::simulated::{Plan, Simulation};
use super::soundness::rounds;
use super::*;
use crate::checker::linearizability::online::Online;
use crate::checker::text::history;
use crate::op::SECOND;
use crate::rng::Rng;

/// At which event the online form reports first.
fn reported(history: &History, model: &RegisterModel) -> Option<(usize, Anomaly)> {
    let mut online = Online::default();
    let mut events = history.events().iter().enumerate();
    events.find_map(|(place, event)| Some((place, online.observe(event, model)?)))
}

/// The first event after which the history so far has no order.
fn first_wrong(history: &History, model: &RegisterModel) -> Option<usize> {
    (0..history.len()).find(|last| {
        let so_far = History::new(history.events()[..=*last].to_vec());
        !has_order(&register(&so_far, model).operations)
    })
}

/// A few operations on values that are all different, of which one of these shares are compare-and-sets.
fn small(rng: &mut Rng, cas: &[u64]) -> Plan {
    Plan {
        operations: rng.between(2, 9) as usize,
        clients: rng.between(2, 4) as usize,
        domain: 0,
        cas: *rng.pick(cas).expect("a share"),
        info: *rng.pick(&[0, 10, 40]).expect("a share"),
        lies: *rng.pick(&[0, 30, 60]).expect("a share"),
        initial_is_zero: rng.chance(0.5),
    }
}

#[test]
fn it_reports_at_the_event_that_leaves_no_order_and_never_else() {
    let rng = Rng::from_seed(21);
    let (mut wrong, mut right) = (0, 0);
    for round in 0..rounds(10_000) {
        let mut rng = rng.fork(&round.to_string());
        let plan = small(&mut rng, &[0]);
        let initial = if plan.initial_is_zero { Value::Int(0) } else { Value::Nil };
        let model = RegisterModel { initial, ..RegisterModel::REGISTER };
        let history = Simulation::run(plan, rng.fork("run"));
        let found = reported(&history, &model);
        let expected = first_wrong(&history, &model);
        let told = || format!("round {round}, {plan:?}: {found:#?} of {history:#?}");
        assert_eq!(found.as_ref().map(|(place, _)| *place), expected, "{}", told());
        match expected {
            Some(_) => wrong += 1,
            None => right += 1,
        }
    }
    assert!(wrong.min(right) > rounds(1_000), "{wrong} wrong, {right} right");
}

#[test]
fn a_compare_and_set_is_a_read_and_a_write_and_what_is_right_is_never_reported() {
    let rng = Rng::from_seed(24);
    let (mut at_once, mut later) = (0, 0);
    for round in 0..rounds(10_000) {
        let mut rng = rng.fork(&round.to_string());
        let plan = small(&mut rng, &[20, 60]);
        let initial = if plan.initial_is_zero { Value::Int(0) } else { Value::Nil };
        let model = RegisterModel { initial, ..RegisterModel::CAS_REGISTER };
        let history = Simulation::run(plan, rng.fork("run"));
        let found = reported(&history, &model).map(|(place, _)| place);
        let expected = first_wrong(&history, &model);
        let told = || format!("round {round}, {plan:?}: {found:?}, {expected:?} of {history:#?}");
        assert!(found.is_none_or(|at| expected.is_some_and(|first| first <= at)), "{}", told());
        at_once += u64::from(found.is_some() && found == expected);
        later += u64::from(found != expected);
    }
    assert!(at_once > 8 * later, "{at_once} at once, {later} later or never");
}

/// Values that come again, by chance while the earlier one may still be there.
#[test]
fn where_values_repeat_it_never_reports_what_is_right() {
    let rng = Rng::from_seed(22);
    let mut found = 0;
    for round in 0..rounds(10_000) {
        let mut rng = rng.fork(&round.to_string());
        let plan = Plan {
            operations: rng.between(4, 12) as usize,
            clients: rng.between(1, 3) as usize,
            domain: rng.between(2, 5) as i64,
            cas: *rng.pick(&[0, 0, 0, 20]).expect("a share"),
            info: *rng.pick(&[0, 10]).expect("a share"),
            lies: *rng.pick(&[0, 10]).expect("a share"),
            initial_is_zero: rng.chance(0.5),
        };
        let initial = if plan.initial_is_zero { Value::Int(0) } else { Value::Nil };
        let model = RegisterModel { initial, ..RegisterModel::CAS_REGISTER };
        let history = Simulation::run(plan, rng.fork("run"));
        let Some((place, anomaly)) = reported(&history, &model) else { continue };
        found += 1;
        let so_far = History::new(history.events()[..=place].to_vec());
        let is_wrong = !has_order(&register(&so_far, &model).operations);
        assert!(is_wrong, "round {round}, {plan:?}: {anomaly:#?} of {history:#?}");
    }
    assert!(found > rounds(50), "{found}");
}

#[test]
fn a_long_history_that_is_right_is_never_reported_whatever_was_forgotten() {
    let rng = Rng::from_seed(25);
    for round in 0..rounds(60) {
        let mut rng = rng.fork(&round.to_string());
        let plan = Plan {
            operations: 400,
            clients: rng.between(2, 8) as usize,
            domain: 0,
            cas: *rng.pick(&[0, 20, 60]).expect("a share"),
            info: *rng.pick(&[0, 2, 20]).expect("a share"),
            lies: 0,
            initial_is_zero: true,
        };
        let model = RegisterModel { initial: Value::Int(0), ..RegisterModel::CAS_REGISTER };
        let history = Simulation::run(plan, rng.fork("run"));
        let found = reported(&history, &model);
        assert!(found.is_none(), "round {round}, {plan:?}: {found:#?}");
    }
}

#[test]
fn memory_is_what_is_in_flight_and_may_still_be_read() {
    let plan = Plan {
        operations: 20_000,
        clients: 10,
        domain: 0,
        cas: 20,
        info: 0,
        lies: 0,
        initial_is_zero: false,
    };
    let history = Simulation::run(plan, Rng::from_seed(23));
    let mut online = Online::default();
    for event in history.events() {
        assert_eq!(online.observe(event, &RegisterModel::CAS_REGISTER), None);
        assert!(online.remembered() < 400, "{} values", online.remembered());
    }
}

#[test]
fn what_it_reports_is_understood_at_seven_in_the_morning() {
    let stale = history(
        "1 0 invoke write 1\n2 0 ok write 1\n3 0 invoke write 2\n4 0 ok write 2
        5 1 invoke read nil\n6 1 ok read 1",
    );
    let (_, anomaly) = reported(&stale, &RegisterModel::REGISTER).expect("a stale read");
    assert_eq!(anomaly.kind, "nonlinearizable");
    assert_eq!(anomaly.ops, [4]);
    let races = history("1 0 invoke cas 0>1\n1 1 invoke cas 0>2\n2 0 ok cas 0>1\n3 1 ok cas 0>2");
    let zero = RegisterModel { initial: Value::Int(0), ..RegisterModel::CAS_REGISTER };
    let (place, anomaly) = reported(&races, &zero).expect("a value replaced twice");
    assert_eq!((place, anomaly.ops), (3, vec![0, 1]));
    assert_eq!(
        anomaly.summary,
        "process 0 set 0 to something else by 2.000 s, and so did process 1 by 3.000 s, though 0 was \
         there but once"
    );
    let concurrent = history(
        "1 2 invoke read nil\n1 0 invoke write 1\n2 0 ok write 1\n3 0 invoke write 2\n4 0 ok write 2
        5 1 invoke read nil\n6 1 ok read 1",
    );
    let (_, anomaly) = reported(&concurrent, &RegisterModel::REGISTER).expect("a stale read");
    assert_eq!((anomaly.kind.as_str(), anomaly.ops), ("stale-read", vec![1, 3, 5]));
    assert_eq!(
        anomaly.summary,
        "process 1 read 1 at 5.000 s, but 1 had been there by 2.000 s, and 2 came after it: an \
         operation of process 0 on 2 began at 3.000 s, and 2 was there by 4.000 s"
    );
}

/// What the online form reports of a plain register, event by event.
fn all_reported(text: &str) -> Vec<(usize, Anomaly)> {
    let history = history(text);
    let mut online = Online::default();
    let events = history.events().iter().enumerate();
    events
        .filter_map(|(place, event)| {
            Some((place, online.observe(event, &RegisterModel::REGISTER)?))
        })
        .collect()
}

#[test]
fn a_failed_write_was_never_there() {
    // Read before it fails: the failure is what leaves no order.
    let seen =
        all_reported("1 0 invoke write 1\n2 1 invoke read nil\n3 1 ok read 1\n4 0 fail write 1");
    let [(3, anomaly)] = seen.as_slice() else { panic!("{seen:#?}") };
    assert_eq!(anomaly.ops, [0, 1]);
    assert_eq!(
        anomaly.summary,
        "the write of 1 by process 0 failed at 4.000 s, but 1 had been read by 3.000 s"
    );
    // Read after it failed.
    let late =
        all_reported("1 0 invoke write 1\n2 0 fail write 1\n3 1 invoke read nil\n4 1 ok read 1");
    let [(3, anomaly)] = late.as_slice() else { panic!("{late:#?}") };
    assert_eq!(anomaly.ops, [2]);
    // Not read: it may be written once more, and then be read.
    let again = all_reported(
        "1 0 invoke write 1\n2 0 fail write 1\n3 0 invoke write 1\n4 0 ok write 1
        5 1 invoke read nil\n6 1 ok read 1",
    );
    assert_eq!(again, []);
}

#[test]
fn a_key_is_reported_once_and_then_no_more_remembered() {
    let stale = history(
        "1 0 invoke write 1\n2 0 ok write 1\n3 1 invoke read nil\n4 1 ok read nil
        5 1 invoke read nil\n6 1 ok read 9\n7 0 invoke write 2\n8 0 ok write 2
        9 1 invoke read nil\n10 1 ok read 1",
    );
    let mut online = Online::default();
    let mut reported = Vec::new();
    for (place, event) in stale.events().iter().enumerate() {
        reported.extend(online.observe(event, &RegisterModel::REGISTER).map(|_| place));
    }
    assert_eq!((reported, online.remembered()), (vec![3], 0));
}

#[test]
fn a_nil_says_nothing_only_where_it_may_stand_for_any_value() {
    let lines = "1 0 invoke write 1\n2 0 ok write 1\n3 1 invoke read nil\n4 1 ok read nil";
    let wildcard = RegisterModel { nil_is_wildcard: true, ..RegisterModel::REGISTER };
    assert_eq!(reported(&history(lines), &wildcard), None);
    assert!(reported(&history(lines), &RegisterModel::REGISTER).is_some());
    let stale = lines.replace("ok read nil", "ok read 7");
    assert!(reported(&history(&stale), &wildcard).is_some());
}

#[test]
fn the_initial_value_read_too_late_was_there_at_the_beginning() {
    let told = all_reported(
        "0 1 invoke read nil\n1 0 invoke write 1\n2 0 ok write 1
        3 2 invoke read nil\n4 2 ok read nil",
    );
    let [(4, anomaly)] = told.as_slice() else { panic!("{told:#?}") };
    assert_eq!(anomaly.ops, [1, 3]);
    assert_eq!((anomaly.from, anomaly.to), (0, 4 * SECOND));
    assert_eq!(
        anomaly.summary,
        "process 2 read nil at 3.000 s, but nil had been there by the beginning, and 1 came after \
         it: an operation of process 0 on 1 began at 1.000 s, and 1 was there by 2.000 s"
    );
}
