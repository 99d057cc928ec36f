//! Small histories of one object, whether any order explains them, and what the checkers say of them.

use crate::checker::kvrocks::tests::rounds;
use crate::checker::kvrocks::told::checks;
use crate::checker::kvrocks::{KvrocksObject, kvrocks_checkers};
use crate::checker::text;
use crate::checker::{Budget, Verdict};
use crate::rng::Rng;

/// What an object is, one operation after the other.
pub(super) trait Object {
    type Act: Clone + std::fmt::Debug;
    type State: Clone + Default;

    /// The first moment from `now` on at which the operation can take effect, with the answer that it
    /// carries, if it does; the state afterwards. `None` if it cannot have been answered so.
    fn step(state: &Self::State, act: &Self::Act, now: u64) -> Option<(u64, Self::State)>;

    /// What it is answered at this moment.
    fn answer(state: &Self::State, act: &Self::Act, now: u64) -> Self::Act;

    fn invoke(act: &Self::Act) -> String;

    fn complete(act: &Self::Act) -> String;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Ok,
    Fail,
    Info,
}

/// One operation; times are in milliseconds.
#[derive(Clone, Debug)]
pub(super) struct Op<A> {
    pub start: u64,
    pub end: u64,
    pub kind: End,
    pub act: A,
}

/// Whether an order explains all that was answered.
pub(super) fn is_explained<O: Object>(ops: &[Op<O::Act>]) -> bool {
    let certain = ops.iter().enumerate().filter(|(_, op)| op.kind == End::Ok);
    let certain = certain.map(|(place, _)| 1_u32 << place).sum();
    let possible = ops.iter().enumerate().filter(|(_, op)| op.kind != End::Fail);
    let possible = possible.map(|(place, _)| 1_u32 << place).sum();
    explains::<O>(ops, certain, possible, &O::State::default(), 0)
}

fn explains<O: Object>(
    ops: &[Op<O::Act>],
    certain: u32,
    left: u32,
    state: &O::State,
    now: u64,
) -> bool {
    if left & certain == 0 {
        return true;
    }
    ops.iter().enumerate().any(|(place, op)| {
        let bit = 1 << place;
        left & bit != 0
            && O::step(state, &op.act, now.max(op.start)).is_some_and(|(moment, next)| {
                let in_time = op.kind == End::Info || moment <= op.end;
                in_time && explains::<O>(ops, certain, left & !bit, &next, moment)
            })
    })
}

/// A history that an order explains: each operation takes effect at some moment of its own.
pub(super) fn sound<O: Object>(acts: Vec<O::Act>, rng: &mut Rng) -> Vec<Op<O::Act>> {
    let count = acts.len() as u64;
    let span = *rng.pick(&[2, 8, 40]).expect("a span");
    let mut ops: Vec<Op<O::Act>> = Vec::new();
    // No two moments are the same.
    for (place, act) in acts.into_iter().enumerate() {
        let start = rng.below(30) * 2 * count + place as u64;
        let end = start + (1 + rng.below(span)) * 2 * count + count;
        let kind = match rng.below(10) {
            0 => End::Fail,
            1 | 2 => End::Info,
            _ => End::Ok,
        };
        ops.push(Op { start, end, kind, act });
    }
    ops.sort_by_key(|op| op.start);
    let mut moments: Vec<(u64, usize)> = Vec::new();
    for (place, op) in ops.iter().enumerate() {
        let happens = op.kind == End::Ok || (op.kind == End::Info && rng.chance(0.5));
        if happens {
            moments.push((rng.between(op.start, op.end), place));
        }
    }
    moments.sort_unstable();
    let mut state = O::State::default();
    for (moment, place) in moments {
        let told = O::answer(&state, &ops[place].act, moment);
        match O::step(&state, &told, moment) {
            Some((at, next)) if at == moment => (ops[place].act, state) = (told, next),
            // What the object refuses did not happen.
            _ => ops[place].kind = End::Fail,
        }
    }
    ops
}

