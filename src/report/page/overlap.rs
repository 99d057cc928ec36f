//! The drawing of a split brain: both nodes' answers for the slot side by side, and what happened when.

use maud::{Markup, html};

use super::scroll_box;
use crate::op::Nanos;
use crate::report::digest::Operation;
use crate::report::overlap::{Fate, Overlap, Side, Step, StepKind};
use crate::report::words;

const LEFT: f64 = 190.0;
const WIDTH: f64 = 846.0;
const RIGHT: f64 = LEFT + WIDTH;
/// Each of writes, reads and refusals.
const ROW: f64 = 22.0;
const SIDE: f64 = ROW * 3.0 + 34.0;
const LEVEL: f64 = 19.0;
const LEVELS_MAX: usize = 5;
const TICK: f64 = 14.0;

pub(super) fn overlap(number: usize, overlap: &Overlap) -> Markup {
    let title = format!("Who answered for slot {} when", overlap.slot);
    html! {
        h4 { (title) }
        (scroll_box(&title, drawing(number, overlap, &title)))
        p.quiet.key {
            span { span.swatch.writes {} "acknowledged write" }
            @if has(overlap, |fate| matches!(fate, Fate::Gone { .. })) {
                span { span.swatch.gone {} "gone: an older value was found later" }
            }
            @if has(overlap, |fate| matches!(fate, Fate::Unseen)) {
                span { span.swatch.unseen {} "never seen again" }
            }
            span { span.swatch.reads {} "read" }
            span { span.swatch.refused {} "refused" }
            span { span.swatch.both {} "both took writes" }
        }
        ol.story { @for step in &overlap.steps {
            li.(class(step.kind)) { b { (words::moment(step.at)) } " " (words::shorten(&step.told, 1_200)) }
        } }
    }
}

fn has(overlap: &Overlap, is: fn(&Fate) -> bool) -> bool {
    overlap.sides.iter().flat_map(|side| &side.writes).any(|(_, fate)| is(fate))
}

fn drawing(number: usize, overlap: &Overlap, title: &str) -> Markup {
    let marks = Marks::of(overlap);
    let top = marks.levels as f64 * LEVEL + 30.0;
    let bottom = top + overlap.sides.len() as f64 * SIDE;
    let (from, to) = (x(overlap, overlap.both.0), x(overlap, overlap.both.1));
    html! {
        svg.timeline.overlap viewBox=(format!("0 0 {} {}", RIGHT + 24.0, bottom + 8.0)) role="img"
            aria-labelledby=(format!("overlap-{number}-title overlap-{number}-desc")) {
            title id=(format!("overlap-{number}-title")) { (title) }
            desc id=(format!("overlap-{number}-desc")) { (description(overlap)) }
            rect.both x=(format!("{from:.1}")) width=(format!("{:.1}", (to - from).max(2.0)))
                y=(top - 8.0) height=(bottom - top + 8.0) {}
            @for (at, label) in ticks(overlap) {
                line.tick x1=(format!("{at:.1}")) x2=(format!("{at:.1}")) y1=(top - 6.0) y2=(bottom) {}
                text.time x=(format!("{at:.1}")) y=(top - 11.0) { (label) }
            }
            @for (row, side) in overlap.sides.iter().enumerate() {
                (lane(overlap, side, top + row as f64 * SIDE))
            }
            line.node-line x1="8" x2=(RIGHT + 16.0) y1=(bottom) y2=(bottom) {}
            (marks.markup(overlap, (top, bottom)))
        }
    }
}

fn x(overlap: &Overlap, at: Nanos) -> f64 {
    let (from, to) = overlap.span;
    let share = at.clamp(from, to).saturating_sub(from) as f64 / (to - from).max(1) as f64;
    LEFT + share * WIDTH
}

/// Round moments, eight at most.
fn ticks(overlap: &Overlap) -> Vec<(f64, String)> {
    let (from, to) = overlap.span;
    let wanted = (to - from) / 8;
    let mut steps = (6..18).flat_map(|power| [1, 2, 5].map(|factor| factor * 10_u64.pow(power)));
    let step = steps.find(|step| *step >= wanted).unwrap_or(Nanos::MAX / 4);
    let first = from.div_ceil(step) * step;
    let moments = std::iter::successors(Some(first), |at| Some(at + step));
    moments.take_while(|at| *at <= to).map(|at| (x(overlap, at), words::moment(at))).collect()
}

