//! `report.html`: one file that says what a run found and needs nothing from the network.
//!
//! Whatever comes from a run is escaped; the content policy lets no other script run and loads nothing.

mod anomalies;
mod appendix;
mod check;
mod checkers;
mod clocks;
mod failovers;
mod faults;
mod first_screen;
mod hits;
mod nemesis_log;
mod nodes;
mod overlap;
mod plots;
mod redirects;
mod slots;
mod versions;

pub use check::checked_page;

use base64::Engine;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use super::digest::Digest;
use super::headline::headline;
use super::overlap::Overlap;
use super::plot_data::PlotData;
use super::slots::Slots;
use super::timeline::Timeline;
use super::versions::Versions;
use super::{Results, words};
use crate::checker::Anomaly;
use crate::history::History;

const UPLOT_JS: &str = include_str!("../assets/uplot/uPlot.iife.min.js");
const UPLOT_CSS: &str = include_str!("../assets/uplot/uPlot.min.css");
const UPLOT_LICENCE: &str = include_str!("../assets/uplot/LICENSE");
const REPORT_JS: &str = include_str!("../assets/report.js");
const PLOTS_JS: &str = include_str!("../assets/plots.js");
const REPORT_CSS: &str = include_str!("../assets/report.css");

/// What the report shows besides results and history; what is not known is left empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportInput<'a> {
    /// The resolved scenario as saved with the run.
    pub scenario_yaml: &'a str,
    /// When the run began, as text for people. When the report was written is left out, so that one
    /// written again is the same to the byte.
    pub started_at: &'a str,
    /// The results folder, as the reader would name it.
    pub folder: &'a str,
    /// The file beside the report that gives the faults of this run again.
    pub schedule: &'a str,
    /// What the run ran on, by name: engine, kernel, image digests.
    pub environment: &'a [(String, String)],
}

/// Everything the sections draw from.
struct Page<'a> {
    results: &'a Results,
    input: &'a ReportInput<'a>,
    digest: Digest<'a>,
    /// All anomalies with the name of the checker that found each.
    anomalies: Vec<(&'a str, &'a Anomaly)>,
    slots: Slots,
    versions: Versions,
    /// Of the anomalies that are shown one by one, in their order.
    overlaps: Vec<Option<Overlap<'a>>>,
}

/// The whole report. The same input gives the same bytes.
pub fn html(results: &Results, history: &History, input: &ReportInput) -> String {
    let digest = Digest::of(history);
    let anomalies: Vec<(&str, &Anomaly)> = results
        .checkers
        .iter()
        .flat_map(|finding| {
            finding.anomalies.iter().map(|anomaly| (finding.name.as_str(), anomaly))
        })
        .collect();
    let slots = Slots::of(&digest, &anomalies);
    let versions = Versions::of(&digest);
    let shown = anomalies.iter().take(anomalies::SHOWN_MAX);
    let overlaps =
        shown.map(|(_, found)| Overlap::of(&digest, found, &results.hits, &versions)).collect();
    Page { results, input, digest, anomalies, slots, versions, overlaps }.markup().into_string()
}

impl Page<'_> {
    fn markup(&self) -> Markup {
        let title = format!("{}: {}", headline(self.results).word, self.results.workload);
        html! {
            (DOCTYPE)
            html lang="en" {
                (head(&title))
                body {
                    a.skip href="#main" { "Skip to the verdict" }
                    (self.top_bar())
                    main #main { (self.sections()) }
                    (script(UPLOT_JS)) (script(PLOTS_JS)) (script(REPORT_JS))
                }
            }
        }
    }

    fn top_bar(&self) -> Markup {
        html! {
            header.top {
                span.brand { "Stormglass" }
                nav aria-label="Sections" {
                    a href="#plots" { "Latency and rate" }
                    @if !self.anomalies.is_empty() { a href="#anomalies" { "Anomalies" } }
                    @if faults::is_shown(self) { a href="#faults" { "Faults" } }
                    @if !self.results.hits.is_empty() { a href="#hits" { "Hits" } }
                    @if self.results.failovers.is_some() { a href="#failovers" { "Failovers" } }
                    @if self.slots.count > 0 { a href="#slots" { "Slots" } }
                    @if !self.results.clocks.is_empty() { a href="#clocks" { "Clocks" } }
                    a href="#checkers" { "Checkers" }
                    a href="#nodes" { "Nodes" }
                    a href="#nemesis" { "Nemesis" }
                    a href="#scenario" { "Scenario" }
                }
                button.theme type="button" hidden { "Theme: auto" }
            }
        }
    }

    fn sections(&self) -> Markup {
        let (data, scatter) = PlotData::of(&self.digest);
        let shown = self.anomalies.iter().take(anomalies::SHOWN_MAX);
        let timelines: Vec<Option<Timeline>> =
            shown.map(|(_, anomaly)| Timeline::of(&self.digest, anomaly)).collect();
        html! {
            (first_screen::first_screen(self))
            (plots::plots(self, &data, &scatter))
            (anomalies::anomalies(self, &timelines))
            (faults::faults(self))
            (hits::hits(self))
            (slots::slots(self, &self.slots))
            (versions::versions(self))
            (redirects::redirects(self))
            (failovers::failovers(self))
            (clocks::clocks(self))
            (checkers::checkers(self))
            (nodes::nodes(self))
            (nemesis_log::nemesis_log(self))
            (appendix::appendix(self))
        }
    }
}

fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta http-equiv="Content-Security-Policy" content=(policy());
            title { (title) " · Stormglass" }
            link rel="icon" href="data:,";
            style { (PreEscaped(UPLOT_CSS)) (PreEscaped(REPORT_CSS)) }
        }
    }
}

/// Only our own scripts, by their hashes, and nothing from anywhere.
fn policy() -> String {
    let hash = |code: &str| {
        let digest = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(code));
        format!("'sha256-{digest}'")
    };
    format!(
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {} {} {}",
        hash(UPLOT_JS),
        hash(PLOTS_JS),
        hash(REPORT_JS)
    )
}

fn script(code: &str) -> Markup {
    html! { script { (PreEscaped(code)) } }
}

/// A wide thing that scrolls in its own box, also by keyboard.
fn scroll_box(label: &str, content: Markup) -> Markup {
    html! { div.scroll role="region" aria-label=(label) tabindex="0" { (content) } }
}

/// `yes` and `no` by sign, word and colour.
fn yes_no(is_so: bool) -> Markup {
    html! {
        @if is_so { span.yes { "✓ yes" } } @else { span.no { "✗ no" } }
    }
}

/// A moment in a table cell, with figures of equal width.
fn moment_cell(nanos: crate::op::Nanos) -> Markup {
    html! { td.number { (words::moment(nanos)) } }
}
