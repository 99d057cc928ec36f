//! What a fault breaks, told apart by word and colour: links, processes, messages, clocks, sessions.

use crate::cluster::{Action, Effect};
use crate::nemesis::Deed;

/// What an action acts on. Its name is the class of its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Family {
    Links,
    Processes,
    Messages,
    Clocks,
    Sessions,
}

impl Family {
    pub(super) const ALL: [Family; 5] =
        [Family::Links, Family::Processes, Family::Messages, Family::Clocks, Family::Sessions];

    pub(super) fn name(self) -> &'static str {
        match self {
            Family::Links => "links",
            Family::Processes => "processes",
            Family::Messages => "messages",
            Family::Clocks => "clocks",
            Family::Sessions => "sessions",
        }
    }

    pub(super) fn of(action: &Action) -> Family {
        match action {
            Action::Cut { .. }
            | Action::Join { .. }
            | Action::Sever { .. }
            | Action::Throttle { .. }
            | Action::Unthrottle { .. } => Family::Links,
            Action::Kill { .. }
            | Action::Stop { .. }
            | Action::Start { .. }
            | Action::Pause { .. }
            | Action::Resume { .. }
            | Action::Crash { .. } => Family::Processes,
            Action::Interpose { .. } | Action::Withdraw { .. } => Family::Messages,
            Action::Skew { .. } | Action::Unskew { .. } => Family::Clocks,
            Action::Expire { .. } => Family::Sessions,
        }
    }
}

/// What was done, in a word or two: `cut`, `hold reply`, `skew`.
pub(super) fn verb(deeds: &[Deed]) -> String {
    let mut verbs: Vec<&str> = Vec::new();
    for deed in deeds {
        let verb = match &deed.action {
            Action::Interpose { effect: Effect::Message(rule), .. } => rule.form.name(),
            Action::Interpose { effect: Effect::Toxic(toxic), .. } => toxic.name(),
            action => action.name(),
        };
        if !verbs.contains(&verb) {
            verbs.push(verb);
        }
    }
    verbs.join(", ")
}

/// What the number of a proof counts, in words; nothing where the action counts nothing.
pub(super) fn counted(action: &Action) -> Option<&'static str> {
    Some(match action {
        Action::Cut { .. } | Action::Join { .. } => "packets of the workload were stopped",
        Action::Throttle { .. } | Action::Unthrottle { .. } => {
            "packets of the workload had to wait or were dropped"
        }
        Action::Sever { .. } => "connections were closed",
        Action::Interpose { .. } | Action::Withdraw { .. } => "messages of the workload were hit",
        Action::Skew { .. } | Action::Unskew { .. } => "readings of the clock were falsified",
        _ => return None,
    })
}
