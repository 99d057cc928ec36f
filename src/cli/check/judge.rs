//! One history file against its models, in one pass, of which no more is kept than the checkers need.

mod lines;
mod pass;
mod reading;
mod since;
mod untimed;

use std::ops::ControlFlow;

use crate::checker::{Checker, Finding, ModelKind, ModelOptions, Shape, Verdict};
use crate::conclude::Limits;
use crate::history::{Damage, Format, History, Keys, ReadOptions, Sink, Summary};
use crate::op::Process;
use crate::results_folder::stream_named_history;

use super::source::Source;
use pass::Pass;
use reading::{Again, Reading};
use untimed::{Untimed, untimed};

/// Events that tell what a history is of.
const SAMPLE: u64 = 20_000;

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
    /// Clients did something, and none of it on a key.
    keyless: bool,
    /// Events say which process they are of.
    has_processes: bool,
    /// Our own form, whose indices are the order; of others nobody knows what they count.
    is_own: bool,
}

/// What came of a history.
pub struct Judged {
    pub findings: Vec<Finding>,
    /// The model of each finding, if it is of one.
    pub models: Vec<Option<&'static str>>,
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
        let mut subject = Subject {
            keyless: false,
            source,
            shape,
            is_empty: false,
            keys,
            tolerate_tail,
            real_time: true,
            has_processes: true,
            is_own: false,
        };
        subject.sample()?;
        if independent && subject.keyless {
            return Err(format!(
                "--independent means nothing here: no value in {} is [key value]; leave it out",
                source.name
            ));
        }
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
        let (mut asked, mut keyed) = (false, false);
        let read = self.stream(&mut |head, value| {
            shape.observe(head, value);
            asked |= head.process != Process::Nemesis;
            keyed |= head.key.is_some();
            seen += 1;
            if seen < SAMPLE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let summary = read?;
        self.keyless = asked && !keyed;
        (self.shape, self.real_time) = (shape, summary.real_time);
        self.has_processes = summary.has_processes;
        self.is_own = summary.format == Format::Packed;
        self.is_empty = summary.events == 0 && summary.damage.is_none();
        Ok(())
    }

    /// What the models' checkers find. `keep`: the whole history is wanted besides.
    pub fn judge(
        &self,
        models: &[&'static ModelKind],
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
            remarks.extend(judged.add_wrong_of(alone));
        }
        remarks.extend(judged.remark.take());
        judged.remark = (!remarks.is_empty()).then(|| remarks.join("; "));
        Ok(judged)
    }

    /// Once through the history.
    fn pass(
        &self,
        models: &[&'static ModelKind],
        options: &ModelOptions,
        keep: bool,
        limits: &Limits,
        reading: Reading,
    ) -> Result<(Judged, Again), String> {
        let (mut checkers, mut names) = checkers(models, options)?;
        let mut pass = Pass::new(&mut checkers, keep, reading, self.has_processes);
        let read = self.stream(&mut |head, value| {
            pass.take(head, value);
            ControlFlow::Continue(())
        });
        let summary = read?;
        // The first finding is that of the history's own form, and of no model.
        names.insert(0, None);
        let remark = |findings: &[Finding], matched: bool| match self.has_processes {
            true => lines::remark(&summary, findings),
            false => matched.then(|| lines::NO_PROCESSES.to_owned()),
        };
        let (mut judged, again) = pass.end(limits, remark);
        judged.models = names;
        judged.damage = summary.damage;
        Ok((judged, again))
    }
}

impl Judged {
    /// Takes over what is wrong by the completions alone, if anything is; says so then.
    fn add_wrong_of(&mut self, alone: Judged) -> Option<String> {
        let judged = alone.findings.into_iter().zip(alone.models);
        let wrong = judged.filter(|(finding, _)| finding.verdict == Verdict::Invalid);
        let (findings, models): (Vec<Finding>, Vec<_>) = wrong.unzip();
        if findings.is_empty() {
            return None;
        }
        self.findings.truncate(1);
        self.models.truncate(1);
        self.findings.extend(findings);
        self.models.extend(models);
        Some(reading::BY_RESULTS.to_owned())
    }
}

/// The checkers of all these models under the same options, and the model of each; an error names the option.
fn checkers(models: &[&'static ModelKind], options: &ModelOptions) -> Result<Made, String> {
    let (mut all, mut names) = (Vec::new(), Vec::new());
    for model in models {
        let made = (model.checkers)(options).map_err(|error| format!("{}: {error}", model.name))?;
        names.extend(made.iter().map(|_| Some(model.name)));
        all.extend(made);
    }
    Ok((all, names))
}

/// Checkers, and the name of each one's model.
type Made = (Vec<Box<dyn Checker>>, Vec<Option<&'static str>>);

/// The worst verdict; of nothing found, unknown.
pub fn worst(findings: &[Finding]) -> Verdict {
    findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Unknown)
}
