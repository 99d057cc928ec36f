//! What does not change during a search: the events in order, the slots of operations in flight, and the
//! classes of equal open operations.

use rustc_hash::FxHashMap;

use super::{Candidate, Taken};
use crate::checker::objects::decide::tells;
use crate::checker::objects::machine::Machine;
use crate::checker::objects::object::Object;
use crate::checker::objects::seen::{NEVER, Timed};

/// An invocation or a completion of the operation at this position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub position: u32,
    pub completes: bool,
}

/// Open operations that are equal, in order of invocation: which one is used makes no difference.
#[derive(Debug)]
pub(super) struct Class {
    pub members: Vec<u32>,
    /// What each of them may have been.
    pub alternatives: Vec<u32>,
    pub resets: bool,
    /// The last completion of an operation that may tell that one of them happened.
    told: u32,
}

impl Class {
    /// Whether it may matter from now on that one of them happens.
    pub fn may_be_told(&self, now: u32) -> bool {
        self.told >= now
    }
}

/// What helps to find an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guide {
    /// As soon as it can happen, it is never worse that it does.
    pub is_eager: bool,
    /// Where several may happen, those of lower rank are tried first.
    pub rank: u32,
}

/// The operations of one search, made ready for it.
pub(in crate::checker::objects) struct Plan {
    pub(super) operations: Vec<Timed<u32>>,
    pub(super) classes: Vec<Class>,
    /// Operations in flight at once, at most.
    pub(super) slots: usize,
    events: Vec<Event>,
    /// By position: the slot while in flight, or the class if open.
    places: Vec<u32>,
    /// By number of the operation: whether it resets.
    reset: Vec<bool>,
    guide: Vec<Guide>,
    /// Events at which operations complete that observe, ascending.
    observations: Vec<u32>,
    /// Events at which operations that reset are invoked, open ones apart.
    resets: Vec<u32>,
}

impl Plan {
    /// The operations are in order of invocation.
    pub fn new<O: Object>(
        object: &O,
        machine: &mut Machine<O>,
        timed: &[Timed<O::Operation>],
    ) -> Plan {
        let operations = machine.numbered(timed);
        let mut plan = Plan {
            events: events(&operations),
            places: vec![0; operations.len()],
            operations,
            classes: Vec::new(),
            slots: 0,
            reset: Vec::new(),
            guide: object.guide(timed),
            observations: Vec::new(),
            resets: Vec::new(),
        };
        plan.place(object, machine, timed);
        plan.characterize(object, machine);
        plan
    }

    /// Gives each operation a slot, reusing those that have become free, or a class.
    fn place<O: Object>(
        &mut self,
        object: &O,
        machine: &mut Machine<O>,
        timed: &[Timed<O::Operation>],
    ) {
        let mut by_operation: FxHashMap<u32, u32> = FxHashMap::default();
        let mut free: Vec<u32> = Vec::new();
        for event in &self.events {
            let operation = &self.operations[event.position as usize];
            let place = &mut self.places[event.position as usize];
            if event.completes {
                free.push(*place);
            } else if operation.is_open() {
                *place = *by_operation.entry(operation.operation).or_insert_with(|| {
                    self.classes.push(class(object, machine, timed, event.position));
                    self.classes.len() as u32 - 1
                });
                self.classes[*place as usize].members.push(event.position);
            } else {
                *place = free.pop().unwrap_or_else(|| {
                    self.slots += 1;
                    self.slots as u32 - 1
                });
            }
        }
    }

    fn characterize<O: Object>(&mut self, object: &O, machine: &Machine<O>) {
        let most = self.operations.iter().map(|operation| operation.operation + 1).max();
        self.reset =
            (0..most.unwrap_or(0)).map(|number| object.resets(machine.operation(number))).collect();
        for (at, event) in self.events.iter().enumerate() {
            let operation = &self.operations[event.position as usize];
            let number = operation.operation;
            if event.completes && object.observes(machine.operation(number)) {
                self.observations.push(at as u32);
            }
            if !event.completes && !operation.is_open() && self.reset[number as usize] {
                self.resets.push(at as u32);
            }
        }
    }

    pub(super) fn length(&self) -> usize {
        self.events.len()
    }

