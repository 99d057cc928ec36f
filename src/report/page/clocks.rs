//! Clocks that were moved, as all clocks were read before, during and after, on every node.

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
            p.quiet { "Each clock was read before and after: this is how far it went besides the time that passed." }
            table.clock-readings {
                thead { tr {
                    th scope="col" { "When" } th scope="col" { "What was read" }
                    th scope="col" { "Expected" } th scope="col" { "Seen" }
                    th scope="col" { "As expected" }
                } }
                (rows("moved", moved, &moved.moved))
                @if let Some(reading) = &moved.taken_back { (rows("taken back", moved, reading)) }
            }
        }))
        @if moved.taken_back.is_none() { p.fewer { "It was not taken back." } }
        @if let Some(count) = moved.taken_back.as_ref().and_then(|reading| reading.falsified) {
            p.quiet { (words::count(count)) " readings of the service were falsified." }
        }
    }
}

/// What was read around one move: by how much each clock went on or back. The moved node's own stand out.
fn rows(when: &str, moved: &ClockMove, reading: &Reading) -> Markup {
    let checks = &reading.checks[..reading.checks.len().min(CHECKS_MAX)];
    let in_name = |symbol: char| symbol.is_ascii_alphanumeric() || symbol == '-';
    let is_own = |check: &Check| check.what.split(|c| !in_name(c)).any(|word| *word == *moved.node);
    let name = || html! { (when) span.target { (words::moment(reading.at)) } };
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
            @if checks.is_empty() || !reading.why.is_empty() {
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
