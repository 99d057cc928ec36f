//! Topologies that go back and changes that vanish, by hand, at random, and mutated.

use expect_test::expect;

use super::super::evidence::{Evidence, Told};
use super::super::told::{check, checks, document, part};
use super::TopologyMonotone;
use super::documents::doubts;
use super::nodes::went_back;
use crate::checker::text::history;
use crate::checker::{Budget, Checker, Verdict};
use crate::rng::Rng;

fn checker() -> TopologyMonotone {
    TopologyMonotone { checks: checks(None) }
}

fn verdict(text: &str) -> Verdict {
    checker().finish(&history(text), &Budget::UNBOUNDED).verdict
}

fn kinds(text: &str) -> Vec<String> {
    let finding = checker().finish(&history(text), &Budget::UNBOUNDED);
    finding.anomalies.into_iter().map(|anomaly| anomaly.kind).collect()
}

/// A document with ids: kvrocks1 is `a1`.
fn with_ids(text: &str) -> String {
    let id = |number: char| format!(r#""id":"a{number}","addr":"kvrocks{number}:6666""#);
    ('1'..='4').fold(text.to_owned(), |text, number| {
        text.replace(&format!(r#""addr":"kvrocks{number}:6666""#), &id(number))
    })
}

/// Shard 0 after its failover.
fn failed_over(version: u64) -> String {
    let first = part("kvrocks2", "kvrocks1", "0-8191", None);
    let second = part("kvrocks3", "kvrocks4", "8192-16383", None);
    with_ids(&format!(r#"{{"version":{version},"shards":[{first},{second}]}}"#))
}

#[test]
fn a_node_that_takes_a_lower_version_is_found() {
    let lower = history(
        "
        0 nemesis phase main
        1 nemesis view kvrocks1=master@7:0-8191 kvrocks2=replica@7
        2 nemesis view kvrocks1=master@6:0-8191 kvrocks2=replica@7
        3 nemesis view kvrocks1=master@7:0-8191 kvrocks2=replica@7
        4 nemesis view kvrocks1=master@5:0-8191 kvrocks2=replica@7",
    );
    check(
        &mut checker(),
        &lower,
        expect![[r#"
            invalid: 8 versions of nodes, 0 documents of controllers: went back twice, no acknowledged change vanished
            topology-went-back: kvrocks1 went by version 7 of the topology at 1.000 s and by the lower version 6 at 2.000 s, without a restart, and 1 time more
              version 7 at 1.000 s, version 6 at 2.000 s
              version 7 at 3.000 s, version 5 at 4.000 s
              [kvrocks1; key none; ops []; 1000 to 4000 ms]
        "#]],
    );
}

#[test]
fn a_node_that_began_anew_may_begin_lower() {
    for between in [
        "2 nemesis view kvrocks1=down",
        "2 nemesis strike f1 kill kvrocks1",
        "2 nemesis strike f1 crash kvrocks1",
        // It says that it has no topology.
        "2 nemesis view kvrocks1=replica",
    ] {
        let text = format!(
            "1 nemesis view kvrocks1=master@7\n1.5 nemesis phase main\n{between}\n3 nemesis view kvrocks1=master@2\n4 nemesis phase heal"
        );
        assert_eq!(verdict(&text), Verdict::Valid, "{between}");
    }
    for between in [
        "2 nemesis view kvrocks1=paused",
        "2 nemesis view kvrocks1=running",
        "2 nemesis strike f1 cut kvrocks1",
    ] {
        let text = format!(
            "1 nemesis view kvrocks1=master@7\n1.5 nemesis phase main\n{between}\n3 nemesis view kvrocks1=master@2\n4 nemesis phase heal"
        );
        assert_eq!(verdict(&text), Verdict::Invalid, "{between}");
    }
}

#[test]
fn a_view_that_aims_a_fault_may_be_older_or_newer_than_its_neighbours() {
    let aimed = "
        1 nemesis view kvrocks1=master@7
        2 nemesis view kvrocks1=master@8
        2 nemesis strike f1 pause kvrocks2
        2.1 nemesis view kvrocks1=master@7";
    assert_eq!(verdict(aimed), Verdict::Valid);
}

fn told(lines: &[(f64, &str, String)]) -> String {
    let lines = lines.iter().enumerate().map(|(number, (at, what, json))| {
        let (asked, f) = what.split_once(' ').map_or(("nil", *what), |(f, asked)| (asked, f));
        let after = at + 0.01;
        format!("{at} {number}@controller1 invoke {f} {asked}\n{after} {number}@controller1 ok {f} {json}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

const MIGRATE: &str = r#"migrate {"slot":130,"target":1}"#;

fn migrated(version: u64) -> String {
    format!(r#"{{"slot":130,"target":1,"cluster":{}}}"#, document(version, Some((130, 1))))
}

#[test]
fn a_store_that_goes_back_is_found() {
    let text = told(&[
        (1.0, "topology", document(3, None)),
        (2.0, "topology", document(5, None)),
        (3.0, "topology", document(4, None)),
        (4.0, "topology", document(4, None)),
        (5.0, "topology", document(5, None)),
    ]);
    check(
        &mut checker(),
        &history(&text),
        expect![[r#"
            invalid: 0 versions of nodes, 5 documents of controllers: went back once, no acknowledged change vanished
            topology-went-back: the controllers' store went back: controller1 told version 5 at 2.010 s, controller1, asked later, version 4 at 3.010 s
              [controller1; key none; ops [2, 4]; 2000 to 3010 ms]
        "#]],
    );
    // Who asked before the other had an answer may have been answered first.
    let overlapping = format!(
        "1 0@controller1 invoke topology nil
        1.1 1@controller2 invoke topology nil
        1.2 1@controller2 ok topology {}
        1.3 0@controller1 ok topology {}",
        document(5, None),
        document(4, None)
    );
    assert_eq!(verdict(&overlapping), Verdict::Valid);
    // Behind an ensemble a read may be old.
    let ensemble = format!("0 nemesis view zookeeper1=leader zookeeper2=follower\n{text}");
    assert_eq!(verdict(&ensemble), Verdict::Valid);
}

#[test]
fn a_migration_that_another_change_displaced_is_lost() {
    let text = told(&[
        (1.0, "topology", document(3, None)),
        (2.0, MIGRATE, migrated(4)),
        (3.0, "topology", with_ids(&failed_over(4))),
    ]);
    check(
        &mut checker(),
        &history(&text),
        expect![[r#"
            invalid: 0 versions of nodes, 3 documents of controllers: went back once, 1 acknowledged change vanished
            lost-migration: controller1 acknowledged the migration of slot 130 to shard 1 at 2.010 s, as version 4 of the topology; controller1 told version 4 at 3.010 s, in which the slot is not on its way, and nobody said that it had failed
              shard 0: master kvrocks1, master kvrocks2
              shard 0: slot 130 on its way to shard 1, nothing on its way
              [controller1; key none; ops [2, 4]; 2000 to 3010 ms]
        "#]],
    );
    // A higher version without the mark: it may have failed.
    let ended = told(&[(2.0, MIGRATE, migrated(4)), (3.0, "topology", document(5, None))]);
    assert_eq!(verdict(&ended), Verdict::Valid);
    // The version fell, and the mark is gone.
    let fell = told(&[
        (2.0, MIGRATE, migrated(4)),
        (3.0, "topology", document(5, Some((130, 1)))),
        (4.0, "topology", document(3, None)),
    ]);
    assert_eq!(kinds(&fell), ["lost-migration"]);
    // Two documents of one version that no acknowledged change explains.
    let twins = told(&[(2.0, "topology", document(4, None)), (3.0, "topology", failed_over(4))]);
    assert_eq!(kinds(&twins), ["topology-went-back"]);
}

#[test]
fn a_failover_that_no_version_shows_is_lost() {
    let failover = r#"failover {"shard":0}"#;
    let promoted = || r#"{"shard":0,"new_master_id":"a2"}"#.to_owned();
    let before = (1.0, "topology", with_ids(&document(3, None)));
    let case = |after: &[(f64, &str, String)]| {
        let lines = [vec![before.clone(), (2.0, failover, promoted())], after.to_vec()].concat();
        kinds(&told(&lines))
    };
    assert_eq!(case(&[(3.0, "topology", failed_over(4))]), [""; 0]);
    assert_eq!(case(&[(3.0, "topology", with_ids(&document(3, None)))]), ["lost-change"]);
    assert_eq!(case(&[(3.0, "topology", with_ids(&document(4, None)))]), ["lost-change"]);
    // Version 4 was not told: it may have been that one, and another failover came after it.
    assert_eq!(case(&[(3.0, "topology", with_ids(&document(5, None)))]), [""; 0]);
    // A node that no document names.
    assert_eq!(case(&[]), [""; 0]);
}

#[test]
fn a_namespace_that_nobody_removed_and_is_gone_is_lost() {
    let case = |deleted: &str| {
        kinds(&format!(
            r#"1 0@controller1 invoke create-namespace {{"namespace":"extra1"}}
            1.1 0@controller1 ok create-namespace {{"namespace":"extra1"}}
            2 0@controller1 invoke delete-namespace {{"namespace":"extra1"}}
            2.1 0@controller1 {deleted}"#
        ))
    };
    let asked = r#"delete-namespace {"namespace":"extra1"}"#;
    assert_eq!(case(&format!("ok {asked}")), [""; 0]);
    assert_eq!(case(&format!("fail {asked} error=500:")), [""; 0]);
    assert_eq!(case(&format!("fail {asked} error=404:")), ["lost-change"]);
    let twice = format!(
        "fail {asked} error=404:
        1.2 7@controller2 invoke {asked}
        1.3 7@controller2 info {asked}"
    );
    assert_eq!(case(&twice), [""; 0], "somebody may have removed it");
}

/// A random history of views and documents, sound or not.
fn random(rng: &mut Rng) -> String {
    let mut lines = Vec::new();
    let (mut version, mut now) = (3_u64, 1_u64);
    for number in 0..rng.between(3, 14) {
        now += rng.between(1, 40);
        version = match rng.below(6) {
            0 => version.saturating_sub(rng.between(1, 2)).max(1),
            1 | 2 => version,
            _ => version + 1,
        };
        let at = |ms: u64| ms as f64 / 1e3;
        match rng.below(4) {
            0 => lines.push((
                now,
                format!(
                    "{} nemesis view kvrocks1=master@{version} kvrocks2=replica@{}",
                    at(now),
                    rng.between(1, 6)
                ),
            )),
            1 => lines.push((
                now,
                format!("{} nemesis view kvrocks1=down kvrocks2=replica@{version}", at(now)),
            )),
            _ => {
                let end = now + rng.between(1, 60);
                let document =
                    if rng.chance(0.2) { failed_over(version) } else { document(version, None) };
                lines.push((now, format!("{} {number}@controller1 invoke topology nil", at(now))));
                lines.push((
                    end,
                    format!("{} {number}@controller1 ok topology {document}", at(end)),
                ));
            }
        }
    }
    lines.sort_by_key(|(time, _)| *time);
    lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

/// Every pair is looked at.
fn goes_back(text: &str, told: &[Told]) -> bool {
    let twins = told.iter().any(|one| {
        let same = |other: &&Told| one.document.version == other.document.version;
        told.iter().filter(same).any(|other| one.document != other.document)
    });
    let falls = told.iter().any(|one| {
        let later = |other: &&Told| other.asked >= one.answered;
        told.iter().filter(later).any(|other| other.document.version < one.document.version)
    });
    let views: Vec<&str> = text.lines().filter(|line| line.contains(" view ")).collect();
    let nodes = ["kvrocks1", "kvrocks2"].into_iter().any(|node| {
        let version = |line: &&str| {
            let word = line.split(' ').find(|word| word.starts_with(node));
            word.and_then(|word| word.split_once('@'))
                .map(|(_, version)| version.parse::<u64>().expect("a version"))
        };
        (0..views.len()).any(|first| {
            let mut lower =
                views[first..].iter().map(version).take_while(Option::is_some).flatten();
            version(&views[first]).is_some_and(|before| lower.any(|version| version < before))
        })
    });
    twins || falls || nodes
}

#[test]
fn what_goes_back_is_found_as_a_naive_search_does() {
    let rng = Rng::from_seed(7);
    let (mut sound, mut unsound) = (0, 0);
    for round in 0..2_000 {
        let text = random(&mut rng.fork(&round.to_string()));
        let history = history(&text);
        let evidence = Evidence::of(&history, &history.operations(), &checks(None).shards);
        let expected = goes_back(&text, &evidence.told);
        let found = !doubts(&evidence.told, true).is_empty() || !went_back(&history).1.is_empty();
        assert_eq!(found, expected, "round {round}:\n{text}");
        assert_eq!(verdict(&text) == Verdict::Invalid, expected, "round {round}:\n{text}");
        *(if expected { &mut unsound } else { &mut sound }) += 1;
    }
    assert!(sound > 200 && unsound > 200, "{sound} sound, {unsound} unsound");
}

#[test]
fn a_sound_history_of_documents_is_rejected_once_one_is_put_back() {
    let rng = Rng::from_seed(8);
    for round in 0..300 {
        let mut rng = rng.fork(&round.to_string());
        let count = rng.between(3, 10);
        let sound: Vec<_> = (0..count)
            .map(|step| (step as f64 + 1.0, "topology", document(step + 1, None)))
            .collect();
        assert_eq!(verdict(&told(&sound)), Verdict::Valid);
        let mut mutated = sound;
        let place = rng.between(1, count - 1) as usize;
        mutated[place].2 = document(rng.between(0, place as u64 - 1), None);
        let is_same = place as u64 == 0;
        assert!(is_same || verdict(&told(&mutated)) == Verdict::Invalid, "{mutated:?}");
    }
}
