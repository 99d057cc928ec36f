//! Violations that are plain to see whatever the values: a value seen after it was surely replaced,
//! or before anybody can have written it. O(n log n); it finds no others, so it proves no order.

use crate::checker::linearizability::operation::{Effect, INITIAL, Operation, ValueId};

/// A value seen when the register cannot have held it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Evident {
    pub seen: Operation,
    /// What proves it alone, where that is writes and reads only.
    pub proof: Option<Vec<Operation>>,
}

/// Who makes each value: invocations ascending, each with the latest completion up to it.
struct Producers {
    starts: Vec<u32>,
    made: Vec<(u32, u32)>,
}

/// Of what is over, the two operations invoked last that hold different values.
#[derive(Default)]
struct Newest {
    first: Option<(Operation, ValueId)>,
    second: Option<(Operation, ValueId)>,
}

/// Finds the one that shows first; plain proofs go before others.
pub(super) fn find(operations: &[Operation], values: usize) -> Option<Evident> {
    let producers = Producers::of(operations, values);
    let mut over: Vec<Operation> = operations.iter().filter(|o| !o.is_open()).copied().collect();
    over.sort_unstable_by_key(|operation| operation.complete);
    let plain = |operation: &Operation| matches!(operation.effect, Effect::Write(_));
    let found = sweep(operations, &over, &producers, plain);
    let found = found.or_else(|| sweep(operations, &over, &producers, |_| true));
    found.map(|(seen, evidence)| Evident { seen, proof: proof(operations, seen, evidence) })
}

/// Who saw a replaced value, and what proves that it was replaced (nothing: it was never written).
fn sweep(
    operations: &[Operation],
    over: &[Operation],
    producers: &Producers,
    counts: impl Fn(&Operation) -> bool,
) -> Option<(Operation, Option<Operation>)> {
    let mut newest = Newest::default();
    let mut over = over.iter().filter(|operation| counts(operation)).peekable();
    let mut found: Option<(Operation, Option<Operation>)> = None;
    for seen in operations.iter().filter(|operation| !operation.is_open()) {
        while let Some(operation) = over.next_if(|other| other.complete < seen.invoke) {
            newest.note(*operation);
        }
        let Some(value) = seen.effect.observes() else { continue };
        let is_first = found.is_none_or(|(first, _)| seen.complete < first.complete);
        let evidence = match producers.settled(value, seen.complete) {
            None => Some(None),
            Some(settled) => newest.since(settled, value).map(Some),
        };
        if let (true, Some(evidence)) = (is_first, evidence) {
            found = Some((*seen, evidence));
        }
    }
    found
}

/// The operations that are a proof by themselves: all that may have written the value, what replaced
/// it, and who saw it still. Compare-and-sets rest on what they replaced, so they are none.
fn proof(
    operations: &[Operation],
    seen: Operation,
    evidence: Option<Operation>,
) -> Option<Vec<Operation>> {
    let makes = |o: &Operation| {
        o.effect.produces() == seen.effect.observes() && o.invoke < seen.complete && *o != seen
    };
    let is_part = |o: &&Operation| makes(o) || **o == seen || Some(**o) == evidence;
    let proof: Vec<Operation> = operations.iter().filter(is_part).copied().collect();
    let rests = |o: &Operation| *o != seen && !matches!(o.effect, Effect::Write(_));
    (!proof.iter().any(rests)).then_some(proof)
}

impl Producers {
    fn of(operations: &[Operation], values: usize) -> Producers {
        let mut starts = vec![0_u32; values + 1];
        for value in operations.iter().filter_map(|operation| operation.effect.produces()) {
            starts[value as usize + 1] += 1;
        }
        for value in 0..values {
            starts[value + 1] += starts[value];
        }
        let mut ends = starts.clone();
        let mut made = vec![(0, 0); starts[values] as usize];
        for operation in operations {
            let Some(value) = operation.effect.produces() else { continue };
            let (start, end) = (starts[value as usize] as usize, &mut ends[value as usize]);
            let place = *end as usize;
            let before = if place > start { made[place - 1].1 } else { 0 };
            made[place] = (operation.invoke, operation.complete.max(before));
            *end += 1;
        }
        Producers { starts, made }
    }

    /// The moment after which nobody wrote the value any more, up to another moment; `None` if nobody
    /// ever did by then.
    fn settled(&self, value: ValueId, until: u32) -> Option<u32> {
        let value = value as usize;
        let made = &self.made[self.starts[value] as usize..self.starts[value + 1] as usize];
        let invoked = made.partition_point(|(invoke, _)| *invoke < until);
        let first = (value == INITIAL as usize).then_some(0);
        invoked.checked_sub(1).map(|last| made[last].1).or(first)
    }
}

impl Newest {
    fn note(&mut self, operation: Operation) {
        let effect = operation.effect;
        let Some(value) = effect.produces().or(effect.observes()) else { return };
        let is_newer = |known: &Option<(Operation, ValueId)>| {
            known.is_none_or(|(other, _)| operation.invoke > other.invoke)
        };
        if is_newer(&self.first) {
            if self.first.is_some_and(|(_, other)| other != value) {
                self.second = self.first;
            }
            self.first = Some((operation, value));
        } else if self.first.is_some_and(|(_, other)| other != value) && is_newer(&self.second) {
            self.second = Some((operation, value));
        }
    }

    /// What was invoked after this moment and held another value.
    fn since(&self, settled: u32, value: ValueId) -> Option<Operation> {
        let other = [self.first, self.second].into_iter().flatten().find(|(_, v)| *v != value);
        other.map(|(operation, _)| operation).filter(|operation| operation.invoke > settled)
    }
}