/// The history, an event a line.
pub(super) fn written<O: Object>(ops: &[Op<O::Act>]) -> String {
    let mut lines = vec![(0, "0 nemesis phase main".to_owned())];
    let at = |time: u64| format!("{}.{:03}", time / 1_000, time % 1_000);
    for (process, op) in ops.iter().enumerate() {
        let from = at(op.start);
        lines.push((op.start, format!("{from} {process}@kvrocks1 invoke {}", O::invoke(&op.act))));
        let (kind, told) = match op.kind {
            End::Ok => ("ok", O::complete(&op.act)),
            End::Fail => ("fail", O::invoke(&op.act)),
            End::Info => ("info", O::invoke(&op.act)),
        };
        let end = at(op.end);
        lines.push((op.end, format!("{end} {process}@kvrocks1 {kind} {told} via=kvrocks1:ok")));
    }
    lines.sort();
    let last = lines.last().map_or(0, |(time, _)| *time);
    lines.push((last, format!("{} nemesis phase drain", at(last + 1))));
    lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

/// The kinds of anomalies that the checkers of the object find, but for those of the final reads, which
/// there are none of.
pub(super) fn judged<O: Object>(object: &KvrocksObject, ops: &[Op<O::Act>]) -> Vec<String> {
    let history = text::history(&written::<O>(ops));
    let mut checkers = kvrocks_checkers(&checks(Some(object.clone())));
    let mut kinds = Vec::new();
    for checker in checkers.iter_mut().filter(|one| ["model", "stale-reads"].contains(&one.name()))
    {
        let finding = checker.finish(&history, &Budget::UNBOUNDED);
        assert_ne!(finding.verdict, Verdict::Unknown, "{}", finding.why);
        kinds.extend(finding.anomalies.into_iter().map(|anomaly| anomaly.kind));
    }
    kinds
}

/// How histories fared.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub sound: usize,
    /// No order explains them, and the checkers say so, or do not.
    pub caught: usize,
    pub missed: usize,
}

/// Sound histories, and the same after a change; false alarms fail. Histories that no order explains and
/// no checker finds fault with are counted, or fail where `complete`.
pub(super) fn compare<O: Object>(
    object: &KvrocksObject,
    usual: usize,
    complete: bool,
    seed: u64,
    acts: impl Fn(&mut Rng) -> Vec<O::Act>,
    change: impl Fn(&mut [Op<O::Act>], &mut Rng),
) -> Tally {
    let rng = Rng::from_seed(seed);
    let mut tally = Tally::default();
    for round in 0..rounds(usual) {
        let mut rng = rng.fork(&round.to_string());
        let mut ops = sound::<O>(acts(&mut rng), &mut rng);
        let told = |ops: &[Op<O::Act>]| format!("round {round}:\n{}", written::<O>(ops));
        assert!(is_explained::<O>(&ops), "{}", told(&ops));
        assert_eq!(judged::<O>(object, &ops), Vec::<String>::new(), "{}", told(&ops));
        change(&mut ops, &mut rng);
        let (explained, kinds) = (is_explained::<O>(&ops), judged::<O>(object, &ops));
        match (explained, kinds.is_empty()) {
            (true, true) => tally.sound += 1,
            (false, false) => tally.caught += 1,
            (false, true) if complete => panic!("nothing is found in {}", told(&ops)),
            (false, true) => tally.missed += 1,
            (true, false) => panic!("{kinds:?} in {}", told(&ops)),
        }
    }
    println!("{object:?}: {tally:?}");
    tally
}

/// Changes one of the operations that were answered.
pub(super) fn pick<'o, A>(
    ops: &'o mut [Op<A>],
    rng: &mut Rng,
    fits: impl Fn(&A) -> bool,
) -> Option<&'o mut Op<A>> {
    let fitting = ops.iter().enumerate().filter(|(_, op)| op.kind == End::Ok && fits(&op.act));
    let fitting: Vec<usize> = fitting.map(|(place, _)| place).collect();
    rng.pick(&fitting).copied().map(|place| &mut ops[place])
}
