//! `stormglass check FILE`: a history against the models that it is said, or seems, to be of.

use std::path::Path;

use super::Arguments;
use super::judge::{judge, worst};
use crate::checker::{MODELS, ModelKind, Shape, Verdict, guess};
use crate::cli::{colours, exit, fail, width};
use crate::conclude::Limits;
use crate::history::{Datum, History};
use crate::report::{Checked, checked_page, checked_text};
use crate::results_folder::read_history;
use crate::say::{say, say_aside, say_line};

/// Events from which the model is guessed.
const SAMPLE: usize = 20_000;

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
    let named = named(&arguments.model)?;
    let read = read_history(path).map_err(|error| format!("{error:#}"))?;
    if let (Some(damage), false) = (&read.damage, arguments.tolerate_tail) {
        return Err(format!("{damage}; `--tolerate-tail` judges what is readable"));
    }
    let name = path.display().to_string();
    if let Some(flaw) = &read.flaw {
        say_aside!(
            "stormglass: {name}: {flaw}; no run of ours records that, it is judged as it stands"
        );
    }
    let chosen = match named {
        Some(models) => Chosen { models, guessed: None },
        None => guessed(&name, &read.history)?,
    };
    arguments.options.fit(&chosen.models)?;
    let options = arguments.options.options();
    let findings = judge(&read.history, &chosen.models, &options, limits)?;
    let exit_code = match worst(&findings) {
        Verdict::Invalid => exit::INVALID,
        Verdict::Unknown => exit::UNKNOWN,
        Verdict::Valid => exit::VALID,
    };
    let models: Vec<&str> = chosen.models.iter().map(|model| model.name).collect();
    let checked = Checked {
        name: &name,
        models: &models,
        guessed: chosen.guessed.as_deref(),
        findings: &findings,
        exit_code,
    };
    if let Some(page) = &arguments.html {
        let text = checked_page(&checked, &read.history);
        if let Err(error) = std::fs::write(page, text) {
            return Err(format!("cannot write {}: {error}; check the path", page.display()));
        }
    }
    if arguments.json {
        say_line!("{:#}", checked.to_json());
    } else {
        say!("{}", checked_text(&checked, width::columns(), colours()));
    }
    Ok(exit_code)
}

/// The models that were named, if any were.
fn named(names: &[String]) -> Result<Option<Vec<&'static ModelKind>>, String> {
    let by_name = |name: &String| ModelKind::by_name(name).map_err(|error| error.to_string());
    let models: Vec<_> = names.iter().map(by_name).collect::<Result<_, _>>()?;
    Ok((!models.is_empty()).then_some(models))
}

fn guessed(name: &str, history: &History) -> Result<Chosen, String> {
    let mut shape = Shape::default();
    for event in history.events().iter().take(SAMPLE) {
        shape.observe(event, Datum::Value(&event.value));
    }
    let guess = guess(&shape);
    let why = guess.why;
    let names = |models: &[&ModelKind]| {
        models.iter().map(|model| model.name).collect::<Vec<_>>().join(", ")
    };
    match guess.candidates.as_slice() {
        [_] => Ok(Chosen { models: guess.candidates, guessed: Some(why) }),
        [] => {
            let all = names(&MODELS.iter().collect::<Vec<_>>());
            Err(format!("{name}: {why}, which are of no model here; say --model, one of {all}"))
        }
        several => Err(format!("{name}: {why}: say --model, one of {}", names(several))),
    }
}
