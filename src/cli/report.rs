//! `stormglass report`: write a run's report and junit.xml again from its results folder.

use std::path::PathBuf;

use clap::Args;

use super::{exit, fail};
use crate::conclude::Limits;
use crate::duration::Span;
use crate::results_folder::ResultsFolder;
use crate::say::{say_aside, say_line};

#[derive(Args)]
pub struct Arguments {
    /// A results folder; `results/latest` is the newest
    #[arg(default_value = "results/latest")]
    folder: PathBuf,
    /// How long each checker may take
    #[arg(long, default_value = "60s")]
    budget: Span,
}

pub fn report(arguments: &Arguments) -> i32 {
    let folder = match ResultsFolder::open(&arguments.folder) {
        Ok(folder) => folder,
        Err(error) => return fail(exit::USAGE, format!("{error:#}")),
    };
    if let Some(lack) = folder.lacks_all() {
        return fail(exit::USAGE, lack);
    }
    if let Some(damage) = &folder.damage {
        say_aside!("stormglass: {damage}; the report shows what is readable");
    }
    let limits = Limits { time: arguments.budget.0, ..Limits::default() };
    let results = folder.conclude(&limits);
    match folder.write_reports(&results) {
        Ok(()) => {
            say_line!("{}", folder.path.join("report.html").display());
            exit::VALID
        }
        Err(error) => fail(exit::INFRASTRUCTURE, format!("{error:#}")),
    }
}
