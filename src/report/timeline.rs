//! The timeline of one anomaly, as an SVG whose size is bounded whatever the history.

mod axis;
mod bars;
mod selection;
mod zones;

use maud::{Markup, html};

use self::axis::Axis;
use self::bars::{LANE_HEIGHT, Shape, Taken, bar, label};
use self::selection::{Lane, Selection};
use super::digest::{Digest, FaultWindow, Operation};
use super::scale::Scale;
use super::words;
use crate::checker::Anomaly;
use crate::op::{Kind, Nanos};

const LEFT: f64 = 164.0;
const WIDTH: f64 = 872.0;
const RIGHT: f64 = LEFT + WIDTH;
/// Room above the lanes for the names of faults and the time.
const TOP: f64 = 52.0;
const BANDS_MAX: usize = 12;
const LABEL_CHARACTERS: usize = 34;

/// The counterexample of an anomaly and how it is drawn.
pub(super) struct Timeline<'a> {
    axis: Axis,
    selection: Selection<'a>,
    bands: Vec<FaultWindow>,
    end: Nanos,
    scale: Scale,
}

impl<'a> Timeline<'a> {
    /// `None` where the anomaly names no operation of this history.
    pub(super) fn of(digest: &Digest<'a>, anomaly: &Anomaly) -> Option<Timeline<'a>> {
        let (core, left_out) = selection::core(digest, anomaly);
        if core.is_empty() {
            return None;
        }
        let stretches: Vec<(Nanos, Nanos)> =
            core.iter().map(|op| (op.invoke.time, op.ended(digest.end))).collect();
        let axis = Axis::new(&stretches, LEFT, WIDTH);
        let shown = digest.windows.iter().filter(|window| axis.shows(window.from, window.to));
        let bands = shown.take(BANDS_MAX).cloned().collect();
        let selection = Selection::around(digest, core, left_out, &axis);
        Some(Timeline { axis, selection, bands, end: digest.end, scale: digest.scale })
    }

    /// The operations that prove the anomaly, in the order of their numbers in the picture.
    pub(super) fn core(&self) -> &[Operation<'a>] {
        &self.selection.core
    }

    pub(super) fn left_out(&self) -> usize {
        self.selection.left_out
    }

    /// `name` makes the ids of the drawing unique on the page.
    pub(super) fn svg(&self, name: &str, title: &str) -> Markup {
        let bottom = TOP + self.selection.lanes.len() as f64 * LANE_HEIGHT;
        let (zones, below) = (zones::all(self.core()), bottom + 24.0);
        let height = below - 2.0 + zones.len() as f64 * zones::ROW_HEIGHT;
        html! {
            svg.timeline viewBox=(format!("0 0 {} {height}", RIGHT + 24.0)) role="img"
                aria-labelledby=(format!("{name}-title {name}-desc")) {
                title id=(format!("{name}-title")) { (title) }
                desc id=(format!("{name}-desc")) { (self.description()) }
                (gradients(name))
                (self.lanes(bottom))
                (self.fault_bands(bottom))
                (self.grid(bottom))
                (self.operations(name, bottom))
                (zones::draw(&zones, &self.axis, self.scale, below))
            }
        }
    }

    /// The drawing in words, for those who do not see it.
    fn description(&self) -> String {
        let mut lines: Vec<String> = self.core().iter().map(|op| self.sentence(op)).collect();
        for band in &self.bands {
            let (from, to) = (self.scale.moment(band.from), self.scale.moment(band.to));
            lines.push(match band.momentary {
                true => format!("Fault {} {} at {from}.", band.name, band.id),
                false => format!("Fault {} {} in force from {from} to {to}.", band.name, band.id),
            });
        }
        lines.join(" ")
    }

    fn sentence(&self, operation: &Operation) -> String {
        format!(
            "Process {}{}: {}, from {} to {}.",
            operation.invoke.process,
            whom(operation),
            self.describe(operation),
            self.scale.moment(operation.invoke.time),
            self.scale.moment(operation.ended(self.end))
        )
    }

    /// With its key, where the counterexample is about several.
    fn describe(&self, operation: &Operation) -> String {
        let first = self.core().first().and_then(|first| first.invoke.key.as_ref());
        match &operation.invoke.key {
            Some(key) if self.core().iter().any(|other| other.invoke.key.as_ref() != first) => {
                format!("key {key}: {}", operation.describe())
            }
            _ => operation.describe(),
        }
    }

    fn lanes(&self, bottom: f64) -> Markup {
        html! {
            @for (row, (node, process)) in self.selection.lanes.iter().enumerate() {
                @let y = TOP + row as f64 * LANE_HEIGHT;
                @let first = row == 0 || self.selection.lanes[row - 1].0 != *node;
                @if first {
                    line.node-line x1="8" x2=(RIGHT + 16.0) y1=(y) y2=(y) {}
                    @if let Some(node) = node {
                        text.node x="10" y=(y + 17.0) { (words::shorten(node, 19)) }
                    }
                } @else {
                    line.lane-line x1=(LEFT) x2=(RIGHT) y1=(y) y2=(y) {}
                }
                text.process x="10" y=(y + 33.0) { "process " (process) }
            }
            line.node-line x1="8" x2=(RIGHT + 16.0) y1=(bottom) y2=(bottom) {}
        }
    }

    fn fault_bands(&self, bottom: f64) -> Markup {
        html! {
            @for (band, name_at) in self.bands.iter().zip(self.band_names()) {
                @let (from, to) = (self.axis.x(band.from), self.axis.x(band.to));
                @let label = band_label(band);
                rect.band.(band.family.name()) x=(format!("{from:.1}")) y="24" height=(bottom - 24.0)
                    width=(format!("{:.1}", (to - from).max(1.5))) { title { (label) } }
                @if let Some(x) = name_at {
                    text.band-name.(band.family.name()) x=(format!("{x:.1}")) y="18" { (label) }
                }
            }
        }
    }

    /// Where each band's name is written, if it fits beside the ones before it.
    fn band_names(&self) -> Vec<Option<f64>> {
        let mut free_from = LEFT;
        let place = |band: &FaultWindow| {
            let width = band_label(band).chars().count() as f64 * 7.0;
            let x = (self.axis.x(band.from) + 2.0).min(RIGHT + 16.0 - width);
            (x >= free_from).then(|| {
                free_from = x + width + 12.0;
                x
            })
        };
        self.bands.iter().map(place).collect()
    }

    fn grid(&self, bottom: f64) -> Markup {
        html! {
            @for (x, label) in self.axis.ticks(self.scale) {
                line.tick x1=(format!("{x:.1}")) x2=(format!("{x:.1}")) y1=(TOP - 6.0) y2=(bottom) {}
                text.time x=(format!("{x:.1}")) y=(TOP - 12.0) { (label) }
            }
        }
    }

    /// The counterexample first: its labels have their pick of the room.
    fn shapes(&self) -> Vec<Shape> {
        let core = self.core().iter().enumerate().map(|(number, op)| (Some(number + 1), op));
        let context = self.selection.context.iter().map(|operation| (None, operation));
        core.chain(context).map(|(number, operation)| self.shape(number, operation)).collect()
    }

    fn shape(&self, number: Option<usize>, operation: &Operation) -> Shape {
        let row = self.row(selection::lane_of(operation));
        let label = match number {
            Some(number) => format!("{number} · {}", self.describe(operation)),
            None => self.describe(operation),
        };
        Shape {
            row,
            top: TOP + row as f64 * LANE_HEIGHT,
            from: self.axis.x(operation.invoke.time),
            last_sent: self.axis.x(operation.last_sent()),
            to: self.axis.x(operation.ended(self.end)),
            label_from: self.axis.x_in_sight(operation.invoke.time),
            outcome: operation.kind(),
            is_core: number.is_some(),
            label: words::shorten(&label, LABEL_CHARACTERS),
            hover: self.sentence(operation),
        }
    }

    /// Bars, then the breaks over them, then labels over all.
    fn operations(&self, name: &str, bottom: f64) -> Markup {
        let shapes = self.shapes();
        let mut taken = Taken::new();
        html! {
            @for shape in shapes.iter().rev() { (bar(shape, name, RIGHT)) }
            (self.breaks(bottom))
            @for shape in &shapes { (label(shape, (LEFT, RIGHT), &mut taken)) }
        }
    }

    fn row(&self, lane: Lane) -> usize {
        self.selection.lanes.binary_search(&lane).unwrap_or(0)
    }

    fn breaks(&self, bottom: f64) -> Markup {
        html! {
            @for gap in self.axis.breaks() {
                rect.break x=(format!("{:.1}", gap.left + 5.0)) y=(TOP - 6.0)
                    width=(gap.width - 10.0) height=(bottom - TOP + 6.0) {
                    title { (self.scale.length(gap.skipped)) " not drawn" }
                }
                text.skipped x=(format!("{:.1}", gap.left + gap.width / 2.0)) y=(bottom + 15.0) {
                    (self.scale.length(gap.skipped)) " cut"
                }
            }
        }
    }
}

/// The fade of operations that may act after their client gave up.
fn gradients(name: &str) -> Markup {
    html! {
        defs {
            linearGradient id=(format!("{name}-fade")) {
                stop.fade-from offset="0" {}
                stop.fade-to offset="1" {}
            }
        }
    }
}

/// Who answered, and the way there: `, sent on (kvrocks1 said MOVED, kvrocks3 said ok)`.
fn whom(operation: &Operation) -> String {
    match (operation.way(), operation.node()) {
        (Some(way), _) => format!(", sent on ({way})"),
        (None, Some(node)) if operation.hops().is_empty() => format!(" on {node}"),
        (None, Some(node)) if operation.kind() == Kind::Info => format!(", last asked {node}"),
        (None, Some(node)) => format!(", answered by {node}"),
        (None, None) => String::new(),
    }
}

fn band_label(band: &FaultWindow) -> String {
    let in_force = if band.momentary { "" } else { " in force" };
    words::shorten(&format!("{} {}{in_force}", band.name, band.id), 48)
}

/// The class of a bar by outcome.
pub(super) fn outcome_class(kind: Kind) -> &'static str {
    match kind {
        Kind::Ok | Kind::Invoke => "ok",
        Kind::Fail => "fail",
        Kind::Info => "info",
    }
}

#[cfg(test)]
mod tests;
