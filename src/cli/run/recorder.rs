//! Where a run's events go: the history file, the ledger, the progress line.

use super::Broken;
use crate::nemesis::FaultRecord;
use crate::op::Event;
use crate::progress::Progress;
use crate::run::Sink;
use crate::scenario::Scenario;
use crate::store::{HistoryWriter, Ledger, Store};

/// Records events to disk and shows them. The first failure to write is kept; the run goes on, since
/// its faults must be healed first.
pub struct Recorder {
    writer: HistoryWriter,
    ledger: Ledger,
    progress: Progress,
    error: Option<String>,
}

impl Recorder {
    /// Saves the scenario and opens the files of the run.
    pub fn new(store: &Store, scenario: &Scenario, progress: Progress) -> Result<Recorder, Broken> {
        let open = || {
            store.write("scenario.yaml", scenario.to_yaml().as_bytes())?;
            anyhow::Ok((store.history()?, store.ledger()?))
        };
        let (writer, ledger) =
            open().map_err(|error| Broken::infrastructure(format!("{error:#}")))?;
        Ok(Recorder { writer, ledger, progress, error: None })
    }

    /// Closes the files and ends the progress line; what could not be written, if anything.
    pub fn finish(mut self) -> Vec<String> {
        let closed = self.writer.finish();
        self.progress.finish();
        self.error.into_iter().chain(closed.err().map(|error| format!("{error:#}"))).collect()
    }

    fn note(&mut self, result: anyhow::Result<()>) {
        if let (Err(error), None) = (result, &self.error) {
            self.error = Some(format!("{error:#}"));
        }
    }
}

impl Sink for Recorder {
    fn record(&mut self, event: &Event) {
        let written = self.writer.write(event);
        self.note(written);
        self.progress.observe(event);
    }

    fn write_ahead(&mut self, event: &Event) {
        let flushed = self.writer.flush();
        self.note(flushed);
        if let Some(record) = FaultRecord::of(event) {
            let written = self.ledger.append(&event.f, &record);
            self.note(written);
        }
    }

    fn flush(&mut self) {
        let flushed = self.writer.flush();
        self.note(flushed);
    }
}
