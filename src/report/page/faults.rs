//! What the faults did: when, to which roles, whether they acted, and what made them begin.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{Page, scroll_box};
use crate::nemesis::{CoverageCell, SkippedFault, Spread};
use crate::report::TriggerSummary;
use crate::report::fault_kind::Family;
use crate::report::lanes::{lanes, of_faults};
use crate::report::words;

const LANES_MAX: usize = 30;
const SKIPPED_MAX: usize = 30;
const EVENTS_MAX: usize = 5;

pub(super) fn is_shown(page: &Page) -> bool {
    let results = page.results;
    !results.coverage.is_empty() || !results.skipped.is_empty() || !page.digest.windows.is_empty()
}

pub(super) fn faults(page: &Page) -> Markup {
    html! {
        @if is_shown(page) {
            section.card #faults {
                h2 { "What the faults did" }
                (over_time(page))
                (coverage(&page.results.coverage))
                (triggers(&page.results.triggers))
                (skipped(&page.results.skipped))
            }
        }
    }
}

fn over_time(page: &Page) -> Markup {
    let shown = of_faults(&page.digest.windows);
    let used = |family: &Family| page.digest.windows.iter().any(|window| window.family == *family);
    html! {
        @if !shown.is_empty() {
            p.quiet.key {
                @for family in Family::ALL.into_iter().filter(used) {
                    span { span.kind.(family.name()) {} (family.name()) }
                }
                span { "dotted: a new phase" }
                span { "box: in force" }
                @if shown.iter().any(|lane| !lane.moments.is_empty()) {
                    span { "line: over at once" }
                }
                @if shown.iter().any(|lane| !lane.doubtful.is_empty()) {
                    span { "dashed: not proven" }
                }
            }
            (lanes(&page.digest, &shown[..shown.len().min(LANES_MAX)]))
            @if shown.len() > LANES_MAX {
                p.quiet { (shown.len() - LANES_MAX) " more kinds are in the nemesis log." }
            }
        }
    }
}

/// One nemesis on one role, phase by phase.
struct Row<'a> {
    fault: &'a str,
    role: &'a str,
    cells: Vec<&'a CoverageCell>,
}

fn rows(cells: &[CoverageCell]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row> = Vec::new();
    for cell in cells {
        match rows.iter_mut().find(|row| (row.fault, row.role) == (&cell.fault, &cell.role)) {
            Some(row) => row.cells.push(cell),
            None => rows.push(Row { fault: &cell.fault, role: &cell.role, cells: vec![cell] }),
        }
    }
    rows
}

impl Row<'_> {
    fn sum(&self, figure: impl Fn(&CoverageCell) -> u64) -> u64 {
        self.cells.iter().map(|cell| figure(cell)).sum()
    }

    /// A figure, how it compares with what it should be, and in which phases it was counted.
    fn cell(&self, figure: impl Fn(&CoverageCell) -> u64, wanted: u64) -> Markup {
        let got = self.sum(&figure);
        let phases: Vec<String> = self
            .cells
            .iter()
            .filter(|cell| figure(cell) > 0)
            .map(|cell| format!("{} in {}", words::count(figure(cell)), cell.phase.name()))
            .collect();
        let all_in_main =
            self.cells.iter().all(|cell| figure(cell) == 0 || cell.phase.name() == "main");
        html! {
            td.number {
                @if got == 0 { span.missing { "✗ 0 of " (words::count(wanted)) } }
                @else if got < wanted {
                    span.fewer { (words::count(got)) " of " (words::count(wanted)) }
                } @else { (words::count(got)) }
                @if !all_in_main { span.target { (phases.join(", ")) } }
            }
        }
    }
}

