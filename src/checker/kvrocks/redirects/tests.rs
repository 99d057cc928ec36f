//! Nodes that name each other for a slot: by hand, and episodes against a naive search.

use std::collections::BTreeMap;

use expect_test::expect;

use super::super::told::{check, checks};
use super::RedirectLoop;
use super::pointers::{Episode, Statement, episodes_of};
use crate::checker::text::history;
use crate::checker::{Budget, Checker, Verdict};
use crate::op::NodeName;
use crate::rng::Rng;

fn checker() -> RedirectLoop {
    RedirectLoop { checks: checks(None) }
}

/// An operation of a client that was sent there and back once a second, from one second to another.
fn looping(from: u64, to: u64) -> String {
    let rounds = (from..=to).map(|at| {
        format!(
            "{at} 1@kvrocks1 invoke write {at} key=1
            {at}.5 1@kvrocks1 fail write {at} key=1 slot=130 via=kvrocks1:MOVED_130_kvrocks3@100000,kvrocks3:MOVED_130_kvrocks1@200000"
        )
    });
    rounds.collect::<Vec<_>>().join("\n")
}

/// Texts have no blanks in compact histories.
fn read(text: &str) -> crate::history::History {
    let mut events = history(text).events().to_vec();
    for hop in events.iter_mut().filter_map(|event| event.route.as_mut()).flat_map(|r| &mut r.hops)
    {
        hop.said = hop.said.replace('_', " ");
    }
    crate::history::History::new(events)
}

fn verdict(text: &str) -> Verdict {
    checker().finish(&read(text), &Budget::UNBOUNDED).verdict
}

const ENDS: &str = "
    90 1@kvrocks1 invoke write 9 key=1
    90.5 1@kvrocks1 ok write 9 key=1 slot=130 via=kvrocks1:ok";

