//! Where a run's events go: the history file, the ledger, the log, the progress line.

use super::Broken;
use super::watching::Watching;
use crate::cluster::Applied;
use crate::nemesis::{Deed, FaultRecord};
use crate::op::{Event, Process};
use crate::progress::Progress;
use crate::run::Sink;
use crate::run_log::RunLog;
use crate::scenario::Scenario;
use crate::store::{HistoryWriter, Ledger, Store, StoreError};
use crate::watch::Violation;

/// Records events to disk and shows them. The first failure to write is kept; the run goes on, since
/// its faults must be healed first.
pub struct Recorder {
    writer: HistoryWriter,
    ledger: Ledger,
    progress: Progress,
    log: RunLog,
    error: Option<String>,
    watching: Option<Watching>,
    is_watch_full: bool,
}

impl Recorder {
    /// Saves the scenario and opens the files of the run.
    pub fn new(
        store: &Store,
        scenario: &Scenario,
        progress: Progress,
        log: RunLog,
        watching: Option<Watching>,
    ) -> Result<Recorder, Broken> {
        let open = || {
            store.write_file("scenario.yaml", scenario.to_yaml().as_bytes())?;
            Ok((store.history_writer()?, store.ledger()?))
        };
        let (writer, ledger) = open().map_err(|error: StoreError| Broken::infrastructure(error))?;
        Ok(Recorder { writer, ledger, progress, log, error: None, watching, is_watch_full: false })
    }

    /// Closes the files and ends the progress line; what could not be written, if anything.
    pub fn finish(mut self) -> Vec<String> {
        let closed = self.writer.sync();
        self.note(closed);
        self.progress.finish();
        self.error.into_iter().collect()
    }

    fn note(&mut self, result: Result<(), StoreError>) {
        if let (Err(error), None) = (result, &self.error) {
            self.error = Some(error.to_string());
        }
    }

    fn watch(&mut self, event: &Event) {
        let Some(watching) = &mut self.watching else { return };
        watching.observe(event);
        if watching.is_full() && !self.is_watch_full {
            self.is_watch_full = true;
            self.log.say(
                "--stop-on-violation: the history has outgrown half of --memory; what takes all of \
                 it to be seen is judged at the end only",
            );
        }
    }

    /// A fault whose heal is proven needs no second look after a crash.
    fn close_in_ledger(&mut self, event: &Event) {
        let is_proven = |deed: &Deed| matches!(deed.outcome, Applied::Installed { .. });
        let (fault, is_over) = match FaultRecord::of(event) {
            Some(FaultRecord::Ended { fault, deeds }) => (fault, deeds.iter().all(is_proven)),
            Some(FaultRecord::Began { fault, deeds }) => {
                (fault, !deeds.iter().any(Deed::is_in_force))
            }
            _ => return,
        };
        if is_over {
            let written = self.ledger.done(fault, event.time);
            self.note(written);
        }
    }
}

impl Sink for Recorder {
    fn record(&mut self, event: &Event) {
        let written = self.writer.push(event);
        self.note(written);
        if event.process == Process::Nemesis {
            self.close_in_ledger(event);
            self.log.observe(event);
        }
        self.progress.observe(event);
        self.watch(event);
    }

    fn write_ahead(&mut self, event: &Event) {
        let synced = self.writer.sync();
        self.note(synced);
        if let Some(FaultRecord::Begin { fault, actions, .. }) = FaultRecord::of(event) {
            let written = self.ledger.begin(fault, event.time, &actions);
            self.note(written);
        }
    }

    fn flush(&mut self) {
        let flushed = self.writer.flush();
        self.note(flushed);
    }

    fn violation(&mut self) -> Option<Violation> {
        self.watching.as_mut()?.violation()
    }
}
