//! What a person sees while a run goes on: phase, operations by outcome, faults in force.
//!
//! On a terminal one line that is redrawn; elsewhere a plain line whenever the phase changes.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cluster::FaultId;
use crate::nemesis::{Deed, FaultRecord, Phase};
use crate::op::{Event, Kind, Nanos, Process, SECOND};
use crate::say::say_aside;

/// Shows progress on stderr.
pub struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    phase: Phase,
    time: Nanos,
    counts: [u64; 3],
    in_force: BTreeMap<FaultId, String>,
    drawn: Instant,
}

impl Progress {
    /// Draws a live line if stderr is a terminal, plain lines otherwise, nothing if `quiet`.
    pub fn new(quiet: bool) -> Progress {
        let live = !quiet && std::io::stderr().is_terminal();
        let bar = live.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("{spinner} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        Progress {
            bar,
            quiet,
            phase: Phase::Up,
            time: 0,
            counts: [0; 3],
            in_force: BTreeMap::new(),
            drawn: Instant::now(),
        }
    }

    /// A line about something that is not in the history: an image built, a node ready.
    pub fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(line.to_owned()),
            None if !self.quiet => say_aside!("{line}"),
            None => {}
        }
    }

    pub fn observe(&mut self, event: &Event) {
        self.time = event.time;
        let is_client = event.process != Process::Nemesis;
        match event.kind {
            Kind::Ok => self.counts[0] += 1,
            Kind::Fail => self.counts[1] += 1,
            Kind::Info if is_client => self.counts[2] += 1,
            _ => {}
        }
        if !is_client {
            self.nemesis(event);
        } else if self.bar.is_some() && self.drawn.elapsed() > Duration::from_millis(100) {
            self.draw();
        }
    }

    fn nemesis(&mut self, event: &Event) {
        match FaultRecord::of(event) {
            Some(FaultRecord::Phase { phase }) => self.phase = phase,
            Some(FaultRecord::Begin { fault, targets, .. }) => {
                self.in_force.insert(fault, format!("{} ({})", event.f, targets.join(" ")));
            }
            // What nothing takes back is not in force.
            Some(FaultRecord::Began { fault, deeds }) if !deeds.iter().any(Deed::is_in_force) => {
                self.in_force.remove(&fault);
            }
            Some(FaultRecord::Ended { fault, .. }) => {
                self.in_force.remove(&fault);
            }
            Some(FaultRecord::Skipped { .. } | FaultRecord::Harness { .. }) => {}
            _ => return,
        }
        self.draw();
    }

    fn line(&self) -> String {
        let [ok, fail, info] = self.counts;
        let faults = self.in_force.values().cloned().collect::<Vec<_>>().join(", ");
        let faults = if faults.is_empty() { "no fault".into() } else { faults };
        let seconds = self.time as f64 / SECOND as f64;
        format!(
            "{:<7} {seconds:>6.1} s  ok {ok}  fail {fail}  info {info}  {faults}",
            self.phase.name()
        )
    }

    fn draw(&mut self) {
        self.drawn = Instant::now();
        self.say(&self.line());
    }

    /// Ends the live line so that what is printed next stands alone.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
