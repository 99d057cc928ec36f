//! One history file against its models, in one pass, of which no more is kept than the checkers need.

use std::borrow::Cow;
use std::ops::ControlFlow;

use crate::checker::{
    Budget, Budgets, Checker, Finding, Intake, ModelKind, ModelOptions, Shape, Verdict,
};
use crate::conclude::Limits;
use crate::history::{Damage, Flaw, FlawKind, Format, History, Keys, ReadOptions, Sink, Summary};
use crate::op::{Event, Kind, Process};
use crate::report::name_faults;
use crate::results_folder::stream_named_history;

use super::source::Source;

/// Events that tell what a history is of.
const SAMPLE: u64 = 20_000;

/// Events of the nemesis that are looked at; a run has far fewer.
const NEMESIS: usize = 100_000;

/// A history that has been found, and what its beginning looks like.
pub struct Subject<'a> {
    source: &'a Source,
    pub shape: Shape,
    /// It is whole, and has no operations.
    pub is_empty: bool,
    keys: Keys,
    tolerate_tail: bool,
    /// The order of lines says what came before what, not only within a process.
    real_time: bool,
    /// Our own form, whose indices are the order; of others nobody knows what they count.
    is_own: bool,
}

/// What came of a history.
pub struct Judged {
    pub findings: Vec<Finding>,
    /// All of it, if it was to be kept.
    pub history: History,
    pub damage: Option<Damage>,
    pub events: u64,
    /// Events of clients.
    pub asked: u64,
    /// Whether any operation was ok.
    pub answered: bool,
    /// What its readers should know of the lines that it has.
    pub remark: Option<String>,
}

impl<'a> Subject<'a> {
    /// Looks at the beginning. Keys are in the values if `independent` says so, or the operations.
    pub fn of(
        source: &'a Source,
        independent: bool,
        tolerate_tail: bool,
    ) -> Result<Subject<'a>, String> {
        let keys = if independent { Keys::Independent } else { Keys::Plain };
        let shape = Shape::default();
        let (is_empty, real_time, is_own) = (false, true, false);
        let mut subject =
            Subject { source, shape, is_empty, keys, tolerate_tail, real_time, is_own };
        subject.sample()?;
        if !independent && subject.shape.has_keys_in_values() {
            subject.keys = Keys::Independent;
            subject.sample()?;
        }
        Ok(subject)
    }

    pub fn is_independent(&self) -> bool {
        self.keys == Keys::Independent
    }

    fn options(&self) -> ReadOptions {
        ReadOptions { keys: self.keys, tolerate_tail: self.tolerate_tail }
    }

    fn stream(&self, sink: &mut Sink) -> Result<Summary, String> {
        let Source { path, name, .. } = self.source;
        stream_named_history(path, name, &self.options(), sink)
            .map_err(|error| format!("{error:#}"))
    }

    fn sample(&mut self) -> Result<(), String> {
        let (mut shape, mut seen) = (Shape::default(), 0);
        let read = self.stream(&mut |head, value| {
            shape.observe(head, value);
            seen += 1;
            if seen < SAMPLE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let summary = read?;
        (self.shape, self.real_time) = (shape, summary.real_time);
        self.is_own = summary.format == Format::Packed;
        self.is_empty = summary.events == 0 && summary.damage.is_none();
        Ok(())
    }

    /// What the models' checkers find. `keep`: the whole history is wanted besides.
    pub fn judge(
        &self,
        models: &[&ModelKind],
        options: &ModelOptions,
        keep: bool,
        limits: &Limits,
    ) -> Result<Judged, String> {
        let Untimed { options, taken } = match self.real_time {
            true => Untimed { options: options.clone(), taken: None },
            false => untimed(models, options)?,
        };
        let pass = |reading| self.pass(models, &options, keep, limits, reading);
        let (mut judged, mut again) = pass(Reading::AsItIs)?;
        let mut remarks: Vec<String> = taken.into_iter().collect();
        if let Some(astray) = again.astray.filter(|_| !self.is_own) {
            (judged, again) = pass(Reading::Renumbered)?;
            remarks.push(astray);
        }
        if again.completions_tell {
            let (alone, _) = pass(Reading::CompletionsAlone)?;
            let wrong = |finding: &Finding| finding.verdict == Verdict::Invalid;
            if alone.findings.iter().any(wrong) {
                judged.findings.truncate(1);
                judged.findings.extend(alone.findings.into_iter().filter(wrong));
                remarks.push(BY_RESULTS.to_owned());
            }
        }
        remarks.extend(judged.remark.take());
        judged.remark = (!remarks.is_empty()).then(|| remarks.join("; "));
        Ok(judged)
    }

    /// Once through the history.
    fn pass(
        &self,
        models: &[&ModelKind],
        options: &ModelOptions,
        keep: bool,
        limits: &Limits,
        reading: Reading,
    ) -> Result<(Judged, Again), String> {
        let mut checkers = checkers(models, options)?;
        let mut intake = Intake::new(&mut checkers);
        let keep = keep || intake.needs_history();
        let mut history = History::default();
        let mut indices = Indices::default();
        let (mut number, mut asked, mut answered) = (0, 0_u64, false);
        let (mut end, mut nemesis) = (0, Vec::new());
        let summary = self.stream(&mut |head, value| {
            number += 1;
            end = end.max(head.time);
            indices.observe(head.index, number);
            let Some(read) = reading.of(head, number) else { return ControlFlow::Continue(()) };
            let head = &*read;
            if matches!(head.process, Process::Client(_)) {
                asked += 1;
                answered |= head.kind == Kind::Ok;
            } else if nemesis.len() < NEMESIS {
                nemesis.push(Event { value: value.to_value(), ..head.clone() });
            }
            if keep {
                let event = Event { value: value.to_value(), ..head.clone() };
                intake.observe(&event, number);
                history.push(event);
            } else {
                intake.observe_raw(head, value, number);
            }
            ControlFlow::Continue(())
        });
        let summary = summary?;
        let completions_tell = intake.is_told_by_completions();
        let start = || limits.start();
        let budgets =
            Budgets { start: &start, memory: limits.memory_bytes, explained: Budget::EXPLAINED };
        let mut findings = intake.finish(&history, &budgets).findings;
        name_faults(&mut findings, &nemesis, end);
        let remark = remark(&summary, &findings);
        let judged = Judged {
            findings,
            history,
            damage: summary.damage,
            events: number,
            asked,
            answered,
            remark,
        };
        Ok((judged, Again { astray: indices.astray, completions_tell }))
    }
}

/// How the events of a history are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    AsItIs,
    /// Numbered by their lines.
    Renumbered,
    /// Each completion for itself, as if of a process of its own: what it says is so whatever came when.
    CompletionsAlone,
}

