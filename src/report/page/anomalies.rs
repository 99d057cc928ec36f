//! Each anomaly: what happened, the operations that prove it, and their timeline.

use maud::{Markup, html};

use super::{Page, overlap, scroll_box};
use crate::checker::Anomaly;
use crate::report::cycle;
use crate::report::digest::{Digest, Operation};
use crate::report::timeline::Timeline;
use crate::report::words;

/// Anomalies with a timeline of their own; more are listed in one line each.
pub(super) const SHOWN_MAX: usize = 20;
const LISTED_MAX: usize = 200;

pub(super) fn anomalies(page: &Page, timelines: &[Option<Timeline>]) -> Markup {
    html! {
        @if !page.anomalies.is_empty() {
            section #anomalies {
                h2.section { "Anomalies" }
                @for (number, (found, timeline)) in page.anomalies.iter().zip(timelines).enumerate() {
                    (anomaly(page, number + 1, found, timeline.as_ref()))
                }
                (the_rest(page))
            }
        }
    }
}

fn anomaly(
    page: &Page,
    number: usize,
    (checker, anomaly): &(&str, &Anomaly),
    timeline: Option<&Timeline>,
) -> Markup {
    html! {
        article.card.anomaly id=(format!("anomaly-{number}")) {
            h3 { (number) ". " (anomaly.kind) " " span.quiet { "found by " (checker) } }
            p.summary { (anomaly.summary) }
            p.quiet { (place(&page.digest, anomaly)) }
            @if let Some(Some(overlap)) = page.overlaps.get(number - 1) {
                (overlap::overlap(number, overlap))
                h4 { "The operations that prove it" }
            }
            (circle(number, anomaly))
            @if let Some(timeline) = timeline {
                (picture(number, anomaly, timeline))
                (table(&page.digest, timeline))
            } @else {
                p.quiet { "This anomaly names no single operation; see the plots and the nodes' strips." }
            }
            @if !anomaly.details.is_empty() {
                h4 { "Explanation" }
                ul.details { @for line in &anomaly.details { li { (line) } } }
            }
        }
    }
}

/// Key, nodes, time, and the faults that were in force.
pub(super) fn place(digest: &Digest, anomaly: &Anomaly) -> String {
    let mut parts = Vec::new();
    if let Some(key) = &anomaly.key {
        parts.push(format!("key {key}"));
    }
    if !anomaly.nodes.is_empty() {
        parts.push(format!("on {}", anomaly.nodes.join(", ")));
    }
    if (anomaly.from, anomaly.to) == (0, 0) {
        parts.push("at a time that is not known".to_owned());
        return parts.join(" · ");
    }
    parts.push(digest.scale.span(anomaly.from, anomaly.to));
    let faults: Vec<String> = digest
        .windows
        .iter()
        .filter(|window| window.from <= anomaly.to && window.to >= anomaly.from)
        .take(6)
        .map(|window| format!("{} {}", window.name, window.id))
        .collect();
    match faults.as_slice() {
        // Nobody may have told of faults at all.
        [] if digest.steps.is_empty() => {}
        [] => parts.push("no fault in force".into()),
        faults => parts.push(format!("faults in force: {}", faults.join(", "))),
    }
    parts.join(" · ")
}

/// The transactions of a cycle, and why each comes before the next.
pub(super) fn circle(number: usize, anomaly: &Anomaly) -> Markup {
    let title = format!("The cycle of anomaly {number}: {}", anomaly.kind);
    html! {
        @if let Some(cycle) = &anomaly.cycle {
            (scroll_box(&title, cycle::drawing(cycle, &format!("cycle-{number}"), &title)))
            (cycle::key(cycle))
        }
    }
}

pub(super) fn picture(number: usize, anomaly: &Anomaly, timeline: &Timeline) -> Markup {
    let name = format!("timeline-{number}");
    let title = format!("Timeline of anomaly {number}: {}", anomaly.kind);
    html! {
        (scroll_box(&title, timeline.svg(&name, &title)))
        p.quiet.key {
            span { span.swatch.ok {} "ok" }
            span { span.swatch.fail {} "fail" }
            span { span.swatch.info {} "info: may still act later" }
            span { span.swatch.band {} "fault in force" }
            @if timeline.core().iter().any(|operation| operation.way().is_some()) {
                span { span.swatch.elsewhere {} "asked another node first, which sent it on" }
            }
            span { "lanes: who answered, and whom" }
            span { "numbered: the proof" }
            span { "pale: others on the same key" }
        }
    }
}

pub(super) fn table(digest: &Digest, timeline: &Timeline) -> Markup {
    html! {
        (scroll_box("The operations of the counterexample", html! {
            table.proof {
                thead { tr {
                    th scope="col" { "#" } th scope="col" { "Operation" }
                    th scope="col" { "Process" } th scope="col" { "Answered by" }
                    th scope="col" { "Invoked" } th scope="col" { "Completed" }
                    th scope="col" { "Took" } th scope="col" { "Outcome" }
                } }
                tbody {
                    @for (position, operation) in timeline.core().iter().enumerate() {
                        (row(digest, position + 1, operation))
                    }
                }
            }
        }))
        @if timeline.left_out() > 0 {
            p.quiet { (timeline.left_out()) " earlier operations of this counterexample are not drawn." }
        }
    }
}

fn row(digest: &Digest, number: usize, operation: &Operation) -> Markup {
    let invoke = operation.invoke;
    html! {
        tr {
            td.number { (number) }
            td {
                code { (operation.describe()) }
                @if let Some(key) = &invoke.key { span.quiet { " key " (key) } }
            }
            td.number { (invoke.process) }
            td {
                (operation.node().as_deref().unwrap_or("–"))
                @if let Some(way) = operation.way() { span.way { (words::shorten(&way, 160)) } }
            }
            td.number { (digest.scale.fine_moment(invoke.time)) }
            @if let Some(completion) = operation.completion {
                td.number { (digest.scale.fine_moment(completion.time)) }
            } @else {
                td { "never" }
            }
            td.number { (digest.scale.length(operation.latency(digest.end))) }
            td {
                span.outcome.(operation.kind().name()) { (operation.kind().name()) }
                @if let Some(error) = operation.completion.and_then(|event| event.error.as_deref()) {
                    " " (words::shorten(error, 160))
                }
            }
        }
    }
}

fn the_rest(page: &Page) -> Markup {
    let rest = page.anomalies.get(SHOWN_MAX..).unwrap_or_default();
    html! {
        @if !rest.is_empty() {
            details.card {
                summary { (words::plural(rest.len(), "more anomaly", "more anomalies")) }
                ul.details {
                    @for (_, anomaly) in rest.iter().take(LISTED_MAX) {
                        li { b { (anomaly.kind) } " " (anomaly.summary) }
                    }
                }
                @if rest.len() > LISTED_MAX {
                    p.quiet { "The others are in results.json." }
                }
            }
        }
    }
}
