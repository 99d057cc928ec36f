//! Where a run's events go: the history file, the ledger, the progress line.

use crate::nemesis::FaultRecord;
use crate::op::Event;
use crate::progress::Progress;
use crate::run::Sink;
use crate::store::{HistoryWriter, Ledger};

/// Records events to disk and shows them. The first failure to write is kept; the run goes on, since
/// its faults must be healed first.
pub struct Recorder {
    pub writer: HistoryWriter,
    pub ledger: Ledger,
    pub progress: Progress,
    pub error: Option<String>,
}

impl Recorder {
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
