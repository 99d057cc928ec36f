//! Stretches and moments of the run as lanes over one axis of time: one small SVG a lane.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::digest::{Digest, FaultWindow};
use super::fault_kind::Family;
use super::words;
use crate::op::Nanos;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 22.0;
/// Narrower ones could not be seen.
const WIDTH_MIN: f64 = 2.0;

/// One row: a name, and when it was so.
pub(super) struct Lane {
    pub(super) name: String,
    /// Under the name, in small.
    pub(super) note: String,
    /// Class of the colour.
    pub(super) class: &'static str,
    pub(super) stretches: Vec<(Nanos, Nanos)>,
    /// Stretches that are not proven.
    pub(super) doubtful: Vec<(Nanos, Nanos)>,
    pub(super) moments: Vec<Nanos>,
}

/// One lane for each nemesis and kind of action, in order of their first use; a nemesis's own together.
pub(super) fn of_faults(windows: &[FaultWindow]) -> Vec<Lane> {
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut lanes: Vec<Lane> = Vec::new();
    for window in windows {
        let place = *places.entry((&window.name, &window.verb)).or_insert_with(|| {
            lanes.push(Lane::new(&window.name, window.family));
            lanes.len() - 1
        });
        let lane = &mut lanes[place];
        match (window.momentary, window.proven) {
            (true, _) => lane.moments.push(window.from),
            (false, true) => lane.stretches.push((window.from, window.to)),
            (false, false) => lane.doubtful.push((window.from, window.to)),
        }
        lane.note = match lane.stretches.len() + lane.doubtful.len() + lane.moments.len() {
            1 => window.verb.clone(),
            times => format!("{} · {} times", window.verb, words::count(times as u64)),
        };
    }
    let first: BTreeMap<String, usize> = lanes
        .iter()
        .enumerate()
        .rev()
        .map(|(position, lane)| (lane.name.clone(), position))
        .collect();
    lanes.sort_by_key(|lane| first[&lane.name]);
    lanes
}

impl Lane {
    fn new(name: &str, family: Family) -> Lane {
        let (name, note, class) = (name.to_owned(), String::new(), family.name());
        Lane { name, note, class, stretches: vec![], doubtful: vec![], moments: vec![] }
    }

    fn svg(&self, digest: &Digest) -> Markup {
        let label = format!("{}, {}: {}", self.name, self.note, self.told());
        html! {
            svg.lane viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" role="img"
                aria-label=(label) {
                rect.nothing x="0" y="0" width=(WIDTH) height=(HEIGHT) {}
                path.phase d=(lines(digest.phases.iter().map(|mark| mark.at), digest.end, 0.0)) {}
                path.stretch.(self.class) d=(boxes(&self.stretches, digest.end)) {}
                path.doubtful.(self.class) d=(boxes(&self.doubtful, digest.end)) {}
                path.moment.(self.class) d=(lines(self.moments.iter().copied(), digest.end, 2.0)) {}
            }
        }
    }

    /// The first few in words, for those who do not see the drawing.
    fn told(&self) -> String {
        let stretch = |(from, to): &(Nanos, Nanos)| {
            format!("{} to {}", words::moment(*from), words::moment(*to))
        };
        let stretches = self.stretches.iter().chain(&self.doubtful).map(stretch);
        let moments = self.moments.iter().map(|at| words::moment(*at));
        stretches.chain(moments).take(8).collect::<Vec<_>>().join(", ")
    }
}

/// The lanes, and the phases and seconds below them.
pub(super) fn lanes(digest: &Digest, lanes: &[Lane]) -> Markup {
    html! {
        div.nodes {
            @for lane in lanes {
                div.node-row {
                    div.node-name { b { (lane.name) } span.quiet { (lane.note) } }
                    (lane.svg(digest))
                }
            }
            div.node-row.scale aria-hidden="true" {
                div {}
                div { span { "0 s" } span { (words::duration(digest.end)) } }
            }
        }
    }
}

fn x(time: Nanos, end: Nanos) -> f64 {
    time as f64 / end.max(1) as f64 * WIDTH
}

fn boxes(stretches: &[(Nanos, Nanos)], end: Nanos) -> String {
    let mut path = String::new();
    for (from, to) in stretches {
        let left = x(*from, end).min(WIDTH - WIDTH_MIN);
        let width = (x(*to, end) - left).max(WIDTH_MIN);
        path.push_str(&format!("M{left:.1} 3h{width:.1}V{}h-{width:.1}z", HEIGHT - 3.0));
    }
    path
}

fn lines(moments: impl Iterator<Item = Nanos>, end: Nanos, inset: f64) -> String {
    let line =
        |at| format!("M{:.1} {inset}V{}", x(at, end).clamp(1.0, WIDTH - 1.0), HEIGHT - inset);
    moments.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::FaultId;
    use crate::op::SECOND;

    fn window(name: &str, verb: &str, from: u64, to: u64) -> FaultWindow {
        FaultWindow {
            id: FaultId(1),
            name: name.into(),
            verb: verb.into(),
            family: Family::Processes,
            targets: Vec::new(),
            from: from * SECOND,
            to: to * SECOND,
            proven: from != 7,
            ended: true,
            momentary: verb == "crash",
        }
    }

    #[test]
    fn kinds_of_one_nemesis_have_lanes_of_their_own() {
        let windows = [
            window("mix", "pause", 1, 3),
            window("mix", "crash", 4, 4),
            window("mix", "pause", 7, 9),
            window("kill", "kill", 5, 6),
            window("mix", "crash", 8, 8),
            window("mix", "stop", 9, 9),
        ];
        let told: Vec<_> = of_faults(&windows)
            .iter()
            .map(|lane| {
                let counts = [lane.stretches.len(), lane.doubtful.len(), lane.moments.len()];
                (lane.name.clone(), lane.note.clone(), counts)
            })
            .collect();
        let lane = |name: &str, note: &str, counts| (name.to_owned(), note.to_owned(), counts);
        assert_eq!(
            told,
            [
                lane("mix", "pause · 2 times", [1, 1, 0]),
                lane("mix", "crash · 2 times", [0, 0, 2]),
                lane("mix", "stop", [1, 0, 0]),
                lane("kill", "kill", [1, 0, 0]),
            ]
        );
    }

    #[test]
    fn what_is_short_or_late_is_still_inside() {
        assert_eq!(boxes(&[(10 * SECOND, 10 * SECOND)], 10 * SECOND), "M958.0 3h2.0V19h-2.0z");
        assert_eq!(lines([0, 5 * SECOND].into_iter(), 10 * SECOND, 2.0), "M1.0 2V20M480.0 2V20");
    }
}
