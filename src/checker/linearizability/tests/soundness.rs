//! Every algorithm against the oracle, in both directions, and against itself.

use super::oracle::{has_order, has_order_from};
use super::simulated::{Plan, Simulation, make_stale};
use super::*;
use crate::checker::linearizability::certificate::replay;
use crate::checker::linearizability::decide::{decide, until, weakened};
use crate::checker::linearizability::operation::{Effect, Operation};
use crate::checker::linearizability::relevance::{Observed, relevant};
use crate::checker::linearizability::search::{Searched, search};
use crate::checker::linearizability::shrink::{Shrunk, moves, shrink};
use crate::checker::linearizability::zones::{Zones, check, order};
use crate::op::{Event, Kind, Process, Value};
use crate::rng::Rng;

/// How often to try; `STORMGLASS_ROUNDS=50` tries fifty times as often, `STORMGLASS_SEEDS` alone six times:
/// then over a hundred thousand histories meet the oracle.
pub(super) fn rounds(usual: usize) -> usize {
    let often = if std::env::var_os("STORMGLASS_SEEDS").is_some() { 6 } else { 1 };
    let times = std::env::var("STORMGLASS_ROUNDS");
    usual * times.map_or(often, |times| times.parse().expect("a number"))
}

/// Small histories of all sorts.
fn small(rng: &mut Rng) -> Plan {
    Plan {
        operations: rng.between(2, 8) as usize,
        clients: rng.between(2, 4) as usize,
        domain: *rng.pick(&[0, 0, 2, 3]).expect("a domain"),
        cas: *rng.pick(&[0, 0, 30, 60]).expect("a share"),
        info: *rng.pick(&[0, 10, 40]).expect("a share"),
        lies: *rng.pick(&[0, 30, 60]).expect("a share"),
        initial_is_zero: rng.chance(0.5),
    }
}

fn model_of(plan: &Plan, evidence: bool) -> RegisterModel {
    let initial = if plan.initial_is_zero { Value::Int(0) } else { Value::Nil };
    RegisterModel { initial, failed_cas_is_evidence: evidence, ..cas_register() }
}

/// How often each answer came up, so that a test cannot pass for want of cases.
#[derive(Debug, Default)]
struct Seen {
    valid: usize,
    invalid: usize,
    by_zones: usize,
    by_search: usize,
}

#[test]
fn every_algorithm_agrees_with_the_oracle_on_small_histories() {
    let rng = Rng::from_seed(1);
    let mut seen = Seen::default();
    for round in 0..rounds(20_000) {
        let mut rng = rng.fork(&round.to_string());
        let plan = small(&mut rng);
        let evidence = rng.chance(0.3);
        let history = Simulation::run(plan, rng.fork("run"));
        let register = register(&history, &model_of(&plan, evidence));
        let expected = has_order(&register.operations);
        let told = || format!("round {round}, {plan:?}, evidence {evidence}: {register:#?}");
        assert!(expected || plan.lies > 0, "valid by construction: {}", told());
        if expected {
            seen.valid += 1;
        } else {
            seen.invalid += 1;
        }
        compare_search(&register, expected, &told);
        compare_evident(&register, expected, &told);
        if compare_zones(&register, expected, &told) {
            seen.by_zones += 1;
        } else {
            seen.by_search += 1;
        }
        let (decision, _) = decide(&register, &UNLIMITED);
        let valid = matches!(decision, Decision::Linearizable(_));
        assert_eq!(valid, expected, "router: {}", told());
        if let Decision::Violated { core, .. } = decision {
            compare_shrunk(&register, core, &told);
        }
    }
    let Seen { valid, invalid, by_zones, by_search } = seen;
    let least = [valid, invalid, by_zones, by_search].into_iter().min();
    assert!(least > Some(rounds(2_000)), "too few cases of a sort: {seen:?}");
}

