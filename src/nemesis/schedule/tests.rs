//! Schedules, driven by hand.

mod roles;

use super::*;
use crate::cluster::{NodeState, NodeView, Role, View};
use crate::duration::Span;
use crate::nemesis::fault::{FaultKind, Order};
use crate::nemesis::target::Target;
use crate::nemesis::trigger::{Pace, Times, ViewChange, When};
use crate::op::{Kind, MILLISECOND, SECOND, Value};

fn fault(after: u64, lasts: u64, every: u64) -> Fault {
    Fault {
        target: Some(Target::ONE),
        after: Span::seconds(after),
        lasts: Span::seconds(lasts),
        every: (every > 0).then(|| Span::seconds(every)),
        ..Fault::new(FaultKind::Kill)
    }
}

fn schedule(faults: &[Fault], turns: &[(&str, Turns)], end: u64) -> Schedule {
    let turns = turns.iter().map(|(name, turns)| ((*name).to_owned(), *turns)).collect();
    let entries = faults.iter().map(|fault| Entry { nemesis: "n", fault });
    Schedule::new(entries, &turns, Role::Zookeeper, end * SECOND, &Rng::from_seed(7))
}

/// All steps with their times, each carried out at once.
fn steps(schedule: &mut Schedule, from: Nanos) -> Vec<(u64, Step)> {
    let (mut now, mut steps) = (from, Vec::new());
    loop {
        match schedule.next(now) {
            Due::Do(step) => {
                steps.push((now / SECOND, step));
                let (Step::Begin { fault } | Step::End { fault }) = step;
                schedule.carried_out(now, fault);
            }
            Due::Wait(Some(at)) => now = at,
            Due::Wait(None) => return steps,
        }
    }
}

fn seen(time: Nanos, leaders: &[(&str, u64)]) -> Event {
    let node = |(name, epoch): &(&str, u64)| {
        let serving = NodeView::new(Role::Zookeeper, NodeState::Serving, "");
        let view = NodeView { leads: true, epoch: Some(*epoch), ..serving };
        ((*name).into(), view)
    };
    let view = View { nodes: leaders.iter().map(node).collect() };
    told(time, &FaultRecord::View { view })
}

fn told(time: Nanos, record: &FaultRecord) -> Event {
    Event {
        index: 0,
        time,
        kind: Kind::Info,
        process: Process::Nemesis,
        node: None,
        f: "x".into(),
        key: None,
        value: record.to_value(),
        error: None,
        route: None,
    }
}

#[test]
fn a_fault_repeats_and_the_last_one_ends_within_the_run() {
    let (begin, end) = (Step::Begin { fault: 0 }, Step::End { fault: 0 });
    assert_eq!(
        steps(&mut schedule(&[fault(5, 10, 20)], &[], 60), 0),
        [(5, begin), (15, end), (25, begin), (35, end), (45, begin), (55, end)]
    );
}

#[test]
fn two_faults_overlap_and_without_every_there_is_one_beginning() {
    let found = steps(&mut schedule(&[fault(1, 10, 0), fault(5, 2, 0)], &[], 60), 0);
    let order: Vec<u64> = found.iter().map(|(at, _)| *at).collect();
    assert_eq!(order, [1, 5, 7, 11]);
    assert_eq!(found[1].1, Step::Begin { fault: 1 });
}

#[test]
fn a_run_shorter_than_the_first_fault_still_sees_it() {
    assert_eq!(steps(&mut schedule(&[fault(5, 10, 20)], &[], 8), 0).len(), 2);
}

#[test]
fn a_step_under_way_delays_the_next_and_loses_none() {
    let mut schedule = schedule(&[fault(1, 2, 10)], &[], 20);
    assert_eq!(schedule.next(2 * SECOND), Due::Do(Step::Begin { fault: 0 }));
    assert_eq!(schedule.next(9 * SECOND), Due::Wait(None), "it is being carried out");
    schedule.carried_out(9 * SECOND, 0);
    assert_eq!(schedule.next(9 * SECOND), Due::Wait(Some(11 * SECOND)), "it lasts as it should");
    assert_eq!(schedule.next(11 * SECOND), Due::Do(Step::End { fault: 0 }));
}

