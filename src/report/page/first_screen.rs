//! The first screen: the verdict, why, what was run, what broke, and how to see it again.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{Page, yes_no};
use crate::report::headline::{Tone, fault_sentence, headline};
use crate::report::notes::notes;
use crate::report::{OpCounts, Results, words};

const ANOMALIES_MAX: usize = 5;

pub(super) fn first_screen(page: &Page) -> Markup {
    html! {
        (verdict(page.results))
        div.columns {
            div.wide { (what_broke(page)) (repro(page)) (faults(page)) }
            div.narrow { (what_was_run(page)) (operations(page.results)) }
        }
    }
}

fn verdict(results: &Results) -> Markup {
    let headline = headline(results);
    html! {
        section.verdict.(headline.tone.name()) aria-label="Verdict" {
            (icon(headline.tone))
            div {
                h1 #verdict {
                    (headline.word)
                    @if results.interrupted { " " span.tag { "interrupted" } }
                }
                p.why { (results.why) }
                @for note in notes(results) { p.meaning { (note) } }
                p.meaning {
                    (headline.meaning)
                    @if results.interrupted {
                        " The run was interrupted: only what had happened by then was checked."
                    }
                }
            }
            p.exit { "exit code " b { (results.exit_code) } }
        }
        @if !results.harness.is_empty() {
            section.card.harness {
                h2 { "What broke on our side" }
                ul { @for error in &results.harness { li { (error) } } }
            }
        }
    }
}

/// The same meaning as the colour, for those who do not see it.
pub(super) fn icon(tone: Tone) -> Markup {
    let path = match tone {
        Tone::Good => "M12 25l8 8 16-18",
        Tone::Bad => "M15 15l18 18M33 15l-18 18",
        Tone::Expected => "M24 13v11l8 5M12 35l4-4",
        Tone::Doubt => "M18 18a6 6 0 1 1 8 6c-1.500.7-2 2-2 4M24 34v.5",
        Tone::Broken => "M26 11l-8 14h12l-8 12",
    };
    html! {
        svg.icon viewBox="0 0 48 48" aria-hidden="true" {
            circle cx="24" cy="24" r="22" {}
            path d=(path) {}
        }
    }
}

fn what_broke(page: &Page) -> Markup {
    let total = page.anomalies.len();
    html! {
        section.card {
            h2 {
                @if total > 0 { (words::plural(total, "anomaly", "anomalies")) }
                @else if page.results.checkers.is_empty() { "Nothing was checked" }
                @else { "No anomaly found" }
            }
            @if total == 0 {
                p.quiet { (passed(page.results)) }
            } @else {
                ul.anomaly-lines {
                    @for (number, (_, anomaly)) in page.anomalies.iter().take(ANOMALIES_MAX).enumerate() {
                        li {
                            a href=(format!("#anomaly-{}", number + 1)) { (anomaly.kind) }
                            " " (anomaly.summary)
                            @if let Some(Some(overlap)) = page.overlaps.get(number)
                                && let Some(told) = overlap.outcome() {
                                span.quiet { " " (words::shorten(told, 260)) }
                            }
                        }
                    }
                }
                @if total > ANOMALIES_MAX {
                    p.quiet { a href="#anomalies" { "and " (total - ANOMALIES_MAX) " more" } }
                }
            }
        }
    }
}

/// What the checkers said, in one line.
fn passed(results: &Results) -> String {
    if results.checkers.is_empty() {
        return "No checker ran.".into();
    }
    let said: Vec<String> = results
        .checkers
        .iter()
        .map(|finding| format!("{}: {}", finding.name, finding.verdict.name()))
        .collect();
    said.join(" · ")
}

fn repro(page: &Page) -> Markup {
    html! {
        section.card.repro {
            h2 { "Run it again" }
            div.command {
                pre #repro tabindex="0" { code { (command(&page.results.repro)) } }
                button.copy type="button" data-copy="repro" hidden { "Copy" }
            }
            @if !page.input.schedule.is_empty() {
                p.quiet { "With the very same faults at the same times: add "
                    code { "--schedule " (schedule(page)) } " (" a href=(page.input.schedule) { (page.input.schedule) } ")"
                }
            }
            @if !page.input.folder.is_empty() {
                p.quiet { "Everything recorded: " code { (page.input.folder) } }
            }
        }
    }
}

/// The schedule's path, as the reader would name it.
fn schedule(page: &Page) -> String {
    match page.input.folder {
        "" => page.input.schedule.to_owned(),
        folder => format!("{folder}/{}", page.input.schedule),
    }
}

/// The command as it is, in words that are not broken at their hyphens.
fn command(command: &str) -> Markup {
    html! {
        @for (position, word) in words::shell_words(command).into_iter().enumerate() {
            @if position > 0 { " " }
            span.word { (word) }
        }
    }
}

