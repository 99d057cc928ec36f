//! The data of the latency and rate plots, as JSON that is safe inside a page.

use indexmap::IndexSet;
use serde::Serialize;

use super::digest::{Digest, Operation};
use super::rate::{OUTCOMES, outcome_index, rate};
use super::scatter::{Scatter, scatter};
use super::words;
use crate::op::{Nanos, Process, SECOND};

/// Distinct error texts that the hover line can show; more share one text.
const ERRORS_MAX: usize = 300;
const ERROR_CHARACTERS: usize = 200;
const DESCRIPTION_CHARACTERS: usize = 60;

#[derive(Serialize)]
pub(super) struct PlotData {
    /// Length of the run in seconds.
    end: f64,
    kinds: Vec<String>,
    nodes: Vec<String>,
    errors: Vec<String>,
    points: Points,
    rate_edges: Vec<f64>,
    rate: Vec<Vec<f64>>,
    bands: Vec<Band>,
    phases: Vec<Mark>,
}

/// Columns of equal length, one place a point, in order of time.
#[derive(Default, Serialize)]
struct Points {
    /// Invocation in microseconds since the start.
    time: Vec<u64>,
    /// Latency in microseconds.
    latency: Vec<u64>,
    /// Kind of operation × 3 + outcome.
    series: Vec<usize>,
    process: Vec<u32>,
    /// Position in `nodes`, or -1.
    node: Vec<i64>,
    /// Position in `errors`, or -1.
    error: Vec<i64>,
    /// The invocation's place in the history.
    index: Vec<u64>,
    text: Vec<String>,
}

#[derive(Serialize)]
struct Band {
    from: f64,
    to: f64,
    label: String,
    proven: bool,
    /// A moment, not a stretch.
    tick: bool,
    family: &'static str,
}

#[derive(Serialize)]
struct Mark {
    at: f64,
    name: &'static str,
}

impl PlotData {
    /// The data, and what was left out of the scatter.
    pub(super) fn of(digest: &Digest) -> (PlotData, Scatter) {
        let scatter = scatter(digest);
        let mut errors = IndexSet::new();
        let mut points = Points::default();
        for position in &scatter.shown {
            points.push(digest, &digest.operations[*position], &mut errors);
        }
        let rate = rate(digest);
        let data = PlotData {
            end: seconds(digest.end),
            kinds: digest.kinds.iter().map(|kind| kind.to_string()).collect(),
            nodes: digest.nodes.iter().map(|node| node.to_string()).collect(),
            errors: errors.into_iter().collect(),
            points,
            rate_edges: rate.edges,
            rate: rate.series,
            bands: bands(digest),
            phases: digest
                .phases
                .iter()
                .map(|mark| Mark { at: seconds(mark.at), name: mark.phase.name() })
                .collect(),
        };
        (data, scatter)
    }

    /// JSON in which no character can end the element it stands in.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self)
            .expect("plot data is plain")
            .replace('<', "\\u003c")
            .replace('>', "\\u003e")
            .replace('&', "\\u0026")
    }
}

impl Points {
    fn push(&mut self, digest: &Digest, operation: &Operation, errors: &mut IndexSet<String>) {
        let invoke = operation.invoke;
        let Process::Client(process) = invoke.process else { return };
        self.time.push(invoke.time / 1_000);
        self.latency.push(operation.latency(digest.end) / 1_000);
        let kind = digest.kind_index(&invoke.f) * OUTCOMES.len();
        self.series.push(kind + outcome_index(operation.kind()));
        self.process.push(process);
        self.node.push(digest.node_index(operation).map_or(-1, |node| node as i64));
        self.error.push(error_index(operation, errors));
        self.index.push(invoke.index);
        let key = invoke.key.as_ref().map(|key| format!("key {key}: ")).unwrap_or_default();
        let text = format!("{key}{}", operation.describe());
        self.text.push(words::shorten(&text, DESCRIPTION_CHARACTERS));
    }
}

fn error_index(operation: &Operation, errors: &mut IndexSet<String>) -> i64 {
    let Some(error) = operation.completion.and_then(|event| event.error.as_deref()) else {
        return -1;
    };
    let text = words::shorten(error, ERROR_CHARACTERS);
    if let Some(position) = errors.get_index_of(&text) {
        return position as i64;
    }
    let text = if errors.len() < ERRORS_MAX { text } else { "(one of many other errors)".into() };
    errors.insert_full(text).0 as i64
}

fn bands(digest: &Digest) -> Vec<Band> {
    digest
        .windows
        .iter()
        .map(|window| Band {
            from: seconds(window.from),
            to: seconds(window.to),
            label: format!("{} {}", window.name, window.id),
            proven: window.proven,
            tick: window.momentary,
            family: window.family.name(),
        })
        .collect()
}

fn seconds(nanos: Nanos) -> f64 {
    nanos as f64 / SECOND as f64
}