fn coverage(cells: &[CoverageCell]) -> Markup {
    let nothing = |why: &str| html! { td.quiet title=(why) { "–" } };
    html! {
        @if !cells.is_empty() {
            h3.table-title { "Coverage" }
            (scroll_box("Coverage: fault by role", html! {
                table.coverage {
                    thead { tr {
                        th scope="col" { "Fault on role" }
                        th scope="col" { "Begun" }
                        th scope="col" title="done, and proven by a probe" { "Installed" }
                        th scope="col" title="by the workload or the service itself" { "Felt" }
                        th scope="col" title="taken back, and proven by a probe" { "Healed" }
                    } }
                    tbody { @for row in rows(cells) {
                        @let begun = row.sum(|cell| cell.begun);
                        @let installed = row.sum(|cell| cell.installed);
                        @let lasting = row.sum(|cell| cell.lasting);
                        tr {
                            th scope="row" {
                                (row.fault)
                                @if !row.role.is_empty() { span.target { "on " (row.role) } }
                            }
                            @if begun == 0 {
                                td.number { span.missing { "✗ never" } }
                                (nothing("it never began"))
                            } @else {
                                (row.cell(|cell| cell.begun, begun))
                                (row.cell(|cell| cell.installed, begun))
                            }
                            @if installed == 0 { (nothing("nothing was installed")) }
                            @else { (row.cell(|cell| cell.felt, installed)) }
                            @if lasting > 0 { (row.cell(|cell| cell.healed, lasting)) }
                            @else if begun > 0 { (nothing("it leaves nothing to undo")) }
                            @else { (nothing("it never began")) }
                        }
                    } }
                }
            }))
            p.quiet {
                "Counted in the main phase unless said otherwise. –: nothing was due, as of faults that \
                 are over at once."
            }
        }
    }
}

fn triggers(triggers: &[TriggerSummary]) -> Markup {
    html! {
        @if !triggers.is_empty() {
            h3.table-title { "Triggers" }
            (scroll_box("Triggers", html! {
                table.triggers {
                    thead { tr {
                        th scope="col" { "Fault" }
                        th scope="col" { "Fired" }
                        th scope="col" { "By what" }
                        th scope="col" title="median, and the longest" { "Event → known" }
                        th scope="col" title="median, and the longest" { "Event → in force" }
                    } }
                    tbody { @for trigger in triggers { tr {
                        th scope="row" {
                            (trigger.fault)
                            @if !trigger.waits_for.is_empty() {
                                span.target { "waits for " (trigger.waits_for) }
                            }
                        }
                        td.number {
                            @if trigger.fired == 0 { span.missing { "✗ never" } }
                            @else { (words::count(trigger.fired)) }
                        }
                        td.words { (events(trigger)) }
                        td.number { (spread(trigger.learned_ms)) }
                        td.number { (spread(trigger.latency_ms)) }
                    } } }
                }
            }))
        }
    }
}

/// The most frequent events of a trigger, each with its count.
fn events(trigger: &TriggerSummary) -> Markup {
    let rest: u64 = trigger.by.iter().skip(EVENTS_MAX).map(|event| event.times).sum();
    html! {
        @for event in trigger.by.iter().take(EVENTS_MAX) {
            div {
                (words::shorten(&event.by, 160))
                @if event.times > 1 { span.quiet { " ×" (words::count(event.times)) } }
            }
        }
        @if rest > 0 { div.quiet { "and " (words::count(rest)) " more" } }
    }
}

/// `3.1 ms, at most 9.0 ms`; nothing where nothing was measured.
pub(super) fn spread(spread: Option<Spread>) -> Markup {
    let length = |milliseconds: f64| words::duration((milliseconds * 1e6) as u64);
    html! {
        @if let Some(spread) = spread {
            (length(spread.median))
            @if spread.count > 1 { span.target { "at most " (length(spread.max)) } }
        } @else { "–" }
    }
}

fn skipped(skipped: &[SkippedFault]) -> Markup {
    let mut by_fault: BTreeMap<&str, Vec<&SkippedFault>> = BTreeMap::new();
    for one in skipped.iter().take(SKIPPED_MAX) {
        by_fault.entry(&one.fault).or_default().push(one);
    }
    html! {
        @if !skipped.is_empty() {
            h3.table-title { "Left out" }
            ul.details {
                @for (fault, reasons) in by_fault { @for one in reasons {
                    li {
                        b { (fault) } ": " (words::shorten(&one.why, 240))
                        @if one.times > 1 { span.quiet { " (" (words::count(one.times)) " times)" } }
                    }
                } }
            }
            @if skipped.len() > SKIPPED_MAX {
                p.quiet { (skipped.len() - SKIPPED_MAX) " more reasons are in results.json." }
            }
        }
    }
}
