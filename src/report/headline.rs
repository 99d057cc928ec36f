//! The verdict in one word, one colour and one icon, and each fault in one plain sentence.

use super::{FaultSummary, Results};

/// What a verdict means to whoever has to act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// Nothing to do.
    Good,
    /// A promise was broken.
    Bad,
    /// Known to be broken, and found to be.
    Expected,
    /// Not decided.
    Doubt,
    /// Our side broke.
    Broken,
}

impl Tone {
    pub(super) fn name(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Expected => "expected",
            Tone::Doubt => "doubt",
            Tone::Broken => "broken",
        }
    }
}

pub(super) struct Headline {
    pub(super) word: String,
    pub(super) tone: Tone,
    /// What the word means, in one plain sentence.
    pub(super) meaning: String,
}

pub(super) fn headline(results: &Results) -> Headline {
    let (word, tone, meaning) = match (results.verdict.as_str(), &results.expected) {
        ("invalid", Some(expected)) if expected.found && results.exit_code == 0 => (
            "Invalid (expected)",
            Tone::Expected,
            format!("The workload expects the anomaly {}, and it was found.", expected.anomaly),
        ),
        ("invalid", _) => {
            ("Invalid", Tone::Bad, "The system under test broke a promise.".to_string())
        }
        ("valid", _) if results.interrupted => (
            "Valid so far",
            Tone::Doubt,
            "No checker found an anomaly in what had happened by then.".to_string(),
        ),
        ("valid", Some(expected)) if !expected.found => (
            "Valid, anomaly missed",
            if results.exit_code == 1 { Tone::Bad } else { Tone::Doubt },
            format!("The workload expects the anomaly {}, and it was not found.", expected.anomaly),
        ),
        ("valid", _) => (
            "Valid",
            Tone::Good,
            "Every checker passed, every fault acted, and the workload did enough.".to_string(),
        ),
        ("infrastructure", _) => (
            "Infrastructure failure",
            Tone::Broken,
            "The harness or its host broke; this says nothing about the system under test."
                .to_string(),
        ),
        _ => (
            "Unknown",
            Tone::Doubt,
            "The run proves neither that the system is sound nor that it is broken.".to_string(),
        ),
    };
    Headline { word: word.into(), tone, meaning }
}

/// What became of a fault: the sentence a person needs, with the reason where something is missing.
pub(super) fn fault_sentence(fault: &FaultSummary) -> String {
    let times = match fault.times {
        1 => "once".to_string(),
        times => format!("{times} times"),
    };
    let mut sentence = match (fault.times, fault.installed, fault.felt, fault.healed) {
        (0, ..) => "Never began".to_string(),
        (_, false, ..) => format!("Tried {times}; not proven to act"),
        (_, true, false, true) if fault.momentary => {
            format!("Acted {times}, but the workload did not feel it")
        }
        (_, true, true, true) if fault.momentary => {
            format!("Acted {times}, felt by the workload; it leaves nothing to undo")
        }
        (_, true, false, true) => {
            format!("Acted {times} and was undone, but the workload did not feel it")
        }
        (_, true, false, false) => {
            format!("Acted {times}, the workload did not feel it, and the heal is not proven")
        }
        (_, true, true, false) => {
            format!("Acted {times}, felt by the workload; the heal is not proven")
        }
        (_, true, true, true) => format!("Acted {times}, felt by the workload, undone and proven"),
    };
    if fault.skipped > 0 {
        sentence.push_str(&format!("; skipped {} times", fault.skipped));
    }
    if fault.why.is_empty() { sentence + "." } else { format!("{sentence}: {}", fault.why) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(times: u64, installed: bool, felt: bool, healed: bool, skipped: u64) -> FaultSummary {
        FaultSummary {
            fault: "kill".into(),
            target: "leader".into(),
            installed,
            felt,
            healed,
            times,
            momentary: false,
            skipped,
            why: if installed && felt && healed { "" } else { "no pid changed" }.into(),
        }
    }

    #[test]
    fn a_fault_is_told_in_one_sentence() {
        let cases = [
            (fault(1, true, true, true, 0), "Acted once, felt by the workload, undone and proven."),
            (
                fault(3, true, false, true, 2),
                "Acted 3 times and was undone, but the workload did not feel it; skipped 2 times: \
                 no pid changed",
            ),
            (fault(2, false, false, true, 0), "Tried 2 times; not proven to act: no pid changed"),
            (
                fault(1, true, true, false, 0),
                "Acted once, felt by the workload; the heal is not proven: no pid changed",
            ),
            (fault(0, false, false, true, 4), "Never began; skipped 4 times: no pid changed"),
            (
                FaultSummary { momentary: true, ..fault(9, true, true, true, 0) },
                "Acted 9 times, felt by the workload; it leaves nothing to undo.",
            ),
            (
                FaultSummary { momentary: true, ..fault(1, true, false, true, 0) },
                "Acted once, but the workload did not feel it: no pid changed",
            ),
        ];
        for (fault, expected) in cases {
            assert_eq!(fault_sentence(&fault), expected);
        }
    }
}
