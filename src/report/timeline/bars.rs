//! One operation as a bar with its label, placed where it hides no other label of its lane.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::outcome_class;
use crate::op::Kind;

/// A label above, the bar, a label below.
pub(super) const LANE_HEIGHT: f64 = 48.0;
const BAR_TOP: f64 = 18.0;
const BAR_HEIGHT: f64 = 13.0;
const BAR_WIDTH_MIN: f64 = 3.0;
const CHARACTER_WIDTH: f64 = 6.7;
/// How far an `info` fades out past the moment its client gave up.
const FADE: f64 = 70.0;

pub(super) struct Shape {
    pub(super) row: usize,
    pub(super) top: f64,
    pub(super) from: f64,
    /// Until then other servers were asked, which sent the client on.
    pub(super) last_sent: f64,
    pub(super) to: f64,
    /// Where the label would best begin.
    pub(super) label_from: f64,
    pub(super) outcome: Kind,
    /// Part of the counterexample, not of what is around it.
    pub(super) is_core: bool,
    pub(super) label: String,
    pub(super) hover: String,
}

/// What is already written above (`false`) and below (`true`) the bars of each row.
pub(super) type Taken = BTreeMap<(usize, bool), Vec<(f64, f64)>>;

pub(super) fn bar(shape: &Shape, name: &str, right: f64) -> Markup {
    let y = shape.top + BAR_TOP;
    let width = (shape.to - shape.from).max(BAR_WIDTH_MIN);
    let fade = if shape.outcome == Kind::Info { FADE.min(right - shape.from - width) } else { 0.0 };
    html! {
        g.op.(outcome_class(shape.outcome)).context[!shape.is_core] {
            title { (shape.hover) }
            rect.bar x=(format!("{:.1}", shape.from)) y=(y) width=(format!("{width:.1}"))
                height=(BAR_HEIGHT) rx="2" {}
            @if shape.last_sent > shape.from {
                @let elsewhere = shape.last_sent.min(shape.from + width) - shape.from;
                rect.elsewhere x=(format!("{:.1}", shape.from)) y=(y)
                    width=(format!("{elsewhere:.1}")) height=(BAR_HEIGHT) {}
            }
            @if fade > 0.0 {
                rect x=(format!("{:.1}", shape.from + width)) y=(y) width=(format!("{fade:.1}"))
                    height=(BAR_HEIGHT) fill=(format!("url(#{name}-fade)")) {}
            }
        }
    }
}

/// The label, or nothing where it would hide another one.
pub(super) fn label(shape: &Shape, edges: (f64, f64), taken: &mut Taken) -> Markup {
    html! {
        @if let Some((x, below)) = place(shape, edges, taken) {
            @let baseline = if below { BAR_TOP + BAR_HEIGHT + 12.0 } else { BAR_TOP - 5.0 };
            text.label.context[!shape.is_core] x=(format!("{x:.1}")) y=(shape.top + baseline) {
                (shape.label)
            }
        }
    }
}

/// Above if there is room, else below; context goes without where both are taken.
fn place(shape: &Shape, (left, right): (f64, f64), taken: &mut Taken) -> Option<(f64, bool)> {
    let width = shape.label.chars().count() as f64 * CHARACTER_WIDTH;
    let from = shape.label_from.min(right - width).max(left);
    let span = (from, from + width + 6.0);
    let is_free = |below: bool| {
        let row = taken.get(&(shape.row, below));
        row.is_none_or(|row| row.iter().all(|other| span.1 <= other.0 || span.0 >= other.1))
    };
    let below = match (is_free(false), is_free(true), shape.is_core) {
        (true, ..) => false,
        (false, true, _) => true,
        // Two numbers on one spot are still better than none: the table below tells them apart.
        (false, false, true) => true,
        (false, false, false) => return None,
    };
    taken.entry((shape.row, below)).or_default().push(span);
    Some((from, below))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(from: f64, is_core: bool) -> Shape {
        Shape {
            row: 0,
            top: 0.0,
            from,
            last_sent: from,
            to: from + 4.0,
            label_from: from,
            outcome: Kind::Ok,
            is_core,
            label: "read → 3".into(),
            hover: String::new(),
        }
    }

    #[test]
    fn labels_of_a_lane_do_not_hide_each_other() {
        let mut taken = Taken::new();
        let mut place =
            |from, is_core| super::place(&shape(from, is_core), (100.0, 900.0), &mut taken);
        assert_eq!(place(200.0, true), Some((200.0, false)));
        assert_eq!(place(220.0, true), Some((220.0, true)));
        assert_eq!(place(230.0, false), None);
        assert_eq!(place(300.0, false), Some((300.0, false)));
        let (x, below) = place(899.0, true).expect("a counterexample keeps its label");
        assert!(x < 850.0 && !below, "{x}");
    }
}
