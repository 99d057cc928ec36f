//! The verdict on a history as lines for a terminal.

use super::{Checked, by_kind, count_of, not_explained, violated_keys};
use crate::checker::{ANOMALIES, Anomaly, Consistency, Finding, Verdict, is_within};
use crate::report::in_force;
use crate::report::terminal::{Colours, wrapped};
use crate::report::words;

/// Anomalies told of one kind, and the lines of the first and of the others: where one has more, the middle
/// is left out.
const TOLD: usize = 3;
const DETAILS_OF_FIRST: usize = 40;
const DETAILS: usize = 12;
const MODELS: usize = 6;
const KINDS: usize = 20;
const FIGURES: usize = 12;
const KEYS: usize = 10;
/// Lines that one sentence may take.
const LINES: usize = 6;

/// Where the text of a finding begins.
const INDENT: usize = 11;

/// Lines of at most `columns`; a word that is longer is not broken, so that it can be copied.
pub fn checked_text(checked: &Checked, columns: usize, colours: Colours) -> String {
    let mut text = Text { lines: Vec::new(), columns, colours };
    let verdict = checked.verdict();
    let word = match verdict {
        Verdict::Valid => "Valid",
        Verdict::Unknown => "Unknown",
        Verdict::Invalid => "Invalid",
    };
    let word = text.painted(word, verdict, true);
    text.lines.push(format!("{word}  (exit code {})", checked.exit_code));
    text.put(2, "", &format!("{} against {}", checked.name, checked.models.join(", ")));
    if let Some(why) = checked.guessed {
        text.put(2, "", &format!("the model is guessed: {why}; --model says which it is"));
    }
    for (position, finding) in checked.findings.iter().enumerate() {
        text.lines.push(String::new());
        text.finding(finding, &checked.label(position, finding));
    }
    if checked.findings.iter().any(|finding| !finding.anomalies.is_empty()) {
        text.lines.push(String::new());
        text.put(
            2,
            "",
            "next: --html page.html draws each anomaly over time; --json has all of this for tools",
        );
    }
    text.lines.join("\n") + "\n"
}

struct Text {
    lines: Vec<String>,
    columns: usize,
    colours: Colours,
}

impl Text {
    /// A label and what it is of, in lines below each other.
    fn put(&mut self, indent: usize, label: &str, words: &str) {
        let label = if label.is_empty() { String::new() } else { format!("{label}  ") };
        let width = self.columns.saturating_sub(indent + label.chars().count()).max(20);
        let mut lines = wrapped(&words::one_line(words), width);
        if lines.len() > LINES {
            lines.truncate(LINES);
            if let Some(last) = lines.last_mut() {
                last.push_str(" …");
            }
        }
        let mut label = label;
        for line in lines {
            self.lines.push(format!("{}{label}{line}", " ".repeat(indent)));
            label = " ".repeat(label.chars().count());
        }
    }

    fn finding(&mut self, finding: &Finding, name: &str) {
        let (verdict, why) = (finding.verdict, &finding.why);
        let at = self.lines.len();
        self.put(INDENT, "", &format!("{name}: {why}"));
        // The verdict stands in the margin.
        if let Some(first) = self.lines.get_mut(at) {
            let text = first.trim_start().to_owned();
            let word = format!("{:width$}", verdict.name(), width = INDENT - 2);
            *first = format!("  {}{text}", paint(&word, verdict, false, self.colours));
        }
        self.figures(finding);
        self.keys(finding);
        if let Some(consistency) = &finding.consistency {
            self.consistency(consistency);
        }
        let (kinds, more) = (by_kind(finding), not_explained(finding));
        for (kind, anomalies) in kinds.iter().take(KINDS) {
            self.kind(kind, anomalies, count_of(finding, kind, anomalies.len()), more > 0);
        }
        if kinds.len() > KINDS {
            let more = words::plural(kinds.len() - KINDS, "more kind", "more kinds");
            self.put(INDENT, "", &format!("and anomalies of {more}"));
        }
        if more > 0 {
            let (more, first) = (words::count(more as u64), finding.anomalies.len());
            self.lines.push(String::new());
            let what = format!("and {more} more violations: the first {first} are explained");
            self.put(4, "", &what);
        }
    }

