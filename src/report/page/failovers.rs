//! Who led when: the pace of failover loops, how long leaders held, and each epoch with its length.

use maud::{Markup, html};

use super::faults::spread;
use super::{Page, moment_cell, scroll_box};
use crate::nemesis::{FailoverLoop, Failovers, HeldFor, Office, Pacing, Reign};
use crate::op::Nanos;
use crate::report::lanes::{Lane, lanes};
use crate::report::words;

const ROWS_MAX: usize = 200;
/// A longer table is folded.
const OPEN_MAX: usize = 24;
const OVERLAPS_MAX: usize = 20;

pub(super) fn failovers(page: &Page) -> Markup {
    html! {
        @if let Some(failovers) = &page.results.failovers {
            section.card #failovers {
                h2 { "Failovers" }
                @for one in &failovers.loops { (pace(one)) }
                @for one in &failovers.offices { (office(page, failovers, one)) }
            }
        }
    }
}

/// The leadership of one role; what it is of is said where there are several.
fn office(page: &Page, failovers: &Failovers, office: &Office) -> Markup {
    html! {
        @if failovers.offices.len() > 1 { h3 { "Leaders of " (office.role) } }
        (figures(failovers, office))
        (lanes(&page.digest, &leaders(office)))
        (overlaps(office))
        div.columns.even {
            div.wide { (reigns(office)) }
            div.narrow { (held_for(&office.held_for)) }
        }
    }
}

fn pace(paced: &FailoverLoop) -> Markup {
    let tone = if paced.verdict == Pacing::OnPace { "valid" } else { "unknown" };
    html! {
        p.pace {
            span.pill.(tone) { (paced.verdict.name()) } " "
            b { (paced.nemesis) } " "
            (paced.words.split_once(": ").map_or(&*paced.words, |(_, words)| words)) "."
        }
    }
}

fn figures(failovers: &Failovers, office: &Office) -> Markup {
    let loops =
        || failovers.loops.iter().filter(|paced| paced.role.is_none_or(|role| role == office.role));
    html! {
        dl.figures {
            @if loops().next().is_some() {
                @let sum = |figure: fn(&FailoverLoop) -> u64| loops().map(figure).sum();
                div { dt { "failovers begun" } dd { (words::count(sum(|paced| paced.begun))) } }
                div { dt { "finished" } dd { (words::count(sum(|paced| paced.finished))) } }
            }
            div { dt { "reigns" } dd { (words::count(office.reigns.len() as u64)) } }
            div { dt { "epochs" } dd { (words::count(office.epochs() as u64)) } }
            div { dt { "elections seen" } dd {
                (office.elections_ms.map_or(0, |spread| spread.count))
            } }
            div { dt { "an election took" } dd { (spread(office.elections_ms)) } }
        }
    }
}

/// A lane for each node that ever led.
fn leaders(office: &Office) -> Vec<Lane> {
    let mut names: Vec<&str> = office.reigns.iter().map(|reign| &*reign.leader).collect();
    names.sort_unstable();
    names.dedup();
    let lane = |name: &str| {
        let own = office.reigns.iter().filter(|reign| &*reign.leader == name);
        let stretches: Vec<(Nanos, Nanos)> = own.map(|reign| (reign.from, reign.until)).collect();
        let note = format!("led {}", words::plural(stretches.len(), "time", "times"));
        let name = name.to_owned();
        Lane { name, note, class: "leads", stretches, doubtful: vec![], moments: vec![] }
    };
    names.into_iter().map(lane).collect()
}

fn overlaps(office: &Office) -> Markup {
    html! {
        @if !office.overlaps.is_empty() {
            ul.details {
                @for overlap in office.overlaps.iter().take(OVERLAPS_MAX) {
                    li.fewer {
                        (overlap.leaders.len()) " nodes led at once, from "
                        (words::moment(overlap.from)) " to " (words::moment(overlap.until)) ": "
                        @for (position, leader) in overlap.leaders.iter().enumerate() {
                            @if position > 0 { ", " } (leader)
                        }
                    }
                }
            }
            p.quiet {
                (words::plural(office.overlaps.len(), "overlap", "overlaps"))
                " in all, as the nodes said of themselves; this is shown, not judged."
            }
        }
    }
}

fn reigns(office: &Office) -> Markup {
    let count = office.reigns.len();
    html! {
        details open[count <= OPEN_MAX] {
            summary { "Every reign (" (words::count(count as u64)) ")" }
            (scroll_box("Every reign", html! {
                table.reigns {
                    thead { tr {
                        th scope="col" { "#" } th scope="col" { "Epoch" } th scope="col" { "Leader" }
                        th scope="col" { "From" } th scope="col" { "Led for" }
                    } }
                    tbody {
                        @for (position, reign) in office.reigns.iter().take(ROWS_MAX).enumerate() {
                            (row(position, reign, &office.reigns[..position]))
                        }
                    }
                }
            }))
            @if count > ROWS_MAX {
                p.quiet { "The other " (words::count((count - ROWS_MAX) as u64)) " are in results.json." }
            }
        }
    }
}

fn row(position: usize, reign: &Reign, before: &[Reign]) -> Markup {
    let highest = before.iter().filter_map(|reign| reign.epoch).max();
    let is_old = reign.epoch.is_some() && reign.epoch <= highest;
    html! {
        tr {
            td.number { (position + 1) }
            td.number {
                @match reign.epoch { Some(epoch) => (epoch), None => "–" }
                @if is_old { span.target.fewer { "not a new one" } }
            }
            td { (reign.leader) }
            (moment_cell(reign.from))
            td.number {
                (words::duration(reign.until.saturating_sub(reign.from)))
                @if !reign.ended { span.target { "to the end" } }
            }
        }
    }
}

/// Bars of equal scale, one a bucket.
fn held_for(buckets: &[HeldFor]) -> Markup {
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0).max(1);
    html! {
        h3.table-title { "Time as leader" }
        dl.bars {
            @for (position, bucket) in buckets.iter().enumerate() {
                dt { (range(position.checked_sub(1).and_then(|at| buckets[at].below_ms), bucket.below_ms)) }
                dd {
                    svg.lane viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" {
                        rect.leads x="0" y="0" height="10"
                            width=(format!("{:.1}", bucket.count as f64 * 100.0 / most as f64)) {}
                    }
                    span { (words::count(bucket.count)) }
                }
            }
        }
    }
}

/// `1–2 s`, `< 0.5 s`, `> 30 s`.
fn range(from_ms: Option<u64>, below_ms: Option<u64>) -> String {
    let seconds = |milliseconds: u64| milliseconds as f64 / 1_000.0;
    match (from_ms, below_ms) {
        (Some(from), Some(below)) => format!("{}–{} s", seconds(from), seconds(below)),
        (None, Some(below)) => format!("< {} s", seconds(below)),
        (Some(from), None) => format!("≥ {} s", seconds(from)),
        (None, None) => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_named_by_their_bounds() {
        let named = [(None, Some(500)), (Some(500), Some(1_000)), (Some(30_000), None)]
            .map(|(from, below)| range(from, below));
        assert_eq!(named, ["< 0.5 s", "0.5–1 s", "≥ 30 s"]);
    }
}
