//! What one world's trace must keep by itself where two worlds may differ.
//!
//! A local read shows a state that was there at some moment: not before what its session has seen
//! already, and not one in which half a transaction is done. A write made while a server was killed
//! happened if it was acknowledged, did not if it was refused, and once shown it stays.

use std::collections::BTreeMap;

use stormglass::cluster::CoordinationError;

use super::short;
use crate::differential::script::{RESIDENTS, Request, Script, Slot, Step, Victim};
use crate::differential::trace::{Answer, Reaction, Record, Reply, Risked, Trace, Tree};

/// How often the freedoms were used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    pub local_reads: usize,
    /// Those that cannot be of the latest state.
    pub stale_reads: usize,
    pub risked: usize,
    pub unknown: usize,
    /// Unknown writes that happened.
    pub unknown_done: usize,
    pub fired: usize,
    /// By changes while a server was down or frozen: some sessions heard of them late.
    pub fired_in_faults: usize,
}

/// All states so far, and how far each session has certainly come.
struct Past<'a> {
    states: Vec<&'a Tree>,
    seen: BTreeMap<Slot, usize>,
    figures: Figures,
}

pub fn lawful(script: &Script, trace: &Trace) -> Result<Figures, String> {
    let empty = Tree::new();
    let mut past =
        Past { states: vec![&empty], seen: BTreeMap::new(), figures: Figures::default() };
    for (index, (step, record)) in script.steps.iter().zip(&trace.records).enumerate() {
        past.take(step, record)
            .map_err(|why| format!("step {index}, {step:?}: {why}\n{}", short(record)))?;
    }
    Ok(past.figures)
}

impl<'a> Past<'a> {
    fn latest(&self) -> usize {
        self.states.len() - 1
    }

    fn take(&mut self, step: &Step, record: &'a Record) -> Result<(), String> {
        self.figures.fired += record.fired.len();
        if matches!(step, Step::Kill { .. } | Step::Expire { .. }) {
            self.figures.fired_in_faults += record.fired.len();
        }
        let named = self.states[self.latest()];
        if let Reaction::Killed { victim, struck, risked, .. } = &record.reaction {
            self.risked(*victim, struck, risked)?;
        }
        self.states.extend(&record.tree);
        let latest = self.latest();
        match (step, &record.reaction) {
            (Step::Local { slot, request }, Reaction::Replied { reply, by_follower }) => {
                match request {
                    Request::Sync(_) => self.sync(*slot, reply, *by_follower)?,
                    read => self.local(*slot, &asked_for(read, named), reply)?,
                }
            }
            (Step::Chased { slot, reader, read, .. }, Reaction::Chased { read: reply, .. }) => {
                self.seen.insert(*slot, latest);
                self.local(*reader, &asked_for(read, named), reply)?;
            }
            (Step::Lag { reads: asked, .. }, Reaction::Lagged { reader, reads, .. }) => {
                for (read, reply) in asked.iter().zip(reads) {
                    self.lagging(*reader, &asked_for(read, named), reply)?;
                }
                self.all_saw_latest();
            }
            (Step::Burst { .. } | Step::Expire { .. } | Step::Kill { .. }, _) => {
                self.all_saw_latest();
            }
            (Step::Close { slot }, _) => {
                self.seen.remove(slot);
                self.seen.insert(RESIDENTS[0], latest);
            }
            (
                Step::Open { slot, .. } | Step::Certain { slot, .. } | Step::Watch { slot, .. },
                _,
            ) => {
                self.seen.insert(*slot, latest);
            }
            (_, other) => return Err(format!("no reaction to this step: {other:?}")),
        }
        Ok(())
    }

    fn all_saw_latest(&mut self) {
        let latest = self.latest();
        self.seen.values_mut().for_each(|seen| *seen = latest);
    }

    fn sync(&mut self, slot: Slot, reply: &Reply, by_follower: bool) -> Result<(), String> {
        // A leader asks nobody, so its own copy may be behind what followers show already.
        if by_follower {
            self.seen.insert(slot, self.latest());
        }
        if *reply == Ok(Answer::Done) { Ok(()) } else { Err("it was not synchronised".to_owned()) }
    }

