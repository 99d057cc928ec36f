//! The page of a history that was checked by its models: the verdict, and each anomaly over time.
//!
//! Its size is bounded whatever the history: anomalies are drawn as long as there is room.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{anomalies, checkers, first_screen};
use crate::checker::{Anomaly, Finding, Verdict};
use crate::history::History;
use crate::op::SECOND;
use crate::report::checked::{Checked, by_kind, count_all, count_of, not_explained};
use crate::report::digest::Digest;
use crate::report::headline::Tone;
use crate::report::scale::Scale;
use crate::report::timeline::Timeline;
use crate::report::words;

const REPORT_CSS: &str = include_str!("../../assets/report.css");

/// Bytes that all drawings may take together, and anomalies listed without one.
const DRAWN_BYTES: usize = 200_000;
const DRAWN_MAX: usize = 30;
const LISTED_MAX: usize = 60;
const WORDS_MAX: usize = 600;

/// The whole page, for which nothing is loaded. The same input gives the same bytes.
pub fn checked_page(checked: &Checked, history: &History) -> String {
    let timed = Timed::of(history);
    let digest = Digest { scale: timed.scale(), ..Digest::of(timed.history()) };
    let title = format!("{}: {}", word(checked.verdict()), checked.name);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; img-src data:; style-src 'unsafe-inline'";
                title { (title) " · Stormglass" }
                link rel="icon" href="data:,";
                style { (PreEscaped(REPORT_CSS)) }
            }
            body {
                a.skip href="#main" { "Skip to the verdict" }
                header.top { span.brand { "Stormglass" } }
                main #main {
                    (verdict(checked))
                    @if let Timed::Numbered(_) = timed {
                        p.quiet { "This history has no times: below, its events are told and drawn by their indices." }
                    }
                    (drawn(checked, &digest))
                    section.card #checkers {
                        h2 { "Checkers" }
                        @for (name, finding) in labelled(checked) {
                            (checkers::named(&name, finding))
                        }
                    }
                }
            }
        }
    }
    .into_string()
}

/// A history to be drawn over time.
enum Timed<'a> {
    Real(&'a History),
    /// One without times, with its events' indices instead.
    Numbered(History),
}

/// Above this, indices count something else than events.
const MOST_INDEX: u64 = 1 << 32;

impl<'a> Timed<'a> {
    fn of(history: &'a History) -> Timed<'a> {
        if history.events().iter().any(|event| event.time > 0) {
            return Timed::Real(history);
        }
        let mut events = history.events().to_vec();
        let by_index = events.iter().all(|event| event.index < MOST_INDEX);
        for (event, position) in events.iter_mut().zip(0..) {
            event.time = if by_index { event.index } else { position } * SECOND;
        }
        Timed::Numbered(History::new(events))
    }

    fn scale(&self) -> Scale {
        match self {
            Timed::Real(_) => Scale::Time,
            Timed::Numbered(_) => Scale::Events,
        }
    }

    fn history(&self) -> &History {
        match self {
            Timed::Real(history) => history,
            Timed::Numbered(history) => history,
        }
    }
}

/// The findings by the names that they have on this page.
fn labelled<'a>(checked: &'a Checked) -> impl Iterator<Item = (String, &'a Finding)> {
    let numbered = checked.findings.iter().enumerate();
    numbered.map(|(position, finding)| (checked.label(position, finding), finding))
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "Valid",
        Verdict::Unknown => "Unknown",
        Verdict::Invalid => "Invalid",
    }
}

fn verdict(checked: &Checked) -> Markup {
    let verdict = checked.verdict();
    let (tone, meaning) = match verdict {
        Verdict::Valid => (Tone::Good, "Nothing in this history speaks against the models."),
        Verdict::Unknown => (Tone::Doubt, "The checkers could not decide."),
        Verdict::Invalid => (Tone::Bad, "The system that left this history broke a promise."),
    };
    let telling = labelled(checked).filter(|(_, finding)| finding.verdict == verdict);
    html! {
        section.verdict.(tone.name()) aria-label="Verdict" {
            (first_screen::icon(tone))
            div {
                h1 #verdict { (word(verdict)) }
                p.why { (checked.name) " against " (checked.models.join(", ")) }
                @if let Some(why) = checked.guessed { p.meaning { "The model is guessed: " (why) "." } }
                @if verdict != Verdict::Valid {
                    @for (name, finding) in telling { p.meaning { (name) ": " (finding.why) } }
                }
                p.meaning { (meaning) }
            }
            p.exit { "exit code " b { (checked.exit_code) } }
        }
        (counts(checked))
    }
}