#[test]
fn jitter_delays_each_beginning_and_shifts_no_later_one() {
    let mut jittered = fault(10, 1, 10);
    jittered.jitter = Some(Span::seconds(5));
    let mut schedule = schedule(&[jittered], &[], 300);
    let begins: Vec<u64> = steps(&mut schedule, 0)
        .into_iter()
        .filter(|(_, step)| matches!(step, Step::Begin { .. }))
        .map(|(at, _)| at)
        .collect();
    assert!(begins.len() >= 28);
    for (number, at) in begins.iter().enumerate() {
        let planned = 10 * (number as u64 + 1);
        assert!((planned..=planned + 5).contains(at), "{begins:?}");
    }
    assert!(begins.iter().any(|at| at % 10 != 0), "nothing was late: {begins:?}");
}

#[test]
fn a_momentary_fault_has_no_end() {
    let mut momentary = fault(1, 0, 5);
    momentary.fault = FaultKind::Resign;
    let found = steps(&mut schedule(&[momentary], &[], 12), 0);
    let begin = Step::Begin { fault: 0 };
    assert_eq!(found, [(1, begin), (6, begin), (11, begin)]);
}

fn when(when: When, lasts: u64) -> Fault {
    Fault { when: Some(when), ..fault(0, lasts, 0) }
}

#[test]
fn a_trigger_fires_as_often_as_asked_and_after_its_delay() {
    let then = Span(std::time::Duration::from_millis(300));
    let waits = When { log: Some("x".into()), then, times: Times::Count(2), ..When::default() };
    let mut schedule = schedule(&[when(waits, 1)], &[], 60);
    assert_eq!(schedule.next(0), Due::Wait(None));
    for at in [5 * SECOND, 9 * SECOND, 20 * SECOND] {
        schedule.fire(0, Cause { happened: at - 1, ..Cause::now(at, "a line") });
        let found = steps(&mut schedule, at);
        assert_eq!(found.len(), if at < 20 * SECOND { 2 } else { 0 }, "at {at}");
    }
    assert_eq!(schedule.take_cause(0).map(|cause| cause.learned), Some(9 * SECOND));
    assert_eq!(schedule.take_cause(0), None, "it is told once");
}

#[test]
fn outcomes_of_the_named_operation_fire_and_others_do_not() {
    let waits = When { outcome: Some(Kind::Info), f: Some("write".into()), ..When::default() };
    let mut schedule = schedule(&[when(waits, 1)], &[], 60);
    let event = |kind, f: &str| Event {
        kind,
        process: Process::Client(3),
        f: f.into(),
        value: Value::Nil,
        ..told(SECOND, &FaultRecord::Interrupted { count: 1 })
    };
    for (kind, f) in [(Kind::Ok, "write"), (Kind::Info, "read"), (Kind::Invoke, "write")] {
        schedule.observe(&event(kind, f));
        assert_eq!(schedule.next(2 * SECOND), Due::Wait(None), "{f} {kind:?}");
    }
    schedule.observe(&event(Kind::Info, "write"));
    assert_eq!(schedule.next(2 * SECOND), Due::Do(Step::Begin { fault: 0 }));
}

#[test]
fn a_new_leader_or_epoch_fires_and_the_first_view_does_not() {
    let waits = When { view: Some(ViewChange::Leader), ..When::default() };
    let waits = When { times: Times::Always, ..waits };
    for (next, fires) in [(("a", 1), false), (("a", 2), true), (("b", 2), true)] {
        let mut schedule = schedule(&[when(waits.clone(), 1)], &[], 60);
        assert!(schedule.wants_views());
        schedule.observe(&seen(SECOND, &[("a", 1)]));
        assert_eq!(schedule.next(SECOND), Due::Wait(None), "the first view is no change");
        schedule.observe(&seen(2 * SECOND, &[next]));
        let began = schedule.next(2 * SECOND) == Due::Do(Step::Begin { fault: 0 });
        assert_eq!(began, fires, "{next:?}");
    }
}

