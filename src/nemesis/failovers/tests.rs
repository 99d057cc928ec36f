//! Views made by hand: no leader, two leaders, the same leader again, flapping; and loops on them.

use expect_test::{Expect, expect};

use super::*;
use crate::checker::text::{merge, record};
use crate::cluster::{Action, Applied, Check, FaultId, NodeState, NodeView, Proof, Role, View};
use crate::nemesis::{Deed, FaultRecord, Pace, Phase};
use crate::op::{Event, SECOND};

/// `10 a5 b6`: at 10 s a leads in epoch 5 and b in epoch 6; `11 -`: nobody leads; `12 a`: no epoch.
fn view(line: &str) -> Event {
    let mut words = line.split_whitespace();
    let at: f64 = words.next().expect(line).parse().expect(line);
    let leaders: Vec<&str> = words.filter(|word| *word != "-").collect();
    let mut view = View::default();
    for name in ["a", "b", "c"] {
        let word = leaders.iter().find(|word| word.starts_with(name));
        let epoch = word.and_then(|word| word[1..].parse().ok());
        let serving = NodeView::new(Role::Zookeeper, NodeState::Serving, "");
        let node = NodeView { leads: word.is_some(), epoch, ..serving };
        // All of one role: node1, node2, node3.
        let number = (name.as_bytes()[0] - b'a' + 1).to_string();
        view.nodes.insert(format!("node{number}").as_str().into(), node);
    }
    record(at, "view", &FaultRecord::View { view })
}

fn views(text: &str) -> Vec<Event> {
    text.split(';').map(|line| view(line.trim())).collect()
}

/// A fault of `loop` at this second, done or skipped.
fn fault(number: u32, at: f64, done: bool) -> [Event; 2] {
    let fault = FaultId(number);
    let action = Action::Crash { node: "node1".into() };
    let check = Check {
        what: "node1 pid".into(),
        expected: "another".into(),
        seen: "another".into(),
        holds: true,
    };
    let outcome = match done {
        true => {
            Applied::Installed { proof: Proof { checks: vec![check], packets: None, took_us: 9 } }
        }
        false => Applied::Skipped { why: "it is down".into() },
    };
    let (targets, actions) = (vec!["node1".into()], vec![action.clone()]);
    let begin = FaultRecord::Begin { fault, targets, actions };
    let began = FaultRecord::Began { fault, deeds: vec![Deed { action, outcome }] };
    [record(at, "loop", &begin), record(at + 0.01, "loop", &began)]
}

fn told(events: Vec<Event>, pace: Option<Pace>) -> Option<Failovers> {
    let leads = Some(Role::Zookeeper);
    let named = [NamedNemesis { fault: "loop".into(), pace, leads, ..NamedNemesis::default() }];
    failovers(&merge(&History::default(), events), &named)
}

fn seconds(nanos: Nanos) -> f64 {
    nanos as f64 / SECOND as f64
}

