//! The ways of operations through the cluster: how far they were sent, and what servers said.

use maud::{Markup, html};

use super::faults::spread;
use super::{Page, scroll_box};
use crate::report::redirects::{Redirects, Said};
use crate::report::words;

pub(super) fn redirects(page: &Page) -> Markup {
    let found = Redirects::of(&page.digest);
    html! {
        @if found.operations > 0 {
            section.card #redirects {
                h2 { "Ways through the cluster" }
                (figures(&found))
                (scroll_box("What servers said", table(&found)))
            }
        }
    }
}

fn figures(found: &Redirects) -> Markup {
    html! {
        dl.figures {
            div { dt { "operations" } dd { (words::count(found.operations)) } }
            div { dt { "sent on" } dd {
                (words::count(found.sent_on())) " (" (words::percent(found.sent_on(), found.operations)) ")"
            } }
            div { dt { "servers asked, most" } dd { (words::count(found.longest as u64)) } }
            div { dt { "ok at once took" } dd { (spread(found.direct_ms)) } }
            div { dt { "ok after being sent on took" } dd { (spread(found.sent_on_ms)) } }
        }
        p.quiet { "Servers asked for an operation: " (lengths(found)) "." }
    }
}

/// `1: 3,394, 2: 12, 5 or more: 1`.
fn lengths(found: &Redirects) -> String {
    let last = found.hops.len();
    let told = (1..).zip(found.hops).filter(|(_, count)| *count > 0).map(|(asked, count)| {
        let more = if asked == last { " or more" } else { "" };
        format!("{asked}{more}: {}", words::count(count))
    });
    told.collect::<Vec<_>>().join(", ")
}

fn table(found: &Redirects) -> Markup {
    let cell = |said: &Said, node| said.by.get(node).copied().unwrap_or(0);
    html! {
        table.counts {
            thead { tr {
                th scope="col" { "Servers said" }
                @for node in &found.nodes { th scope="col" { (node) } }
                th scope="col" { "all" }
            } }
            tbody {
                @for said in &found.said {
                    tr {
                        th scope="row" { (words::shorten(&said.word, 60)) }
                        @for node in &found.nodes { td.number { (words::count(cell(said, node))) } }
                        td.number { (words::count(said.total())) }
                    }
                }
            }
        }
    }
}
