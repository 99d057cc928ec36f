//! What each checker looked at and decided.

use maud::{Markup, html};

use super::Page;
use crate::checker::Finding;
use crate::report::words;

pub(super) fn checkers(page: &Page) -> Markup {
    html! {
        section.card #checkers {
            h2 { "Checkers" }
            @if page.results.checkers.is_empty() { p.quiet { "No checker ran." } }
            @for finding in &page.results.checkers { (one(finding)) }
        }
    }
}

fn one(finding: &Finding) -> Markup {
    named(&finding.name, finding)
}

/// A finding under a name of its own.
pub(super) fn named(name: &str, finding: &Finding) -> Markup {
    html! {
        div.checker {
            h3 {
                (name) " "
                span.pill.(finding.verdict.name()) { (finding.verdict.name()) }
            }
            p { (finding.why) }
            @if !finding.figures.is_empty() {
                dl.figures {
                    @for (name, value) in &finding.figures {
                        div { dt { (name.replace('-', " ")) } dd { (words::figure(*value)) } }
                    }
                }
            }
        }
    }
}