fn lane(overlap: &Overlap, side: &Side, top: f64) -> Markup {
    let (writes, reads) = side.within(overlap.both);
    let of = |is: fn(&Fate) -> bool| {
        let found = side.writes.iter().filter(|(_, fate)| is(fate));
        path(overlap, found.map(|(write, _)| write), top + 18.0)
    };
    let counted = |count: usize, one: &str, many: &str| {
        format!("{} meanwhile", words::plural(count, one, many))
    };
    html! {
        line.node-line x1="8" x2=(RIGHT + 16.0) y1=(top) y2=(top) {}
        text.node x="10" y=(top + 17.0) { (words::shorten(&side.node, 22)) }
        text.process x="10" y=(top + 34.0) { (counted(writes, "write", "writes")) }
        text.process x="10" y=(top + 34.0 + ROW) { (counted(reads, "read", "reads")) }
        text.process x="10" y=(top + 34.0 + ROW * 2.0) { "refused" }
        path.writes d=(of(|fate| matches!(fate, Fate::Unknown))) {}
        path.unseen d=(of(|fate| matches!(fate, Fate::Unseen))) {}
        path.gone d=(of(|fate| matches!(fate, Fate::Gone { .. }))) {}
        path.reads d=(path(overlap, side.reads.iter(), top + 18.0 + ROW)) {}
        path.refused d=(path(overlap, side.refused.iter(), top + 18.0 + ROW * 2.0)) {}
        (version_line(overlap, side, top + SIDE - 6.0))
    }
}

/// Which version of the topology the node went by.
fn version_line(overlap: &Overlap, side: &Side, y: f64) -> Markup {
    html! {
        @for (position, (at, version)) in side.versions.iter().enumerate() {
            @let from = x(overlap, *at);
            @let to = side.versions.get(position + 1).map_or(RIGHT, |(next, _)| x(overlap, *next));
            line.version x1=(format!("{:.1}", from + 1.0)) x2=(format!("{:.1}", (to - 1.0).max(from))) y1=(y) y2=(y) {}
            @if to - from > 70.0 {
                text.version-name x=(format!("{:.1}", from + 4.0)) y=(y - 3.0) { "topology " (version) }
            }
        }
    }
}

/// A tick for each, at the moment of its answer; those on one spot are one.
fn path<'o, 'a: 'o>(
    overlap: &Overlap,
    operations: impl Iterator<Item = &'o Operation<'a>>,
    y: f64,
) -> String {
    let mut path = String::new();
    let mut last = f64::MIN;
    let mut places: Vec<f64> = operations.map(|op| x(overlap, op.ended(overlap.span.1))).collect();
    places.sort_by(f64::total_cmp);
    for place in places {
        if place - last >= 0.5 {
            path.push_str(&format!("M{place:.1} {y}v{TICK}"));
            last = place;
        }
    }
    path
}

/// Numbered labels above the drawing, on as many levels as they need.
struct Marks {
    /// Where each step's label begins, and its level from above.
    places: Vec<(f64, usize)>,
    levels: usize,
}

impl Marks {
    fn of(overlap: &Overlap) -> Marks {
        let mut free = [f64::MIN; LEVELS_MAX];
        let mut places = Vec::new();
        for (number, step) in overlap.steps.iter().enumerate() {
            let width = label(number, step).chars().count() as f64 * 7.2 + 8.0;
            let from = (x(overlap, step.at) + 3.0).min(RIGHT + 20.0 - width);
            let level = free.iter().position(|end| *end <= from).unwrap_or(LEVELS_MAX - 1);
            free[level] = from + width;
            places.push((from, level));
        }
        let levels = places.iter().map(|(_, level)| level + 1).max().unwrap_or(0);
        Marks { places, levels }
    }

    fn markup(&self, overlap: &Overlap, (top, bottom): (f64, f64)) -> Markup {
        html! {
            @for (number, (step, (from, level))) in overlap.steps.iter().zip(&self.places).enumerate() {
                @let at = format!("{:.1}", x(overlap, step.at));
                @let y = *level as f64 * LEVEL;
                g.step.(class(step.kind)) {
                    title { (words::shorten(&step.told, 400)) }
                    line x1=(at) x2=(at) y1=(y + 4.0) y2=(bottom) {}
                    text x=(format!("{from:.1}")) y=(y + 14.0) { (label(number, step)) }
                }
            }
            line.lane-line x1=(LEFT) x2=(RIGHT) y1=(top) y2=(top) {}
        }
    }
}

fn label(number: usize, step: &Step) -> String {
    format!("{} {}", number + 1, words::shorten(&step.short, 24))
}

fn class(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Asked => "asked",
        StepKind::Fault => "fault",
        StepKind::System => "system",
        StepKind::Loss => "loss",
    }
}

/// The drawing in words, for those who do not see it.
fn description(overlap: &Overlap) -> String {
    let (from, to) = (words::moment(overlap.both.0), words::moment(overlap.both.1));
    let of = |side: &Side| {
        let (writes, reads) = side.within(overlap.both);
        format!("{} acknowledged {writes} writes and answered {reads} reads", side.node)
    };
    let sides: Vec<String> = overlap.sides.iter().map(of).collect();
    format!("From {from} to {to} {}.", sides.join(", "))
}