fn faults(page: &Page) -> Markup {
    html! {
        section.card {
            h2 { "Faults" }
            @if page.results.faults.is_empty() {
                p.quiet { "No fault was begun." }
            } @else {
                (super::scroll_box("Faults", html! {
                    table.faults {
                        thead { tr {
                            th scope="col" { "Fault" }
                            th scope="col" title="put in place, and proven by a probe" { "Installed" }
                            th scope="col" title="by the workload's own traffic" { "Felt" }
                            th scope="col" title="undone, and proven by a probe" { "Healed" }
                            th scope="col" { "In plain words" }
                        } }
                        tbody { @for fault in &page.results.faults { tr {
                            th scope="row" { (fault.fault) span.target { "target: " (fault.target) } }
                            td { (yes_no(fault.installed)) }
                            td { (yes_no(fault.felt)) }
                            @if fault.momentary && fault.healed {
                                td.quiet title="over at once: it leaves nothing to undo" { "–" }
                            } @else { td { (yes_no(fault.healed)) } }
                            td.words { (fault_sentence(fault)) }
                        } } }
                    }
                }))
                (what_came_of_them(page.results))
            }
        }
    }
}

/// The first hit and the pace of failovers, in one line each.
fn what_came_of_them(results: &Results) -> Markup {
    html! {
        @if let Some(hit) = results.hits.first() {
            p.came-of {
                a href="#hits" { (words::plural(results.hits_total as usize, "hit", "hits")) } " "
                (words::shorten(&hit.words, 400))
            }
        }
        @if let Some(failovers) = &results.failovers {
            @for paced in &failovers.loops {
                p.came-of { a href="#failovers" { "Failovers" } " " (paced.nemesis) " is " (paced.words) "." }
            }
            @if failovers.loops.is_empty() {
                p.came-of {
                    a href="#failovers" { "Failovers" } " "
                    (words::plural(failovers.reigns(), "reign was seen.", "reigns were seen."))
                }
            }
        }
    }
}

fn what_was_run(page: &Page) -> Markup {
    let results = page.results;
    let optional = |name: &'static str, value: &str| {
        html! { @if !value.is_empty() { dt { (name) } dd { (value) } } }
    };
    html! {
        section.card {
            h2 { "What was run" }
            dl.facts {
                dt { "Workload" } dd { (results.workload) }
                dt { "Nemesis" } dd { (results.nemesis) }
                dt { "World" } dd { (results.world) }
                @for (name, variant) in &results.variant {
                    dt { "Variant" } dd { (name) "=" (variant) }
                }
                @for (name, image) in &results.images {
                    dt { "Image" } dd { (name) "=" (image) }
                }
                dt { "Seed" } dd.number { (results.seed) }
                dt { "Time" } dd { (words::duration(page.digest.end)) }
                (optional("Nodes", &nodes(page)))
                (optional("Started", page.input.started_at))
                (optional("Version", &results.version))
            }
        }
    }
}

/// How many there are of each role: `7: 2 controller, 4 kvrocks, 1 zookeeper`; nothing where the history
/// names none.
fn nodes(page: &Page) -> String {
    let mut roles: BTreeMap<&str, usize> = BTreeMap::new();
    for node in &page.digest.nodes {
        *roles.entry(node.as_str().trim_end_matches(|c: char| c.is_ascii_digit())).or_default() +=
            1;
    }
    let told: Vec<String> = roles.iter().map(|(role, count)| format!("{count} {role}")).collect();
    match (page.digest.nodes.len(), told.len()) {
        (0, _) => String::new(),
        // Foreign histories may name anything.
        (count, 1 | 5..) => count.to_string(),
        (count, _) => format!("{count}: {}", told.join(", ")),
    }
}

fn operations(results: &Results) -> Markup {
    let total = results.ops.values().fold(OpCounts::default(), |sum, counts| OpCounts {
        ok: sum.ok + counts.ok,
        fail: sum.fail + counts.fail,
        info: sum.info + counts.info,
    });
    html! {
        section.card {
            h2 { "Operations" }
            (super::scroll_box("Operations", html! {
                table.counts {
                    thead { tr {
                        th scope="col" { "Kind" }
                        th scope="col" title="it happened" { "ok" }
                        th scope="col" title="it surely did not happen" { "fail" }
                        th scope="col" title="it may have happened" { "info" }
                        th scope="col" { "ok %" }
                    } }
                    tbody { @for (kind, counts) in &results.ops { (count_row(kind, counts)) } }
                    tfoot { (count_row("all", &total)) }
                }
            }))
            @if results.dropped > 0 {
                p.quiet {
                    (words::count(results.dropped)) " more arrived when no process was free on their node."
                }
            }
        }
    }
}

fn count_row(kind: &str, counts: &OpCounts) -> Markup {
    html! {
        tr {
            th scope="row" { (kind) }
            td.number { (words::count(counts.ok)) }
            td.number { (words::count(counts.fail)) }
            td.number { (words::count(counts.info)) }
            td.number { (words::percent(counts.ok, counts.ok + counts.fail + counts.info)) }
        }
    }
}
