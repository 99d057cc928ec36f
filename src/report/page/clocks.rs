//! Clocks that were moved, as they were read before, during and after, on every node that was asked.

use maud::{Markup, html};

use super::{Page, scroll_box, yes_no};
use crate::cluster::Check;
use crate::report::clocks::{ClockMove, Reading};
use crate::report::words;

/// Moves that are shown at once; more are folded.
const OPEN_MAX: usize = 3;
const SHOWN_MAX: usize = 40;
const CHECKS_MAX: usize = 40;

pub(super) fn clocks(page: &Page) -> Markup {
    let moves = &page.results.clocks;
    html! {
        @if !moves.is_empty() {
            section.card #clocks {
                h2 { "Clocks" }
                @for (position, moved) in moves.iter().take(SHOWN_MAX).enumerate() {
                    details open[position < OPEN_MAX] {
                        summary { (title(moved)) }
                        (table(moved))
                    }
                }
                @if moves.len() > SHOWN_MAX {
                    p.quiet { (moves.len() - SHOWN_MAX) " more moves are in results.json." }
                }
            }
        }
    }
}

fn title(moved: &ClockMove) -> Markup {
    let seconds = moved.by_ns as f64 / 1e9;
    html! {
        span.kind.clocks {} b { (moved.node) "'s " (moved.clock) " clock by " (format!("{seconds:+} s")) }
        " " span.quiet { (moved.fault) " " (moved.id) }
    }
}

fn table(moved: &ClockMove) -> Markup {
    html! {
        (scroll_box("Readings of the clocks", html! {
            table.clock-readings {
                thead { tr {
                    th scope="col" { "When" } th scope="col" { "What was read" }
                    th scope="col" { "Expected" } th scope="col" { "Seen" }
                    th scope="col" { "As expected" }
                } }
                (rows("before", moved, &moved.moved, is_before))
                (rows("during", moved, &moved.moved, |check| !is_before(check)))
                @if let Some(reading) = &moved.taken_back {
                    (rows("after", moved, reading, |_| true))
                }
            }
        }))
        @if moved.taken_back.is_none() { p.fewer { "It was not taken back." } }
        @if let Some(count) = moved.taken_back.as_ref().and_then(|reading| reading.falsified) {
            p.quiet { (words::count(count)) " readings of the service were falsified." }
        }
    }
}

/// Read before the clock was moved, as the check says itself.
fn is_before(check: &Check) -> bool {
    check.what.split_whitespace().any(|word| word == "before")
}

/// What was read at one time: the moved node's own clock stands out.
fn rows(
    when: &str,
    moved: &ClockMove,
    reading: &Reading,
    meant: impl Fn(&Check) -> bool,
) -> Markup {
    let checks: Vec<&Check> =
        reading.checks.iter().filter(|check| meant(check)).take(CHECKS_MAX).collect();
    let is_own = |check: &Check| check.what.contains(&*moved.node);
    let name =
        || html! { (when) @if when != "before" { span.target { (words::moment(reading.at)) } } };
    html! {
        tbody {
            @for (position, check) in checks.iter().enumerate() {
                tr.moved[is_own(check)] {
                    @if position == 0 { th scope="rowgroup" rowspan=(checks.len()) { (name()) } }
                    td { (check.what) }
                    td.number { (check.expected) }
                    td.number { (check.seen) }
                    td { (yes_no(check.holds)) }
                }
            }
            @if when != "before" && (checks.is_empty() || !reading.why.is_empty()) {
                tr {
                    th scope="row" { (name()) }
                    td colspan="4" {
                        span.fewer {
                            @if reading.why.is_empty() { "nothing was read" } @else { (reading.why) }
                        }
                    }
                }
            }
        }
    }
}