/// With and without the open operations that cannot matter; with plenty of everything, and with hardly
/// any memory and patience.
fn compare_search(register: &Register, expected: bool, told: &impl Fn() -> String) {
    let scarce = Limits { memory: 1 << 12, patience: 1, ..UNLIMITED };
    for (operations, limits) in [
        (register.operations.clone(), UNLIMITED),
        (register.operations.clone(), scarce),
        (relevant(&register.operations, register.values), scarce),
    ] {
        let observed = Observed::of(&operations, register.values);
        match search(&operations, register.values, &observed, &limits).0 {
            Searched::Linearizable { order } => {
                assert!(expected, "search accepted: {}", told());
                assert_eq!(replay(&operations, &order), Ok(()), "{}", told());
            }
            Searched::Violated { .. } => assert!(!expected, "search refused: {}", told()),
            Searched::Undecided { why, .. } => panic!("{why}: {}", told()),
        }
    }
}

fn compare_evident(register: &Register, expected: bool, told: &impl Fn() -> String) {
    let Some(evident) = evident::find(&register.operations, register.values) else { return };
    assert!(!expected, "plainly wrong, but is not: {}", told());
    assert!(!has_order(&until(&register.operations, evident.seen.complete)), "{}", told());
    if let Some(proof) = evident.proof {
        assert!(!has_order(&proof), "{proof:?} is no proof: {}", told());
    }
}

/// Whether the zones had an answer.
fn compare_zones(register: &Register, expected: bool, told: &impl Fn() -> String) -> bool {
    let operations = relevant(&register.operations, register.values);
    match check(&operations, register.values, &Observed::of(&operations, register.values)) {
        Zones::Ambiguous => return false,
        Zones::Linearizable => {
            assert!(expected, "zones accepted: {}", told());
            let order = order::of(&operations, register.values).expect("zones have accepted");
            assert_eq!(replay(&operations, &order), Ok(()), "{}", told());
        }
        Zones::Violated(core) => {
            assert!(!expected, "zones refused: {}", told());
            assert!(!has_order(&core), "the zones' core has an order: {}", told());
        }
    }
    true
}

fn compare_shrunk(register: &Register, core: Vec<Operation>, told: &impl Fn() -> String) {
    assert!(!has_order(&core), "the core has an order: {}", told());
    let shrunk = shrink(&core, &UNLIMITED);
    assert!(shrunk.minimal && shrunk.operations.len() <= core.len(), "{}", told());
    refuse_shrunk(register, &shrunk, told);
    for chosen in shrunk.operations.iter().filter(|o| !o.is_open()) {
        let weaker = shrunk.operations.iter();
        let weaker: Vec<Operation> =
            weaker.filter_map(|o| if o == chosen { weakened(o) } else { Some(*o) }).collect();
        assert!(has_order(&weaker), "less would do than {:#?}: {}", shrunk.operations, told());
    }
}

fn refuse_shrunk(register: &Register, shrunk: &Shrunk, told: &impl Fn() -> String) {
    let states = if shrunk.from_any_state { register.values as u32 + 1 } else { 1 };
    for state in 0..states {
        let ordered = has_order_from(&shrunk.operations, state);
        assert!(!ordered, "the shrunk core has an order from {state}: {}", told());
    }
    // As it was recorded, with the operations that shrinking had opened closed again.
    let recorded: Vec<Operation> = register
        .operations
        .iter()
        .filter(|operation| shrunk.operations.iter().any(|o| o.origin == operation.origin))
        .copied()
        .collect();
    assert!(!has_order(&recorded), "the recorded core has an order: {}", told());
}