#[test]
fn a_loop_that_outlives_the_bound_is_a_violation() {
    let text = format!("0 nemesis phase main\n{}\n{ENDS}", looping(5, 36));
    check(
        &mut checker(),
        &read(&text),
        expect![[r#"
            invalid: 1 redirect loop, the longest for 30900 ms
            redirect-loop: for slot 130 kvrocks3 and kvrocks1 sent clients on in a circle from 5.200 s to 36.100 s, for 30.900 s with no fault in force; 30.000 s are allowed
              5.200 s: kvrocks3 said: ask kvrocks1
              6.100 s: kvrocks1 said: ask kvrocks3
              6.200 s: kvrocks3 said: ask kvrocks1
              7.100 s: kvrocks1 said: ask kvrocks3
              7.200 s: kvrocks3 said: ask kvrocks1
              8.100 s: kvrocks1 said: ask kvrocks3
              [kvrocks3 kvrocks1; key none; ops [1, 63]; 5200 to 36100 ms]
        "#]],
    );
}

#[test]
fn a_loop_that_ends_or_that_a_fault_excuses_is_none() {
    let short = format!("0 nemesis phase main\n{}\n{ENDS}", looping(5, 12));
    check(
        &mut checker(),
        &read(&short),
        expect![[r#"
            valid: 1 redirect loop, the longest for 6900 ms
        "#]],
    );
    // A cut from 20 s to 30 s.
    let struck = format!(
        "0 nemesis phase main\n{}\n20 nemesis strike f1 cut kvrocks1\n{}\n30 nemesis heal f1 cut kvrocks1\n{}\n{ENDS}",
        looping(5, 19),
        looping(21, 29),
        looping(31, 45)
    );
    assert_eq!(verdict(&struck), Verdict::Valid);
    let later = format!(
        "0 nemesis phase main\n20 nemesis strike f1 cut kvrocks1\n{}\n30 nemesis heal f1 cut kvrocks1\n{}\n{ENDS}",
        looping(21, 29),
        looping(31, 62)
    );
    assert_eq!(verdict(&later), Verdict::Invalid);
    // It still was one when the run ended: nobody knows.
    let open = format!("0 nemesis phase main\n10 nemesis phase drain\n{}", looping(11, 20));
    assert_eq!(verdict(&open), Verdict::Unknown);
    // What replicas serve to readers on purpose says nothing.
    let stale = format!("0 nemesis phase main\n{}", looping(5, 36).replace("write", "stale-read"));
    assert_eq!(verdict(&stale), Verdict::Valid);
}

#[test]
fn who_serves_in_between_ends_a_loop() {
    let served = "
        20.6 2@kvrocks1 invoke read nil key=1
        20.7 2@kvrocks1 ok read 3 key=1 slot=130 via=kvrocks1:ok";
    let text =
        format!("0 nemesis phase main\n{}\n{served}\n{}\n{ENDS}", looping(5, 20), looping(21, 36));
    assert_eq!(verdict(&text), Verdict::Valid);
    let elsewhere = served.replace("slot=130", "slot=131");
    let text = format!(
        "0 nemesis phase main\n{}\n{elsewhere}\n{}\n{ENDS}",
        looping(5, 20),
        looping(21, 36)
    );
    assert_eq!(verdict(&text), Verdict::Invalid);
}

/// After each statement, all circles are sought from nothing; an episode is a stretch in which the same one
/// stays without any of its nodes saying anything else.
fn naive(said: &[Statement]) -> Vec<(u64, u64, bool)> {
    let circle_at = |count: usize| -> Vec<Vec<NodeName>> {
        let mut names: BTreeMap<NodeName, Option<NodeName>> = BTreeMap::new();
        for one in &said[..count] {
            names.insert(one.node, one.target);
        }
        let walk = |start: NodeName| {
            let mut path = vec![start];
            for _ in 0..names.len() {
                let next = names.get(path.last().expect("a start")).copied().flatten()?;
                if next == start {
                    path.sort();
                    return Some(path);
                }
                path.push(next);
            }
            None
        };
        let mut circles: Vec<_> = names.keys().filter_map(|node| walk(*node)).collect();
        circles.sort();
        circles.dedup();
        circles
    };
    let mut episodes: Vec<(Vec<NodeName>, u64, u64, bool)> = Vec::new();
    // All of them have said it again by then.
    let confirmed = |circle: &[NodeName], count: usize| {
        let last = |node: &NodeName| {
            said[..count].iter().rfind(|one| one.node == *node).map(|one| one.time)
        };
        circle.iter().filter_map(last).min().unwrap_or(0)
    };
    for count in 1..=said.len() {
        let (one, circles) = (said[count - 1], circle_at(count));
        for open in episodes.iter_mut().filter(|open| open.3) {
            open.3 = circles.contains(&open.0);
        }
        for circle in circles.into_iter().filter(|circle| circle.contains(&one.node)) {
            match episodes.iter_mut().find(|open| open.3 && open.0 == circle) {
                Some(open) => open.2 = open.1.max(confirmed(&open.0, count)),
                None => episodes.push((circle, one.time, one.time, true)),
            }
        }
    }
    episodes.retain(|(_, from, last, _)| from < last);
    episodes.into_iter().map(|(_, from, last, open)| (from, last, open)).collect()
}

#[test]
fn episodes_are_those_of_a_naive_search() {
    let rng = Rng::from_seed(3);
    let (mut none, mut some) = (0, 0);
    for round in 0..5_000 {
        let mut rng = rng.fork(&round.to_string());
        let nodes: Vec<NodeName> = (1..=4).map(|n| format!("kvrocks{n}").as_str().into()).collect();
        // Nodes mostly say again what they said.
        let mut last: BTreeMap<NodeName, Option<NodeName>> = BTreeMap::new();
        let said: Vec<Statement> = (0..rng.between(2, 16))
            .map(|time| {
                let node = *rng.pick(&nodes[..3]).expect("a node");
                let others: Vec<NodeName> = nodes.iter().copied().filter(|n| *n != node).collect();
                let anew = (!rng.chance(0.2)).then(|| *rng.pick(&others).expect("a node"));
                let again = last.get(&node).copied().filter(|_| rng.chance(0.8));
                let target = again.unwrap_or(anew);
                last.insert(node, target);
                Statement { time, op: time, node, target }
            })
            .collect();
        let found = episodes_of(1, &said);
        let told = |one: &Episode| (one.from, one.last, one.is_open);
        let found: Vec<_> = found.iter().map(told).collect();
        let expected = naive(&said);
        assert_eq!(found, expected, "round {round}: {said:?}");
        *(if expected.is_empty() { &mut none } else { &mut some }) += 1;
    }
    assert!(none > 500 && some > 500, "{none} without, {some} with");
}
