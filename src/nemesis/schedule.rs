//! When faults begin and end. Each fault has its own timing: a clock, a trigger, the pace of a loop, or
//! its turn among the faults of its nemesis. Faults overlap freely, none overlaps itself.
//!
//! It is asked at a moment for what is due, is told how steps went, and sees every event of the run.
//! It plans nothing and knows no world.

mod clocked;
mod paced;
mod triggered;
mod turns;

use std::collections::BTreeMap;

use crate::cluster::Role;
use crate::duration::Span;
use crate::generator::Step;
use crate::nemesis::cause::Cause;
use crate::nemesis::fault::{Fault, Turns};
use crate::nemesis::record::FaultRecord;
use crate::nemesis::script::Script;
use crate::op::{Event, Nanos, Process};
use crate::rng::Rng;
use clocked::Clocked;
use paced::Paced;
use triggered::Triggered;
use turns::Group;

/// What is due at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    Do(Step),
    /// Nothing now. Ask again at this time, or after the next event.
    Wait(Option<Nanos>),
}

/// A fault with the name of its nemesis.
pub struct Entry<'a> {
    pub nemesis: &'a str,
    pub fault: &'a Fault,
}

/// Steps of all faults of a run, until `end`.
pub struct Schedule {
    slots: Vec<Slot>,
    groups: Vec<Group>,
    end: Nanos,
}

enum Timing {
    Clocked(Clocked),
    Triggered(Triggered),
    Paced(Paced),
    /// Its group tells it when.
    Turn,
}

struct Slot {
    timing: Timing,
    lasts: Nanos,
    is_momentary: bool,
    /// A step of it is being carried out.
    is_busy: bool,
    ends_at: Option<Nanos>,
    /// A given schedule says when, however long it took to begin.
    ends_on_time: bool,
    has_begun: bool,
    cause: Option<Cause>,
}

