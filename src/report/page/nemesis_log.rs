//! What the nemesis and the run loop did, step by step, with the proof of each action.

use maud::{Markup, html};

use super::{Page, moment_cell, scroll_box};
use crate::cluster::{Action, Applied, Check, Proof};
use crate::nemesis::Deed;
use crate::report::fault_kind::counted;
use crate::report::steps::{Step, outcome, steps};
use crate::report::words;

const ROWS_MAX: usize = 400;
const CHECKS_MAX: usize = 40;

pub(super) fn nemesis_log(page: &Page) -> Markup {
    let rows = steps(&page.digest.steps);
    html! {
        section.card #nemesis {
            h2 { "Nemesis log" }
            @if rows.is_empty() {
                p.quiet { "The nemesis did nothing in this run." }
            } @else {
                (scroll_box("Nemesis log", html! {
                    table.log {
                        thead { tr {
                            th scope="col" { "Time" } th scope="col" { "Fault" }
                            th scope="col" { "Step" } th scope="col" { "What" }
                            th scope="col" { "Outcome and proof" }
                        } }
                        tbody { @for row in rows.iter().take(ROWS_MAX) { (row_markup(row)) } }
                    }
                }))
                @if rows.len() > ROWS_MAX {
                    p.quiet {
                        (words::count((rows.len() - ROWS_MAX) as u64)) " later steps are in the history."
                    }
                }
            }
        }
    }
}

fn row_markup(row: &Step) -> Markup {
    html! {
        tr.bad[row.is_bad] {
            (moment_cell(row.at))
            td { @if let Some(family) = row.family { span.kind.(family.name()) {} } (row.fault) }
            td { (row.name) }
            td.words { (row.what) }
            td.words {
                @if row.deeds.is_empty() { (row.outcome) } @else {
                    details {
                        summary { (row.outcome) }
                        @for deed in row.deeds { (deed_markup(deed)) }
                    }
                }
            }
        }
    }
}

fn deed_markup(deed: &Deed) -> Markup {
    let proof = match &deed.outcome {
        Applied::Installed { proof } => Some(proof),
        Applied::Indeterminate { proof, .. } => proof.as_ref(),
        Applied::Skipped { .. } => None,
    };
    html! {
        div.deed {
            p { b { (deed.action.name()) } " " (deed.action.object()) ": " (outcome(&deed.outcome)) }
            @if let Some(proof) = proof { (proof_markup(&deed.action, proof)) }
        }
    }
}

fn proof_markup(action: &Action, proof: &Proof) -> Markup {
    html! {
        ul.proof-lines {
            @for check in proof.checks.iter().take(CHECKS_MAX) { (check_line(check)) }
            @if proof.checks.len() > CHECKS_MAX {
                li { "and " (proof.checks.len() - CHECKS_MAX) " more probes" }
            }
            @if let (Some(packets), Some(what)) = (proof.packets, counted(action)) {
                li { (words::count(packets)) " " (what) }
            }
            li { "took " (words::duration(proof.took_us.saturating_mul(1_000))) }
        }
    }
}

/// One thing looked at: whether it was as expected, and what was seen.
pub(super) fn check_line(check: &Check) -> Markup {
    html! {
        li {
            (super::yes_no(check.holds)) " " code { (check.what) } ": expected "
            (check.expected) ", saw " (check.seen)
        }
    }
}
