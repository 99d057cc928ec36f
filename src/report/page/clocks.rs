//! Clocks that were moved, as they were read before, during and after, on every node that was asked.

use maud::{Markup, html};

use super::{Page, scroll_box, yes_no};
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
                tbody { (rows("moved", &moved.moved)) }
                @if let Some(reading) = &moved.taken_back { tbody { (rows("taken back", reading)) } }
            }
        }))
        @if moved.taken_back.is_none() { p.fewer { "It was not taken back." } }
        @if let Some(count) = moved.taken_back.as_ref().and_then(|reading| reading.falsified) {
            p.quiet { (words::count(count)) " readings of the service were falsified." }
        }
    }
}

fn rows(when: &str, reading: &Reading) -> Markup {
    html! {
        @for (position, check) in reading.checks.iter().take(CHECKS_MAX).enumerate() {
            tr {
                @if position == 0 {
                    th scope="rowgroup" rowspan=(reading.checks.len().min(CHECKS_MAX)) {
                        (when) span.target { (words::moment(reading.at)) }
                    }
                }
                td { (check.what) }
                td.number { (check.expected) }
                td.number { (check.seen) }
                td { (yes_no(check.holds)) }
            }
        }
        @if !reading.why.is_empty() || reading.checks.is_empty() {
            tr {
                th scope="row" { (when) span.target { (words::moment(reading.at)) } }
                td.fewer colspan="4" {
                    @if reading.why.is_empty() { "nothing was read" } @else { (reading.why) }
                }
            }
        }
    }
}
