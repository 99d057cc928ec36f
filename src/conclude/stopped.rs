//! A history that ends before its run did: whoever recorded it was killed, or its end was cut off. What was
//! found in it stands; of what was not found, nothing can be said.

use crate::checker::Judgement;
use crate::history::History;
use crate::nemesis::{FaultRecord, Phase};
use crate::op::{Nanos, SECOND};

/// Where such a record stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopped {
    pub at: Nanos,
    phase: Phase,
}

impl Stopped {
    /// Nothing where the run ended, or where no phase says that a run of ours was recorded.
    pub fn of(history: &History) -> Option<Stopped> {
        let events = history.events();
        let phase = events.iter().rev().find_map(|event| match FaultRecord::of(event) {
            Some(FaultRecord::Phase { phase }) => Some(phase),
            _ => None,
        })?;
        let at = events.last()?.time;
        (phase != Phase::Down).then_some(Stopped { at, phase })
    }

    /// The judgement of a whole run as that of a part of it. `is_broken`: it says itself that our side broke.
    pub fn judgement(self, whole: Judgement, is_broken: bool) -> Judgement {
        let stands = whole.verdict == "invalid" || is_broken;
        let told = match stands {
            true => whole.why.as_str(),
            false => "nothing was found in what had been recorded",
        };
        let why = format!("{}; {told}", self.words());
        match stands {
            true => Judgement { why, ..whole },
            false => {
                let exit_code = if whole.exit_code == 130 { 130 } else { 2 };
                Judgement { verdict: "unknown", exit_code, why, expected: None }
            }
        }
    }

    fn words(self) -> String {
        let seconds = self.at as f64 / SECOND as f64;
        let phase = self.phase.name();
        format!("the record stops at {seconds:.1} s in phase {phase}: the run did not end")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_stands_and_what_was_not_is_unknown() {
        let stopped = Stopped { at: 1_240_000_000, phase: Phase::Main };
        let found = "so it was";
        for (verdict, exit_code, is_broken, expected) in [
            ("valid", 0, false, ("unknown", 2)),
            ("unknown", 2, false, ("unknown", 2)),
            // A heal that is not proven, as the record ends before it.
            ("infrastructure", 3, false, ("unknown", 2)),
            ("infrastructure", 3, true, ("infrastructure", 3)),
            ("unknown", 130, false, ("unknown", 130)),
            ("invalid", 1, false, ("invalid", 1)),
            ("invalid", 130, false, ("invalid", 130)),
        ] {
            let whole = Judgement { verdict, exit_code, why: found.to_owned(), expected: None };
            let part = stopped.judgement(whole, is_broken);
            assert_eq!((part.verdict, part.exit_code), expected, "{verdict} {exit_code}");
            let begins = "the record stops at 1.2 s in phase main: the run did not end; ";
            let rest = part.why.strip_prefix(begins);
            let stands = is_broken || verdict == "invalid";
            assert_eq!(rest.map(|rest| rest == found), Some(stands), "{}", part.why);
        }
    }
}
