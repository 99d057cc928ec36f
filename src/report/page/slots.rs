//! Who acknowledged writes of which slot when, beside the migrations asked for and the faults.

use maud::{Markup, html};

use super::Page;
use crate::report::lanes::{Lane, lanes};
use crate::report::losses::Losses;
use crate::report::slots::{SlotLane, SlotStory, Slots};
use crate::report::words;

pub(super) fn slots(page: &Page, slots: &Slots) -> Markup {
    html! {
        @if slots.count > 0 {
            section.card #slots {
                h2 { "Slots" }
                (figures(page, slots))
                @if !slots.stories.is_empty() {
                    p.quiet.key {
                        span { span.swatch.leads {} "it acknowledged writes of the slot, and no other node did in between" }
                        span { span.swatch.links {} "a fault in force" }
                    }
                }
                @for story in &slots.stories { (one(page, story)) }
                (the_rest(slots))
            }
        }
    }
}

fn figures(page: &Page, slots: &Slots) -> Markup {
    let figure = |name: &str| {
        page.results.checkers.iter().find_map(|finding| finding.figures.get(name)).copied()
    };
    let sides = page.overlaps.iter().flatten().flat_map(|overlap| &overlap.sides);
    let losses = Losses::of(page.results, sides.map(|side| side.gone() as u64).sum());
    html! {
        dl.figures {
            div { dt { "slots written" } dd { (words::count(slots.count as u64)) } }
            div { dt { "by more than one node" } dd { (words::count(slots.moved as u64)) } }
            @if let Some(lost) = losses.at_the_end {
                div { dt { "lost, by final reads" } dd { (words::count(lost)) } }
            }
            @if let Some(keys) = losses.meanwhile {
                div { dt { "keys with a loss, by reads meanwhile" } dd { (words::count(keys)) } }
            }
            @if losses.after_splits > 0 {
                div { dt { "gone after a split" } dd { (words::count(losses.after_splits)) } }
            }
            @if let Some(permitted) = figure("permitted-lost") {
                div { dt { "lost as failovers may" } dd { (words::figure(permitted)) } }
            }
            @if let Some(window) = figure("permitted-lost-window-ms").filter(|window| *window > 0.0) {
                div { dt { "of the last" } dd { (words::figure(window)) " ms" } }
            }
        }
        @if let Some(why) = losses.why_they_differ() { p.quiet { (why) } }
    }
}

fn one(page: &Page, story: &SlotStory) -> Markup {
    let turns = words::plural(story.turns as usize, "change of the node", "changes of the node");
    html! {
        div.slot {
            h3 {
                "Slot " (story.slot) " "
                @if story.is_told { span.pill.invalid { "anomaly" } " " }
                span.quiet { (turns) }
            }
            (lanes(&page.digest, &rows(page, story)))
        }
    }
}

fn rows(page: &Page, story: &SlotStory) -> Vec<Lane> {
    let of_node = |lane: &SlotLane| Lane {
        name: lane.node.to_string(),
        note: words::plural(lane.writes as usize, "write", "writes"),
        class: "leads",
        stretches: lane.stretches.clone(),
        doubtful: vec![],
        moments: vec![],
    };
    let mut rows: Vec<Lane> = story.lanes.iter().map(of_node).collect();
    if !story.moves.is_empty() {
        rows.push(Lane {
            name: "migrations".into(),
            note: format!("asked for {}", words::plural(story.moves.len(), "time", "times")),
            class: "processes",
            stretches: vec![],
            doubtful: vec![],
            moments: story.moves.iter().map(|(at, _)| *at).collect(),
        });
    }
    let windows = &page.digest.windows;
    if !windows.is_empty() {
        let (over_at_once, lasting): (Vec<_>, Vec<_>) =
            windows.iter().partition(|window| window.momentary);
        rows.push(Lane {
            name: "faults".into(),
            note: words::plural(windows.len(), "in all", "in all"),
            class: "links",
            stretches: lasting.iter().map(|window| (window.from, window.to)).collect(),
            doubtful: vec![],
            moments: over_at_once.iter().map(|window| window.from).collect(),
        });
    }
    rows
}

fn the_rest(slots: &Slots) -> Markup {
    let quiet = slots.count - slots.stories.len();
    html! {
        @if slots.stories.is_empty() {
            p.quiet { "Writes of each slot were acknowledged by one node all along." }
        } @else if quiet > 0 {
            p.quiet {
                "Drawn are slots of anomalies and those that changed their node most often; "
                (words::plural(quiet, "other is not.", "others are not."))
            }
        }
    }
}
