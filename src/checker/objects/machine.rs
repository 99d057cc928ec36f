//! An object in numbers: each state and each operation that a search meets is kept once, and each step is
//! taken once.

use std::hash::Hash;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::object::Object;
use super::seen::Timed;

/// What a search needs to know of an object.
pub(super) trait Steps {
    /// The state after the operation, if it can happen in this one.
    fn step(&mut self, state: u32, operation: u32) -> Option<u32>;

    /// See [`Object::hopeless`].
    fn is_hopeless(&mut self, state: u32, wanted: u32) -> bool;

    /// Whether an operation that resets may lead to a state in which `wanted` can happen.
    fn may_lead_to(&mut self, wanted: u32, resetting: u32) -> bool;

    /// Bytes taken by states and steps.
    fn bytes(&self) -> usize;
}

/// What the object holds at first.
pub(super) const INITIAL: u32 = 0;

/// Stands for "cannot happen" among steps.
const IMPOSSIBLE: u32 = u32::MAX;

pub(super) struct Machine<'a, O: Object> {
    object: &'a O,
    operations: Interned<O::Operation>,
    states: Interned<O::State>,
    steps: FxHashMap<(u32, u32), u32>,
    hopeless: FxHashMap<(u32, u32), bool>,
    leads: FxHashMap<(u32, u32), bool>,
    lost: Lost,
    weight: usize,
}

/// What is known of states in which no observation of the history can happen any more.
#[derive(Default)]
struct Lost {
    /// The observations; none where such states are not alike, or where it takes too long to tell.
    observations: Vec<u32>,
    /// By state: the one that stands for it.
    stands_for: Vec<u32>,
    /// The first such state, which stands for all.
    first: Option<u32>,
}

/// With more observations than these, looking at all of them for each state costs more than it saves.
const OBSERVATIONS: usize = 1_000;

type Interned<T> = IndexSet<T, FxBuildHasher>;

impl<'a, O: Object> Machine<'a, O> {
    pub fn new(object: &'a O) -> Machine<'a, O> {
        let mut states = Interned::default();
        states.insert(object.init());
        Machine {
            object,
            operations: Interned::default(),
            states,
            steps: FxHashMap::default(),
            hopeless: FxHashMap::default(),
            leads: FxHashMap::default(),
            lost: Lost { stands_for: vec![INITIAL], ..Lost::default() },
            weight: 0,
        }
    }

    /// The number of an operation; equal ones have the same.
    pub fn number(&mut self, operation: &O::Operation) -> u32 {
        number(&mut self.operations, operation)
    }

    pub fn operation(&self, number: u32) -> &O::Operation {
        &self.operations[number as usize]
    }

    /// The operations in numbers.
    pub fn numbered(&mut self, operations: &[Timed<O::Operation>]) -> Vec<Timed<u32>> {
        let number = |timed: &Timed<O::Operation>| Timed {
            operation: self.number(&timed.operation),
            invoke: timed.invoke,
            complete: timed.complete,
            origin: timed.origin,
        };
        let numbered = operations.iter().map(number).collect();
        if self.object.overwrites() {
            let all = 0..self.operations.len() as u32;
            let observations = all.filter(|o| self.object.observes(self.operation(*o)));
            self.lost.observations = observations.collect();
        }
        if self.lost.observations.len() > OBSERVATIONS {
            self.lost.observations.clear();
        }
        numbered
    }

    /// Takes in a state that was not met before; which state stands for it.
    fn meet(&mut self, state: u32) -> u32 {
        let Lost { observations, .. } = &self.lost;
        let holds = &self.states[state as usize];
        let is_hopeless = |o: &u32| self.object.hopeless(holds, &self.operations[*o as usize]);
        // The latest observations are the likeliest.
        let is_lost = !observations.is_empty() && observations.iter().rev().all(is_hopeless);
        let one = if is_lost { *self.lost.first.get_or_insert(state) } else { state };
        self.lost.stands_for.push(one);
        one
    }
}

fn number<T: Clone + Eq + Hash>(known: &mut Interned<T>, item: &T) -> u32 {
    match known.get_index_of(item) {
        Some(number) => number as u32,
        None => known.insert_full(item.clone()).0 as u32,
    }
}

impl<O: Object> Steps for Machine<'_, O> {
    fn step(&mut self, state: u32, operation: u32) -> Option<u32> {
        if let Some(next) = self.steps.get(&(state, operation)) {
            return (*next != IMPOSSIBLE).then_some(*next);
        }
        let operation_itself = &self.operations[operation as usize];
        let next = match self.object.step(&self.states[state as usize], operation_itself) {
            None => IMPOSSIBLE,
            Some(next) => {
                let weight = self.object.weight(&next);
                let (number, is_new) = self.states.insert_full(next);
                self.weight += if is_new { weight } else { 0 };
                match is_new {
                    true => self.meet(number as u32),
                    false => self.lost.stands_for[number],
                }
            }
        };
        self.steps.insert((state, operation), next);
        (next != IMPOSSIBLE).then_some(next)
    }

    fn is_hopeless(&mut self, state: u32, wanted: u32) -> bool {
        let Machine { object, operations, states, .. } = self;
        *self.hopeless.entry((state, wanted)).or_insert_with(|| {
            object.hopeless(&states[state as usize], &operations[wanted as usize])
        })
    }

    fn may_lead_to(&mut self, wanted: u32, resetting: u32) -> bool {
        let Machine { object, operations, leads, .. } = self;
        *leads.entry((wanted, resetting)).or_insert_with(|| {
            object.may_tell(&operations[wanted as usize], &operations[resetting as usize])
        })
    }

    fn bytes(&self) -> usize {
        self.weight
            + self.states.capacity() * 2 * size_of::<usize>()
            + self.steps.capacity() * size_of::<((u32, u32), u32)>()
            + (self.hopeless.capacity() + self.leads.capacity()) * size_of::<((u32, u32), bool)>()
    }
}