impl Schedule {
    /// Faults begin only as long as they can end by `end`, except that the first of each always does.
    /// `leader` is whose leader faults mean that name no role.
    pub fn new<'a>(
        entries: impl IntoIterator<Item = Entry<'a>>,
        turns: &BTreeMap<String, Turns>,
        leader: Role,
        end: Nanos,
        rng: &Rng,
    ) -> Schedule {
        let mut schedule = Schedule { slots: Vec::new(), groups: Vec::new(), end };
        let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
        for (position, Entry { nemesis, fault }) in entries.into_iter().enumerate() {
            let timing = match (turns.get(nemesis), &fault.when, fault.pace) {
                (Some(turns), ..) => {
                    let group = groups.entry(nemesis).or_insert_with(|| {
                        Group::new(*turns, rng.fork(&format!("turns of {nemesis}")))
                    });
                    group.add(position, fault.weight.unwrap_or(1));
                    Timing::Turn
                }
                (None, Some(when), _) => {
                    Timing::Triggered(Triggered::new(when, leader, fault.after.nanos()))
                }
                (None, None, Some(pace)) => {
                    let role = fault.led_role(leader);
                    Timing::Paced(Paced::new(pace, role, fault.after.nanos()))
                }
                _ => {
                    let rng = rng.fork(&format!("clock of fault {position}"));
                    Timing::Clocked(Clocked::new(fault, rng))
                }
            };
            schedule.slots.push(Slot {
                timing,
                lasts: fault.lasts.nanos(),
                is_momentary: fault.fault.is_momentary(),
                is_busy: false,
                ends_at: None,
                ends_on_time: false,
                has_begun: false,
                cause: None,
            });
        }
        schedule.groups = groups.into_values().collect();
        schedule
    }

    /// The very times of a schedule that is given; what has no end there lasts until the heal.
    pub fn scripted(script: &Script, end: Nanos) -> Schedule {
        let slots = script.entries.iter().map(|entry| {
            let at = entry.at.nanos();
            let until = entry.until.map_or(Nanos::MAX, Span::nanos);
            Slot {
                timing: Timing::Clocked(Clocked::once(at)),
                lasts: until.saturating_sub(at),
                is_momentary: entry.is_momentary(),
                is_busy: false,
                ends_at: None,
                ends_on_time: true,
                has_begun: false,
                cause: None,
            }
        });
        Schedule { slots: slots.collect(), groups: Vec::new(), end }
    }

    /// A fault that this world cannot do is not drawn. Only faults that take turns can be left out.
    pub fn exclude(&mut self, fault: usize) {
        self.groups.iter_mut().for_each(|group| group.exclude(fault));
    }

    /// True where a fault waits for what the cluster looks like.
    pub fn wants_views(&self) -> bool {
        self.slots.iter().any(|slot| match &slot.timing {
            Timing::Paced(_) => true,
            Timing::Triggered(triggered) => triggered.wants_views(),
            _ => false,
        })
    }

    /// The next step that is due, if any; whoever asks carries it out and says how it went.
    pub fn next(&mut self, now: Nanos) -> Due {
        let mut sooner: Option<(Nanos, Step)> = None;
        for (fault, slot) in self.slots.iter().enumerate() {
            if let Some((at, step)) = self.upcoming(fault, slot)
                && sooner.is_none_or(|(earliest, _)| at < earliest)
            {
                sooner = Some((at, step));
            }
        }
        match sooner {
            Some((at, step)) if at <= now => {
                self.start(now, step);
                Due::Do(step)
            }
            other => Due::Wait(other.map(|(at, _)| at)),
        }
    }

    fn upcoming(&self, fault: usize, slot: &Slot) -> Option<(Nanos, Step)> {
        if slot.is_busy {
            return None;
        }
        if let Some(at) = slot.ends_at {
            return Some((at, Step::End { fault }));
        }
        let at = match &slot.timing {
            Timing::Clocked(clocked) => clocked.begins_at(),
            Timing::Triggered(triggered) => triggered.begins_at(),
            Timing::Paced(paced) => paced.begins_at(),
            Timing::Turn => self.groups.iter().find_map(|group| group.begins_at(fault)),
        }?;
        let fits = at.saturating_add(slot.lasts) <= self.end || !slot.has_begun;
        (at < self.end && fits).then_some((at, Step::Begin { fault }))
    }

    fn start(&mut self, now: Nanos, step: Step) {
        match step {
            Step::Begin { fault } => {
                let slot = &mut self.slots[fault];
                slot.is_busy = true;
                slot.has_begun = true;
                slot.ends_at = (!slot.is_momentary).then_some(now.saturating_add(slot.lasts));
                match &mut slot.timing {
                    Timing::Clocked(clocked) => clocked.begun(now, slot.lasts),
                    Timing::Triggered(triggered) => slot.cause = triggered.begun(),
                    Timing::Paced(paced) => slot.cause = paced.begun(now),
                    Timing::Turn => self.groups.iter_mut().for_each(|group| group.begun(fault)),
                }
            }
            Step::End { fault } => {
                let slot = &mut self.slots[fault];
                slot.is_busy = true;
                slot.ends_at = None;
            }
        }
    }

    /// What made the fault begin, as long as nobody has taken it.
    pub fn cause(&self, fault: usize) -> Option<&Cause> {
        self.slots[fault].cause.as_ref()
    }

    /// What made the fault begin; once for each beginning, `None` where it was the clock.
    pub fn take_cause(&mut self, fault: usize) -> Option<Cause> {
        self.slots[fault].cause.take()
    }

    /// The fault's step has been carried out.
    pub fn carried_out(&mut self, now: Nanos, fault: usize) {
        let slot = &mut self.slots[fault];
        slot.is_busy = false;
        if slot.ends_at.is_some() && !slot.ends_on_time {
            // It lasts as long as it should from when it is in force.
            slot.ends_at = Some(now.saturating_add(slot.lasts));
        }
        if slot.ends_at.is_none() {
            self.groups.iter_mut().for_each(|group| group.over(fault, now));
        }
    }

    /// The fault could not begin: nothing is in force.
    pub fn skipped(&mut self, now: Nanos, fault: usize) {
        let slot = &mut self.slots[fault];
        slot.is_busy = false;
        slot.ends_at = None;
        if let Timing::Paced(paced) = &mut slot.timing {
            paced.skipped(now);
        }
        self.groups.iter_mut().for_each(|group| group.over(fault, now));
    }

    /// What the fault waits for has happened.
    pub fn fire(&mut self, fault: usize, cause: Cause) {
        if let Some(Slot { timing: Timing::Triggered(triggered), .. }) = self.slots.get_mut(fault) {
            triggered.fire(cause);
        }
    }

    /// Sees every event that the run records.
    pub fn observe(&mut self, event: &Event) {
        if event.process != Process::Nemesis {
            self.triggered().for_each(|triggered| triggered.observe_client(event));
            return;
        }
        match FaultRecord::of(event) {
            Some(FaultRecord::View { view }) => {
                for slot in &mut self.slots {
                    match &mut slot.timing {
                        Timing::Triggered(triggered) => triggered.observe_view(event.time, &view),
                        Timing::Paced(paced) => paced.observe_view(event.time, &view),
                        Timing::Clocked(_) | Timing::Turn => {}
                    }
                }
            }
            Some(FaultRecord::Phase { phase }) => {
                self.triggered().for_each(|triggered| triggered.observe_phase(event.time, phase));
            }
            _ => {}
        }
    }

    fn triggered(&mut self) -> impl Iterator<Item = &mut Triggered> {
        self.slots.iter_mut().filter_map(|slot| match &mut slot.timing {
            Timing::Triggered(triggered) => Some(triggered),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests;