/// Reigns as `leader/epoch from-until`, with `…` where it still led; then overlaps and elections.
fn check(text: &str, expected: Expect) {
    let Some(failovers) = told(views(text), None) else {
        return expected.assert_eq("nothing");
    };
    let [office] = &failovers.offices[..] else { panic!("{failovers:?}") };
    let mut lines: Vec<String> = Vec::new();
    for reign in &office.reigns {
        let epoch = reign.epoch.map_or("?".into(), |epoch| epoch.to_string());
        let goes_on = if reign.ended { "" } else { "…" };
        let (from, until) = (seconds(reign.from), seconds(reign.until));
        lines.push(format!("{}/{epoch} {from}-{until}{goes_on}", reign.leader));
    }
    for overlap in &office.overlaps {
        let (from, until) = (seconds(overlap.from), seconds(overlap.until));
        lines.push(format!("overlap of {} {from}-{until}", overlap.leaders.len()));
    }
    if let Some(spread) = office.elections_ms {
        lines.push(format!("{} elections, {}/{} ms", spread.count, spread.median, spread.max));
    }
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn a_leader_that_stays_is_no_failover() {
    check("1 a5; 2 a5; 3 a5", expect!["nothing"]);
    check("1 -; 2 -", expect!["nothing"]);
}

#[test]
fn the_time_without_a_leader_is_the_election() {
    check(
        "0 -; 1 a5; 10 -; 12.5 b6; 20 -; 21 -; 23 c7; 30 c7",
        expect![[r#"
            node1/5 1-10
            node2/6 12.5-20
            node3/7 23-30…
            2 elections, 2750/3000 ms"#]],
    );
    // Nobody ever led again.
    check(
        "1 a5; 4 b6; 9 -; 20 -",
        expect![[r#"
            node1/5 1-4
            node2/6 4-9"#]],
    );
}

#[test]
fn the_same_leader_in_a_new_epoch_begins_a_new_reign() {
    check(
        "1 a5; 4 a6; 6 -; 7 a7; 9 a7",
        expect![[r#"
            node1/5 1-4
            node1/6 4-6
            node1/7 7-9…
            1 elections, 1000/1000 ms"#]],
    );
}

#[test]
fn a_leader_out_of_sight_for_a_while_reigns_on_if_the_epoch_says_so() {
    check(
        "1 a5; 3 -; 4 a5; 5 -; 6 a5; 9 b6",
        expect![[r#"
            node1/5 1-9
            node2/6 9-9…"#]],
    );
    // Without an epoch nobody can tell.
    check(
        "1 a; 3 -; 4 a; 5 a",
        expect![[r#"
            node1/? 1-3
            node1/? 4-5…
            1 elections, 1000/1000 ms"#]],
    );
    // An epoch that was not told at first is learned.
    check(
        "1 a; 2 a5; 3 b6; 4 b6",
        expect![[r#"
            node1/5 1-3
            node2/6 3-4…"#]],
    );
}

#[test]
fn two_leaders_at_once_are_an_overlap() {
    check(
        "1 a5; 4 a5 b6; 7 b6; 9 b6",
        expect![[r#"
            node1/5 1-7
            node2/6 4-9…
            overlap of 2 4-7"#]],
    );
    // A deposed leader comes back for a moment; three at once; to the end.
    check(
        "1 a5; 2 -; 3 b6; 5 a5 b6; 6 a5 b6 c7; 8 a5 c7",
        expect![[r#"
            node1/5 1-2
            node2/6 3-8
            node1/5 5-8…
            node3/7 6-8…
            overlap of 2 5-6
            overlap of 3 6-8
            overlap of 2 8-8
            1 elections, 1000/1000 ms"#]],
    );
}

#[test]
fn reigns_are_counted_by_length_but_not_the_last_one() {
    let failovers = told(views("0 a1; 0.4 b2; 1 c3; 1.9 a4; 4 b5; 40 c6; 90 c6"), None);
    let office = failovers.expect("it changed").offices.remove(0);
    let held: Vec<u64> = office.held_for.iter().map(|held| held.count).collect();
    assert_eq!(held, [1, 2, 0, 1, 0, 0, 1]);
}

const PACE: Pace = Pace { per_minute: 6, at_least: 4, at_most: 8 };

/// Main ends at 60 s; faults at these seconds, each answered by a new leader after `election` seconds.
fn paced(faults: &[f64], election: f64) -> FailoverLoop {
    let mut events = vec![view("0 a1")];
    for (number, at) in faults.iter().enumerate() {
        events.extend(fault(number as u32 + 1, *at, true));
        events.push(view(&format!("{} -", at + 0.1)));
        let leader = ["b", "c", "a"][number % 3];
        events.push(view(&format!("{} {leader}{}", at + 0.1 + election, number + 2)));
    }
    events.push(record(60.0, "phase", &FaultRecord::Phase { phase: Phase::Heal }));
    told(events, Some(PACE)).expect("a paced nemesis").loops.remove(0)
}

#[test]
fn a_loop_is_compared_with_its_bounds() {
    for (every, election, expected) in [
        (
            10.0,
            1.5,
            expect!["on pace: 6.0 a minute, 4 to 8 wanted; an election took 1.5 s (median)"],
        ),
        (
            20.0,
            4.1,
            expect!["too slow: 3.0 a minute, at least 4 wanted; an election took 4.1 s (median)"],
        ),
        (
            5.0,
            0.05,
            expect!["too fast: 12.0 a minute, at most 8 wanted; an election took 50 ms (median)"],
        ),
    ] {
        let faults: Vec<f64> =
            (0..).map(|number| f64::from(number) * every).take_while(|at| *at < 59.0).collect();
        expected.assert_eq(&paced(&faults, election).words);
    }
}

#[test]
fn a_target_that_elections_do_not_allow_is_told_as_one() {
    expect!["on pace: 5.4 a minute, 4 to 8 wanted; an election took 10.4 s (median); 6 a minute cannot be reached: failovers as long as these leave room for 5"]
    .assert_eq(&paced(&[4.5, 15.5, 26.5, 37.5, 48.5], 10.4).words);
}

#[test]
fn only_a_higher_epoch_before_the_next_fault_finishes_a_failover() {
    // The second fault begins before anybody led again.
    let events: Vec<Event> = views("0 a5; 1.1 -; 9 b6; 12 b6 a5; 30 b6")
        .into_iter()
        .chain(fault(1, 1.0, true))
        .chain(fault(2, 4.0, true))
        .chain(fault(3, 11.0, true))
        .chain(fault(4, 20.0, false))
        .collect();
    let told = told(events, Some(PACE)).expect("a paced nemesis").loops.remove(0);
    assert_eq!((told.begun, told.finished), (3, 1), "{}", told.words);
    assert_eq!(told.failover_ms.map(|spread| spread.max), Some(5_000.0));
}

#[test]
fn without_epochs_another_reign_is_all_that_is_asked() {
    let events: Vec<Event> =
        views("0 a; 1.1 -; 2 a; 9 a").into_iter().chain(fault(1, 1.0, true)).collect();
    let told = told(events, Some(PACE)).expect("a paced nemesis").loops.remove(0);
    assert_eq!((told.begun, told.finished), (1, 1), "{}", told.words);
}

#[test]
fn a_loop_that_reached_nothing_says_so() {
    let none = told(views("0 a5; 9 a5"), Some(PACE)).expect("a paced nemesis").loops.remove(0);
    assert_eq!(none.words, "too slow: no failover was begun");
    let lost: Vec<Event> =
        views("0 a5; 1.1 -; 9 -").into_iter().chain(fault(1, 1.0, true)).collect();
    let lost = told(lost, Some(PACE)).expect("a paced nemesis").loops.remove(0);
    assert_eq!(lost.words, "too slow: 1 begun, no failover finished");
    assert_eq!(lost.verdict, Pacing::TooSlow);
}

#[test]
fn each_role_that_elects_has_leaders_of_its_own_and_masters_are_none() {
    let seen = |at: f64, leaders: &[(Role, &str, u64)]| {
        let node = |(role, name, epoch): &(Role, &str, u64)| {
            let serving = NodeView::new(*role, NodeState::Serving, "");
            ((*name).into(), NodeView { leads: true, epoch: Some(*epoch), ..serving })
        };
        record(
            at,
            "view",
            &FaultRecord::View { view: View { nodes: leaders.iter().map(node).collect() } },
        )
    };
    let zookeeper = (Role::Zookeeper, "zookeeper1", 1);
    let masters =
        |version| [(Role::Kvrocks, "kvrocks1", version), (Role::Kvrocks, "kvrocks3", version)];
    let at = |controller, version| {
        let mut all = vec![zookeeper, (Role::Controller, controller, version)];
        all.extend(masters(version));
        all
    };
    let events = vec![
        seen(1.0, &at("controller1", 7)),
        fault(1, 5.0, true)[0].clone(),
        fault(1, 5.0, true)[1].clone(),
        seen(12.0, &at("controller2", 9)),
        seen(20.0, &at("controller2", 9)),
    ];
    let leads = Some(Role::Controller);
    let nemesis =
        NamedNemesis { fault: "loop".into(), pace: Some(PACE), leads, ..NamedNemesis::default() };
    let found = failovers(&merge(&History::default(), events), &[nemesis]).expect("it changed");
    let roles: Vec<Role> = found.offices.iter().map(|office| office.role).collect();
    assert_eq!(roles, [Role::Controller], "ZooKeeper's leader never changed");
    assert_eq!((found.offices[0].reigns.len(), found.offices[0].overlaps.len()), (2, 0));
    assert_eq!((found.loops[0].begun, found.loops[0].finished), (1, 1));
}