#[test]
fn the_state_of_a_node_and_a_phase_fire() {
    use crate::nemesis::record::Phase;
    let waits = When { phase: Some(Phase::Main), ..When::default() };
    let mut schedule = schedule(&[when(waits, 1)], &[], 60);
    schedule.observe(&told(0, &FaultRecord::Phase { phase: Phase::Up }));
    assert_eq!(schedule.next(0), Due::Wait(None));
    schedule.observe(&told(0, &FaultRecord::Phase { phase: Phase::Main }));
    assert_eq!(schedule.next(0), Due::Do(Step::Begin { fault: 0 }));
}

fn paced(per_minute: u32, at_most: u32) -> Fault {
    let pace = Pace { per_minute, at_least: 1, at_most };
    Fault { pace: Some(pace), target: Some(Target::LEADER), ..fault(10, 2, 0) }
}

/// The next strike, by which the leader loses its office, and its end; in seconds.
fn strike(schedule: &mut Schedule, from: Nanos) -> (u64, u64) {
    let mut step = |mut now: Nanos, wanted: Step| {
        while let Due::Wait(Some(at)) = schedule.next(now) {
            now = at;
        }
        let (Step::Begin { fault } | Step::End { fault }) = wanted;
        schedule.carried_out(now, fault);
        schedule.observe(&seen(now, &[]));
        now
    };
    let begin = step(from, Step::Begin { fault: 0 });
    let end = step(begin, Step::End { fault: 0 });
    (begin / SECOND, end / SECOND)
}

#[test]
fn a_paced_fault_strikes_each_reign_once_at_even_distances() {
    let mut schedule = schedule(&[paced(6, 60)], &[], 600);
    schedule.observe(&seen(SECOND, &[("a", 1)]));
    assert_eq!(schedule.next(SECOND), Due::Wait(Some(10 * SECOND)));
    assert_eq!(strike(&mut schedule, SECOND), (10, 12));
    assert_eq!(schedule.next(13 * SECOND), Due::Wait(None), "nobody leads");
    schedule.observe(&seen(13 * SECOND, &[("b", 2)]));
    assert_eq!(schedule.next(13 * SECOND), Due::Wait(Some(20 * SECOND)));
    let cause = schedule.take_cause(0).expect("a cause");
    assert_eq!(cause.by, "a leads in epoch 1");
}

#[test]
fn a_late_reign_is_struck_at_once_and_the_loop_catches_up_within_bounds() {
    let mut schedule = schedule(&[paced(6, 12)], &[], 600);
    schedule.observe(&seen(SECOND, &[("a", 1)]));
    strike(&mut schedule, SECOND);
    schedule.observe(&seen(45 * SECOND, &[("b", 2)]));
    assert_eq!(strike(&mut schedule, 45 * SECOND), (45, 47));
    schedule.observe(&seen(48 * SECOND, &[("c", 3)]));
    assert_eq!(schedule.next(48 * SECOND), Due::Wait(Some(50 * SECOND)), "12 a minute at most");
}

#[test]
fn of_two_that_claim_to_lead_the_one_of_the_higher_epoch_counts() {
    let mut schedule = schedule(&[paced(6, 60)], &[], 600);
    schedule.observe(&seen(SECOND, &[("a", 1)]));
    strike(&mut schedule, SECOND);
    schedule.observe(&seen(14 * SECOND, &[("a", 1), ("b", 2)]));
    schedule.observe(&seen(15 * SECOND, &[("b", 2)]));
    assert_eq!(strike(&mut schedule, 15 * SECOND), (20, 22));
    assert_eq!(schedule.next(40 * SECOND), Due::Wait(None), "this reign has been struck");
    schedule.observe(&seen(41 * SECOND, &[("b", 2)]));
    assert_eq!(strike(&mut schedule, 41 * SECOND), (41, 43), "it kept its office");
}

#[test]
fn a_strike_that_found_nobody_is_tried_again_soon() {
    let mut schedule = schedule(&[paced(6, 60)], &[], 600);
    schedule.observe(&seen(SECOND, &[("a", 1)]));
    assert_eq!(schedule.next(10 * SECOND), Due::Do(Step::Begin { fault: 0 }));
    schedule.skipped(10 * SECOND, 0);
    // The pace itself allows one a second.
    let Due::Wait(Some(at)) = schedule.next(10 * SECOND) else { panic!("it gave up") };
    assert!(at > 10 * SECOND + 100 * MILLISECOND && at <= 11 * SECOND, "{at}");
}