/// How many anomalies there are of each kind.
fn counts(checked: &Checked) -> Markup {
    html! {
        @for (name, finding) in labelled(checked).filter(|(_, one)| !one.anomalies.is_empty()) {
            section.card {
                h2 {
                    (words::plural(count_all(finding), "anomaly", "anomalies"))
                    " " span.quiet { "found by " (name) }
                }
                dl.facts {
                    @for (kind, anomalies) in by_kind(finding) {
                        dt { (kind) }
                        dd { (words::count(count_of(finding, kind, anomalies.len()) as u64)) }
                    }
                    @if not_explained(finding) > 0 {
                        dt { "not explained" }
                        dd { (words::count(not_explained(finding) as u64)) " more" }
                    }
                    @if let Some(consistency) = &finding.consistency {
                        dt { "violates" } dd { (consistency.violates.join(", ")) }
                        dt { "survives" }
                        dd {
                            @if consistency.survives.is_empty() { "none" }
                            (consistency.survives.join(", "))
                        }
                    }
                }
            }
        }
    }
}

/// The anomalies one by one as far as there is room, the first of each kind before the others.
fn drawn(checked: &Checked, digest: &Digest) -> Markup {
    let mut room = DRAWN_BYTES;
    let mut drawings: Vec<String> = Vec::new();
    let mut listed = Vec::new();
    for (checker, anomaly) in in_turn(checked) {
        let number = drawings.len() + 1;
        let drawing = match drawings.len() < DRAWN_MAX && room > 0 {
            true => article(digest, number, &checker, anomaly).into_string(),
            false => String::new(),
        };
        if drawing.is_empty() || drawing.len() > room {
            listed.push(anomaly);
        } else {
            room -= drawing.len();
            drawings.push(drawing);
        }
    }
    html! {
        @if !drawings.is_empty() || !listed.is_empty() {
            section #anomalies {
                h2.section { "Anomalies" }
                @for drawing in &drawings { (PreEscaped(drawing)) }
                (the_rest(&listed))
            }
        }
    }
}

/// The first of each kind, then the second of each, and so on.
fn in_turn<'a>(checked: &'a Checked) -> Vec<(String, &'a Anomaly)> {
    let mut all: Vec<(usize, String, &Anomaly)> = Vec::new();
    for (name, finding) in labelled(checked) {
        for anomalies in by_kind(finding).values() {
            let numbered = anomalies.iter().enumerate();
            all.extend(numbered.map(|(turn, anomaly)| (turn, name.clone(), *anomaly)));
        }
    }
    all.sort_by_key(|(turn, ..)| *turn);
    all.into_iter().map(|(_, checker, anomaly)| (checker, anomaly)).collect()
}

fn article(digest: &Digest, number: usize, checker: &str, anomaly: &Anomaly) -> Markup {
    let timeline = Timeline::of(digest, anomaly);
    let anomaly = &in_time(anomaly, timeline.as_ref(), digest);
    html! {
        article.card.anomaly id=(format!("anomaly-{number}")) {
            h3 { (number) ". " (anomaly.kind) " " span.quiet { "found by " (checker) } }
            p.summary { (words::shorten(&anomaly.summary, WORDS_MAX)) }
            p.quiet { (anomalies::place(digest, anomaly)) }
            (anomalies::circle(number, anomaly))
            @if let Some(timeline) = &timeline {
                (anomalies::picture(number, anomaly, timeline))
                (anomalies::table(digest, timeline))
            }
            @if !anomaly.details.is_empty() {
                h4 { "Explanation" }
                ul.details {
                    @for line in anomaly.details.iter().take(LISTED_MAX) {
                        li { (words::shorten(line, WORDS_MAX)) }
                    }
                }
            }
        }
    }
}

/// The anomaly, from the first to the last of its operations where its checker knew no times.
fn in_time(anomaly: &Anomaly, timeline: Option<&Timeline>, digest: &Digest) -> Anomaly {
    let mut anomaly = anomaly.clone();
    let core = timeline.map_or(&[][..], Timeline::core);
    if (anomaly.from, anomaly.to) == (0, 0) {
        anomaly.from = core.iter().map(|one| one.invoke.time).min().unwrap_or(0);
        anomaly.to = core.iter().map(|one| one.ended(digest.end)).max().unwrap_or(0);
    }
    anomaly
}

fn the_rest(listed: &[&Anomaly]) -> Markup {
    html! {
        @if !listed.is_empty() {
            details.card {
                summary { (words::plural(listed.len(), "more anomaly", "more anomalies")) }
                ul.details {
                    @for anomaly in listed.iter().take(LISTED_MAX) {
                        li { b { (anomaly.kind) } " " (words::shorten(&anomaly.summary, WORDS_MAX)) }
                    }
                }
                @if listed.len() > LISTED_MAX {
                    p.quiet { "The others are in what " code { "--json" } " prints." }
                }
            }
        }
    }
}
