//! `--stop-on-violation`: who watches the run in each world.

use super::{Broken, RunArguments};
use crate::checker::World;
use crate::conclude::checkers;
use crate::op::Event;
use crate::scenario::Scenario;
use crate::watch::{Background, Inline, Violation, Watch};

/// A watch on the run.
pub enum Watching {
    /// In the simulation time waits for it, and the same seed ends at the same moment.
    Inline { watch: Inline, seen: Option<Violation> },
    /// Real time does not wait.
    Background(Background),
}

impl Watching {
    /// As the arguments have it.
    pub fn of(arguments: &RunArguments, scenario: &Scenario) -> Result<Option<Watching>, Broken> {
        if !arguments.stop_on_violation {
            return Ok(None);
        }
        let memory = arguments.memory;
        let watch =
            move |scenario: &Scenario| checkers(scenario).map(|all| Watch::new(all, memory));
        Ok(Some(match arguments.world() {
            World::Sim => {
                let watch = watch(scenario).map_err(Broken::usage)?;
                Watching::Inline { watch: Inline::new(watch), seen: None }
            }
            World::Docker => {
                watch(scenario).map_err(Broken::usage)?;
                let scenario = scenario.clone();
                let on_its_thread =
                    move || watch(&scenario).unwrap_or_else(|_| Watch::new(Vec::new(), memory));
                let background =
                    Background::start(on_its_thread).map_err(Broken::infrastructure)?;
                Watching::Background(background)
            }
        }))
    }

    pub fn observe(&mut self, event: &Event) {
        match self {
            Watching::Inline { watch, seen } if seen.is_none() => *seen = watch.observe(event),
            Watching::Inline { .. } => {}
            Watching::Background(background) => background.observe(event),
        }
    }

    /// Whether from now on only what shows at once is seen, because the history is too long to keep.
    pub fn is_full(&self) -> bool {
        match self {
            Watching::Inline { watch, .. } => watch.is_full(),
            Watching::Background(background) => background.is_full(),
        }
    }

    /// The first violation, once it has been seen.
    pub fn violation(&self) -> Option<Violation> {
        match self {
            Watching::Inline { seen, .. } => seen.clone(),
            Watching::Background(background) => background.seen().cloned(),
        }
    }
}
