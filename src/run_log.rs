//! `run.log`: what we did and when, a line each, for people. No decision is made from it.

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex};

use crate::cluster::Applied;
use crate::nemesis::{Deed, FaultRecord};
use crate::op::{Event, MILLISECOND, SECOND};

/// Appends lines with the time of day. Cheap to clone; all clones write to one file.
///
/// Failures to write are dropped: the history goes to the same disk, and tells.
#[derive(Clone)]
pub struct RunLog {
    file: Arc<Mutex<File>>,
}

impl RunLog {
    pub fn new(file: File) -> RunLog {
        RunLog { file: Arc::new(Mutex::new(file)) }
    }

    pub fn say(&self, line: &str) {
        let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
        let text = format!("{time} {}\n", line.replace('\n', "\n    "));
        if let Ok(mut file) = self.file.lock() {
            let _ = file.write_all(text.as_bytes());
        }
    }

    /// What the nemesis and the run loop did. Clients' operations stand in the history alone.
    pub fn observe(&self, event: &Event) {
        let Some(record) = FaultRecord::of(event) else { return };
        if let Some(words) = words(&event.f, &record) {
            self.say(&format!("{:.3} s: {words}", event.time as f64 / SECOND as f64));
        }
    }
}

fn words(name: &str, record: &FaultRecord) -> Option<String> {
    Some(match record {
        FaultRecord::Phase { phase } => format!("phase {}", phase.name()),
        FaultRecord::Begin { fault, targets, .. } => {
            format!("{fault} {name} begins on {}", targets.join(" "))
        }
        FaultRecord::Began { fault, deeds } => format!("{fault} {name} began: {}", outcomes(deeds)),
        FaultRecord::End { fault, .. } => format!("{fault} {name} ends"),
        FaultRecord::Ended { fault, deeds } => format!("{fault} {name} ended: {}", outcomes(deeds)),
        FaultRecord::Skipped { fault, why } => format!("{fault} {name} skipped: {why}"),
        FaultRecord::Triggered { fault, by, happened, learned } => {
            let late_ms = learned.saturating_sub(*happened) as f64 / MILLISECOND as f64;
            format!("{fault} {name} triggered {late_ms:.1} ms after it happened: {by}")
        }
        FaultRecord::Hit { fault, node, message, .. } => {
            let reply = message.reply.as_deref().unwrap_or("no reply seen");
            let form = message.form.name();
            format!("{fault} {name} hit {} at {node} ({form}): {reply}", message.request)
        }
        FaultRecord::Verified { fault, check } => {
            let is_so = if check.holds { "as expected" } else { "NOT as expected" };
            format!("{fault} {name} verified {}: {}, {is_so}", check.what, check.seen)
        }
        FaultRecord::Dropped { node, count } => {
            format!("{count} operations for {node} found no free process")
        }
        FaultRecord::Interrupted { count } => format!("asked to stop, {count} so far"),
        FaultRecord::Violation { kind, summary } => {
            format!("main ends, {kind} was found: {summary}")
        }
        FaultRecord::Harness { error } => format!("our side broke: {error}"),
        FaultRecord::View { .. } => return None,
    })
}

fn outcomes(deeds: &[Deed]) -> String {
    let outcome = |deed: &Deed| {
        let action = deed.action.name();
        match &deed.outcome {
            Applied::Installed { .. } => format!("{action} proven"),
            Applied::Skipped { why } => format!("{action} skipped ({why})"),
            Applied::Indeterminate { why, .. } => format!("{action} unproven ({why})"),
        }
    };
    deeds.iter().map(outcome).collect::<Vec<_>>().join(", ")
}
