//! How a loop of failovers kept the pace that it was given.

use serde::{Deserialize, Serialize};

use super::{Office, Reign};
use crate::cluster::{Applied, Role};
use crate::history::History;
use crate::nemesis::{FaultRecord, Pace, Phase, Spread};
use crate::op::{Nanos, SECOND};

/// A loop's pace, compared with what was wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pacing {
    #[serde(rename = "on pace")]
    OnPace,
    #[serde(rename = "too slow")]
    TooSlow,
    #[serde(rename = "too fast")]
    TooFast,
}

impl Pacing {
    pub fn name(self) -> &'static str {
        match self {
            Pacing::OnPace => "on pace",
            Pacing::TooSlow => "too slow",
            Pacing::TooFast => "too fast",
        }
    }
}

/// One nemesis that unseats whoever leads, over and over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailoverLoop {
    pub nemesis: String,
    /// Whose leaders those are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Failovers a minute that it aims at, and the bounds that it should keep.
    pub target: u32,
    pub at_least: u32,
    pub at_most: u32,
    /// Faults that were begun and did something.
    pub begun: u64,
    /// Those after which a node led in a higher epoch, before the next one was begun.
    pub finished: u64,
    /// Finished ones a minute, from the first beginning to the end of the main phase.
    pub reached_per_minute: f64,
    /// From the beginning of the fault to the new leader, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failover_ms: Option<Spread>,
    pub verdict: Pacing,
    /// All of it in one sentence.
    pub words: String,
}

pub(super) fn pacing(
    history: &History,
    (nemesis, role): (&str, Option<Role>),
    pace: Pace,
    office: Option<&Office>,
) -> FailoverLoop {
    let reigns = office.map_or(&[][..], |office| &office.reigns);
    let elections_ms = office.and_then(|office| office.elections_ms);
    let begun = begun(history, nemesis);
    let lengths = finished(&begun, reigns);
    let reached = match begun.first() {
        Some(first) => per_minute(lengths.len(), main_ends(history).saturating_sub(*first)),
        None => 0.0,
    };
    let mut told = FailoverLoop {
        nemesis: nemesis.to_owned(),
        role,
        target: pace.per_minute,
        at_least: pace.at_least,
        at_most: pace.at_most,
        begun: begun.len() as u64,
        finished: lengths.len() as u64,
        reached_per_minute: reached,
        failover_ms: Spread::of(lengths),
        verdict: if reached < f64::from(pace.at_least) {
            Pacing::TooSlow
        } else if reached > f64::from(pace.at_most) {
            Pacing::TooFast
        } else {
            Pacing::OnPace
        },
        words: String::new(),
    };
    told.words = words(&told, elections_ms);
    told
}

/// When each of the nemesis's faults was begun, of those that did something.
fn begun(history: &History, nemesis: &str) -> Vec<Nanos> {
    let (mut announced, mut begun) = (None, Vec::new());
    for event in history.events().iter().filter(|event| &*event.f == nemesis) {
        match FaultRecord::of(event) {
            Some(FaultRecord::Begin { fault, .. }) => announced = Some((fault, event.time)),
            Some(FaultRecord::Began { fault, deeds }) => {
                let skipped = |applied: &Applied| matches!(applied, Applied::Skipped { .. });
                if deeds.iter().all(|deed| skipped(&deed.outcome)) {
                    continue;
                }
                // The leader may fall before the proof of it is taken.
                let since = announced.filter(|(id, _)| *id == fault).map(|(_, at)| at);
                begun.push(since.unwrap_or(event.time));
            }
            _ => {}
        }
    }
    begun
}

/// For each fault after which somebody led in a higher epoch, how long that took.
fn finished(begun: &[Nanos], reigns: &[Reign]) -> Vec<Nanos> {
    let mut lengths = Vec::new();
    for (position, from) in begun.iter().enumerate() {
        let next = begun.get(position + 1).copied().unwrap_or(Nanos::MAX);
        let before = reigns.iter().take_while(|reign| reign.from <= *from);
        let highest = before.filter_map(|reign| reign.epoch).max();
        let is_new = |reign: &&Reign| match (reign.epoch, highest) {
            (Some(epoch), Some(highest)) => epoch > highest,
            // Where no epoch is told, another reign is all that can be seen.
            _ => true,
        };
        let after = reigns.iter().filter(|reign| *from < reign.from && reign.from < next);
        lengths.extend(after.clone().find(is_new).map(|reign| reign.from - from));
    }
    lengths
}

fn main_ends(history: &History) -> Nanos {
    let heals = |event: &&crate::op::Event| {
        matches!(FaultRecord::of(event), Some(FaultRecord::Phase { phase: Phase::Heal }))
    };
    let events = history.events();
    let end = events.iter().find(heals).or(events.last());
    end.map_or(0, |event| event.time)
}

/// To one decimal, as it is shown and compared.
fn per_minute(count: usize, length: Nanos) -> f64 {
    let minutes = length.max(1) as f64 / (60 * SECOND) as f64;
    (count as f64 / minutes * 10.0).round() / 10.0
}

fn words(told: &FailoverLoop, elections_ms: Option<Spread>) -> String {
    let FailoverLoop { begun, finished, reached_per_minute: reached, .. } = told;
    match (begun, finished) {
        (0, _) => return "too slow: no failover was begun".to_owned(),
        (begun, 0) => return format!("too slow: {begun} begun, no failover finished"),
        _ => {}
    }
    let wanted = match told.verdict {
        Pacing::TooSlow => format!("at least {} wanted", told.at_least),
        Pacing::TooFast => format!("at most {} wanted", told.at_most),
        Pacing::OnPace => format!("{} to {} wanted", told.at_least, told.at_most),
    };
    let verdict = told.verdict.name();
    let took = match (elections_ms, told.failover_ms) {
        (Some(spread), _) => format!("; an election took {} (median)", seconds(spread.median)),
        (None, Some(spread)) => format!("; a failover took {} (median)", seconds(spread.median)),
        (None, None) => String::new(),
    };
    let most = told.failover_ms.map(|spread| (60_000.0 / spread.median.max(1.0)).floor());
    let beyond = match most.filter(|most| f64::from(told.target) > *most) {
        Some(most) => format!(
            "; {} a minute cannot be reached: failovers as long as these leave room for {most}",
            told.target
        ),
        None => String::new(),
    };
    let unfinished = match finished < begun {
        true => format!("; {finished} of {begun} finished"),
        false => String::new(),
    };
    format!("{verdict}: {reached:.1} a minute, {wanted}{took}{beyond}{unfinished}")
}

fn seconds(milliseconds: f64) -> String {
    if milliseconds < 100.0 {
        format!("{milliseconds:.0} ms")
    } else {
        format!("{:.1} s", milliseconds / 1_000.0)
    }
}
