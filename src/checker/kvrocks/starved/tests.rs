//! Dead masters that are replaced and that are not: by hand, and at random against a naive rule.

use expect_test::expect;

use super::super::told::{check, checks};
use super::StarvedFailover;
use crate::checker::text::history;
use crate::checker::{Budget, Checker, Verdict};
use crate::rng::Rng;

fn checker() -> StarvedFailover {
    StarvedFailover { checks: checks(None) }
}

fn verdict(text: &str) -> Verdict {
    checker().finish(&history(text), &Budget::UNBOUNDED).verdict
}

/// In order of time.
fn sorted(text: &str) -> String {
    let mut lines: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let time = |line: &str| line.split(' ').next().and_then(|at| at.parse::<f64>().ok());
    lines.sort_by(|one, other| time(one).partial_cmp(&time(other)).expect("times"));
    lines.join("\n")
}

const OTHERS: &str = "kvrocks2=running@1 kvrocks3=master@1 kvrocks4=replica@1";

const WRITE: &str = "
    1 1@kvrocks1 invoke write 9 key=1
    1.1 1@kvrocks1 ok write 9 key=1 slot=130 via=kvrocks1:ok";

fn alive(at: f64) -> String {
    format!(
        "{at} nemesis view kvrocks1=master@1 {OTHERS} controller1=leader@1 controller2=follower@1"
    )
}

fn dead(at: f64, leader: &str) -> String {
    format!("{at} nemesis view kvrocks1=down {OTHERS} {leader}")
}

/// kvrocks1 is down from 8 s on, for so long; leaders follow each other, each killed after a second or so.
fn starved(until: f64, reign: f64) -> Vec<String> {
    let mut lines = vec![WRITE.to_owned(), alive(2.0)];
    lines.push("8 nemesis strike f1 kill kvrocks1".to_owned());
    let mut now = 8.2;
    for number in 2.. {
        lines
            .push(dead(now, &format!("controller1=leader@{number} controller2=follower@{number}")));
        now += reign;
        lines.push(dead(now, "controller1=down controller2=follower@0"));
        now += 7.0;
        if now >= until {
            break;
        }
    }
    lines.push(format!("{until} nemesis heal f1 kill kvrocks1"));
    lines.push(alive(until + 0.2));
    lines
}