    pub(super) fn event(&self, at: usize) -> Event {
        self.events[at]
    }

    pub(super) fn is_open(&self, position: u32) -> bool {
        self.operations[position as usize].is_open()
    }

    pub(super) fn slot(&self, position: u32) -> usize {
        self.places[position as usize] as usize
    }

    pub(super) fn class(&self, position: u32) -> usize {
        self.places[position as usize] as usize
    }

    pub(super) fn guide(&self, position: u32) -> Guide {
        self.guide[position as usize]
    }

    pub(super) fn resets(&self, position: u32) -> bool {
        self.reset[self.operations[position as usize].operation as usize]
    }

    /// The moment of the event, which is a completion.
    pub(super) fn now(&self, at: usize) -> u32 {
        self.operations[self.events[at].position as usize].complete
    }

    /// The events at or after this one at which an observation completes.
    pub(super) fn observations_from(&self, at: usize) -> &[u32] {
        let first = self.observations.partition_point(|event| (*event as usize) < at);
        &self.observations[first..]
    }

    /// The operations that reset and are invoked between the two events, open ones apart.
    pub(super) fn resets_between(&self, from: usize, to: usize) -> impl Iterator<Item = u32> {
        let first = self.resets.partition_point(|event| (*event as usize) < from);
        let coming = self.resets[first..].iter().take_while(move |event| (**event as usize) < to);
        coming.map(|event| {
            let position = self.events[*event as usize].position;
            self.operations[position as usize].operation
        })
    }

    /// The open operations that reset and may matter between the two events.
    pub(super) fn open_resets(&self, from: usize, to: usize) -> impl Iterator<Item = u32> {
        let (now, until) = (self.now(from), self.now(to));
        let begins = move |class: &&Class| {
            class.resets
                && class.may_be_told(now)
                && class
                    .members
                    .first()
                    .is_some_and(|first| self.operations[*first as usize].invoke < until)
        };
        self.classes.iter().filter(begins).flat_map(|class| class.alternatives.iter().copied())
    }

    /// How many operations complete before this event.
    pub(super) fn completed(&self, at: usize) -> usize {
        self.events[..at].iter().filter(|event| event.completes).count()
    }

    /// The order that a search took: which open operation was used when.
    pub(super) fn resolve(&self, order: &[(Candidate, u32)]) -> Vec<Taken> {
        let mut used = vec![0; self.classes.len()];
        let taken = order.iter().map(|(candidate, operation)| {
            let position = match candidate {
                Candidate::Slot(position) => *position,
                Candidate::Open { class, .. } => {
                    let next = &mut used[*class as usize];
                    *next += 1;
                    // Out of range only if the search was wrong; the replay then refuses the order.
                    let member = self.classes[*class as usize].members.get(*next - 1);
                    member.copied().unwrap_or(u32::MAX)
                }
            };
            Taken { position, operation: *operation }
        });
        taken.collect()
    }
}

fn class<O: Object>(
    object: &O,
    machine: &mut Machine<O>,
    timed: &[Timed<O::Operation>],
    position: u32,
) -> Class {
    let open = &timed[position as usize];
    let alternatives = object.alternatives(&open.operation, timed);
    let may_tell = |by: &&Timed<O::Operation>| {
        // That one of a class tells of another of it only matters if somebody else tells of it.
        let is_another = !by.is_open() || by.operation != open.operation;
        is_another && tells(object, by, open)
    };
    Class {
        members: Vec::new(),
        told: timed.iter().filter(may_tell).map(|by| by.complete).max().unwrap_or(0),
        resets: alternatives.iter().any(|operation| object.resets(operation)),
        alternatives: alternatives.iter().map(|operation| machine.number(operation)).collect(),
    }
}

fn events(operations: &[Timed<u32>]) -> Vec<Event> {
    let mut timed: Vec<(u32, Event)> = Vec::with_capacity(2 * operations.len());
    for (position, operation) in operations.iter().enumerate() {
        let event = |completes| Event { position: position as u32, completes };
        timed.push((operation.invoke, event(false)));
        if operation.complete != NEVER {
            timed.push((operation.complete, event(true)));
        }
    }
    timed.sort_unstable_by_key(|(time, _)| *time);
    timed.into_iter().map(|(_, event)| event).collect()
}
