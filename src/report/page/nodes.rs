//! How each node served over time.

use maud::{Markup, html};

use super::Page;
use crate::report::availability::{availability, strip};
use crate::report::words;

pub(super) fn nodes(page: &Page) -> Markup {
    let digest = &page.digest;
    html! {
        section.card #nodes {
            h2 { "Nodes" }
            @if digest.nodes.is_empty() {
                p.quiet { "The operations of this history name no node." }
            } @else {
                p.quiet.key {
                    span { span.swatch.answered {} "answered ok" }
                    span { span.swatch.missed {} "not ok" }
                    span { span.swatch.mark {} "a fault was aimed at this node" }
                }
                div.nodes {
                    @for (index, node) in availability(digest).iter().enumerate() {
                        div.node-row {
                            div.node-name {
                                b { (digest.nodes[index]) }
                                @if node.total == 0 {
                                    span.quiet { "clients send it nothing" }
                                } @else { span.quiet {
                                    (words::percent(node.ok, node.total)) " of "
                                    (words::count(node.total)) " ok, longest without ok "
                                    (words::duration(node.longest_gap))
                                } }
                            }
                            (strip(digest, index, node))
                        }
                    }
                    div.node-row.scale aria-hidden="true" {
                        div {}
                        div { span { "0 s" } span { (words::duration(digest.end)) } }
                    }
                }
            }
        }
    }
}
