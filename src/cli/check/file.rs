//! `stormglass check FILE`: a history against the models that it is said, or seems, to be of.

use std::path::Path;

use super::Arguments;
use super::judge::{Judged, Subject, worst};
use super::source::Source;
use crate::checker::{Finding, MODELS, ModelKind, Shape, Verdict, guess};
use crate::cli::{colours, exit, fail, width};
use crate::conclude::Limits;
use crate::report::{Checked, checked_page, checked_text};
use crate::say::{say, say_aside, say_line};

/// Models, and what spoke for them if nobody named them.
struct Chosen {
    models: Vec<&'static ModelKind>,
    guessed: Option<String>,
}

pub fn check(arguments: &Arguments, path: &Path, limits: &Limits) -> i32 {
    match checked(arguments, path, limits) {
        Ok(code) => code,
        Err(error) => fail(exit::USAGE, error),
    }
}

fn checked(arguments: &Arguments, path: &Path, limits: &Limits) -> Result<i32, String> {
    let source = Source::open(path)?;
    let name = source.name.clone();
    let named = named(&arguments.model)?;
    if let Some(models) = &named {
        arguments.options.fit(models)?;
    }
    let subject = Subject::of(&source, arguments.independent, arguments.tolerate_tail)?;
    if subject.shape.has_versions() {
        return Err(format!("{name}: {VERSIONED}"));
    }
    let chosen = match named {
        Some(models) => Chosen { models, guessed: None },
        None if subject.is_empty => Chosen { models: Vec::new(), guessed: None },
        None => guessed(&name, &subject.shape)?,
    };
    arguments.options.fit(&chosen.models)?;
    let options = arguments.options.options();
    let mut judged = subject.judge(&chosen.models, &options, arguments.html.is_some(), limits)?;
    if let (Some(damage), false) = (&judged.damage, arguments.tolerate_tail) {
        return Err(format!("{name}: {damage}; `--tolerate-tail` judges what is readable"));
    }
    if let (0, Some(damage)) = (judged.events, &judged.damage) {
        return Err(format!("{name}: {damage}; nothing of it is readable; restore it from a copy"));
    }
    if judged.asked == 0 {
        let why = "no client did anything, so nothing was shown";
        judged.findings.push(Finding::new("stats", Verdict::Unknown, why));
        judged.models.push(None);
    }
    aside(arguments, &name, &subject, &judged);
    let models: Vec<&str> = match chosen.models.as_slice() {
        [] => vec!["any model"],
        models => models.iter().map(|model| model.name).collect(),
    };
    let checked = Checked {
        name: &name,
        models: &models,
        models_of: &judged.models,
        guessed: chosen.guessed.as_deref(),
        findings: &judged.findings,
        exit_code: match worst(&judged.findings) {
            Verdict::Invalid => exit::INVALID,
            Verdict::Unknown => exit::UNKNOWN,
            Verdict::Valid => exit::VALID,
        },
    };
    tell(arguments, &checked, &judged)
}

const VERSIONED: &str = "its values are [version value], as jepsen.etcd's register has them, and no model knows \
                         versions; leave them out, so that a read or write has the value alone and a cas \
                         [from to], and it is judged as cas-register";

/// What is said on stderr, beside the verdict.
fn aside(arguments: &Arguments, name: &str, subject: &Subject, judged: &Judged) {
    if subject.is_independent() && !arguments.independent {
        say_aside!("stormglass: {name}: its values are [key value], read as with --independent");
    }
    if let Some(damage) = &judged.damage {
        say_aside!("stormglass: {name}: {damage}; only what is before it was judged");
    }
    if !judged.answered {
        say_aside!("stormglass: {name}: no operation was ok, so a valid verdict shows little");
    }
    if let Some(remark) = &judged.remark {
        say_aside!("stormglass: {name}: {remark}");
    }
}

fn tell(arguments: &Arguments, checked: &Checked, judged: &Judged) -> Result<i32, String> {
    if let Some(page) = &arguments.html {
        let text = checked_page(checked, &judged.history);
        std::fs::write(page, text)
            .map_err(|error| format!("cannot write {}: {error}; check the path", page.display()))?;
    }
    if arguments.json {
        say_line!("{:#}", checked.to_json());
    } else {
        say!("{}", checked_text(checked, width::columns(), colours()));
    }
    Ok(checked.exit_code)
}

/// The models that were named, if any were.
fn named(names: &[String]) -> Result<Option<Vec<&'static ModelKind>>, String> {
    let by_name = |name: &String| ModelKind::by_name(name).map_err(|error| error.to_string());
    let models: Vec<_> = names.iter().map(by_name).collect::<Result<_, _>>()?;
    Ok((!models.is_empty()).then_some(models))
}

fn guessed(name: &str, shape: &Shape) -> Result<Chosen, String> {
    let guess = guess(shape);
    let why = guess.why;
    let names = |models: &[&ModelKind]| {
        models.iter().map(|model| model.name).collect::<Vec<_>>().join(", ")
    };
    match (guess.candidates.as_slice(), guess.wider.as_slice()) {
        ([_], _) => Ok(Chosen { models: guess.candidates, guessed: Some(why) }),
        ([], [_]) => Ok(Chosen { models: guess.wider, guessed: Some(format!("{why} alone")) }),
        ([], [_, _, ..]) => {
            let wider = names(&guess.wider);
            Err(format!("{name}: {why} alone, as several models have; say --model, one of {wider}"))
        }
        ([], []) => {
            let all = names(&MODELS.iter().collect::<Vec<_>>());
            Err(format!("{name}: {why}, which no model has; say --model, one of {all}"))
        }
        (several, _) => {
            let several = names(several);
            Err(format!("{name}: {why}, as several models have; say --model, one of {several}"))
        }
    }
}