#[test]
fn every_shrinking_move_leaves_an_order_where_there_was_one() {
    let rng = Rng::from_seed(8);
    for round in 0..rounds(2_000) {
        let mut rng = rng.fork(&round.to_string());
        let plan = Plan { lies: 0, ..small(&mut rng) };
        let history = Simulation::run(plan, rng.fork("run"));
        let register = register(&history, &model_of(&plan, rng.chance(0.3)));
        let operations = &register.operations;
        let told = || format!("round {round}, {plan:?}: {register:#?}");
        let from_some_state = |rest: &[Operation]| {
            (0..=register.values as u32).any(|state| has_order_from(rest, state))
        };
        for operation in operations {
            let rest = moves::since(operations, operation.invoke);
            assert!(from_some_state(&rest), "since {}: {}", operation.invoke, told());
            let weaker: Vec<Operation> = operations
                .iter()
                .filter_map(|o| if o == operation { weakened(o) } else { Some(*o) })
                .collect();
            assert!(has_order(&weaker), "weaker {}: {}", operation.invoke, told());
            let before = until(operations, operation.complete);
            assert!(has_order(&before), "until {}: {}", operation.complete, told());
            for state in 0..=register.values as u32 {
                let swapped = moves::from_state(operations, state);
                let same = has_order(&swapped) == has_order_from(operations, state);
                assert!(same, "from {state}: {}", told());
            }
        }
    }
}

#[test]
fn cores_of_long_histories_shrink_to_what_the_oracle_can_refuse() {
    let rng = Rng::from_seed(7);
    let (mut cores, mut without_past) = (0, 0);
    for round in 0..rounds(150) {
        let mut rng = rng.fork(&round.to_string());
        let plan = Plan {
            operations: rng.between(30, 200) as usize,
            clients: rng.between(2, 6) as usize,
            info: *rng.pick(&[0, 2, 4]).expect("a share"),
            lies: 0,
            ..small(&mut rng)
        };
        let mut history = Simulation::run(plan, rng.fork("run"));
        make_stale(&mut history, &mut rng);
        let register = register(&history, &model_of(&plan, rng.chance(0.3)));
        let told = || format!("round {round}, {plan:?}");
        if let (Decision::Violated { core, .. }, _) = decide(&register, &UNLIMITED) {
            let shrunk = shrink(&core, &UNLIMITED);
            // A few violations take a long story, or longer to shrink than is allowed.
            if shrunk.operations.len() <= 12 {
                refuse_shrunk(&register, &shrunk, &told);
                cores += 1;
                without_past += usize::from(shrunk.from_any_state);
            }
        }
    }
    assert!(cores > rounds(60) && without_past > rounds(10), "{without_past} of {cores}");
}

#[test]
fn what_the_explanation_shows_proves_the_violation() {
    let rng = Rng::from_seed(2);
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for round in 0..rounds(6_000) {
        let mut rng = rng.fork(&round.to_string());
        let plan = Plan { lies: 40, ..small(&mut rng) };
        let model = model_of(&plan, rng.chance(0.2));
        let history = Simulation::run(plan, rng.fork("run"));
        let finding = finish(&history, model.clone());
        for anomaly in &finding.anomalies {
            *kinds.entry(anomaly.kind.clone()).or_default() += 1;
            let shown: Vec<Operation> = register(&history, &model)
                .operations
                .into_iter()
                .filter(|operation| anomaly.ops.contains(&u64::from(operation.invoke - 1)))
                .collect();
            assert_eq!(shown.len(), anomaly.ops.len());
            assert!(!has_order(&shown), "round {round}: {anomaly:#?} of {history:#?}");
            assert!(anomaly.from <= anomaly.to);
        }
    }
    assert!(kinds.values().all(|count| *count > 20), "{kinds:?}");
    assert_eq!(kinds.len(), 3, "{kinds:?}");
}

