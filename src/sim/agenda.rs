//! The one event heap of a simulated world: what happens when, in exact virtual nanoseconds.
//!
//! Order is by time, then by the order in which the events were put in. It never looks at the events.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::op::Nanos;

struct Entry<E> {
    at: Nanos,
    sequence: u64,
    event: E,
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        // Reversed: the standard heap gives the greatest first, and the earliest is wanted.
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Entry<E> {}

/// Events still to come.
pub struct Agenda<E> {
    heap: BinaryHeap<Entry<E>>,
    sequence: u64,
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Agenda { heap: BinaryHeap::new(), sequence: 0 }
    }
}

impl<E> Agenda<E> {
    pub fn push(&mut self, at: Nanos, event: impl Into<E>) {
        self.sequence += 1;
        self.heap.push(Entry { at, sequence: self.sequence, event: event.into() });
    }

    /// Moves events to other times, none to before `now`. Order among equals stays.
    pub fn reschedule(&mut self, now: Nanos, moved: impl Fn(&E, Nanos) -> Nanos) {
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        for entry in &mut entries {
            entry.at = moved(&entry.event, entry.at).max(now);
        }
        self.heap = entries.into();
    }

    /// When the next event is due.
    pub fn next_at(&self) -> Option<Nanos> {
        self.heap.peek().map(|entry| entry.at)
    }

    /// Takes the next event if it is due by `now`.
    pub fn pop_due(&mut self, now: Nanos) -> Option<(Nanos, E)> {
        if self.next_at()? > now {
            return None;
        }
        self.heap.pop().map(|entry| (entry.at, entry.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_of_time_then_of_entry() {
        let mut agenda: Agenda<&str> = Agenda::default();
        agenda.push(20, "third");
        agenda.push(10, "first");
        agenda.push(10, "second");
        assert_eq!(agenda.next_at(), Some(10));
        assert_eq!(agenda.pop_due(9), None);
        let due: Vec<_> = std::iter::from_fn(|| agenda.pop_due(20)).collect();
        assert_eq!(due, [(10, "first"), (10, "second"), (20, "third")]);
        assert_eq!(agenda.next_at(), None);
    }

    #[test]
    fn events_can_be_moved_but_not_into_the_past() {
        let mut agenda: Agenda<u64> = Agenda::default();
        for number in [3, 1, 2] {
            agenda.push(number * 10, number);
        }
        agenda.reschedule(15, |number, at| if *number == 3 { 0 } else { at + 10 });
        let due: Vec<_> = std::iter::from_fn(|| agenda.pop_due(50)).collect();
        assert_eq!(due, [(15, 3), (20, 1), (30, 2)]);
    }
}
