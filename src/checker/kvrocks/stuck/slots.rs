//! Slot by slot, who was refused after the heal and for how long.

use std::collections::BTreeMap;

use super::super::answers::{Pair, is_write};
use super::super::wording::{counted, seconds, what};
use super::Settling;
use crate::checker::Anomaly;
use crate::op::{Event, Kind, Nanos, NodeName};

/// A stretch in which every request for a slot was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub from: Nanos,
    pub to: Nanos,
    pub count: usize,
    /// Indices of the first and the last operation.
    pub first: u64,
    pub last: u64,
    /// The last refusal, in words.
    pub said: String,
    pub node: NodeName,
}

/// One slot after the heal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot {
    all: Track,
    /// Of writes alone: reads may be served where they are refused.
    writes: Track,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Track {
    served: bool,
    now: Option<Refused>,
    longest: Option<Refused>,
}

impl Track {
    fn serve(&mut self) {
        self.served = true;
        self.now = None;
    }

    fn refuse(&mut self, refused: Refused, healed: Nanos) {
        let since = if self.served { refused.from } else { healed };
        let now = self.now.get_or_insert(Refused { from: since, count: 0, ..refused.clone() });
        *now = Refused { from: now.from, first: now.first, count: now.count + 1, ..refused };
        let length = |one: &Refused| one.to.saturating_sub(one.from);
        if self.longest.as_ref().is_none_or(|longest| length(longest) < length(now)) {
            self.longest = Some(now.clone());
        }
    }
}

/// Slots that were asked for since the heal.
pub(super) fn after_heal(pairs: &[Pair], settling: Settling) -> BTreeMap<u16, Slot> {
    let mut slots: BTreeMap<u16, Slot> = BTreeMap::new();
    let after = pairs.iter().filter(|(invocation, _)| invocation.time >= settling.healed);
    let mut completed: Vec<(&Event, &Event)> =
        after.filter_map(|(invocation, completion)| Some((*invocation, (*completion)?))).collect();
    completed.sort_by_key(|(_, completion)| (completion.time, completion.index));
    for (invocation, completion) in completed {
        let route = completion.route.as_deref();
        let Some((route, slot)) = route.and_then(|route| Some((route, route.slot?))) else {
            continue;
        };
        let (Some(last), false) = (route.last(), invocation.f.starts_with("stale")) else {
            continue;
        };
        let told = slots.entry(slot).or_default();
        let writes = is_write(invocation);
        if last.said == "ok" {
            told.all.serve();
            if writes {
                told.writes.serve();
            }
            continue;
        }
        // Who asks one node only may ask the wrong one for ever.
        if route.hops.len() == 1 && last.said.starts_with("MOVED") {
            continue;
        }
        let ended = if completion.kind == Kind::Info { "unknown" } else { "refused" };
        let refused = Refused {
            from: invocation.time,
            to: completion.time,
            count: 1,
            first: invocation.index,
            last: invocation.index,
            said: format!("{} {ended}: {} said {}", what(invocation), last.node, last.said),
            node: last.node,
        };
        told.all.refuse(refused.clone(), settling.healed);
        if writes {
            told.writes.refuse(refused, settling.healed);
        }
    }
    slots
}

impl Slot {
    /// How long it was refused at a stretch.
    pub fn longest(&self) -> Nanos {
        let tracks = [&self.all, &self.writes];
        let refused = tracks.into_iter().filter_map(|track| track.longest.as_ref());
        refused.map(|one| one.to.saturating_sub(one.from)).max().unwrap_or(0)
    }

    /// It was asked for, and nobody ever served it.
    pub fn is_unserved(&self) -> bool {
        !self.all.served && self.all.longest.is_some()
    }

    pub fn anomaly(&self, slot: u16, settling: Settling) -> Option<Anomaly> {
        let too_long = |track: &Track| {
            let longest = track.longest.clone();
            longest.filter(|one| one.to.saturating_sub(one.from) >= settling.within)
        };
        let (what, refused) = match too_long(&self.all) {
            Some(refused) => ("every request", refused),
            None => ("every write", too_long(&self.writes)?),
        };
        let Refused { from, to, count, first, last, said, node } = refused;
        let mut ops = vec![first, last];
        ops.dedup();
        Some(Anomaly {
            kind: "stuck-slot".to_owned(),
            summary: format!(
                "{what} for slot {slot} was refused from {} to {}, {} of them in {}; after the heal at {} {} are allowed",
                seconds(from),
                seconds(to),
                counted(count, "request"),
                seconds(to - from),
                seconds(settling.healed),
                seconds(settling.within),
            ),
            details: vec![format!("the last one: {said}")],
            key: None,
            nodes: vec![node.to_string()],
            ops,
            from,
            to,
            faults: None,
            cycle: None,
        })
    }
}
