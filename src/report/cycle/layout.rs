//! Where the boxes of a cycle stand, and the ways of its arrows.
//!
//! Each box has a column of its own, in order of time, and shares a lane with those of its process. An
//! arrow to another lane leaves at the side, runs along its own lane into the column of the other box, and
//! enters that from above or below: where it turns, nothing stands, so that there is room for its label.

use std::collections::BTreeMap;

use crate::checker::TxnCycle;

/// Characters of a line in a box.
pub(super) const CHARACTERS: usize = 30;
pub(super) const LINE: f64 = 16.0;
pub(super) const PADDING: f64 = 10.0;
const CHARACTER: f64 = 7.25;
/// Room for the names of processes.
pub(super) const LEFT: f64 = 104.0;
/// Between columns.
const GUTTER: f64 = 28.0;
/// Between lanes, and above and below boxes where arrows stay within a lane.
const GAP: f64 = 26.0;
const LOOP: f64 = 46.0;
/// Room for a label where an arrow turns.
const HEIGHT_MIN: f64 = 64.0;

/// A box.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Place {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Place {
    fn middle(&self) -> (f64, f64) {
        (self.left + self.width / 2.0, self.top + self.height / 2.0)
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// The way of an arrow by its corners, and where its label stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Way {
    pub(super) corners: Vec<(f64, f64)>,
    /// The middle of the label, and the baseline of its first line.
    pub(super) label: (f64, f64),
}

pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Processes and the middle of their lanes, from above.
    pub(super) lanes: Vec<(u32, f64)>,
    /// Of the transactions, in their order.
    pub(super) places: Vec<Place>,
    /// Of the edges, in their order; without corners where an edge leads nowhere.
    pub(super) ways: Vec<Way>,
}

struct Lane {
    process: u32,
    members: Vec<usize>,
    height: f64,
    /// Arrows within the lane run above, forward, or below, backward.
    above: bool,
    below: bool,
}

impl Layout {
    pub(super) fn of(cycle: &TxnCycle) -> Layout {
        let columns = columns(cycle);
        let width = box_width(cycle);
        let mut places = vec![Place::default(); cycle.txns.len()];
        let (mut y, mut middles) = (10.0, Vec::new());
        for lane in lanes(cycle, &columns) {
            y += if lane.above { LOOP } else { 0.0 };
            middles.push((lane.process, y + lane.height / 2.0));
            for member in lane.members {
                let height = box_height(cycle, member);
                places[member] = Place {
                    left: LEFT + columns[member] as f64 * (width + GUTTER),
                    top: y + (lane.height - height) / 2.0,
                    width,
                    height,
                };
            }
            y += lane.height + GAP + if lane.below { LOOP } else { 0.0 };
        }
        Layout {
            width: LEFT + cycle.txns.len() as f64 * (width + GUTTER) + 8.0,
            height: y - GAP + 12.0,
            lanes: middles,
            ways: ways(cycle, &places),
            places,
        }
    }
}

fn ways(cycle: &TxnCycle, places: &[Place]) -> Vec<Way> {
    let way = |from: usize, to: usize| {
        let (one, other) = (places.get(from)?, places.get(to)?);
        let is_same_lane = cycle.txns[from].process == cycle.txns[to].process;
        Some(if is_same_lane { within(one, other) } else { across(one, other) })
    };
    cycle.edges.iter().map(|edge| way(edge.from, edge.to).unwrap_or_default()).collect()
}

/// The columns of the transactions, by the order of their first events.
fn columns(cycle: &TxnCycle) -> Vec<usize> {
    let mut order: Vec<usize> = (0..cycle.txns.len()).collect();
    order.sort_by_key(|place| (cycle.txns[*place].op, *place));
    let mut columns = vec![0; order.len()];
    for (column, place) in order.into_iter().enumerate() {
        columns[place] = column;
    }
    columns
}

fn box_width(cycle: &TxnCycle) -> f64 {
    let of = |txn| {
        let lines = super::lines(txn).iter().map(|line| line.chars().count());
        lines.chain([super::heading(txn).chars().count()]).max().unwrap_or(0)
    };
    let longest = cycle.txns.iter().map(of).max().unwrap_or(0);
    longest.clamp(22, CHARACTERS) as f64 * CHARACTER + 2.0 * PADDING
}

fn box_height(cycle: &TxnCycle, place: usize) -> f64 {
    let lines = super::lines(&cycle.txns[place]).len();
    (30.0 + lines as f64 * LINE).max(HEIGHT_MIN)
}

fn lanes(cycle: &TxnCycle, columns: &[usize]) -> Vec<Lane> {
    let mut by_process: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (place, txn) in cycle.txns.iter().enumerate() {
        by_process.entry(txn.process).or_default().push(place);
    }
    let lane = |(process, members): (u32, Vec<usize>)| {
        let within = |is_forward: bool| {
            cycle.edges.iter().any(|edge| {
                members.contains(&edge.from)
                    && members.contains(&edge.to)
                    && (columns[edge.from] < columns[edge.to]) == is_forward
            })
        };
        let height = members.iter().map(|member| box_height(cycle, *member)).fold(0.0, f64::max);
        Lane { process, above: within(true), below: within(false), height, members }
    };
    let mut lanes: Vec<Lane> = by_process.into_iter().map(lane).collect();
    // In order of first appearance, the arrows that lead on go down like stairs.
    lanes.sort_by_key(|lane| lane.members.iter().map(|member| columns[*member]).min());
    lanes
}

/// Over a lane if it leads on, under it if it leads back.
fn within(one: &Place, other: &Place) -> Way {
    let is_forward = one.left < other.left;
    let (start, end, y) = match is_forward {
        true => (one.top, other.top, one.top.min(other.top) - 14.0),
        false => (one.bottom(), other.bottom(), one.bottom().max(other.bottom()) + 14.0),
    };
    let aside = one.width / 4.0 * if is_forward { 1.0 } else { -1.0 };
    let (from, to) = (one.middle().0 + aside, other.middle().0 - aside);
    let label = if is_forward { y - 22.0 } else { y + 17.0 };
    Way {
        corners: vec![(from, start), (from, y), (to, y), (to, end)],
        label: ((from + to) / 2.0, label),
    }
}

/// Along the lane into the other's column, then up or down.
fn across(one: &Place, other: &Place) -> Way {
    let (to, y) = (other.middle().0, one.middle().1);
    let from = if one.left < other.left { one.left + one.width } else { one.left };
    let is_down = one.top < other.top;
    let end = if is_down { other.top } else { other.bottom() };
    let label = if is_down { y - 22.0 } else { y + 17.0 };
    Way { corners: vec![(from, y), (to, y), (to, end)], label: (to, label) }
}
