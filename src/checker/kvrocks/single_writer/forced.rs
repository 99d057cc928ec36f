//! The fewest times that ownership must have come to one side, whatever the true moments of the writes.
//!
//! Each acknowledged write happened at some moment between its start and its end, at the side that
//! answered it; the two sides own in turn. A write of the other side must be waited for only if it both
//! starts and ends while this side owns, so the side that owns gives way as late as possible: when the
//! first write that lies wholly within its time ends. To give way earlier never saves a turn: a turn
//! is forced by a write that starts after the last one ended, and staying longer only passes more starts.
//! So each turn comes at the latest moment at which it can come, and their number is the least.

use crate::op::Nanos;

/// One acknowledged write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub start: Nanos,
    pub end: Nanos,
    /// The side of interest answered it.
    pub inside: bool,
    /// Which write it is.
    pub write: u32,
}

/// One turn: ownership had come to the side of this write by its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub by: Nanos,
    pub inside: bool,
    pub write: u32,
}

/// The turns that the writes force, in order, if one side owned at first. The writes are in order of
/// their ends.
///
/// Consecutive turns belong to writes of which one ended before the next started.
pub(super) fn turns(spans: &[Span], inside_first: bool) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut owner = inside_first;
    // For each side: where to look on, and when it owned last.
    let (mut next, mut left) = ([0usize; 2], [None; 2]);
    loop {
        let other = usize::from(!owner);
        let waits =
            |span: &Span| span.inside != owner && left[other].is_none_or(|left| span.start > left);
        let found = spans[next[other]..].iter().position(waits);
        let Some(offset) = found else { return turns };
        let span = spans[next[other] + offset];
        next[other] += offset + 1;
        left[usize::from(owner)] = Some(span.end);
        owner = !owner;
        turns.push(Turn { by: span.end, inside: owner, write: span.write });
    }
}

/// The first turn to the inside that none of the permits pays for; each pays for one turn, and only
/// once it has begun.
pub(super) fn first_unpaid(turns: &[Turn], permits: &mut [Nanos]) -> Option<usize> {
    permits.sort_unstable();
    let mut paid = permits.iter();
    let inside = turns.iter().enumerate().filter(|(_, turn)| turn.inside);
    inside
        .map(|(position, turn)| (position, paid.next().is_some_and(|begun| *begun <= turn.by)))
        .find(|(_, paid)| !paid)
        .map(|(position, _)| position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Whether some order of the writes, with moments within their spans, needs no turn to the inside
    /// that is not paid for: by trying all.
    fn has_lawful_order(spans: &[Span], inside_first: bool, permits: &[Nanos]) -> bool {
        explains(spans, 0, 0, inside_first, permits)
    }

    fn explains(spans: &[Span], placed: u32, now: Nanos, owner: bool, permits: &[Nanos]) -> bool {
        let left = || (0..spans.len()).filter(|position| placed >> position & 1 == 0);
        left().next().is_none()
            || left().any(|position| {
                let span = spans[position];
                let enters = span.inside && !owner;
                let (begun, rest) = match (enters, permits) {
                    (true, []) => return false,
                    (true, [first, rest @ ..]) => (*first, rest),
                    (false, all) => (0, all),
                };
                let moment = now.max(span.start).max(begun);
                moment <= span.end
                    && explains(spans, placed | 1 << position, moment, span.inside, rest)
            })
    }

    fn random(rng: &mut Rng) -> Vec<Span> {
        let count = rng.between(1, 7) as u32;
        let length = rng.between(1, 8);
        let mut spans: Vec<Span> = (0..count)
            .map(|write| {
                let start = rng.below(14);
                let end = start + rng.below(length);
                Span { start, end, inside: rng.chance(0.5), write }
            })
            .collect();
        spans.sort_by_key(|span| span.end);
        spans
    }

    #[test]
    fn the_latest_turns_agree_with_every_order_tried() {
        let rng = Rng::from_seed(1);
        let (mut lawful, mut unlawful) = (0, 0);
        for round in 0..20_000 {
            let mut rng = rng.fork(&round.to_string());
            let spans = random(&mut rng);
            let inside_first = rng.chance(0.5);
            let mut permits: Vec<Nanos> = (0..rng.below(4)).map(|_| rng.below(18)).collect();
            let turns = turns(&spans, inside_first);
            let unpaid = first_unpaid(&turns, &mut permits);
            let expected = has_lawful_order(&spans, inside_first, &permits);
            assert_eq!(
                unpaid.is_none(),
                expected,
                "{spans:?} {inside_first} {permits:?} {turns:?}"
            );
            match expected {
                true => lawful += 1,
                false => unlawful += 1,
            }
        }
        assert!(lawful > 4_000 && unlawful > 4_000, "{lawful} {unlawful}");
    }

    #[test]
    fn consecutive_turns_are_in_order_of_real_time_and_alternate() {
        let rng = Rng::from_seed(2);
        let mut longest = 0;
        for round in 0..5_000 {
            let mut rng = rng.fork(&round.to_string());
            let spans = random(&mut rng);
            let turns = turns(&spans, rng.chance(0.5));
            longest = longest.max(turns.len());
            for pair in turns.windows(2) {
                let [one, next] = pair else { continue };
                let span = spans.iter().find(|span| span.write == next.write).expect("a write");
                assert!(one.inside != next.inside && one.by < span.start, "{spans:?} {turns:?}");
            }
        }
        assert!(longest >= 4, "{longest}");
    }

    #[test]
    fn overlapping_writes_around_one_transfer_force_a_single_turn() {
        let span = |start, end, inside| Span { start, end, inside, write: 0 };
        let spans = [span(0, 4, false), span(3, 6, true), span(4, 7, false), span(5, 9, true)];
        let turns = turns(&spans, false);
        assert_eq!(turns.len(), 1, "{turns:?}");
        assert_eq!(first_unpaid(&turns, &mut [6]), None);
        assert_eq!(first_unpaid(&turns, &mut [7]), Some(0), "begun only after the write had ended");
        assert_eq!(first_unpaid(&turns, &mut []), Some(0));
    }
}
