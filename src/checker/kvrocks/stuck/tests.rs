//! Slots and migrations that do not settle after the heal: by hand, and against a naive search.

use expect_test::expect;

use super::super::told::{check, checks, document};
use super::slots::after_heal;
use super::{Settling, StuckMigrations, StuckSlots};
use crate::checker::text::history;
use crate::checker::{Budget, Checker, Verdict};
use crate::op::SECOND;
use crate::rng::Rng;

fn slots() -> StuckSlots {
    StuckSlots { checks: checks(None) }
}

fn migrations() -> StuckMigrations {
    StuckMigrations { checks: checks(None) }
}

/// Writes (or reads) of slot 130, one a second, each answered so.
fn asked(f: &str, from: u64, to: u64, said: &str) -> String {
    let kind = if said == "ok" { "ok" } else { "fail" };
    let lines = (from..=to).map(|at| {
        format!(
            "{at} 1@kvrocks1 invoke {f} {at} key=1
            {at}.5 1@kvrocks1 {kind} {f} {at} key=1 slot=130 via=kvrocks2:MOVED,kvrocks1:{said}"
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn healed(lines: &[String]) -> String {
    format!("0 nemesis phase main\n20 nemesis phase recover\n{}", lines.join("\n"))
}

fn of_slots(lines: &[String]) -> Verdict {
    slots().finish(&history(&healed(lines)), &Budget::UNBOUNDED).verdict
}

#[test]
fn a_slot_that_is_refused_past_the_deadline_is_stuck() {
    check(
        &mut slots(),
        &history(&healed(&[asked("write", 21, 55, "TRYAGAIN")])),
        expect![[r#"
            invalid: every request for slot 130 was refused from 20.000 s to 55.500 s, 35 requests of them in 35.500 s; after the heal at 20.000 s 30.000 s are allowed
            stuck-slot: every request for slot 130 was refused from 20.000 s to 55.500 s, 35 requests of them in 35.500 s; after the heal at 20.000 s 30.000 s are allowed
              the last one: write 55 of key 1 refused: kvrocks1 said TRYAGAIN
              [kvrocks1; key none; ops [2, 70]; 20000 to 55500 ms]
        "#]],
    );
    check(
        &mut slots(),
        &history(&healed(&[asked("write", 21, 25, "CLUSTERDOWN"), asked("write", 26, 30, "ok")])),
        expect![[r#"
            valid: 1 slot asked for after the heal, none refused for longer than 5500 ms
        "#]],
    );
}

#[test]
fn reads_that_are_served_do_not_excuse_writes_that_are_not() {
    let both = |from, to| {
        let lines = (from..=to).flat_map(|at| {
            let write = asked("write", at, at, "TRYAGAIN");
            let read =
                asked("read", at, at, "ok").replace(&format!("{at} 1@"), &format!("{at}.6 1@"));
            [write, read.replace(".5 1@", ".7 1@")]
        });
        lines.collect::<Vec<_>>()
    };
    assert_eq!(of_slots(&both(21, 55)), Verdict::Invalid);
    assert_eq!(of_slots(&both(21, 45)), Verdict::Valid);
}

#[test]
fn what_the_history_does_not_decide_is_unknown() {
    assert_eq!(of_slots(&[asked("write", 21, 25, "TRYAGAIN")]), Verdict::Unknown);
    // Some clients never learn who serves.
    let pinned = asked("write", 21, 60, "MOVED").replace("via=kvrocks2:MOVED,", "via=");
    assert_eq!(of_slots(&[pinned]), Verdict::Valid);
    // It was not asked for, and what was refused before the heal does not count.
    assert_eq!(of_slots(&[]), Verdict::Valid);
    let before = format!(
        "0 nemesis phase main\n{}\n70 nemesis phase recover",
        asked("write", 1, 60, "TRYAGAIN")
    );
    assert_eq!(slots().finish(&history(&before), &Budget::UNBOUNDED).verdict, Verdict::Valid);
    let never = format!("0 nemesis phase main\n{}", asked("write", 1, 60, "ok"));
    for checker in [&mut slots() as &mut dyn Checker, &mut migrations()] {
        assert_eq!(checker.finish(&history(&never), &Budget::UNBOUNDED).verdict, Verdict::Unknown);
    }
}

/// A request for slot 130 after the heal: when, whether it writes, whether it was served.
type Asked = (u64, bool, bool);

/// The longest stretch without an answer, tried from each beginning.
fn naive(asked: &[Asked], writes_only: bool) -> u64 {
    let asked: Vec<&Asked> = asked.iter().filter(|(_, write, _)| *write || !writes_only).collect();
    let mut longest = 0;
    for (first, (time, _, served)) in asked.iter().enumerate() {
        let was_served = asked[..first].iter().any(|(_, _, served)| *served);
        let begin = if was_served { *time } else { 0 };
        let refused = asked[first..].iter().take_while(|(_, _, served)| !served).last();
        if let (false, Some((last, _, _))) = (*served, refused) {
            longest = longest.max(last + 500 - begin);
        }
    }
    longest
}

#[test]
fn the_longest_refusal_is_that_of_a_naive_search() {
    let rng = Rng::from_seed(5);
    let mut stuck = 0;
    for round in 0..2_000 {
        let mut rng = rng.fork(&round.to_string());
        let (mut now, chance) = (0, *rng.pick(&[0.0, 0.1, 0.5]).expect("a chance"));
        let asked: Vec<Asked> = (0..rng.between(1, 12))
            .map(|_| {
                now += rng.between(600, 9_000);
                (now, rng.chance(0.5), rng.chance(chance))
            })
            .collect();
        let lines = asked.iter().map(|(time, write, served)| {
            let (from, to) = ((20_000 + time) as f64 / 1e3, (20_500 + time) as f64 / 1e3);
            let f = if *write { "write" } else { "read" };
            let (kind, said) = if *served { ("ok", "ok") } else { ("fail", "TRYAGAIN") };
            format!("{from} 1@kvrocks1 invoke {f} 1 key=1\n{to} 1@kvrocks1 {kind} {f} 1 key=1 slot=130 via=kvrocks1:{said}")
        });
        let text = healed(&lines.collect::<Vec<_>>());
        let history = history(&text);
        let settling = Settling { healed: 20 * SECOND, within: 30 * SECOND };
        let slot = after_heal(&history.operations(), settling).remove(&130).expect("the slot");
        let expected = naive(&asked, false).max(naive(&asked, true));
        assert_eq!(slot.longest() / 1_000_000, expected, "round {round}: {asked:?}");
        let is_stuck = expected >= 30_000;
        let verdict = slots().finish(&history, &Budget::UNBOUNDED).verdict;
        assert_eq!(verdict == Verdict::Invalid, is_stuck, "round {round}: {asked:?}");
        stuck += usize::from(is_stuck);
    }
    assert!((200..1_800).contains(&stuck), "{stuck} stuck");
}

/// A migration that was accepted at 10 s, and looks at the topology at these times: marked or not.
fn migrated(looks: &[(u64, bool)]) -> String {
    let marked = document(4, Some((130, 1)));
    let looks = looks.iter().map(|(at, is_marked)| {
        let told = if *is_marked { marked.clone() } else { document(5, None) };
        format!("{at} 8@controller1 invoke topology nil\n{at}.1 8@controller1 ok topology {told}")
    });
    let looks: Vec<String> = looks.collect();
    let lines = format!(
        r#"0 nemesis phase main
        10 9@controller1 invoke migrate {{"slot":130,"target":1}}
        10.1 9@controller1 ok migrate {{"slot":130,"target":1,"cluster":{marked}}}
        20 nemesis phase recover
        {}"#,
        looks.join("\n")
    );
    lines
}

#[test]
fn a_migration_that_stays_under_way_is_stuck() {
    check(
        &mut migrations(),
        &history(&migrated(&[(15, true), (40, true), (51, true)])),
        expect![[r#"
            invalid: the migration of slot 130 to shard 1 was accepted at 10.100 s and was still under way at 51.100 s, 31.100 s after the heal; 30.000 s are allowed
            stuck-migration: the migration of slot 130 to shard 1 was accepted at 10.100 s and was still under way at 51.100 s, 31.100 s after the heal; 30.000 s are allowed
              controller1 told version 4 of the topology at 51.100 s, in which it is marked; neither success nor failure was told since
              [kvrocks1; key none; ops [1, 8]; 10100 to 51100 ms]
        "#]],
    );
    let verdict = |looks: &[(u64, bool)]| {
        migrations().finish(&history(&migrated(looks)), &Budget::UNBOUNDED).verdict
    };
    assert_eq!(verdict(&[(15, true), (25, false)]), Verdict::Valid);
    assert_eq!(verdict(&[(15, true), (25, true)]), Verdict::Unknown, "too early to tell");
    assert_eq!(verdict(&[]), Verdict::Unknown, "nobody looked");
    assert_eq!(verdict(&[(5, false)]), Verdict::Unknown, "nobody looked afterwards");
    assert_eq!(verdict(&[(51, true), (60, false)]), Verdict::Valid);
    assert_eq!(verdict(&[(22, false), (60, true)]), Verdict::Unknown, "marked anew, since when?");
}

#[test]
fn looks_at_random_times_are_judged_as_a_naive_search_does() {
    let rng = Rng::from_seed(6);
    for round in 0..500 {
        let mut rng = rng.fork(&round.to_string());
        let mut now = 11;
        let looks: Vec<(u64, bool)> = (0..rng.between(1, 8))
            .map(|_| {
                now += rng.between(1, 15);
                (now, rng.chance(0.8))
            })
            .collect();
        let last_bare = looks.iter().rposition(|(_, marked)| !marked).map_or(0, |place| place + 1);
        let since = looks.get(last_bare).map(|(at, _)| (at * 1_000 + 100).max(20_000));
        let expected = match since {
            None => Verdict::Valid,
            Some(since) if now * 1_000 >= since + 30_000 => Verdict::Invalid,
            Some(_) => Verdict::Unknown,
        };
        let found = migrations().finish(&history(&migrated(&looks)), &Budget::UNBOUNDED).verdict;
        assert_eq!(found, expected, "{looks:?}");
    }
}
