//! What a trigger waits for, in words.

use std::fmt;

use serde::Serialize;

use crate::nemesis::trigger::When;

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.node.as_ref().map_or(String::new(), |node| format!(" at {node}"));
        if let Some(pattern) = &self.log {
            write!(f, "a log line like `{pattern}`{at}")?;
        } else if let Some(path) = &self.znode {
            let change = self.change.map_or("any change".to_owned(), |change| word(&change));
            write!(f, "znode {path}: {change}")?;
        } else if let Some(pattern) = &self.message {
            write!(f, "a message like `{pattern}`{at}")?;
        } else if let Some(view) = &self.view {
            write!(f, "a change of the view: {}", word(view))?;
        } else if let Some(kind) = self.outcome {
            write!(f, "{} that ends {}", self.f.as_deref().unwrap_or("an operation"), kind.name())?;
        } else if let Some(phase) = self.phase {
            write!(f, "the phase {}", phase.name())?;
        }
        if self.then.nanos() > 0 {
            write!(f, ", then {}", self.then)?;
        }
        write!(f, " ({})", self.times)
    }
}

/// A value's word in the scenario.
fn word(value: &impl Serialize) -> String {
    let json = serde_json::to_value(value).unwrap_or_default();
    json.as_str().unwrap_or_default().to_owned()
}
