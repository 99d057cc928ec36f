//! `stormglass heal`: take back what killed runs have left in force, and leave their clusters up.

use clap::Args;

use super::{exit, no_such_run, with_engine};
use crate::docker::{Engine, Health, Life, Patient, RunId, Treatment, heal as treat, patients};
use crate::say::say_line;
use crate::store::{LedgerReading, Store, this_boot};

#[derive(Args)]
pub struct Arguments {
    /// Only this run
    #[arg(long, value_name = "ID")]
    run: Option<RunId>,
    /// Also runs whose orchestrator is alive
    #[arg(long)]
    force: bool,
}

pub fn heal(arguments: &Arguments) -> i32 {
    with_engine(async |engine| {
        let patients = patients(engine).await?;
        Ok(heal_all(arguments, engine, &patients).await)
    })
}

async fn heal_all(arguments: &Arguments, engine: &Engine, patients: &[Patient]) -> i32 {
    let is_meant =
        |patient: &&Patient| arguments.run.as_ref().is_none_or(|run| *run == patient.run);
    let mut worst = exit::VALID;
    let mut is_any = false;
    for patient in patients.iter().filter(is_meant) {
        is_any = true;
        if patient.life != Life::Gone && !arguments.force {
            let (run, life) = (&patient.run, patient.life.name());
            say_line!("left run {run} alone: its orchestrator is {life}; --force heals it too");
            if arguments.run.is_some() {
                worst = worst.max(exit::USAGE);
            }
            continue;
        }
        if !heal_one(engine, patient).await {
            worst = worst.max(exit::INFRASTRUCTURE);
        }
    }
    match (&arguments.run, is_any) {
        (_, true) => worst,
        (Some(run), false) => no_such_run(run, patients.iter().map(|patient| &patient.run)),
        (None, false) => {
            say_line!("nothing to heal");
            worst
        }
    }
}

/// Heals one run and tells what was found; whether all is well now.
async fn heal_one(engine: &Engine, patient: &Patient) -> bool {
    let run = &patient.run;
    let record = Record::of(patient);
    say_line!("run {run}: {}", record.told());
    let treatments = match treat(engine, patient, &record.reading.undo()).await {
        Ok(treatments) => treatments,
        Err(error) => {
            say_line!("run {run}: ILL    {error:#}");
            return false;
        }
    };
    for treatment in &treatments {
        say_line!("run {run}: {treatment}");
    }
    let is_well = |treatment: &Treatment| treatment.health != Health::Ill;
    if !treatments.iter().all(is_well) {
        return false;
    }
    match record.close() {
        Ok(()) => true,
        Err(error) => {
            say_line!("run {run}: ILL    ledger: {error:#}");
            false
        }
    }
}

/// What a run's ledger says, as far as there is one.
struct Record {
    store: Option<Store>,
    reading: LedgerReading,
    /// Why there is none.
    lack: Option<String>,
}

impl Record {
    fn of(patient: &Patient) -> Record {
        let lacking = |why: String| Record {
            store: None,
            reading: LedgerReading::default(),
            lack: Some(why),
        };
        let Some(results) = patient.results() else {
            return lacking("its containers name no results folder".to_owned());
        };
        let read = Store::open(results).and_then(|store| {
            let reading = store.read_ledger()?;
            Ok((store, reading))
        });
        match read {
            Ok((store, reading)) => Record { store: Some(store), reading, lack: None },
            Err(error) => lacking(error.to_string()),
        }
    }

    fn told(&self) -> String {
        if let Some(lack) = &self.lack {
            return format!("no ledger ({lack}); looking for all that could be in force");
        }
        let open: Vec<String> = self.reading.open.keys().map(ToString::to_string).collect();
        let open = if open.is_empty() { "nothing".to_owned() } else { open.join(", ") };
        let earlier = !self.reading.boot.is_empty() && self.reading.boot != this_boot();
        let boot = if earlier { ", from before this host was booted" } else { "" };
        format!("{open} open in its ledger{boot}")
    }

    /// Marks every open fault as done: all has been seen to be well.
    fn close(&self) -> anyhow::Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        if self.reading.open.is_empty() {
            return Ok(());
        }
        let mut ledger = store.reopen_ledger()?;
        for fault in self.reading.open.keys().rev() {
            ledger.done(*fault, self.reading.last)?;
        }
        Ok(())
    }
}
