//! The last lines of a run on the terminal: verdict, why, anomalies, faults, where to look, how to repeat.

use super::headline::{Tone, fault_sentence, headline};
use super::in_force;
use super::notes::notes;
use super::{FaultSummary, Results, words};
use crate::nemesis::{FailoverLoop, Pacing};

const COLUMNS: usize = 100;
const ANOMALIES_MAX: usize = 3;
const FAULTS_MAX: usize = 4;
const HARNESS_MAX: usize = 2;
const REPRO_LINES_MAX: usize = 4;

/// Whether the caller's terminal shows colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    Plain,
    Ansi,
}

/// At most 25 lines of 100 columns; a path or a word that is longer is not broken, so that it can be copied.
pub fn terminal(results: &Results, report_path: &str, colours: Colours) -> String {
    let mut lines = vec![verdict(results, colours)];
    lines.extend(indented("", &results.why, 2));
    let variants = words::variants(&results.variant);
    let run = format!("{} / {} in {}", results.workload, results.nemesis, results.world);
    lines.extend(indented("run      ", &format!("{run}{variants}, seed {}", results.seed), 1));
    for note in notes(results) {
        lines.extend(indented("note     ", &note, 1));
    }
    for error in results.harness.iter().take(HARNESS_MAX) {
        lines.extend(indented("harness  ", error, 1));
    }
    lines.extend(anomalies(results));
    lines.extend(faults(results));
    lines.extend(came_of_it(results));
    if !report_path.is_empty() {
        lines.push(format!("  report   {}", words::one_line(report_path)));
    }
    lines.extend(repro(&results.repro));
    lines.join("\n") + "\n"
}

fn verdict(results: &Results, colours: Colours) -> String {
    let headline = headline(results);
    let interrupted = if results.interrupted { ", interrupted" } else { "" };
    let word = format!("{}{interrupted}", headline.word);
    let colour = match headline.tone {
        Tone::Good => "32",
        Tone::Bad => "31",
        Tone::Expected => "36",
        Tone::Doubt => "33",
        Tone::Broken => "35",
    };
    let word = match colours {
        Colours::Plain => word,
        Colours::Ansi => format!("\u{1b}[1;{colour}m{word}\u{1b}[0m"),
    };
    format!("{word}  (exit code {})", results.exit_code)
}

fn anomalies(results: &Results) -> Vec<String> {
    let all: Vec<_> = results.checkers.iter().flat_map(|finding| &finding.anomalies).collect();
    let mut lines = Vec::new();
    for anomaly in all.iter().take(ANOMALIES_MAX) {
        lines.extend(indented("anomaly  ", &format!("{}: {}", anomaly.kind, anomaly.summary), 2));
        if let Some(faults) = in_force::line(anomaly) {
            lines.extend(indented("         ", &faults, 1));
        }
    }
    if all.len() > ANOMALIES_MAX {
        lines.push(format!("  anomaly  and {} more", all.len() - ANOMALIES_MAX));
    }
    lines
}

fn faults(results: &Results) -> Vec<String> {
    let shown = if results.hits.is_empty() { FAULTS_MAX } else { FAULTS_MAX - 1 };
    let acted = |fault: &&FaultSummary| fault.installed && fault.felt && fault.healed;
    let mut lines = Vec::new();
    let mut faults: Vec<&FaultSummary> = results.faults.iter().collect();
    // What did not act stands first: it decides what the run is worth.
    faults.sort_by_key(acted);
    for fault in faults.into_iter().take(shown) {
        let text = format!("{} on {}: {}", fault.fault, fault.target, fault_sentence(fault));
        lines.extend(indented("fault    ", &text, 1));
    }
    if results.faults.len() > shown {
        lines.push(format!("  fault    and {} more", results.faults.len() - shown));
    }
    lines
}

/// The first message hit, and the pace of failovers: of a loop that is off it, if there is one.
fn came_of_it(results: &Results) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(hit) = results.hits.first() {
        let more = match results.hits_total {
            0 | 1 => String::new(),
            total => format!("1 of {}: ", words::count(total)),
        };
        lines.extend(indented("hit      ", &format!("{more}{}", hit.words), 2));
    }
    if let Some(failovers) = &results.failovers {
        let off_pace = |paced: &&FailoverLoop| paced.verdict != Pacing::OnPace;
        let paced = failovers.loops.iter().find(off_pace).or(failovers.loops.first());
        let text = match paced {
            Some(paced) => format!("{} {}", paced.nemesis, paced.words),
            None => {
                let told = failovers.offices.iter().map(|office| {
                    let reigns = words::plural(office.reigns.len(), "reign", "reigns");
                    let epochs = words::plural(office.epochs(), "epoch", "epochs");
                    format!("{}: {reigns} in {epochs}", office.role)
                });
                told.collect::<Vec<_>>().join("; ")
            }
        };
        lines.extend(indented("failover ", &text, 1));
    }
    lines
}

/// A command broken so that the shell still reads it as one.
fn repro(command: &str) -> Vec<String> {
    let command = words::one_line(command);
    let lines = filled(words::shell_words(&command), COLUMNS - 13);
    if lines.len() > REPRO_LINES_MAX {
        return vec!["  again    see repro.txt beside the report".into()];
    }
    let last = lines.len().saturating_sub(1);
    lines
        .into_iter()
        .enumerate()
        .map(|(number, line)| {
            let label = if number == 0 { "again    " } else { "         " };
            format!("  {label}{line}{}", if number == last { "" } else { " \\" })
        })
        .collect()
}

/// Text after a label, in at most `limit` lines.
fn indented(label: &str, text: &str, limit: usize) -> Vec<String> {
    let width = COLUMNS - 2 - label.len();
    let mut lines = wrapped(&words::one_line(text), width);
    if lines.len() > limit {
        lines.truncate(limit);
        if let Some(last) = lines.last_mut() {
            *last = words::shorten(&format!("{last} …"), width);
        }
    }
    let blank = " ".repeat(label.len());
    let labelled = |(number, line): (usize, String)| {
        let label = if number == 0 { label } else { &blank };
        format!("  {label}{}", words::shorten(&line, width))
    };
    lines.into_iter().enumerate().map(labelled).collect()
}

pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    filled(text.split_whitespace(), width)
}

/// Lines of whole words, each as long as fits.
fn filled<'a>(words: impl IntoIterator<Item = &'a str>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_still_is_one_command() {
        let command = format!("stormglass run w {}--seed 1", "--variant node=lost-ack ".repeat(8));
        let lines = repro(&command);
        assert!(lines.len() > 1 && lines.iter().all(|line| line.len() <= COLUMNS), "{lines:#?}");
        let joined: Vec<&str> =
            lines.iter().map(|line| line[11..].trim_end_matches(" \\")).collect();
        assert_eq!(joined.join(" "), command);
    }
}
