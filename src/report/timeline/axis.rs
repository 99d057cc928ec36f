//! The time axis of a counterexample: one scale, with long idle stretches cut out and marked.
//!
//! A write at 3 s and the stale read of it at 40 s both last milliseconds. On an unbroken axis neither
//! would be visible; on a bent one lengths would lie. So stretches in which nothing begins or ends
//! are cut, and every piece that is drawn has the same scale.

use crate::op::Nanos;
use crate::report::scale::Scale;

const BREAK_WIDTH: f64 = 44.0;
const BREAKS_MAX: usize = 5;
/// As long as an ordinary operation is at least this wide, nothing is cut.
const LEGIBLE_WIDTH: f64 = 14.0;
/// Less than this is never blown up to the whole width.
const SHORTEST_NANOS: Nanos = 100_000;
const TICK_GAP: f64 = 92.0;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    from: Nanos,
    to: Nanos,
    left: f64,
}

pub(super) struct Axis {
    pieces: Vec<Piece>,
    pixels_per_nano: f64,
    left: f64,
    width: f64,
}

pub(super) struct Break {
    pub(super) left: f64,
    pub(super) width: f64,
    pub(super) skipped: Nanos,
}

impl Axis {
    /// An axis through all stretches between `from` and `to`, on which an ordinary one is legible.
    pub(super) fn new(stretches: &[(Nanos, Nanos)], left: f64, width: f64) -> Axis {
        let mut moments: Vec<Nanos> =
            stretches.iter().flat_map(|(from, to)| [*from, *to]).collect();
        moments.sort_unstable();
        moments.dedup();
        let longest = cut_length(&moments, ordinary_length(stretches), width);
        let mut pieces: Vec<Piece> = Vec::new();
        for moment in moments {
            match pieces.last_mut() {
                Some(piece) if moment - piece.to < longest => piece.to = moment,
                _ => pieces.push(Piece { from: moment, to: moment, left: 0.0 }),
            }
        }
        pad(&mut pieces);
        let shown: Nanos = pieces.iter().map(|piece| piece.to - piece.from).sum();
        let breaks = pieces.len().saturating_sub(1) as f64 * BREAK_WIDTH;
        let pixels_per_nano = (width - breaks) / shown.max(1) as f64;
        let mut next = left;
        for piece in &mut pieces {
            piece.left = next;
            next += (piece.to - piece.from) as f64 * pixels_per_nano + BREAK_WIDTH;
        }
        Axis { pieces, pixels_per_nano, left, width }
    }

    /// Where a moment is drawn; moments that were cut out are drawn in the middle of the break.
    pub(super) fn x(&self, moment: Nanos) -> f64 {
        let next = self.pieces.partition_point(|piece| piece.from <= moment);
        let Some(piece) = next.checked_sub(1).map(|index| &self.pieces[index]) else {
            return self.left;
        };
        if moment <= piece.to {
            piece.left + (moment - piece.from) as f64 * self.pixels_per_nano
        } else if next == self.pieces.len() {
            self.left + self.width
        } else {
            self.right_of(piece) + BREAK_WIDTH / 2.0
        }
    }

    /// The first place at or after a moment that is not in a break.
    pub(super) fn x_in_sight(&self, moment: Nanos) -> f64 {
        let x = self.x(moment);
        let hides = |gap: &Break| (gap.left..gap.left + gap.width).contains(&x);
        self.breaks().find(hides).map_or(x, |gap| gap.left + gap.width)
    }

    /// Some of this stretch of time is drawn.
    pub(super) fn shows(&self, from: Nanos, to: Nanos) -> bool {
        self.pieces.iter().any(|piece| from <= piece.to && to >= piece.from)
    }

    fn right_of(&self, piece: &Piece) -> f64 {
        piece.left + (piece.to - piece.from) as f64 * self.pixels_per_nano
    }

    pub(super) fn breaks(&self) -> impl Iterator<Item = Break> {
        self.pieces.windows(2).map(|two| Break {
            left: self.right_of(&two[0]),
            width: BREAK_WIDTH,
            skipped: two[1].from - two[0].to,
        })
    }

    /// Round moments with their labels, far enough apart to be read; at least one a piece.
    pub(super) fn ticks(&self, scale: Scale) -> Vec<(f64, String)> {
        let step = tick_step(TICK_GAP / self.pixels_per_nano);
        let mut ticks: Vec<(f64, String)> = Vec::new();
        for piece in &self.pieces {
            let first = piece.from.div_ceil(step) * step;
            let moments = (first..=piece.to).step_by(usize::try_from(step).unwrap_or(usize::MAX));
            let lonely = (first > piece.to).then_some(piece.from.midpoint(piece.to));
            for moment in moments.chain(lonely) {
                let x = self.x(moment);
                let has_room = ticks.last().is_none_or(|(last, _)| x - last >= TICK_GAP * 0.8);
                if let Some(label) = scale.tick(moment, step).filter(|_| has_room) {
                    ticks.push((x, label));
                }
            }
        }
        ticks
    }
}

