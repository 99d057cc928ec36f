//! What does not change during a search: the events in order, slots, and classes of open
//! operations.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use super::groups::Groups;
use super::service::Service;
use crate::checker::linearizability::operation::{Effect, Operation, ValueId};
use crate::checker::linearizability::relevance::Observed;

/// An invocation or a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub operation: u32,
    pub completes: bool,
}

/// Open operations of the same effect, in order of invocation: which one is used makes no
/// difference.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub effect: Effect,
    pub members: Vec<u32>,
}

pub(super) struct Plan<'a> {
    pub operations: &'a [Operation],
    pub observed: &'a Observed,
    values: usize,
    pub classes: Vec<Class>,
    /// Operations in flight at once, at most.
    pub slots: usize,
    steps: Vec<Step>,
    /// By operation: its slot while in flight, or its class if it is open.
    places: Vec<u32>,
    /// By operation: the number of its effect where others share it, else `ALONE`. This and the next are
    /// made when first asked for, which an easy search never does.
    kin: OnceCell<Vec<u32>>,
    service: OnceCell<Service>,
    sightings: FxHashMap<ValueId, Sightings>,
}

/// The kin of an operation whose effect no other has.
const ALONE: u32 = u32::MAX;

/// Who may observe a value that open operations can make.
#[derive(Clone, Debug, Default)]
struct Sightings {
    /// Completions, ascending.
    completions: Vec<u32>,
    open: usize,
}

impl<'a> Plan<'a> {
    pub fn new(operations: &'a [Operation], values: usize, observed: &'a Observed) -> Plan<'a> {
        let mut plan = Plan {
            operations,
            observed,
            values,
            classes: Vec::new(),
            slots: 0,
            steps: steps(operations),
            places: vec![0; operations.len()],
            kin: OnceCell::new(),
            service: OnceCell::new(),
            sightings: FxHashMap::default(),
        };
        plan.place();
        plan.sight();
        plan
    }

    /// Gives each operation a slot, reusing those that have become free, or a class.
    fn place(&mut self) {
        let mut by_effect: FxHashMap<Effect, u32> = FxHashMap::default();
        let mut free: Vec<u32> = Vec::new();
        for step in &self.steps {
            let operation = &self.operations[step.operation as usize];
            let place = &mut self.places[step.operation as usize];
            if step.completes {
                free.push(*place);
            } else if operation.is_open() {
                *place = *by_effect.entry(operation.effect).or_insert_with(|| {
                    let effect = operation.effect;
                    self.classes.push(Class { effect, members: Vec::new() });
                    self.classes.len() as u32 - 1
                });
                self.classes[*place as usize].members.push(step.operation);
            } else {
                *place = free.pop().unwrap_or_else(|| {
                    self.slots += 1;
                    self.slots as u32 - 1
                });
            }
        }
    }

    /// Finds who may observe what open operations make. Evidence of difference observes any value.
    fn sight(&mut self) {
        if self.classes.is_empty() {
            return;
        }
        let made = self.classes.iter().filter_map(|class| class.effect.produces());
        self.sightings = made.map(|value| (value, Sightings::default())).collect();
        for operation in self.operations {
            let Some(value) = operation.effect.observes() else { continue };
            let Some(sightings) = self.sightings.get_mut(&value) else { continue };
            match operation.is_open() {
                true => sightings.open += 1,
                false => sightings.completions.push(operation.complete),
            }
        }
        let differs = self.operations.iter().filter(|o| matches!(o.effect, Effect::Differs(_)));
        let differs: Vec<u32> = differs.map(|operation| operation.complete).collect();
        for sightings in self.sightings.values_mut() {
            sightings.completions.extend(&differs);
            sightings.completions.sort_unstable();
        }
    }

    /// The group of operations, two at least, that have this one's effect.
    pub fn kin(&self, operation: u32) -> Option<u32> {
        let kin = self.kin.get_or_init(|| kin(self.operations, self.values));
        Some(kin[operation as usize]).filter(|kin| *kin != ALONE)
    }

    pub fn service(&self) -> &Service {
        self.service.get_or_init(|| Service::of(self.operations, self.values))
    }

    /// Whether so many open operations of the class are as good as any number: a use that nobody
    /// observes is a waste, and there are no more who could observe one.
    pub fn is_plenty(&self, class: u32, left: u32, now: u32) -> bool {
        let value = self.classes[class as usize].effect.produces();
        let Some(sightings) = value.and_then(|value| self.sightings.get(&value)) else {
            return false;
        };
        let over = sightings.completions.partition_point(|completion| *completion < now);
        left as usize >= sightings.completions.len() - over + sightings.open
    }

    pub fn length(&self) -> usize {
        self.steps.len()
    }

    pub fn event(&self, position: usize) -> Step {
        self.steps[position]
    }

    pub fn is_open(&self, operation: u32) -> bool {
        self.operations[operation as usize].is_open()
    }

    pub fn slot(&self, operation: u32) -> usize {
        self.places[operation as usize] as usize
    }

    pub fn class_of(&self, operation: u32) -> u32 {
        self.places[operation as usize]
    }

    /// The moment of the event at this position, which is a completion.
    pub fn now(&self, position: usize) -> u32 {
        self.operations[self.steps[position].operation as usize].complete
    }
}

fn kin(operations: &[Operation], values: usize) -> Vec<u32> {
    let mut groups = Groups::of(operations.len(), values);
    let mut sizes: Vec<u32> = Vec::new();
    let mut kin = vec![ALONE; operations.len()];
    for (operation, kin) in operations.iter().zip(&mut kin) {
        if operation.effect.produces().is_some() {
            let group = groups.number(operation.effect, sizes.len() as u32);
            sizes.resize(sizes.len().max(group as usize + 1), 0);
            sizes[group as usize] += 1;
            *kin = group;
        }
    }
    for kin in kin.iter_mut().filter(|kin| **kin != ALONE && sizes[**kin as usize] == 1) {
        *kin = ALONE;
    }
    kin
}

/// The events of operations that are in order of invocation: only completions need sorting.
fn steps(operations: &[Operation]) -> Vec<Step> {
    let closed = (0..).zip(operations).filter(|(_, operation)| !operation.is_open());
    // Moment and position in one number sort faster than a pair.
    let mut completions: Vec<u64> = closed
        .map(|(position, o): (u32, _)| u64::from(o.complete) << 32 | u64::from(position))
        .collect();
    completions.sort_unstable();
    let mut steps = Vec::with_capacity(operations.len() + completions.len());
    let completion = |packed: u64| Step { operation: packed as u32, completes: true };
    let mut next = 0;
    for (position, operation) in (0..).zip(operations) {
        while let Some(packed) =
            completions.get(next).filter(|c| (**c >> 32) < u64::from(operation.invoke))
        {
            steps.push(completion(*packed));
            next += 1;
        }
        steps.push(Step { operation: position, completes: false });
    }
    steps.extend(completions[next..].iter().map(|packed| completion(*packed)));
    steps
}
