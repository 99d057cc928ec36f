//! The models, and their lines in the table of all.

pub(super) mod container;
pub(super) mod counter;
pub(super) mod kv;
pub(super) mod lease;
pub(super) mod list;
pub(super) mod lock;
pub(super) mod multi_register;
pub(super) mod queue;
pub(super) mod semaphore;
pub(super) mod set;
pub(super) mod stack;

use super::{Object, Objects};
use crate::checker::{Checker, ModelKind, ModelOptions};
use counter::Counter;
use kv::Kv;
use lease::LeaseLock;
use list::List;
use lock::{Kind, Lock};
use multi_register::MultiRegister;
use queue::Queue;
use semaphore::Semaphore;
use set::Set;
use stack::Stack;

type Checkers = Result<Vec<Box<dyn Checker>>, String>;

const fn kind(
    name: &'static str,
    what: &'static str,
    checkers: fn(&ModelOptions) -> Checkers,
) -> ModelKind {
    ModelKind { name, what, checkers }
}

fn checkers<O: Object + 'static>(object: Result<O, String>) -> Checkers {
    Ok(vec![Box::new(Objects::new(object?))])
}

pub(in crate::checker) const KV: ModelKind =
    kind("kv", "get, put, append, delete: each key is a linearizable string", |options| {
        checkers(Kv::new(options))
    });

pub(in crate::checker) const MULTI_REGISTER: ModelKind = kind(
    "multi-register",
    "txn [[read x nil] [write y 1]]: transactions on registers are linearizable",
    |options| checkers(MultiRegister::new(options)),
);

pub(in crate::checker) const LIST: ModelKind =
    kind("list", "append, read: each key is a linearizable list that only grows", |options| {
        checkers(List::new(options))
    });

pub(in crate::checker) const LINEARIZABLE_SET: ModelKind = kind(
    "linearizable-set",
    "add, remove, contains, read: each key is a linearizable set",
    |options| checkers(Set::new(options)),
);

pub(in crate::checker) const LINEARIZABLE_COUNTER: ModelKind = kind(
    "linearizable-counter",
    "add, incr, decr, read: each key is a linearizable counter",
    |options| checkers(Counter::new(options)),
);

pub(in crate::checker) const FIFO_QUEUE: ModelKind = kind(
    "fifo-queue",
    "enqueue, dequeue: first in, first out; an ok dequeue of nil found it empty",
    |options| checkers(Queue::fifo(options)),
);

pub(in crate::checker) const UNORDERED_QUEUE: ModelKind = kind(
    "unordered-queue",
    "enqueue, dequeue: what went in comes out once, in any order",
    |options| checkers(Queue::unordered(options)),
);

pub(in crate::checker) const PRIORITY_QUEUE: ModelKind = kind(
    "priority-queue",
    "insert, delete-min: the least number comes out first; an ok delete-min of nil found it empty",
    |options| checkers(Queue::of_priority(options)),
);

pub(in crate::checker) const STACK: ModelKind =
    kind("stack", "push, pop: last in, first out; an ok pop of nil found it empty", |options| {
        checkers(Stack::new(options))
    });

pub(in crate::checker) const MUTEX: ModelKind =
    kind("mutex", "acquire, release: held once at a time, released by anybody", |_| {
        checkers(Lock::new(Kind::Mutex))
    });

pub(in crate::checker) const LOCK: ModelKind = kind(
    "lock",
    "acquire, release: held once at a time, released by its owner where values name owners",
    |_| checkers(Lock::new(Kind::Lock)),
);

pub(in crate::checker) const OWNER_MUTEX: ModelKind = kind(
    "owner-mutex",
    "acquire, release: held once at a time, released by the owner (value, or process)",
    |_| checkers(Lock::new(Kind::OwnerMutex)),
);

pub(in crate::checker) const REENTRANT_MUTEX: ModelKind = kind(
    "reentrant-mutex",
    "acquire, release: its owner may acquire it again, and releases it as often",
    |_| checkers(Lock::new(Kind::ReentrantMutex)),
);

pub(in crate::checker) const FENCED_LOCK: ModelKind = kind(
    "fenced-lock",
    "acquire, release: each acquire is answered a larger token than those before",
    |_| checkers(Lock::new(Kind::FencedLock)),
);

pub(in crate::checker) const LEASE_LOCK: ModelKind = kind(
    "lease-lock",
    "acquire, release: held once at a time, until released or until --lease-ms of the history's time have passed",
    |options| checkers(LeaseLock::new(options)),
);

pub(in crate::checker) const SEMAPHORE: ModelKind = kind(
    "semaphore",
    "acquire, release: no more permits are held at once than --init says there are, each released by its owner where values name owners",
    |options| checkers(Semaphore::new(options)),
);