impl Reading {
    /// The event, which is on the line `number`; none if it is not looked at.
    fn of(self, head: &Event, number: u64) -> Option<Cow<'_, Event>> {
        match (self, head.process) {
            (Reading::AsItIs, _) | (Reading::CompletionsAlone, Process::Nemesis) => {
                Some(Cow::Borrowed(head))
            }
            (Reading::Renumbered, _) => {
                Some(Cow::Owned(Event { index: number - 1, ..head.clone() }))
            }
            (Reading::CompletionsAlone, _) if head.kind == Kind::Invoke => None,
            (Reading::CompletionsAlone, _) => {
                let process = Process::Client(number as u32);
                Some(Cow::Owned(Event { index: number - 1, process, ..head.clone() }))
            }
        }
    }
}

/// Why a history is to be read otherwise than it is.
struct Again {
    /// Where an index does not grow.
    astray: Option<String>,
    /// It is damaged, and its completions alone may still show what is wrong.
    completions_tell: bool,
}

/// Said of findings that went by completions alone.
const BY_RESULTS: &str = "processes had several operations under way at once, so nobody knows when each began \
                          or in which order; what was found follows from their results alone, and each is told as \
                          of a process by the number of its line";

/// The indices of events, which grow in a history that has them for its order.
#[derive(Default)]
struct Indices {
    last: Option<u64>,
    /// Where the first does not grow.
    astray: Option<String>,
}

impl Indices {
    fn observe(&mut self, index: u64, number: u64) {
        if self.last.is_some_and(|last| last >= index) {
            self.astray.get_or_insert_with(|| {
                format!(
                    "event {number} has index {index}, which does not come after the one before it; \
                     events are numbered from 0 in the order of their lines instead"
                )
            });
        }
        self.last = Some(index);
    }
}

/// What is asked of a history, as its order lets it be judged.
struct Untimed {
    options: ModelOptions,
    /// What was taken otherwise than it was said.
    taken: Option<String>,
}

