//! The arrows of a cycle, and what is written at them.

use maud::{Markup, html};

use super::layout::{LINE, Way};
use crate::checker::{CycleEdge, CycleEdgeKind};

/// How round a corner is, and how long and wide an arrow's head.
const ROUND: f64 = 8.0;
const HEAD: f64 = 9.0;
const HALF: f64 = 4.5;

pub(super) fn arrow(edge: &CycleEdge, way: &Way) -> Markup {
    html! {
        @if way.corners.len() > 1 {
            g.edge.(edge.kind.name()) {
                title { (edge.why) }
                path.line d=(line(&way.corners)) {}
                path.head d=(head(&way.corners)) {}
            }
        }
    }
}

/// Two lines, the kind of the edge and by what it is.
pub(super) fn label(way: &Way, kind: CycleEdgeKind, lines: &[String; 2]) -> Markup {
    let (x, y) = way.label;
    html! {
        @if way.corners.len() > 1 {
            g.edge.(kind.name()) {
                text.kind x=(round(x)) y=(round(y)) { (lines[0]) }
                text.by x=(round(x)) y=(round(y + LINE)) { (lines[1]) }
            }
        }
    }
}

fn round(number: f64) -> String {
    format!("{number:.1}")
}

/// Through all corners, rounded, to where the head begins.
fn line(corners: &[(f64, f64)]) -> String {
    let last = corners.len() - 1;
    let part = |(number, corner): (usize, &(f64, f64))| match number {
        0 => format!("M{:.1} {:.1}", corner.0, corner.1),
        _ if number == last => {
            let end = towards(*corner, corners[number - 1], HEAD - 1.0);
            format!("L{:.1} {:.1}", end.0, end.1)
        }
        _ => {
            let before = towards(*corner, corners[number - 1], ROUND);
            let after = towards(*corner, corners[number + 1], ROUND);
            format!(
                "L{:.1} {:.1} Q{:.1} {:.1} {:.1} {:.1}",
                before.0, before.1, corner.0, corner.1, after.0, after.1
            )
        }
    };
    corners.iter().enumerate().map(part).collect::<Vec<_>>().join(" ")
}

/// The point at this distance from `from` on the way to `to`, or half way where they are close.
fn towards(from: (f64, f64), to: (f64, f64), distance: f64) -> (f64, f64) {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    let length = x.hypot(y);
    if length == 0.0 {
        return from;
    }
    let share = (distance / length).min(0.5);
    (from.0 + x * share, from.1 + y * share)
}

/// A triangle whose tip is the end. All arrows end upright.
fn head(corners: &[(f64, f64)]) -> String {
    let (tip, before) = (corners[corners.len() - 1], corners[corners.len() - 2]);
    let back = tip.1 + if before.1 < tip.1 { -HEAD } else { HEAD };
    let (left, right) = (tip.0 - HALF, tip.0 + HALF);
    format!("M{:.1} {:.1} L{left:.1} {back:.1} L{right:.1} {back:.1} Z", tip.0, tip.1)
}