    /// A read that a server gave up too late may have lost its connection instead.
    fn lagging(&mut self, slot: Slot, read: &Asked, reply: &Reply) -> Result<(), String> {
        match reply {
            Err((None, CoordinationError::ConnectionLoss)) => Ok(()),
            reply => self.local(slot, read, reply),
        }
    }

    fn local(&mut self, slot: Slot, read: &Asked, reply: &Reply) -> Result<(), String> {
        let latest = self.latest();
        let seen = self.seen.entry(slot).or_default();
        let shown = (*seen..=latest).find(|state| read.answered(self.states[*state]) == *reply);
        let Some(shown) = shown else {
            let answers: Vec<_> =
                self.states[*seen..].iter().map(|state| read.answered(state)).collect();
            return Err(format!("{reply:?} can be none of the replies since then: {answers:#?}"));
        };
        *seen = shown;
        self.figures.local_reads += 1;
        self.figures.stale_reads += usize::from(read.answered(self.states[latest]) != *reply);
        Ok(())
    }

    fn risked(&mut self, victim: Victim, struck: &[Slot], risked: &[Risked]) -> Result<(), String> {
        for write in risked {
            let may_be_lost = victim == Victim::Leader || struck.contains(&write.slot);
            judge(write, may_be_lost).map_err(|why| format!("{why}: {write:?}"))?;
            self.figures.risked += 1;
            if write.outcome.is_err() {
                self.figures.unknown += 1;
                self.figures.unknown_done += usize::from(write.created_by.is_some());
            }
        }
        in_real_time_order(risked)
    }
}

/// A read with its path, as whoever played the script understood it.
struct Asked<'a> {
    request: &'a Request,
    path: String,
}

fn asked_for<'a>(request: &'a Request, tree: &Tree) -> Asked<'a> {
    let path = match request {
        Request::Get(place) | Request::Exists(place) | Request::Children(place) => place.path(tree),
        Request::Sync(_) | Request::Change(_) | Request::Multi(_) => String::new(),
    };
    Asked { request, path }
}

impl Asked<'_> {
    /// What a server in this state answers.
    fn answered(&self, state: &Tree) -> Reply {
        match (self.request, state.get(&self.path)) {
            (Request::Exists(_), znode) => Ok(Answer::Stat(znode.map(|znode| znode.stat))),
            (_, None) => Err((None, CoordinationError::NoNode)),
            (Request::Children(_), Some(znode)) => Ok(Answer::Names(znode.children.clone())),
            (_, Some(znode)) => Ok(Answer::Data(znode.data.clone(), znode.stat)),
        }
    }
}

fn judge(write: &Risked, may_be_lost: bool) -> Result<(), &'static str> {
    let happened = write.created_by.is_some();
    match &write.outcome {
        Ok(path) if *path != write.path => Err("created elsewhere"),
        Ok(_) if !happened => Err("an acknowledged write is lost"),
        Ok(_) if write.shown == Some(false) => Err("a session did not read its own write"),
        Ok(_) => Ok(()),
        Err(CoordinationError::ConnectionLoss) if !may_be_lost => {
            Err("a connection to a server that was left alone was lost")
        }
        Err(CoordinationError::ConnectionLoss) if write.shown == Some(true) && !happened => {
            Err("a write that was shown is lost")
        }
        Err(CoordinationError::ConnectionLoss) => Ok(()),
        Err(_) => Err("a write to a path of its own is refused"),
    }
}

/// A write that was acknowledged before another was asked for has the smaller transaction id.
fn in_real_time_order(risked: &[Risked]) -> Result<(), String> {
    for first in risked.iter().filter(|first| first.outcome.is_ok()) {
        let later = risked.iter().filter(|later| later.asked > first.answered);
        for second in later.filter(|second| second.created_by.is_some()) {
            if second.created_by <= first.created_by {
                return Err(format!("{second:?} came after {first:?} and stands before it"));
            }
        }
    }
    Ok(())
}