    fn figures(&mut self, finding: &Finding) {
        // What the kinds of anomalies tell, and the form of the history, need not be told twice.
        let is_news = |name: &str| {
            let kind = name.strip_suffix("-count").unwrap_or(name);
            finding.name != "well-formed" && !finding.anomalies.iter().any(|one| one.kind == kind)
        };
        let told = finding.figures.iter().filter(|(name, value)| **value != 0.0 && is_news(name));
        let told = told.take(FIGURES);
        let told = told.map(|(name, value)| {
            format!("{} {}", name.replace('-', " "), words::figure(*value).replace(' ', "\u{a0}"))
        });
        let told: Vec<String> = told.collect();
        if !told.is_empty() {
            self.put(INDENT, "figures ", &told.join(" · "));
        }
    }

    fn keys(&mut self, finding: &Finding) {
        let (keys, all) = violated_keys(finding);
        if all < 2 {
            return;
        }
        let first = keys[..keys.len().min(KEYS)].join(", ");
        let more = match all.saturating_sub(KEYS) {
            0 => String::new(),
            1 => " and 1 other".to_owned(),
            more => format!(" and {} others", words::count(more as u64)),
        };
        self.put(INDENT, "keys    ", &format!("{first}{more}"));
    }

    fn consistency(&mut self, consistency: &Consistency) {
        let names = |names: &[String]| {
            let told = names[..names.len().min(MODELS)].join(", ");
            match names.len() {
                0 => "none".to_owned(),
                all if all > MODELS => format!("{told} and {} stronger ones", all - MODELS),
                _ => told,
            }
        };
        self.put(INDENT, "violates", &names(&consistency.violates));
        self.put(INDENT, "survives", &names(&consistency.survives));
    }

    /// `is_part`: there are more violations, of which nobody knows the kind.
    fn kind(&mut self, kind: &str, anomalies: &[&Anomaly], all: usize, is_part: bool) {
        let count = match all {
            1 if is_part => " (1 explained)".to_owned(),
            1 => String::new(),
            many if is_part => format!(" ({} explained)", words::count(many as u64)),
            many => format!(" ({})", words::count(many as u64)),
        };
        let painted = self.painted(kind, Verdict::Invalid, false);
        self.lines.push(String::new());
        self.lines.push(format!("{}{painted}{count}", " ".repeat(4)));
        if let Some(known) = ANOMALIES.iter().find(|known| known.name == kind) {
            self.put(4, "", &format!("= {}", known.description));
        }
        for (position, anomaly) in anomalies.iter().take(TOLD).enumerate() {
            self.anomaly(anomaly, if position == 0 { DETAILS_OF_FIRST } else { DETAILS });
        }
        if all > TOLD {
            let more = words::count((all - TOLD) as u64);
            self.put(6, "", &format!("and {more} more of this kind"));
        }
        if all > 1
            && is_within(kind, "nonlinearizable")
            && anomalies.iter().any(|a| a.key.is_some())
        {
            self.put(6, "", "of each key only the first violation is told; there may be more");
        }
    }

    fn anomaly(&mut self, anomaly: &Anomaly, most: usize) {
        let summary = &anomaly.summary;
        match anomaly.key.as_ref().map(|key| format!("key {key}")) {
            Some(key) if !summary.contains(&key) => self.put(6, "", &format!("{key}: {summary}")),
            _ => self.put(6, "", summary),
        }
        if let Some(faults) = in_force::line(anomaly) {
            self.put(8, "", &faults);
        }
        let details = &anomaly.details;
        if details.len() <= most {
            details.iter().for_each(|detail| self.put(8, "", detail));
            return;
        }
        let (first, last) = (&details[..most / 2], &details[details.len() - most / 2..]);
        first.iter().for_each(|detail| self.put(8, "", detail));
        let more = details.len() - first.len() - last.len();
        self.put(8, "", &format!("… {} …", words::plural(more, "more line", "more lines")));
        last.iter().for_each(|detail| self.put(8, "", detail));
    }

    fn painted(&self, text: &str, verdict: Verdict, is_bold: bool) -> String {
        paint(text, verdict, is_bold, self.colours)
    }
}

fn paint(text: &str, verdict: Verdict, is_bold: bool, colours: Colours) -> String {
    let colour = match verdict {
        Verdict::Valid => "32",
        Verdict::Unknown => "33",
        Verdict::Invalid => "31",
    };
    let bold = if is_bold { "1;" } else { "" };
    match colours {
        Colours::Plain => text.to_owned(),
        Colours::Ansi => format!("\u{1b}[{bold}{colour}m{text}\u{1b}[0m"),
    }
}