fn in_turns(order: Order) -> Turns {
    Turns { order, after: Span::seconds(4), quiet: Span::seconds(3) }
}

#[test]
fn a_sequence_goes_round_with_quiet_between() {
    let faults = [fault(0, 2, 0), fault(0, 1, 0)];
    let mut schedule = schedule(&faults, &[("n", in_turns(Order::Sequence))], 20);
    let begins: Vec<(u64, Step)> = steps(&mut schedule, 0)
        .into_iter()
        .filter(|(_, step)| matches!(step, Step::Begin { .. }))
        .collect();
    let [one, two] = [Step::Begin { fault: 0 }, Step::Begin { fault: 1 }];
    assert_eq!(begins, [(4, one), (9, two), (13, one), (18, two)]);
}

#[test]
fn a_skipped_turn_passes_on() {
    let faults = [fault(0, 2, 0), fault(0, 1, 0)];
    let mut schedule = schedule(&faults, &[("n", in_turns(Order::Sequence))], 20);
    assert_eq!(schedule.next(4 * SECOND), Due::Do(Step::Begin { fault: 0 }));
    schedule.skipped(5 * SECOND, 0);
    assert_eq!(schedule.next(8 * SECOND), Due::Do(Step::Begin { fault: 1 }));
}

#[test]
fn a_random_order_draws_by_weight_and_repeats_with_its_seed() {
    let weighted = |weight| Fault { weight: Some(weight), ..fault(0, 1, 0) };
    let faults = [weighted(3), weighted(1)];
    let draw = || {
        let mut schedule = schedule(&faults, &[("n", in_turns(Order::Random))], 4000);
        let begins = steps(&mut schedule, 0).into_iter().filter_map(|(_, step)| match step {
            Step::Begin { fault } => Some(fault),
            Step::End { .. } => None,
        });
        begins.collect::<Vec<usize>>()
    };
    let drawn = draw();
    assert_eq!(drawn, draw());
    let first = drawn.iter().filter(|fault| **fault == 0).count() as f64 / drawn.len() as f64;
    assert!(drawn.len() > 900 && (0.7..0.8).contains(&first), "{first} of {}", drawn.len());
}

#[test]
fn a_given_schedule_keeps_its_times() {
    use crate::cluster::Action;
    use crate::nemesis::script::ScriptEntry;
    let entry = |at, until: Option<u64>, action| ScriptEntry {
        nemesis: "n".into(),
        at: Span::seconds(at),
        until: until.map(Span::seconds),
        targets: Vec::new(),
        actions: vec![action],
    };
    let node = || "zookeeper1".into();
    let script = Script {
        entries: vec![
            entry(3, Some(5), Action::Kill { node: node() }),
            entry(4, None, Action::Crash { node: node() }),
            entry(7, None, Action::Pause { node: node() }),
        ],
    };
    let mut schedule = Schedule::scripted(&script, 60 * SECOND);
    let mut found = steps(&mut schedule, 0);
    let last = found.pop().expect("steps");
    assert_eq!(last.1, Step::End { fault: 2 });
    assert!(last.0 > 60, "what has no end lasts until the heal");
    assert_eq!(
        found,
        [
            (3, Step::Begin { fault: 0 }),
            (4, Step::Begin { fault: 1 }),
            (5, Step::End { fault: 0 }),
            (7, Step::Begin { fault: 2 })
        ]
    );
}

#[test]
fn a_fault_that_is_left_out_is_never_drawn() {
    let faults = [fault(0, 1, 0), fault(0, 1, 0), fault(0, 1, 0)];
    let mut schedule = schedule(&faults, &[("n", in_turns(Order::Random))], 400);
    schedule.exclude(1);
    let found = steps(&mut schedule, 0);
    assert!(found.len() > 100);
    assert!(found.iter().all(|(_, step)| *step != Step::Begin { fault: 1 }), "{found:?}");
    schedule.exclude(0);
    schedule.exclude(2);
    assert_eq!(schedule.next(500 * SECOND), Due::Wait(None), "nothing is left to draw");
}
