//! What the nemesis and the run loop did, step by step, with the proof of each action.

use maud::{Markup, html};

use super::{Page, moment_cell, scroll_box};
use crate::cluster::{Applied, Proof};
use crate::nemesis::Deed;
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
            td { (row.fault) }
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
            @if let Some(proof) = proof { (proof_markup(proof)) }
        }
    }
}

fn proof_markup(proof: &Proof) -> Markup {
    html! {
        ul.proof-lines {
            @for check in proof.checks.iter().take(CHECKS_MAX) {
                li {
                    (super::yes_no(check.holds)) " " code { (check.what) } ": expected "
                    (check.expected) ", saw " (check.seen)
                }
            }
            @if proof.checks.len() > CHECKS_MAX {
                li { "and " (proof.checks.len() - CHECKS_MAX) " more probes" }
            }
            @if let Some(packets) = proof.packets {
                li { (words::count(packets)) " packets of the workload were stopped" }
            }
            li { "took " (words::duration(proof.took_us.saturating_mul(1_000))) }
        }
    }
}
