//! What one world's trace must keep by itself where two worlds may differ.
//!
//! A local read shows a state that was there at some moment: not before what its session has seen
//! already, and not one in which half a transaction is done. A write made while a server was killed
//! happened if it was acknowledged, did not if it was refused, and once shown it stays.

use std::collections::BTreeMap;

use stormglass::cluster::CoordinationError;

use crate::differential::script::{Place, Request, Script, Slot, Step, TREE, Victim};
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
            .map_err(|why| format!("step {index}, {step:?}: {why}\n{:?}", record.reaction))?;
    }
    Ok(past.figures)
}

impl<'a> Past<'a> {
    fn latest(&self) -> usize {
        self.states.len() - 1
    }

    fn take(&mut self, step: &Step, record: &'a Record) -> Result<(), String> {
        self.figures.fired += record.fired.len();
        if let Step::Local { slot, request } = step {
            return self.local(*slot, request, record);
        }
        if let Reaction::Killed { victim, struck, risked } = &record.reaction {
            self.risked(*victim, struck, risked)?;
        }
        self.states.extend(&record.tree);
        let latest = self.latest();
        match step {
            Step::Open { slot, .. } | Step::Certain { slot, .. } | Step::Watch { slot, .. } => {
                drop(self.seen.insert(*slot, latest))
            }
            Step::Close { slot } => {
                self.seen.remove(slot);
                self.seen.insert(0, latest);
            }
            Step::Burst { .. } | Step::Expire { .. } | Step::Kill { .. } => {
                self.seen.values_mut().for_each(|seen| *seen = latest);
            }
            Step::Local { .. } => {}
        }
        Ok(())
    }

    fn local(&mut self, slot: Slot, request: &Request, record: &Record) -> Result<(), String> {
        let Reaction::Replied { reply, by_follower } = &record.reaction else {
            return Err("no reply".to_owned());
        };
        let latest = self.latest();
        let seen = self.seen.entry(slot).or_default();
        if let Request::Sync(_) = request {
            // A leader asks nobody, so its own copy may be behind what followers show already.
            if *by_follower {
                *seen = latest;
            }
            return if *reply == Ok(Answer::Done) { Ok(()) } else { Err("no sync".to_owned()) };
        }
        let path = asked_for(request, self.states[latest])?;
        let shown =
            (*seen..=latest).find(|state| shows(self.states[*state], request, &path, reply));
        let shown = shown.ok_or_else(|| {
            let states = &self.states[*seen..=latest];
            let history: Vec<_> = states.iter().map(|state| state.get(&path)).collect();
            format!("no state since what was seen shows this; {path} was {history:#?}")
        })?;
        *seen = shown;
        self.figures.local_reads += 1;
        let is_latest = shows(self.states[latest], request, &path, reply);
        self.figures.stale_reads += usize::from(!is_latest);
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

/// The path in common words, as whoever played the script understood it.
fn asked_for(request: &Request, tree: &Tree) -> Result<String, String> {
    let (Request::Get(place) | Request::Exists(place) | Request::Children(place)) = request else {
        return Err("not a read".to_owned());
    };
    Ok(match place {
        Place::Named(path) => path.clone(),
        Place::Existing(position) => {
            let paths: Vec<_> = tree.keys().filter(|path| *path != TREE).collect();
            match paths.len() {
                0 => "/t/a".to_owned(),
                count => paths[position % count].clone(),
            }
        }
    })
}

/// Whether this state answers the read like that.
fn shows(state: &Tree, request: &Request, path: &str, reply: &Reply) -> bool {
    let znode = state.get(path);
    let no_node = Err((None, CoordinationError::NoNode));
    let expected = match (request, znode) {
        (Request::Exists(_), znode) => Ok(Answer::Stat(znode.map(|znode| znode.stat))),
        (_, None) => no_node,
        (Request::Children(_), Some(znode)) => Ok(Answer::Names(znode.children.clone())),
        (_, Some(znode)) => Ok(Answer::Data(znode.data.clone(), znode.stat)),
    };
    expected == *reply
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