/// The length of the middle one; half of them are longer.
fn ordinary_length(stretches: &[(Nanos, Nanos)]) -> Nanos {
    let mut lengths: Vec<Nanos> = stretches.iter().map(|(from, to)| to - from).collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied().unwrap_or(0).max(SHORTEST_NANOS)
}

/// Gaps between moments of at least this length are cut: as few as make `ordinary` legible, and where
/// that cannot be reached, those that bring most.
fn cut_length(moments: &[Nanos], ordinary: Nanos, width: f64) -> Nanos {
    let mut gaps: Vec<Nanos> = moments.windows(2).map(|two| two[1] - two[0]).collect();
    gaps.sort_unstable_by(|one, other| other.cmp(one));
    let mut shown: Nanos = gaps.iter().sum();
    let mut best = (0.0, Nanos::MAX);
    let mut cut = Nanos::MAX;
    for (breaks, gap) in gaps.iter().take(BREAKS_MAX + 1).enumerate() {
        let room = width - breaks as f64 * BREAK_WIDTH;
        let legible = ordinary as f64 / shown.max(SHORTEST_NANOS) as f64 * room;
        if legible > best.0 * 1.5 {
            best = (legible, cut);
        }
        if legible >= LEGIBLE_WIDTH {
            break;
        }
        shown -= gap;
        cut = *gap;
    }
    best.1
}

/// Widens each piece a little, so that what begins or ends it is not drawn on its edge.
fn pad(pieces: &mut [Piece]) {
    let shown: Nanos = pieces.iter().map(|piece| piece.to - piece.from).sum();
    let pad = (shown / 16).max(SHORTEST_NANOS / 4);
    for piece in pieces {
        piece.from = piece.from.saturating_sub(pad);
        piece.to += pad;
    }
}

/// The smallest 1, 2 or 5 times a power of ten that is not below.
fn tick_step(nanos: f64) -> Nanos {
    let mut power: Nanos = 1_000;
    loop {
        for factor in [1, 2, 5] {
            if (power * factor) as f64 >= nanos || power > Nanos::MAX / 100 {
                return power * factor;
            }
        }
        power *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::{MILLISECOND, SECOND};

    /// Operations from and to these milliseconds.
    fn axis(stretches: &[(u64, u64)]) -> Axis {
        let stretches: Vec<(Nanos, Nanos)> =
            stretches.iter().map(|(from, to)| (from * MILLISECOND, to * MILLISECOND)).collect();
        Axis::new(&stretches, 100.0, 900.0)
    }

    #[test]
    fn what_is_legible_is_not_cut() {
        let axis = axis(&[(0, 10), (5, 25), (300, 330), (480, 500)]);
        assert_eq!(axis.breaks().count(), 0);
        assert!((axis.x(250 * MILLISECOND) - 550.0).abs() < 30.0, "{}", axis.x(250 * MILLISECOND));
    }

    #[test]
    fn idle_stretches_are_cut_and_the_order_is_kept() {
        let axis = axis(&[(3_000, 3_004), (3_005, 3_009), (40_000, 40_003), (59_000, 59_002)]);
        let skipped: Vec<u64> = axis.breaks().map(|gap| gap.skipped / SECOND).collect();
        assert_eq!(skipped, [36, 18]);
        let moments = [0, 3_000, 3_009, 20_000, 40_000, 40_003, 50_000, 59_000, 60_000];
        let places: Vec<f64> = moments.iter().map(|at| axis.x(at * MILLISECOND)).collect();
        assert!(places.is_sorted(), "{places:?}");
        assert!(places[0] >= 100.0 && places[8] <= 1_000.0 + 1e-6, "{places:?}");
        assert!(!axis.shows(20_000 * MILLISECOND, 21_000 * MILLISECOND));
        assert!(axis.shows(20_000 * MILLISECOND, 40_001 * MILLISECOND));
    }

    #[test]
    fn ticks_are_round_and_apart() {
        let axis = axis(&[(14_000, 14_020), (14_050, 14_100)]);
        let labels: Vec<String> =
            axis.ticks(Scale::Time).into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels[..3], ["14.00 s", "14.02 s", "14.04 s"], "{labels:?}");
    }

    #[test]
    fn a_single_moment_and_none_at_all_are_drawn() {
        assert!(axis(&[(5, 5)]).x(5 * MILLISECOND) > 100.0);
        assert_eq!(axis(&[]).ticks(Scale::Time), []);
        assert_eq!(axis(&[]).x(7), 100.0);
    }
}