#[test]
fn long_histories_are_valid_by_construction_and_stale_ones_are_refused() {
    let rng = Rng::from_seed(3);
    for (clients, domain, cas, info) in
        [(3, 0, 0, 0), (20, 0, 0, 10), (10, 0, 40, 5), (5, 5, 0, 1), (5, 5, 40, 2), (4, 3, 20, 0)]
    {
        for round in 0..10 {
            let mut rng = rng.fork(&format!("{clients} {domain} {cas} {info} {round}"));
            let plan = Plan {
                operations: 300,
                clients,
                domain,
                cas,
                info,
                lies: 0,
                initial_is_zero: round % 2 == 0,
            };
            let mut history = Simulation::run(plan, rng.fork("run"));
            let finding = finish(&history, model_of(&plan, false));
            assert_eq!(finding.verdict, Verdict::Valid, "{plan:?} {round}: {}", finding.why);
            if make_stale(&mut history, &mut rng) {
                let finding = finish(&history, model_of(&plan, false));
                assert_eq!(finding.verdict, Verdict::Invalid, "{plan:?} {round}");
            } else {
                assert!(info > 0 || domain > 0, "{plan:?} {round}: nothing to lie about");
            }
        }
    }
}

/// The verdict of a history, changed in a way that must not matter.
fn verdict_after(history: &History, change: impl Fn(&mut Vec<Event>)) -> Verdict {
    let mut events = history.events().to_vec();
    change(&mut events);
    for (index, event) in events.iter_mut().enumerate() {
        event.index = index as u64;
    }
    finish(&History::new(events), cas_register()).verdict
}

#[test]
fn changes_that_do_not_matter_keep_the_verdict() {
    let rng = Rng::from_seed(4);
    let mut invalid = 0;
    for round in 0..400 {
        let mut rng = rng.fork(&round.to_string());
        let plan = Plan { operations: 30, lies: 5, initial_is_zero: false, ..small(&mut rng) };
        let history = Simulation::run(plan, rng.fork("run"));
        let expected = finish(&history, cas_register()).verdict;
        invalid += usize::from(expected == Verdict::Invalid);
        let same = |what: &str, change: &dyn Fn(&mut Vec<Event>)| {
            assert_eq!(verdict_after(&history, change), expected, "{what}, round {round}");
        };
        same("processes renamed", &|events| {
            each(events, |event| {
                if let Process::Client(id) = &mut event.process {
                    *id = 1_000 - *id;
                }
            })
        });
        same("times shifted", &|events| each(events, |event| event.time += 5_000));
        same("values renamed", &|events| each(events, |event| event.value = renamed(&event.value)));
        same("an open write that nobody saw", &|events| {
            let mut open = events[0].clone();
            (open.process, open.f, open.value) =
                (Process::Client(5_000), "write".into(), Value::Int(77_777));
            events.insert(rng_place(events.len(), round), open);
        });
        same("a valid key beside it", &|events| {
            for (kind, value) in [(Kind::Invoke, Value::Nil), (Kind::Ok, Value::Nil)] {
                let mut other = events[0].clone();
                (other.process, other.f, other.kind, other.value) =
                    (Process::Client(6_000), "read".into(), kind, value);
                other.key = Some(Key::Text(std::sync::Arc::new("other".into())));
                events.push(other);
            }
        });
        weaker_stays_valid(&history, expected);
        wider_stays_valid(&history, expected);
    }
    assert!((50..350).contains(&invalid), "{invalid} of 400 are invalid");
}

fn each(events: &mut [Event], change: impl Fn(&mut Event)) {
    events.iter_mut().for_each(change);
}

fn rng_place(length: usize, round: usize) -> usize {
    round * 7 % length
}

fn renamed(value: &Value) -> Value {
    match value {
        Value::Int(value) => Value::Int(1_000 - 3 * value),
        Value::Pair(from, to) => Value::Pair(1_000 - 3 * from, 1_000 - 3 * to),
        other => other.clone(),
    }
}

/// An operation that began earlier or ended later leaves every order that there was.
fn wider_stays_valid(history: &History, expected: Verdict) {
    if expected == Verdict::Invalid {
        return;
    }
    for place in 1..history.len() {
        let wider = verdict_after(history, |events| {
            let neighbours = (&events[place - 1], &events[place]);
            let apart = neighbours.0.process != neighbours.1.process;
            // A completion and an invocation after it change places; what was in order now overlaps.
            if apart && neighbours.0.kind != Kind::Invoke && neighbours.1.kind == Kind::Invoke {
                events.swap(place - 1, place);
            }
        });
        assert_eq!(wider, Verdict::Valid, "wider around event {place}");
    }
}

