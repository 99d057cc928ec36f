//! How much of what was asked of a node it answered `ok`, over time: one strip a node, as SVG.

use maud::{Markup, html};

use super::digest::{Digest, FaultWindow};
use super::words;
use crate::op::{Kind, Nanos};

const SLICES: usize = 120;
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 30.0;
/// Room for the marks of faults aimed at the node, under the strip.
const MARK_HEIGHT: f64 = 5.0;

/// One node's operations by slice of time, counted where they were invoked.
#[derive(Clone)]
pub(super) struct Availability {
    pub(super) ok: u64,
    pub(super) total: u64,
    /// The longest time, while operations were invoked, in which none came back `ok`.
    pub(super) longest_gap: Nanos,
    slices: Vec<(u64, u64)>,
}

pub(super) fn availability(digest: &Digest) -> Vec<Availability> {
    let empty = Availability { ok: 0, total: 0, longest_gap: 0, slices: vec![(0, 0); SLICES] };
    let mut nodes = vec![empty; digest.nodes.len()];
    let mut moments: Vec<Vec<Nanos>> = vec![Vec::new(); digest.nodes.len()];
    let mut asked: Vec<(Nanos, Nanos)> = vec![(Nanos::MAX, 0); digest.nodes.len()];
    for operation in &digest.operations {
        let Some(index) = digest.node_index(operation) else { continue };
        let time = operation.invoke.time;
        let ok = operation.kind() == Kind::Ok;
        let slice = u128::from(time) * SLICES as u128 / (u128::from(digest.end) + 1);
        let node = &mut nodes[index];
        node.total += 1;
        node.slices[slice as usize].1 += 1;
        asked[index] = (asked[index].0.min(time), asked[index].1.max(time));
        if ok {
            node.ok += 1;
            node.slices[slice as usize].0 += 1;
            moments[index].push(operation.ended(digest.end));
        }
    }
    for ((node, moments), asked) in nodes.iter_mut().zip(moments).zip(asked) {
        node.longest_gap = longest_gap(moments, asked);
    }
    nodes
}

fn longest_gap(mut moments: Vec<Nanos>, (first, last): (Nanos, Nanos)) -> Nanos {
    moments.extend([first, last]);
    moments.sort_unstable();
    moments.windows(2).map(|two| two[1] - two[0]).max().unwrap_or(0)
}

/// The strip: filled from below by the share of `ok`; empty where nothing was asked.
pub(super) fn strip(digest: &Digest, node: usize, availability: &Availability) -> Markup {
    let name = digest.nodes[node].as_str();
    let label = format!(
        "{name}: {} of {} operations ok, longest time without an ok {}",
        words::count(availability.ok),
        words::count(availability.total),
        words::duration(availability.longest_gap)
    );
    let (answered, missed) = paths(&availability.slices);
    html! {
        svg.strip viewBox=(format!("0 0 {WIDTH} {}", HEIGHT + MARK_HEIGHT + 2.0))
            preserveAspectRatio="none" role="img" aria-label=(label) {
            rect.nothing x="0" y="0" width=(WIDTH) height=(HEIGHT) {}
            path.missed d=(missed) {}
            path.answered d=(answered) {}
            path.mark d=(marks(digest, name)) {}
        }
    }
}

/// Where faults aimed at this node were in force.
fn marks(digest: &Digest, node: &str) -> String {
    let x = |time: Nanos| time as f64 / digest.end.max(1) as f64 * WIDTH;
    let mut path = String::new();
    for window in digest.windows.iter().filter(|window| is_target(window, node)) {
        let (from, width) = (x(window.from), (x(window.to) - x(window.from)).max(2.0));
        let top = HEIGHT + 2.0;
        path.push_str(&format!("M{from:.1} {top}h{width:.1}v{MARK_HEIGHT}h-{width:.1}z"));
    }
    path
}

fn is_target(window: &FaultWindow, node: &str) -> bool {
    window.targets.iter().any(|target| &**target == node)
}

/// One path of the answered parts and one of the missed, so that the size is bounded.
fn paths(slices: &[(u64, u64)]) -> (String, String) {
    let width = WIDTH / SLICES as f64;
    let (mut answered, mut missed) = (String::new(), String::new());
    for (position, (ok, total)) in slices.iter().enumerate().filter(|(_, (_, total))| *total > 0) {
        let x = position as f64 * width;
        let top = HEIGHT * (1.0 - *ok as f64 / *total as f64);
        missed.push_str(&format!("M{x:.1} 0h{width:.1}v{top:.1}h-{width:.1}z"));
        answered.push_str(&format!("M{x:.1} {top:.1}h{width:.1}V{HEIGHT}h-{width:.1}z"));
    }
    (answered, missed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_gap_counts_from_the_first_question_to_the_last() {
        assert_eq!(longest_gap(vec![30, 10, 20], (0, 70)), 40);
        assert_eq!(longest_gap(vec![], (5, 25)), 20);
        assert_eq!(longest_gap(vec![10, 90], (0, 95)), 80);
    }

    #[test]
    fn a_slice_without_questions_stays_empty() {
        let (answered, missed) = paths(&[(0, 0), (1, 2)]);
        assert_eq!(answered, "M8.0 15.0h8.0V30h-8.0z");
        assert_eq!(missed, "M8.0 0h8.0v15.0h-8.0z");
    }
}
