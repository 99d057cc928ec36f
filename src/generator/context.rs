//! The moment at which a generator is asked, and whom it may use.

use std::ops::Range;

use super::{Threads, To, What};
use crate::op::{Nanos, Process};

/// The moment at which a generator is asked.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Time since the start.
    pub time: Nanos,
    /// Which threads are free, of all of them.
    pub threads: &'a Threads,
    scope: Scope,
}

/// Whom a generator may use: a range of the threads that carry data, the operators, the nemesis.
#[derive(Clone, Debug, PartialEq, Eq, Copy)]
pub struct Scope {
    first: usize,
    end: usize,
    operators: bool,
    nemesis: bool,
}

impl Scope {
    pub const EVERYONE: Scope = Scope { first: 0, end: usize::MAX, operators: true, nemesis: true };
    pub const CLIENTS: Scope = Scope { nemesis: false, ..Scope::EVERYONE };
    pub const NEMESIS: Scope = Scope { end: 0, operators: false, ..Scope::EVERYONE };

    /// These of the threads that carry data, and nobody else.
    pub fn threads(range: Range<usize>) -> Scope {
        Scope { first: range.start, end: range.end, operators: false, nemesis: false }
    }

    fn intersect(self, other: Scope) -> Scope {
        Scope {
            first: self.first.max(other.first),
            end: self.end.min(other.end),
            operators: self.operators && other.operators,
            nemesis: self.nemesis && other.nemesis,
        }
    }
}

impl<'a> Context<'a> {
    /// A moment at which everyone may be used.
    pub fn new(time: Nanos, threads: &'a Threads) -> Context<'a> {
        Context { time, threads, scope: Scope::EVERYONE }
    }

    /// The same moment for fewer.
    pub fn within(&self, scope: Scope) -> Context<'a> {
        Context { scope: self.scope.intersect(scope), ..*self }
    }

    /// The threads that carry data and may be used.
    pub fn range(&self) -> Range<usize> {
        let end = self.scope.end.min(self.threads.concurrency());
        self.scope.first.min(end)..end
    }

    fn is_all_clients(&self) -> bool {
        self.scope.operators && self.range() == (0..self.threads.concurrency())
    }

    /// The operators' threads, if they may be used.
    pub fn operators(&self) -> Range<usize> {
        let operators = self.threads.operators();
        if self.scope.operators { operators } else { operators.end..operators.end }
    }

    /// Nobody may be used, now or later.
    pub fn is_nobody(&self) -> bool {
        self.range().is_empty() && self.operators().is_empty() && !self.scope.nemesis
    }

    /// A free thread that fits and may be used. The choice depends on the state alone.
    pub fn pick(&self, to: To) -> Option<usize> {
        if self.is_all_clients() {
            return self.threads.pick(to);
        }
        self.range().chain(self.operators()).find(|thread| {
            self.threads.is_free(*thread)
                && match to {
                    To::Any => *thread < self.threads.concurrency(),
                    To::Node(node) => self.threads.node_of(*thread) == node,
                    To::Thread(wanted) => *thread == wanted,
                }
        })
    }

    /// This can be done at once.
    pub fn allows(&self, what: &What, to: To) -> bool {
        match what {
            What::Call(_) => self.pick(to).is_some(),
            What::Nemesis(_) => self.scope.nemesis && self.threads.nemesis_free,
            What::Log(_) => true,
        }
    }

    /// Everybody who may be used is free.
    pub fn all_free(&self) -> bool {
        let clients = if self.is_all_clients() {
            self.threads.free_count() == self.threads.total()
        } else {
            self.range().chain(self.operators()).all(|thread| self.threads.is_free(thread))
        };
        clients && (!self.scope.nemesis || self.threads.nemesis_free)
    }

    /// The process is one that may be used.
    pub fn includes(&self, process: Process) -> bool {
        match process {
            Process::Client(id) => {
                let thread = self.threads.thread_of(id);
                self.range().contains(&thread) || self.operators().contains(&thread)
            }
            Process::Nemesis => self.scope.nemesis,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_hides_everybody_else() {
        let mut threads = Threads::new(6, 3);
        threads.take(2);
        let all = Context::new(0, &threads);
        let some = all.within(Scope::threads(1..4));
        assert_eq!(some.pick(To::Any), Some(1));
        assert_eq!(some.pick(To::Node(0)), Some(3));
        assert_eq!(some.pick(To::Node(2)), None, "thread 2 is busy and 5 is outside");
        assert_eq!(some.pick(To::Thread(0)), None);
        assert!(!some.all_free());
        assert!(all.within(Scope::threads(3..6)).all_free());
        assert!(some.includes(Process::Client(7)) && !some.includes(Process::Client(6)));
        assert!(!some.includes(Process::Nemesis));
    }

    #[test]
    fn operators_are_clients_and_in_no_range_of_threads() {
        let mut threads = Threads::with_operators(2, 2, 1);
        threads.take(2);
        let all = Context::new(0, &threads);
        assert_eq!((all.range(), all.operators()), (0..2, 2..3));
        assert!(!all.all_free() && !all.within(Scope::CLIENTS).all_free());
        let some = all.within(Scope::threads(0..9));
        assert!(some.all_free() && some.operators().is_empty());
        assert!(all.includes(Process::Client(5)) && !some.includes(Process::Client(5)));
        threads.release(2);
        let all = Context::new(0, &threads);
        assert_eq!(all.within(Scope::CLIENTS).pick(To::Thread(2)), Some(2));
        assert_eq!(all.within(Scope::threads(0..9)).pick(To::Thread(2)), None);
    }

    #[test]
    fn scopes_nest_by_intersection() {
        let threads = Threads::new(4, 2);
        let ctx = Context::new(0, &threads).within(Scope::threads(0..3));
        assert_eq!(ctx.within(Scope::threads(2..9)).range(), 2..3);
        assert!(ctx.within(Scope::NEMESIS).is_nobody());
        assert!(!Context::new(0, &threads).within(Scope::NEMESIS).is_nobody());
    }
}