/// Models that the tools of such histories decide with session order, and what that is called.
const IN_SESSIONS: [(&str, &str); 2] = [
    ("serializable", "strong-session-serializable"),
    ("snapshot-isolation", "strong-session-snapshot-isolation"),
];

/// The options of a history in which nobody knows what came before what, but within a process.
fn untimed(models: &[&ModelKind], options: &ModelOptions) -> Result<Untimed, String> {
    let takes_models = |model: &&ModelKind| model.takes().contains(&"consistency_models");
    if let Some(model) = models.iter().find(|model| !takes_models(model)) {
        return Err(format!(
            "{}: this history has the order of each session alone, and the model needs to know what \
             came before what",
            model.name
        ));
    }
    let needs_time = |name: &&String| {
        name.starts_with("strict-")
            || name.starts_with("strong-") && !name.starts_with("strong-session-")
    };
    if let Some(name) = options.consistency_models.iter().find(needs_time) {
        return Err(format!(
            "this history has the order of each session alone, so nothing can be said of {name}; \
             expected a model without real time, such as strong-session-serializable or causal"
        ));
    }
    let mut options = options.clone();
    if options.consistency_models.is_empty() && options.anomalies.is_empty() {
        options.consistency_models = vec!["strong-session-serializable".to_owned()];
    }
    let mut taken = Vec::new();
    for model in &mut options.consistency_models {
        if let Some((name, meant)) = IN_SESSIONS.iter().find(|(name, _)| name == model) {
            taken.push(format!("{name} as {meant}"));
            *model = (*meant).to_owned();
        }
    }
    let taken = (!taken.is_empty()).then(|| {
        format!("its order is that of sessions, which counts: {} is judged", taken.join(", "))
    });
    Ok(Untimed { options, taken })
}

/// The checkers of all these models under the same options; an error names the option.
fn checkers(
    models: &[&ModelKind],
    options: &ModelOptions,
) -> Result<Vec<Box<dyn Checker>>, String> {
    let mut all = Vec::new();
    for model in models {
        all.extend((model.checkers)(options).map_err(|error| format!("{}: {error}", model.name))?);
    }
    Ok(all)
}

/// The worst verdict; of nothing found, unknown.
pub fn worst(findings: &[Finding]) -> Verdict {
    findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Unknown)
}

/// What a reader should know of the history beside what was found.
fn remark(summary: &Summary, findings: &[Finding]) -> Option<String> {
    let passed_over = (summary.passed_over.count > 0).then(|| summary.passed_over.to_string());
    let remarks: Vec<String> = passed_over
        .into_iter()
        .chain(named_processes(&summary.processes))
        .chain(flaw(summary, findings))
        .collect();
    (!remarks.is_empty()).then(|| remarks.join("; "))
}

/// Which number stands for which process, if the history names them.
fn named_processes(names: &[String]) -> Option<String> {
    const MOST: usize = 12;
    if names.is_empty() {
        return None;
    }
    let told: Vec<String> = names
        .iter()
        .take(MOST)
        .enumerate()
        .map(|(number, name)| format!("{number} = {name}"))
        .collect();
    let more = if names.len() > MOST { ", and so on" } else { "" };
    Some(format!("its processes have names, told as numbers: {}{more}", told.join(", ")))
}

/// Where the history's lines are not as they should be: the line that keeps it from being judged, or
/// else the first at which time goes back.
fn flaw(summary: &Summary, findings: &[Finding]) -> Option<String> {
    let is_sound =
        |finding: &Finding| finding.name != "well-formed" || finding.verdict == Verdict::Valid;
    let refuses = |flaw: &&Flaw| {
        matches!(
            flaw.what,
            FlawKind::CompletionWithoutInvocation { .. }
                | FlawKind::TwoOpen { .. }
                | FlawKind::Changed { .. }
        ) || matches!(flaw.what, FlawKind::IndexGap { expected } if flaw.index < expected)
    };
    if !findings.iter().all(is_sound) {
        let flaw = summary.flaws.iter().find(refuses)?;
        return Some(format!("{flaw}; correct it, or restore the history from a copy"));
    }
    let goes_back = |flaw: &&Flaw| matches!(flaw.what, FlawKind::TimeGoesBack { .. });
    let flaw = summary.flaws.iter().find(goes_back)?;
    Some(format!("{flaw}; what came before what is told by the order of the lines alone"))
}