#[test]
fn a_dead_master_that_nobody_replaces_while_leaders_come_and_go_is_starved() {
    let text = starved(42.0, 1.3).join("\n");
    check(
        &mut checker(),
        &history(&text),
        expect![[r#"
            invalid: 1 death of masters, 1 for longer than 24.600 s: 1 failover starved
            starved-failover: kvrocks1, the master of shard 0, was dead from 8.200 s until 42.200 s, and for 34.000 s no replica took its place, though one stood by; 24.600 s are allowed: leaders were replaced 5 times, each after 1.300 s (median; the longest led 1.300 s)
              controller1 led from 8.200 s to 9.500 s
              controller1 led from 16.500 s to 17.800 s
              controller1 led from 24.800 s to 26.100 s
              controller1 led from 33.100 s to 34.400 s
              controller1 led from 41.400 s to 42.200 s
              [controller1 kvrocks1; key none; ops []; 8200 to 42200 ms]
        "#]],
    );
}

#[test]
fn who_is_replaced_soon_alive_or_alone_is_not_starved() {
    let with = |more: &str| {
        let mut lines = starved(42.0, 1.3);
        lines.insert(4, more.to_owned());
        lines.join("\n")
    };
    assert_eq!(verdict(&with("9 nemesis phase main")), Verdict::Invalid);
    let promoted =
        "20 nemesis view kvrocks1=down kvrocks2=master@2 kvrocks3=master@2 kvrocks4=replica@2";
    assert_eq!(verdict(&with(promoted)), Verdict::Valid, "it was replaced");
    let late = starved(42.0, 1.3).join("\n") + &format!("\n35{}", &promoted[2..]);
    assert_eq!(verdict(&sorted(&late)), Verdict::Invalid, "it was replaced too late");
    assert_eq!(verdict(&starved(30.0, 1.3).join("\n")), Verdict::Valid, "in time so far");
    let alone = with("").replace("kvrocks2=running@1", "kvrocks2=down");
    assert_eq!(verdict(&alone), Verdict::Valid, "no replica");
    let struck = with("10 nemesis strike f2 cut kvrocks2");
    assert_eq!(verdict(&struck), Verdict::Valid, "the replica was cut off");
    let store = with("10 nemesis strike f2 pause zookeeper1");
    assert_eq!(verdict(&store), Verdict::Valid, "ZooKeeper was struck");
    assert_eq!(verdict(&starved(42.0, 0.3).join("\n")), Verdict::Valid, "hardly anybody led");
    let struck = with("8.1 nemesis strike f2 cut controller1");
    assert_eq!(verdict(&struck), Verdict::Valid, "no leader could work");
    let paused = with("").replace("kvrocks1=down", "kvrocks1=paused");
    assert_eq!(verdict(&paused), Verdict::Invalid, "who is frozen is dead");
    let replica = with("").replace("kvrocks1=master@1", "kvrocks1=replica@1");
    assert_eq!(verdict(&replica), Verdict::Valid, "it was no master");
}

#[test]
fn an_empty_shard_is_never_failed_over_and_the_checker_says_so() {
    let text = starved(42.0, 1.3)[1..].join("\n");
    check(
        &mut checker(),
        &history(&text),
        expect![[r#"
            valid: 1 death of masters, 1 for longer than 24.600 s: no failover starved; kvrocks1: its shard was empty, and an empty replica (sequence 0) is never promoted
        "#]],
    );
}

#[test]
fn a_leader_that_does_nothing_is_told_as_one() {
    let lines = [
        WRITE.to_owned(),
        alive(2.0),
        dead(8.0, "controller1=leader@1"),
        dead(40.0, "controller1=leader@1 controller2=down"),
    ];
    let finding = checker().finish(&history(&lines.join("\n")), &Budget::UNBOUNDED);
    assert_eq!(finding.verdict, Verdict::Invalid);
    let summary = &finding.anomalies[0].summary;
    assert!(summary.contains("controller1 led for 32.000 s and did nothing"), "{summary}");
    assert!(summary.contains("to the end of the record at 40.000 s"), "{summary}");
}

#[test]
fn random_deaths_are_judged_by_a_naive_rule() {
    let rng = Rng::from_seed(9);
    let (mut bad, mut good) = (0, 0);
    for round in 0..1_000 {
        let mut rng = rng.fork(&round.to_string());
        let mut lines = vec![WRITE.to_owned(), alive(2.0)];
        let (mut now, mut led, mut since) = (3_000_u64, 0, None);
        let mut expected = false;
        for _ in 0..rng.between(3, 14) {
            let step = rng.between(500, 6_000);
            let (is_dead, leads) = (rng.chance(0.85), rng.chance(0.5));
            let promotes = rng.chance(0.04);
            let began = since.get_or_insert(now);
            let (began, over) = (*began, !is_dead);
            if over {
                expected |= now - began > 24_600 && led >= 3_000;
                (led, since) = (0, None);
                lines.push(alive(now as f64 / 1e3));
            } else {
                let leader = if leads { "controller1=leader@1" } else { "controller1=follower@1" };
                let line = dead(now as f64 / 1e3, leader);
                let line = match promotes {
                    true => line.replace("kvrocks2=running@1", "kvrocks2=master@2"),
                    false => line,
                };
                lines.push(line);
                if promotes {
                    // Whose death counts changes with the master.
                    expected |= now - began > 24_600 && led >= 3_000;
                    since = None;
                    break;
                }
                led += if leads { step } else { 0 };
            }
            now += step;
        }
        let at = now as f64 / 1e3;
        lines.push(format!("{at} nemesis phase heal"));
        if let Some(began) = since {
            expected |= now - began > 24_600 && led >= 3_000;
        }
        let text = lines.join("\n");
        assert_eq!(verdict(&text) == Verdict::Invalid, expected, "round {round}:\n{text}");
        *(if expected { &mut bad } else { &mut good }) += 1;
    }
    assert!(bad > 100 && good > 100, "{bad} bad, {good} good");
}
