//! When faults begin and end: a generator of nemesis steps. Each fault has its own clock; several
//! faults overlap freely, and a step that comes due while the nemesis is busy follows at once after.

use crate::duration::Span;
use crate::generator::{Context, Generator, Next, Step, To, What};
use crate::nemesis::fault::Fault;
use crate::op::Nanos;

/// Steps of all faults of a run, in order of time, until `end`.
pub struct Schedule {
    entries: Vec<Entry>,
    end: Nanos,
}

struct Entry {
    begins_at: Nanos,
    ends_at: Option<Nanos>,
    lasts: Nanos,
    every: Nanos,
}

impl Schedule {
    /// Faults begin only as long as they can end by `end`, except that the first of each always does.
    pub fn new<'a>(faults: impl IntoIterator<Item = &'a Fault>, end: Nanos) -> Schedule {
        let entry = |fault: &Fault| Entry {
            begins_at: fault.after.nanos(),
            ends_at: None,
            lasts: fault.lasts.nanos(),
            every: fault.every.map_or(Nanos::MAX / 2, Span::nanos),
        };
        Schedule { entries: faults.into_iter().map(entry).collect(), end }
    }

    /// The next step of any fault: its time, its fault's position, and what it is.
    fn upcoming(&self) -> Option<(Nanos, usize, Step)> {
        let step = |(fault, entry): (usize, &Entry)| match entry.ends_at {
            Some(at) => Some((at, fault, Step::End { fault })),
            None if entry.begins_at < self.end => {
                Some((entry.begins_at, fault, Step::Begin { fault }))
            }
            None => None,
        };
        self.entries.iter().enumerate().filter_map(step).min_by_key(|(at, fault, _)| (*at, *fault))
    }

    fn advance(&mut self, now: Nanos, step: Step) {
        match step {
            Step::Begin { fault } => {
                let entry = &mut self.entries[fault];
                entry.ends_at = Some(now + entry.lasts);
                entry.begins_at = (entry.begins_at + entry.every).max(now + entry.lasts);
                if entry.begins_at + entry.lasts > self.end {
                    entry.begins_at = Nanos::MAX;
                }
            }
            Step::End { fault } => self.entries[fault].ends_at = None,
        }
    }
}

impl Generator for Schedule {
    fn next(&mut self, ctx: &Context) -> Next {
        match self.upcoming() {
            None => Next::Done,
            Some((at, _, _)) if at > ctx.time => Next::Wait { until: Some(at) },
            Some(_) if !ctx.threads.nemesis_free => Next::Wait { until: None },
            Some((_, _, step)) => {
                self.advance(ctx.time, step);
                Next::Do { what: What::Nemesis(step), to: To::Any }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::Threads;
    use crate::nemesis::fault::FaultKind;
    use crate::nemesis::target::Target;
    use crate::op::SECOND;

    fn fault(after: u64, lasts: u64, every: u64) -> Fault {
        let [after, lasts, every] = [after, lasts, every].map(Span::seconds);
        let mut fault = Fault::new(FaultKind::Kill);
        fault.target = Some(Target::One);
        (fault.after, fault.lasts, fault.every) = (after, lasts, Some(every));
        fault
    }

    fn steps(faults: &[Fault], end: u64) -> Vec<(u64, Step)> {
        let mut schedule = Schedule::new(faults, end * SECOND);
        let threads = Threads::new(1, 1);
        let mut time = 0;
        let mut steps = Vec::new();
        loop {
            match schedule.next(&Context::new(time, &threads)) {
                Next::Do { what: What::Nemesis(step), .. } => steps.push((time / SECOND, step)),
                Next::Wait { until: Some(at) } => time = at,
                Next::Done => return steps,
                other => panic!("unexpected {other:?}"),
            }
        }
    }

    #[test]
    fn a_fault_repeats_and_the_last_one_ends_within_the_run() {
        let begin = Step::Begin { fault: 0 };
        let end = Step::End { fault: 0 };
        assert_eq!(
            steps(&[fault(5, 10, 20)], 60),
            [(5, begin), (15, end), (25, begin), (35, end), (45, begin), (55, end)]
        );
    }

    #[test]
    fn two_faults_overlap() {
        let found = steps(&[fault(1, 10, 100), fault(5, 2, 100)], 60);
        let order: Vec<u64> = found.iter().map(|(at, _)| *at).collect();
        assert_eq!(order, [1, 5, 7, 11]);
        assert_eq!(found[1].1, Step::Begin { fault: 1 });
    }

    #[test]
    fn a_busy_nemesis_delays_a_step_and_loses_none() {
        let mut schedule = Schedule::new(&[fault(1, 2, 10)], 20 * SECOND);
        let mut threads = Threads::new(1, 1);
        threads.nemesis_free = false;
        let asked = schedule.next(&Context::new(2 * SECOND, &threads));
        assert_eq!(asked, Next::Wait { until: None });
        threads.nemesis_free = true;
        let asked = schedule.next(&Context::new(3 * SECOND, &threads));
        assert_eq!(asked, Next::Do { what: What::Nemesis(Step::Begin { fault: 0 }), to: To::Any });
        let asked = schedule.next(&Context::new(3 * SECOND, &threads));
        assert_eq!(asked, Next::Wait { until: Some(5 * SECOND) }, "it lasts as long as it should");
    }

    #[test]
    fn a_run_shorter_than_the_first_fault_still_sees_it() {
        assert_eq!(steps(&[fault(5, 10, 20)], 8).len(), 2);
    }
}
