//! The zones of a counterexample on a register: when each of its values must have been there.
//!
//! Between the first completion and the last invocation of the operations on a value that is written once,
//! the register held it throughout; where the invocation comes first, it held it at some moment between.
//! Two values that were there throughout at the same moment, or one at no moment outside the other's,
//! are the contradiction (Gibbons and Korach 1997).

use maud::{Markup, html};

use super::axis::Axis;
use super::{LEFT, RIGHT};
use crate::op::{Kind, Nanos, Value};
use crate::report::digest::Operation;
use crate::report::scale::Scale;
use crate::report::words;

pub(super) const ROW_HEIGHT: f64 = 22.0;
const BAR_HEIGHT: f64 = 10.0;
/// Values drawn at most.
const ZONES_MAX: usize = 12;

/// One value and the operations that make or see it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Zone {
    value: Value,
    writes: usize,
    /// `Nanos::MAX` while none is known.
    first_completion: Nanos,
    last_invocation: Nanos,
}

/// The zones of these operations; none where they are not on a register, or a value is written twice.
pub(super) fn all(core: &[Operation]) -> Vec<Zone> {
    let mut zones: Vec<Zone> = Vec::new();
    for operation in core.iter().filter(|operation| operation.kind() != Kind::Fail) {
        let Some(values) = values(operation) else { return Vec::new() };
        for (value, is_made) in values {
            let place = zones.iter().position(|zone| zone.value == value).unwrap_or_else(|| {
                let (first_completion, last_invocation) = (Nanos::MAX, 0);
                zones.push(Zone { value, writes: 0, first_completion, last_invocation });
                zones.len() - 1
            });
            zones[place].take(operation, is_made);
        }
    }
    if zones.iter().any(|zone| zone.writes > 1) {
        return Vec::new();
    }
    for zone in zones.iter_mut().filter(|zone| zone.writes == 0 && zone.value == Value::Nil) {
        // Nothing needs to be written to be there at first.
        zone.first_completion = 0;
    }
    zones.retain(|zone| zone.first_completion < Nanos::MAX);
    zones.truncate(ZONES_MAX);
    zones
}

impl Zone {
    fn take(&mut self, operation: &Operation, is_made: bool) {
        self.writes += usize::from(is_made);
        self.last_invocation = self.last_invocation.max(operation.invoke.time);
        if let Some(completion) = operation.completion.filter(|event| event.kind == Kind::Ok) {
            self.first_completion = self.first_completion.min(completion.time);
        }
    }

    fn is_throughout(&self) -> bool {
        self.first_completion < self.last_invocation
    }

    fn sentence(&self, scale: Scale) -> String {
        let (one, other) = (self.first_completion, self.last_invocation);
        let (from, to) = (scale.moment(one.min(other)), scale.moment(one.max(other)));
        match self.is_throughout() {
            true => format!("{} must have been there from {from} to {to}", self.value),
            false => format!("{} was there at some moment from {from} to {to}", self.value),
        }
    }
}

/// The values that an operation sees or makes; `None` of what is no register's.
fn values(operation: &Operation) -> Option<Vec<(Value, bool)>> {
    let (invoke, completion) = (operation.invoke, operation.completion);
    Some(match (&*invoke.f, &invoke.value) {
        ("read", _) => {
            let seen = completion.filter(|event| event.kind == Kind::Ok);
            seen.map(|event| (event.value.clone(), false)).into_iter().collect()
        }
        ("write", value) => vec![(value.clone(), true)],
        ("cas", Value::Pair(from, to)) => {
            vec![(Value::Int(*from), false), (Value::Int(*to), true)]
        }
        _ => return None,
    })
}

/// A row for each zone, from `top` on.
pub(super) fn draw(zones: &[Zone], axis: &Axis, scale: Scale, top: f64) -> Markup {
    html! {
        @for (row, zone) in zones.iter().enumerate() {
            @let y = top + row as f64 * ROW_HEIGHT;
            @let (one, other) = (axis.x(zone.first_completion), axis.x(zone.last_invocation));
            @let (from, to) = (one.min(other).max(LEFT), one.max(other).min(RIGHT));
            @let (fill, dashes) = if zone.is_throughout() { ("0.55", "none") } else { ("0.08", "4 3") };
            text.process x="10" y=(y + BAR_HEIGHT) {
                (words::shorten(&zone.value.to_string(), 12)) " there"
            }
            rect.zone x=(format!("{from:.1}")) y=(y) width=(format!("{:.1}", (to - from).max(2.0)))
                height=(BAR_HEIGHT) fill="currentColor" fill-opacity=(fill) stroke="currentColor"
                stroke-dasharray=(dashes) { title { (zone.sentence(scale)) } }
        }
    }
}