/// Dropping a read, or a write's completion, never makes a valid history invalid.
fn weaker_stays_valid(history: &History, expected: Verdict) {
    if expected == Verdict::Invalid {
        return;
    }
    let last_ok = |events: &[Event], f: &str| {
        events.iter().rposition(|event| event.kind == Kind::Ok && &*event.f == f)
    };
    for f in ["read", "write"] {
        let weaker = verdict_after(history, |events| {
            if let Some(position) = last_ok(events, f) {
                events[position].kind = Kind::Info;
            }
        });
        assert_eq!(weaker, Verdict::Valid, "the last {f} weakened");
    }
}

#[test]
fn threads_and_their_timing_change_nothing() {
    let rng = Rng::from_seed(5);
    let mut events: Vec<Event> = Vec::new();
    for key in 0..120 {
        let plan = Plan {
            operations: 200,
            clients: 5,
            domain: if key % 2 == 0 { 0 } else { 4 },
            cas: 20,
            info: 1,
            lies: u64::from(key % 10 == 0),
            initial_is_zero: false,
        };
        let mut history = Simulation::run(plan, rng.fork(&key.to_string())).events().to_vec();
        each(&mut history, |event| {
            event.key = Some(Key::Int(key));
            if let Process::Client(id) = &mut event.process {
                *id += key as u32 * 10_000;
            }
        });
        events.extend(history);
    }
    for (index, event) in events.iter_mut().enumerate() {
        event.index = index as u64;
    }
    let history = History::new(events);
    assert!(history.operations().len() >= OPERATIONS_WORTH_THREADS);
    let first = finish(&history, cas_register());
    assert_eq!(first.verdict, Verdict::Invalid);
    for _ in 0..3 {
        assert_eq!(finish(&history, cas_register()), first);
    }
}

/// However many are in flight, the time is looked at after a bounded number of looks at them.
#[test]
fn the_time_is_asked_for_often_where_steps_are_long() {
    let polls = std::sync::atomic::AtomicU32::new(0);
    let exhausted = || polls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 3;
    let crowd: u32 = 700;
    // Far too many ways to pass from value to value, and none that takes them all.
    let pass = |place: u32| Effect::Cas { from: place % 5, to: (place + 1 + place % 3) % 5 };
    let operations: Vec<Operation> = (0..crowd)
        .map(|place| Operation {
            effect: pass(place),
            invoke: place + 1,
            complete: 2 * crowd + place,
            origin: place,
        })
        .collect();
    let observed = Observed::of(&operations, 5);
    let limits = Limits { exhausted: &exhausted, ..UNLIMITED };
    let (found, steps) = search(&operations, 5, &observed, &limits);
    assert!(matches!(found, Searched::Undecided { why: "the time budget ended", .. }), "{found:?}");
    assert!(steps < 4 * (1 << 16) / u64::from(crowd), "{steps} steps");
}

#[test]
fn limits_give_unknown_and_say_how_far() {
    let plan = Plan {
        operations: 400,
        clients: 30,
        domain: 3,
        cas: 40,
        info: 10,
        lies: 0,
        initial_is_zero: false,
    };
    let history = Simulation::run(plan, Rng::from_seed(6));
    let register = register(&history, &with_evidence());
    let few = Limits { steps: 50, ..UNLIMITED };
    match decide(&register, &few).0 {
        Decision::Undecided { settled, why } => {
            assert!(settled > 0 && settled < 400, "{settled}");
            assert_eq!(why, "the step budget ended");
        }
        other => panic!("{other:?}"),
    }
    let gone = Budget { exhausted: &|| true, ..Budget::UNBOUNDED };
    let finding = Linearizability::new(cas_register()).finish(&history, &gone);
    assert_eq!(finding.verdict, Verdict::Unknown);
    assert!(finding.why.contains("the time budget ended"), "{}", finding.why);
}
