//! Climbs the counts of one counter in one term and finds the first that cannot have been told.

use std::collections::BTreeMap;

use crate::checker::kvrocks::counters::Count;
use crate::op::{Event, Nanos};

/// What was told of a counter in one term, and the increments that may have happened in it.
pub(super) struct Climb<'a> {
    /// The first term begins with 0; others with whatever was left.
    term: usize,
    pub increments: Vec<Count<'a>>,
    pub reads: Vec<Count<'a>>,
    pub unknown: Vec<&'a Event>,
}

/// Why no order explains the counts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault<'a> {
    Twice {
        one: Count<'a>,
        other: Count<'a>,
    },
    /// An increment was answered a count that had been told, or passed, before it was asked for.
    Backward {
        before: Count<'a>,
        increment: Count<'a>,
    },
    /// So many counts need increments of unknown fate, and only so many had been asked for.
    TooMany {
        told: Count<'a>,
        needed: usize,
        asked: usize,
    },
}

/// All that was told of one count.
#[derive(Clone, Copy)]
struct Step<'a> {
    increment: Option<Count<'a>>,
    /// It was reached before this answer ended: the first that ended of those of this count or more.
    before: Count<'a>,
}

/// What keeps a count from having been reached earlier.
#[derive(Clone, Copy)]
enum Low<'a> {
    Increment(Count<'a>),
    /// The increments of unknown fate that were needed by then.
    Unknown(usize),
}

impl<'a> Climb<'a> {
    pub fn of_term(term: usize) -> Climb<'a> {
        Climb { term, increments: Vec::new(), reads: Vec::new(), unknown: Vec::new() }
    }

    pub fn fault(mut self) -> Option<Fault<'a>> {
        self.increments.sort_by_key(|told| (told.count, told.answer.end));
        let twice = self.increments.windows(2).find(|two| two[0].count == two[1].count);
        if let Some(two) = twice {
            return Some(Fault::Twice { one: two[0], other: two[1] });
        }
        self.leave_out_stale_reads();
        self.unknown.sort_by_key(|event| event.time);
        let base = self.base();
        let below = |told: &&Count| told.count < base;
        let no_count = self.increments.iter().filter(|told| told.count <= base);
        if let Some(told) = no_count.chain(self.reads.iter().filter(below)).next() {
            // A counter that begins with 0 is never below.
            return Some(Fault::TooMany { told: *told, needed: 0, asked: 0 });
        }
        self.climb(base)
    }

    /// Reads of less than what had been told before they were asked for.
    fn leave_out_stale_reads(&mut self) {
        let mut ends: Vec<(Nanos, i64)> = self
            .increments
            .iter()
            .chain(&self.reads)
            .map(|told| (told.answer.end, told.count))
            .collect();
        ends.sort_unstable();
        let mut most = i64::MIN;
        for (_, count) in &mut ends {
            most = most.max(*count);
            *count = most;
        }
        self.reads.retain(|read| {
            let before = ends.partition_point(|(end, _)| *end < read.answer.start);
            before.checked_sub(1).is_none_or(|last| ends[last].1 <= read.count)
        });
    }

    /// What the term began with, at most.
    fn base(&self) -> i64 {
        if self.term == 0 {
            return 0;
        }
        let increments = self.increments.iter().map(|told| told.count.saturating_sub(1));
        increments.chain(self.reads.iter().map(|told| told.count)).min().unwrap_or(0)
    }

    fn steps(&self) -> Vec<(i64, Step<'a>)> {
        let mut steps: BTreeMap<i64, Step> = BTreeMap::new();
        for told in self.increments.iter().chain(&self.reads) {
            let fresh = Step { increment: None, before: *told };
            let step = steps.entry(told.count).or_insert(fresh);
            if told.answer.end < step.before.answer.end {
                step.before = *told;
            }
        }
        for told in &self.increments {
            if let Some(step) = steps.get_mut(&told.count) {
                step.increment = Some(*told);
            }
        }
        let mut steps: Vec<(i64, Step)> = steps.into_iter().collect();
        for position in (1..steps.len()).rev() {
            let later = steps[position].1.before;
            let before = &mut steps[position - 1].1.before;
            if later.answer.end < before.answer.end {
                *before = later;
            }
        }
        steps
    }

    fn climb(&self, base: i64) -> Option<Fault<'a>> {
        let (mut reached, mut needed) = (base, 0_usize);
        let mut low: Option<(Nanos, Low)> = None;
        let mut raise = |time: Nanos, by: Low<'a>| -> (Nanos, Low<'a>) {
            let kept = low.filter(|(known, _)| *known >= time).unwrap_or((time, by));
            low = Some(kept);
            kept
        };
        for (count, step) in self.steps() {
            let before = step.before;
            let by_then = |event: &&&Event| event.time <= before.answer.end;
            let asked = || self.unknown.iter().filter(by_then).count();
            // Counts on the way that nobody was told to have made.
            let silent =
                i128::from(count) - i128::from(reached) - i128::from(step.increment.is_some());
            reached = count;
            let mut lowest = None;
            if silent > 0 {
                needed = usize::try_from(silent).map_or(usize::MAX, |n| needed.saturating_add(n));
                let Some(last) = self.unknown.get(needed - 1) else {
                    return Some(Fault::TooMany { told: before, needed, asked: asked() });
                };
                lowest = Some(raise(last.time, Low::Unknown(needed)));
            }
            if let Some(increment) = step.increment {
                lowest = Some(raise(increment.answer.start, Low::Increment(increment)));
            }
            match lowest.filter(|(time, _)| *time > before.answer.end) {
                None => {}
                Some((_, Low::Increment(increment))) => {
                    return Some(Fault::Backward { before, increment });
                }
                Some((_, Low::Unknown(needed))) => {
                    return Some(Fault::TooMany { told: before, needed, asked: asked() });
                }
            }
        }
        None
    }
}
