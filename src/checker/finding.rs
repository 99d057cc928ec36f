//! What checkers are, and what they find.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::checker::{PerKey, TxnCycle};
use crate::history::{Datum, History};
use crate::op::{Event, Nanos};

/// Three-valued, ordered so that the maximum of several verdicts is the verdict of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Valid,
    Unknown,
    Invalid,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Valid => "valid",
            Verdict::Unknown => "unknown",
            Verdict::Invalid => "invalid",
        }
    }
}

/// One broken promise, told so that a tired person understands it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anomaly {
    /// Kebab-case, listed by `stormglass list anomalies`: `nonlinearizable`, `no-recovery`, ...
    pub kind: String,
    /// One sentence with operation, process, node and times.
    pub summary: String,
    /// The rest of the explanation, a line each; bounded.
    pub details: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub nodes: Vec<String>,
    /// Indices of the invocation events that make up the counterexample, in order of time.
    pub ops: Vec<u64>,
    /// From the first to the last moment that matters, in nanoseconds since the start.
    pub from: Nanos,
    pub to: Nanos,
    /// The faults in force from the first to the last moment: `kill f3 on n1, 12.000 s to 20.000 s`.
    /// Absent where nobody told of faults, or of times. Filled in after the checkers, which need not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Vec<String>>,
    /// Where it is a cycle of transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Box<TxnCycle>>,
}

/// What one checker found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub name: String,
    pub verdict: Verdict,
    /// One line: what was checked and how far, or why it is unknown.
    pub why: String,
    pub anomalies: Vec<Anomaly>,
    /// Figures for the report, by name: `keys`, `operations`, `longest-gap-ms`, ...
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
    /// Of checkers of transactions: which consistency models the history rules out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consistency: Option<Consistency>,
    /// Of checkers that judge each key by itself, where the history has keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<Box<PerKey>>,
}

/// Consistency models by Elle's names (`strict-serializable`, `snapshot-isolation`, ...).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consistency {
    /// Every model that an anomaly rules out, weaker ones first.
    pub violates: Vec<String>,
    /// The strongest models that none of the anomalies rules out.
    pub survives: Vec<String>,
}

impl Finding {
    /// Without anomalies and figures.
    pub fn new(name: &str, verdict: Verdict, why: impl Into<String>) -> Finding {
        Finding {
            name: name.to_owned(),
            verdict,
            why: why.into(),
            anomalies: Vec::new(),
            figures: BTreeMap::new(),
            consistency: None,
            keys: None,
        }
    }
}

/// How long and how big a check may get. The caller owns the clock.
pub struct Budget<'a> {
    /// Polled often; true means: stop and answer `unknown` with what has been settled.
    pub exhausted: &'a (dyn Fn() -> bool + Sync),
    /// Bytes that a checker's own tables may take.
    pub memory: usize,
    /// How many violations of linearizability are explained, the first in time; all are counted. Explaining
    /// one decides many smaller histories, so it costs more than to find it.
    pub explained: usize,
}

impl Budget<'_> {
    /// Violations that are explained unless somebody says otherwise.
    pub const EXPLAINED: usize = 20;

    /// Never ends by time, one GiB of memory.
    pub const UNBOUNDED: Budget<'static> =
        Budget { exhausted: &|| false, memory: 1 << 30, explained: Budget::EXPLAINED };
}

/// What of a history a broken promise takes to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The events up to the one that settles it: `observe` tells it there, or never.
    AtOnce,
    /// The events up to it, but only when they are judged together: what is found in a part stands for
    /// the whole, since whatever had not completed by then may have happened or not.
    SoFar,
    /// All events: what is missing may still come, or was asked for at the end.
    AtTheEnd,
}

/// Judges a history, from all of it at the end or event by event.
pub trait Checker: Send {
    fn name(&self) -> &'static str;

    /// Whether taking in every event, in order, is all it needs: `finish` then looks at no history, and
    /// whoever runs it may keep none.
    fn streams(&self) -> bool {
        false
    }

    /// Whether a history without any invocation says something to it: each completion then stands for
    /// its invocation too. Where the moment matters at which an operation began, it does not.
    fn takes_completions_alone(&self) -> bool {
        false
    }

    /// When a broken promise shows to whoever watches the events go by.
    fn shows(&self) -> Shows {
        if self.streams() { Shows::AtTheEnd } else { Shows::SoFar }
    }

    /// Called for each event in order; a checker that works online reports as soon as it knows.
    fn observe(&mut self, _event: &Event) -> Option<Anomaly> {
        None
    }

    /// As `observe`, of an event whose value is still in the reader's hands and not in `head`.
    ///
    /// A checker that streams and sees large values takes them in from here, since making them costs
    /// more than looking at them.
    fn observe_raw(&mut self, head: &Event, value: Datum) -> Option<Anomaly> {
        let event = Event { value: value.to_value(), ..head.clone() };
        self.observe(&event)
    }

    fn finish(&mut self, history: &History, budget: &Budget) -> Finding;
}
