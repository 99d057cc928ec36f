//! Which write can serve which observer: what no write between them forbids. O(n log n).
//!
//! A write that can serve nobody any more may hide behind the next write, and an observer that
//! nobody can serve any more makes a search turn back.

use std::ops::Range;

use crate::checker::linearizability::operation::{Effect, NEVER, Operation, ValueId};

pub(super) struct Service {
    /// By operation: the last completion of an observer that it can serve, 0 for nobody.
    useful_until: Vec<u32>,
    /// By operation: the last invocation, before it completes, of one that can make what it observes.
    last_source: Vec<u32>,
    makers: ByValue,
    observers: ByValue,
    /// Beside the observers: of each and those after it the one that completes first.
    soonest: Vec<u32>,
}

/// Moments of operations by value, ascending by the first, the second the latest so far.
struct ByValue {
    /// Where each value's moments begin, and the end of all.
    starts: Vec<u32>,
    moments: Vec<(u32, u32)>,
    /// Beside the moments.
    operations: Vec<u32>,
}

impl ByValue {
    fn of(
        operations: &[Operation],
        values: usize,
        value: impl Fn(Effect) -> Option<ValueId>,
    ) -> ByValue {
        let mut starts = vec![0_u32; values + 2];
        for value in operations.iter().filter_map(|operation| value(operation.effect)) {
            starts[value as usize + 2] += 1;
        }
        for value in 2..starts.len() {
            starts[value] += starts[value - 1];
        }
        // While they are filled in, each start stands one place further: there the next goes.
        let mut moments = vec![(0, 0); starts[values + 1] as usize];
        let mut numbers = vec![0; moments.len()];
        for (operation, number) in operations.iter().zip(0..) {
            let Some(value) = value(operation.effect) else { continue };
            let place = &mut starts[value as usize + 1];
            moments[*place as usize] = (operation.invoke, operation.complete);
            numbers[*place as usize] = number;
            *place += 1;
        }
        for bounds in starts.windows(2) {
            let mut latest = 0;
            for (_, complete) in &mut moments[bounds[0] as usize..bounds[1] as usize] {
                latest = latest.max(*complete);
                *complete = latest;
            }
        }
        ByValue { starts, moments, operations: numbers }
    }

    /// The last of those invoked before this moment, and the latest completion among them.
    fn before(&self, value: ValueId, moment: u32) -> Option<(u32, u32)> {
        let list = &self.moments[self.range(value)];
        let count = list.partition_point(|(invoke, _)| *invoke < moment);
        Some(list[count.checked_sub(1)?])
    }

    /// The place of the first that is invoked after this moment.
    fn after(&self, value: ValueId, moment: u32) -> Option<usize> {
        let range = self.range(value);
        let before = self.moments[range.clone()].partition_point(|(invoke, _)| *invoke <= moment);
        (range.start + before < range.end).then_some(range.start + before)
    }

    fn range(&self, value: ValueId) -> Range<usize> {
        let [start, end] = [value as usize, value as usize + 1].map(|place| self.starts[place]);
        start as usize..end as usize
    }

    /// Of each and those of its value after it the one that completes first.
    fn soonest(&self, operations: &[Operation]) -> Vec<u32> {
        let mut soonest = self.operations.clone();
        for bounds in self.starts.windows(2) {
            let mut first: Option<u32> = None;
            for number in soonest[bounds[0] as usize..bounds[1] as usize].iter_mut().rev() {
                let complete = |number: u32| operations[number as usize].complete;
                let sooner = first.filter(|first| complete(*first) < complete(*number));
                *number = sooner.unwrap_or(*number);
                first = Some(*number);
            }
        }
        soonest
    }
}

impl Service {
    /// Of operations in order of invocation.
    pub fn of(operations: &[Operation], values: usize) -> Service {
        let observers = ByValue::of(operations, values, Effect::observes);
        let makers = ByValue::of(operations, values, Effect::produces);
        let next = NextChanges::of(operations);
        // Evidence of difference is met by every other value, so anybody may serve it.
        let any = operations.iter().any(|o| matches!(o.effect, Effect::Differs(_)));
        let useful_until = operations.iter().map(|operation| {
            let Some(value) = operation.effect.produces() else { return 0 };
            let served = observers.before(value, next.done_after(operation.complete));
            let last = served.map_or(0, |(_, latest)| latest);
            if any { NEVER } else { last }
        });
        let last_source = operations.iter().map(|operation| {
            let observed = operation.effect.observes();
            let source = observed.and_then(|value| makers.before(value, operation.complete));
            source.map_or(0, |(invoke, _)| invoke)
        });
        Service {
            useful_until: useful_until.collect(),
            last_source: last_source.collect(),
            soonest: observers.soonest(operations),
            makers,
            observers,
        }
    }

    /// Of those invoked after `now` who surely observe this value the one that completes first, unless
    /// somebody invoked after `now` as well can make the value for it.
    pub fn needs(&self, operations: &[Operation], value: ValueId, now: u32) -> Option<u32> {
        let observer = self.soonest[self.observers.after(value, now)?];
        let complete = operations[observer as usize].complete;
        let maker = self.makers.after(value, now);
        let is_served = maker.is_some_and(|maker| self.makers.moments[maker].0 < complete);
        (!is_served && complete != NEVER).then_some(observer)
    }

    /// Whether what the operation makes may still be observed at or after `now`.
    pub fn matters(&self, operation: u32, now: u32) -> bool {
        self.useful_until[operation as usize] >= now
    }

    /// Whether something yet to be invoked may serve this operation.
    pub fn may_come(&self, operation: u32, now: u32) -> bool {
        self.last_source[operation as usize] > now
    }
}

/// Certain changes: invocations ascending, each with the earliest completion from it on.
struct NextChanges(Vec<(u32, u32)>);

impl NextChanges {
    fn of(operations: &[Operation]) -> NextChanges {
        let changes = operations.iter().filter(|o| !o.is_open() && o.effect.produces().is_some());
        let mut next: Vec<(u32, u32)> = changes.map(|o| (o.invoke, o.complete)).collect();
        let mut earliest = NEVER;
        for (_, complete) in next.iter_mut().rev() {
            earliest = earliest.min(*complete);
            *complete = earliest;
        }
        NextChanges(next)
    }

    /// The moment at which a change that was invoked after `moment` is surely over.
    fn done_after(&self, moment: u32) -> u32 {
        let place = self.0.partition_point(|(invoke, _)| *invoke <= moment);
        self.0.get(place).map_or(NEVER, |(_, complete)| *complete)
    }
}
