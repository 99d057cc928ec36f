//! `set-full`: the life of every element from every read.

use super::super::random;
use super::set::Sets;
use super::*;
use crate::checker::jepsen::SET_FULL;
use crate::rng::Rng;

/// As Jepsen's own pass: every read touches every element that has been asked for so far.
fn oracle(events: &[Event], finding: &Finding, linearizable: bool) -> Verdict {
    let ops = ops(events);
    let reads: Vec<&Op> = ops.iter().filter(|op| op.is_ok("read")).collect();
    let (mut lost, mut stale, mut stable, mut never) = (0, 0, 0, 0);
    for add in ops.iter().filter(|op| op.f == "add") {
        let value = Op::int(&add.asked);
        let has = |read: &&&Op| read.seen().contains(&value);
        let after = || reads.iter().filter(|read| read.done() > add.invoke);
        let acknowledged = (add.kind == Kind::Ok).then(|| add.done());
        let known = after().filter(has).map(|read| read.done()).chain(acknowledged).min();
        let present = after().filter(has).map(|read| read.invoke).max();
        let absent = after().filter(|read| !has(read)).map(|read| read.invoke).max();
        let missed = known.is_some() && absent > known;
        match (present > absent, missed) {
            (true, true) => (stable, stale) = (stable + 1, stale + 1),
            (true, false) => stable += 1,
            (false, true) => lost += 1,
            (false, false) => never += 1,
        }
    }
    assert_eq!(count(finding, "lost"), lost, "lost\n{}", shown(events));
    assert_eq!(finding.figures.get("stable").copied().unwrap_or_default() as u64, stable);
    assert_eq!(finding.figures.get("never-read").copied().unwrap_or_default() as u64, never);
    let told_stale = match linearizable {
        true => count(finding, "stale"),
        false => finding.figures.get("stale").copied().unwrap_or_default() as u64,
    };
    assert_eq!(told_stale, stale);
    verdict(lost > 0 || (linearizable && stale > 0), stable == 0)
}

fn history(seed: u64) -> Vec<Event> {
    let mut rng = Rng::from_seed(seed);
    let wrong = [0.05, 0.4][rng.below(2) as usize];
    let mut store = Sets { next: 0, held: Vec::new(), wrong, reads: 0.6 };
    let steps = rng.between(2, 30);
    random::history(&mut rng, &mut store, steps)
}

#[test]
fn the_checker_and_the_definition_agree() {
    let wanted = [Verdict::Valid, Verdict::Invalid, Verdict::Unknown];
    let options = ModelOptions::default();
    compare(&SET_FULL, &options, 500, &wanted, history, |e, f| oracle(e, f, false));
    let consistency_models = vec!["linearizable".to_owned()];
    let options = ModelOptions { consistency_models, ..options };
    compare(&SET_FULL, &options, 500, &wanted, history, |e, f| oracle(e, f, true));
}
