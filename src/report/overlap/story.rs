//! The steps of a split brain in order of time, each with a few words for the drawing and a sentence.

use super::{End, Fate, Side, few};
use crate::cluster::Role;
use crate::nemesis::FaultRecord;
use crate::op::{Nanos, NodeName, SECOND};
use crate::report::digest::{Digest, Operation};
use crate::report::hits::Hit;
use crate::report::{slots, words};

/// How long before the split a fault or a failover may have caused it.
const CAUSE_REACH: Nanos = 5 * SECOND;
/// Hits and faults that are told; the rest have sections of their own.
const CAUSES_MAX: usize = 3;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::report) struct Step {
    pub at: Nanos,
    pub kind: StepKind,
    /// For the drawing: `reply lost`.
    pub short: String,
    pub told: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum StepKind {
    /// An operator's request.
    Asked,
    /// What the nemesis did.
    Fault,
    /// A node took up the slot, or the topology changed.
    System,
    /// What came of it.
    Loss,
}

/// What the story is told from.
pub(super) struct Source<'s, 'a> {
    pub digest: &'s Digest<'a>,
    pub slot: u16,
    pub both: (Nanos, Nanos),
    pub nodes: &'s [NodeName],
    pub hits: &'s [Hit],
    pub end: Option<End>,
}

impl Source<'_, '_> {
    /// The request, the faults and the failovers before the end of the split.
    pub(super) fn before(&self) -> Vec<Step> {
        let migration = self.migration();
        let since = migration.as_ref().map_or(self.both.0.saturating_sub(CAUSE_REACH), |m| m.at);
        let since = since.max(self.both.0.saturating_sub(4 * CAUSE_REACH));
        let hits = self.hits(since);
        let mut steps = match hits.is_empty() {
            true => self.faults(since),
            false => hits,
        };
        steps.extend(self.failovers(since));
        steps.extend(migration);
        steps
    }

    /// The last migration of the slot that was asked for before both took writes.
    fn migration(&self) -> Option<Step> {
        let moves = slots::moves(self.digest);
        let asked = moves.get(&self.slot)?.iter().filter(|(at, _)| *at <= self.both.1);
        let (at, target) = asked.max_by_key(|(at, _)| *at)?;
        Some(Step {
            at: *at,
            kind: StepKind::Asked,
            short: "migrate".into(),
            told: format!("A migration of slot {} to shard {target} was asked for.", self.slot),
        })
    }

    fn hits(&self, since: Nanos) -> Vec<Step> {
        let slot = self.slot.to_string();
        let names = |hit: &&Hit| {
            let mut request = hit.message.request.split_whitespace();
            let ends = [Some(hit.node), hit.sender];
            let concerns = |node: &NodeName| ends.contains(&Some(*node));
            self.nodes.iter().any(concerns)
                && (request.any(|word| word == slot) || hit.sender.is_some())
        };
        let hits = self.hits.iter().filter(|hit| (since..=self.both.1).contains(&hit.at));
        hits.filter(names).take(CAUSES_MAX).map(hit).collect()
    }

    /// Faults that were in force shortly before or meanwhile.
    fn faults(&self, since: Nanos) -> Vec<Step> {
        let windows = self.digest.windows.iter();
        let near = windows.filter(|w| w.to >= since && w.from <= self.both.1);
        let told = near.map(|window| {
            let on: Vec<&str> = window.targets.iter().map(|node| node.as_str()).collect();
            let on = if on.is_empty() { String::new() } else { format!(" on {}", on.join(", ")) };
            let until = match window.momentary {
                true => String::new(),
                false => format!(", in force until {}", words::moment(window.to)),
            };
            Step {
                at: window.from,
                kind: StepKind::Fault,
                short: window.verb.clone(),
                told: format!(
                    "The nemesis {} ({}) began{on}: {}{until}.",
                    window.name, window.id, window.verb
                ),
            }
        });
        let mut told: Vec<Step> = told.collect();
        // The last ones before it are the nearest causes.
        told.drain(..told.len().saturating_sub(CAUSES_MAX));
        told
    }

    /// Data nodes that became masters.
    fn failovers(&self, since: Nanos) -> Vec<Step> {
        let mut masters: Option<Vec<NodeName>> = None;
        let mut steps = Vec::new();
        for step in &self.digest.steps {
            let Some(FaultRecord::View { view }) = &step.record else { continue };
            let now: Vec<NodeName> = view.leaders(Role::Kvrocks).copied().collect();
            let new = now
                .iter()
                .filter(|node| masters.as_ref().is_some_and(|before| !before.contains(node)));
            if (since..=self.both.1).contains(&step.event.time) {
                steps.extend(new.map(|node| Step {
                    at: step.event.time,
                    kind: StepKind::System,
                    short: format!("{node} master"),
                    told: format!("{node} was seen to be a master from now on: a failover."),
                }));
            }
            masters = Some(now);
        }
        steps
    }

    /// When each of the two took its first write of the time in which both did.
    pub(super) fn during(&self, sides: &[Side]) -> Vec<Step> {
        let firsts =
            sides.iter().filter_map(|side| Some((side.node, side.first_write(self.both.0)?)));
        firsts
            .enumerate()
            .map(|(number, (node, write))| Step {
                at: write.ended(self.digest.end),
                kind: StepKind::System,
                short: format!("{node} writes"),
                told: format!(
                    "{node} acknowledged a write{}: {}.",
                    if number == 0 { "" } else { ", too" },
                    written(&write)
                ),
            })
            .collect()
    }

    /// The topology that ended it, and what it took.
    pub(super) fn after(&self, sides: &[Side]) -> Vec<Step> {
        let Some(end) = self.end else {
            return vec![Step {
                at: self.both.1,
                kind: StepKind::System,
                short: "no end seen".into(),
                told: "No later topology was seen to end it.".into(),
            }];
        };
        let all: Vec<&str> = self.nodes.iter().map(|node| node.as_str()).collect();
        let mut steps = vec![Step {
            at: end.at,
            kind: StepKind::System,
            short: format!("version {}", end.version),
            told: format!(
                "{} were seen to go by version {} of the topology: the slot is {}'s alone.",
                all.join(" and "),
                end.version,
                end.owner
            ),
        }];
        for side in sides.iter().filter(|side| side.node != end.owner) {
            steps.extend(lost(side, end));
        }
        steps
    }
}

fn hit(hit: &Hit) -> Step {
    let message = &hit.message;
    let words: Vec<&str> = message.request.split_whitespace().collect();
    let meaning = match (words.as_slice(), message.applied) {
        ([_, import, slot, "1"], true) if import.eq_ignore_ascii_case("import") => {
            let source = hit.sender.map_or("the source".to_owned(), |node| node.to_string());
            format!(
                " This is import SUCCESS: {} serves slot {slot} from here on. {source} never hears of \
                 it; once it gives the migration up, it takes writes again.",
                hit.node
            )
        }
        _ => String::new(),
    };
    let short = match message.applied {
        true => "reply lost",
        false => "request lost",
    };
    Step {
        at: hit.at,
        kind: StepKind::Fault,
        short: short.into(),
        told: format!("The nemesis {} ({}): {}{meaning}", hit.fault, hit.id, hit.words),
    }
}

/// What of a side's writes is not there any more.
fn lost(side: &Side, end: End) -> Option<Step> {
    let (mut gone, mut unseen) = (Vec::new(), 0);
    for (write, fate) in &side.writes {
        match fate {
            Fate::Gone { proof } => gone.push((write, proof)),
            Fate::Unseen => unseen += 1,
            Fate::Unknown => {}
        }
    }
    let named = few(gone.iter().map(|(write, proof)| {
        let at = words::moment(proof.invoke.time);
        format!("{} (at {at} {} still answered {})", written(write), end.owner, proof.describe())
    }));
    let node = side.node;
    let told = match (gone.len(), unseen) {
        (0, 0) => return None,
        (0, unseen) => format!(
            "Of the writes that {node} had acknowledged, {} never seen again at {}; later ones may \
             have replaced them.",
            words::plural(unseen, "was", "were"),
            end.owner
        ),
        (count, unseen) => {
            let rest = match unseen {
                0 => String::new(),
                more => format!(
                    " {} more {} never seen again; later writes may have replaced them.",
                    words::count(more as u64),
                    if more == 1 { "was" } else { "were" }
                ),
            };
            let are = words::plural(count, "write is", "writes are");
            format!("{are} gone that {node} had acknowledged: {named}.{rest}")
        }
    };
    let short = match gone.len() {
        0 => "not seen again".into(),
        count => words::plural(count, "write gone", "writes gone"),
    };
    Some(Step { at: end.at, kind: StepKind::Loss, short, told })
}

/// `write 18 of key 7, by process 3`.
fn written(write: &Operation) -> String {
    let key = write.invoke.key.as_ref().map_or(String::new(), |key| format!(" of key {key}"));
    let value = match &write.invoke.value {
        crate::op::Value::Nil => String::new(),
        value => format!(" {value}"),
    };
    format!("{}{value}{key}, by process {}", write.invoke.f, write.invoke.process)
}
