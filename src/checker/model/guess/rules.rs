//! What speaks for each model. A history that fits several is of all of them: who guesses says so.

use super::Shape;

/// Whether a history of this shape can be one of the model.
type Rule = fn(&Shape) -> bool;

const RULES: &[(&str, Rule)] = &[
    ("register", |shape| {
        shape.is_of(&["read", "write"], &[]) && shape.answers("read").are_scalars()
    }),
    ("cas-register", |shape| {
        shape.is_of(&["cas"], &["read", "write"]) && shape.answers("read").are_scalars()
    }),
    ("multi-register", |shape| {
        shape.parts_are_of(&["read"], &["write"]) || shape.parts_are_of(&["write"], &[])
    }),
    ("kv", |shape| {
        shape.is_of(&["get"], &["put", "append", "delete", "cas"])
            || shape.is_of(&["put"], &["get", "append"])
    }),
    ("list-append", |shape| {
        shape.parts_are_of(&["append"], &["r"])
            || shape.parts_are_of(&["r"], &[]) && shape.part("r").are_lists()
    }),
    ("rw-register", |shape| {
        shape.parts_are_of(&["w"], &["r"])
            || shape.parts_are_of(&["r"], &[]) && !shape.part("r").are_lists()
    }),
    ("set", |shape| is_set(shape, &["add", "read"])),
    ("set-full", |shape| is_set(shape, &["add", "read"])),
    ("linearizable-set", |shape| is_set(shape, &["add", "read", "remove", "contains"])),
    ("sequential", |shape| {
        is_set(shape, &["add", "read"]) && shape.answers("add").numbers == 0
            || reads_see_several_writes(shape)
    }),
    ("list", |shape| shape.is_of(&["append", "read"], &[]) && reads_are_flat(shape)),
    ("counter", |shape| is_counter(shape, &["add", "read"])),
    ("linearizable-counter", |shape| {
        is_counter(shape, &["add", "read", "incr", "inc", "increment", "decr", "dec", "decrement"])
    }),
    ("fifo-queue", |shape| shape.is_of(&["enqueue"], &["dequeue"])),
    ("unordered-queue", |shape| shape.is_of(&["enqueue"], &["dequeue"])),
    ("queue", |shape| shape.is_of(&["enqueue"], &["dequeue"])),
    ("total-queue", |shape| shape.is_of(&["enqueue"], &["dequeue", "drain"])),
    ("priority-queue", |shape| {
        ["delete-min", "pop-min", "extract-min"].iter().any(|take| shape.is_of(&[*take], PUT))
    }),
    ("stack", |shape| shape.is_of(&["push"], &["pop"])),
    ("mutex", |shape| is_lock(shape, false)),
    ("lock", |shape| is_lock(shape, false)),
    ("owner-mutex", |shape| is_lock(shape, false)),
    ("reentrant-mutex", |shape| is_lock(shape, false)),
    ("fenced-lock", |shape| is_lock(shape, true)),
    ("lease-lock", |shape| is_lock(shape, false)),
    ("semaphore", |shape| is_lock(shape, false)),
    ("unique-ids", |shape| shape.is_of(&["generate"], &[])),
    ("causal", |shape| shape.is_of(&["read-init"], &["read", "write"]) && reads_are_flat(shape)),
    ("dirty-read", |shape| {
        shape.is_of(&["strong-read"], &["write", "read", "refresh"]) && reads_are_flat(shape)
            || reads_see_several_writes(shape)
    }),
    ("adya-g2", |shape| shape.is_of(&["insert"], &[])),
    ("bank", |shape| shape.is_of(&["read"], &["transfer"]) && shape.answers("read").are_maps()),
    ("comments", reads_see_several_writes),
    ("long-fork", |shape| {
        shape.is_of(&["read", "write"], &[]) && shape.answers("read").are_lists_of_lists()
    }),
    ("kafka", |shape| {
        let control = ["assign", "subscribe", "crash", "debug-topic-partitions"];
        let others = [&["send", "poll", "txn"], &control[..]].concat();
        (shape.operations.contains_key("send") || shape.operations.contains_key("poll"))
            && shape.is_of(&[], &others)
            || shape.parts_are_of(&["send"], &["poll"])
            || shape.parts_are_of(&["poll"], &[])
    }),
];

/// What putting something into a priority queue is called.
const PUT: &[&str] = &["insert", "push", "add", "offer", "enqueue"];

fn is_set(shape: &Shape, names: &[&str]) -> bool {
    shape.is_of(&["add"], names)
        && shape.answers("read").lists > 0
        && reads_are_flat(shape)
        && shape.answers("read").are_lists()
}

/// Single values were written, and lists read. Jepsen's tests of several systems look so, and promise
/// different things.
fn reads_see_several_writes(shape: &Shape) -> bool {
    shape.is_of(&["read", "write"], &[])
        && shape.answers("read").are_lists()
        && reads_are_flat(shape)
        && shape.answers("write").lists == 0
}

/// Lists of lists are micro-operations, or rows.
fn reads_are_flat(shape: &Shape) -> bool {
    shape.answers("read").nested == 0
}

fn is_counter(shape: &Shape, names: &[&str]) -> bool {
    let counts = shape.answers("read").numbers > 0;
    counts
        && shape.is_of(&["read"], names)
        && shape.answers("read").are_scalars()
        && (shape.operations.len() > 1 || shape.is_part())
}

/// Tokens are numbers with which an `acquire` is answered.
fn is_lock(shape: &Shape, with_tokens: bool) -> bool {
    let has_tokens = shape.answers("acquire").numbers > 0;
    shape.is_of(&["acquire"], &["release"]) && has_tokens == with_tokens
}

/// The names of all models that the shape fits.
pub fn candidates(shape: &Shape) -> Vec<&'static str> {
    RULES.iter().filter(|(_, fits)| fits(shape)).map(|(name, _)| *name).collect()
}

/// The names of the models that have all these operations, and others that this history lacks.
pub fn wider(shape: &Shape) -> Vec<&'static str> {
    candidates(&shape.as_part())
}
