//! Messages that a fault hit: the request, what became of the reply, whose operation it was, the proof.

use maud::{Markup, html};

use super::Page;
use super::nemesis_log::check_line;
use crate::report::hits::{Hit, fate};
use crate::report::words;

/// Hits with all that is known of them; more are listed in one line each.
const SHOWN_MAX: usize = 10;
const LISTED_MAX: usize = 200;
const CHARACTERS_MAX: usize = 600;

pub(super) fn hits(page: &Page) -> Markup {
    let results = page.results;
    html! {
        @if !results.hits.is_empty() {
            section.card #hits {
                h2 { (words::plural(results.hits_total.max(1) as usize, "message was hit", "messages were hit")) }
                @for hit in results.hits.iter().take(SHOWN_MAX) { (one(hit)) }
                (the_rest(page))
            }
        }
    }
}

fn one(hit: &Hit) -> Markup {
    let message = &hit.message;
    html! {
        article.hit {
            p { span.kind.messages {} b { (hit.fault) " " (hit.id) } " at " (words::moment(hit.at)) }
            p.summary { (words::shorten(&hit.words, CHARACTERS_MAX)) }
            dl.facts {
                dt { "Request" } dd { code { (words::shorten(&message.request, CHARACTERS_MAX)) } }
                dt { "Reply" }
                dd {
                    @if let Some(reply) = &message.reply {
                        code { (words::shorten(reply, CHARACTERS_MAX)) } ": "
                    }
                    (fate(message.form))
                }
                @if let Some(sender) = &hit.sender { dt { "Sender" } dd { (sender) } }
                @else { (whose(hit)) }
            }
            details {
                summary.quiet { "Connection and proof" }
                ul.proof-lines {
                    li { code { (message.connection) } ", match " (message.nth) " of the pattern" }
                    @for check in &hit.proof { (check_line(check)) }
                }
            }
        }
    }
}

/// The client's operation, and what is there of it afterwards.
fn whose(hit: &Hit) -> Markup {
    html! {
        dt { "Operation" }
        dd {
            @if let Some(operation) = &hit.operation {
                code { (operation.what) } " of process " (operation.process) ": "
                span.outcome.(operation.outcome) { (operation.outcome) }
                span.quiet { " (index " (operation.index) ")" }
            } @else { span.fewer { "not found: " (hit.why) } }
        }
        dt { "Afterwards" }
        dd {
            @if let Some(check) = &hit.verified { ul.proof-lines.plain { (check_line(check)) } }
            @else { span.quiet { "not looked at" } }
        }
    }
}

fn the_rest(page: &Page) -> Markup {
    let hits = &page.results.hits;
    let rest = hits.get(SHOWN_MAX..).unwrap_or_default();
    let told = rest.len().min(LISTED_MAX) as u64;
    let untold = page.results.hits_total.saturating_sub(SHOWN_MAX as u64 + told);
    html! {
        @if !rest.is_empty() {
            details {
                summary { (words::plural(rest.len(), "more hit", "more hits")) }
                ul.details {
                    @for hit in rest.iter().take(LISTED_MAX) {
                        li { (words::moment(hit.at)) " " (words::shorten(&hit.words, CHARACTERS_MAX)) }
                    }
                }
            }
        }
        @if untold > 0 { p.quiet { (words::count(untold)) " more are in the history." } }
    }
}
