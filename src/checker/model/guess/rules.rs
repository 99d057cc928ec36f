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
            || shape.parts_are_of(&["r"], &[]) && shape.parts["r"].are_lists()
    }),
    ("rw-register", |shape| {
        shape.parts_are_of(&["w"], &["r"])
            || shape.parts_are_of(&["r"], &[]) && !shape.parts["r"].are_lists()
    }),
    ("set", |shape| {
        shape.is_of(&["add"], &["read", "remove"]) && shape.answers("read").are_lists()
    }),
    ("set-full", |shape| shape.is_of(&["add", "read"], &[]) && shape.answers("read").are_lists()),
    ("counter", |shape| {
        shape.is_of(&["read"], &["add", "incr", "increment", "decr", "decrement"])
            && shape.operations.len() > 1
            && shape.answers("read").are_scalars()
    }),
    ("queue", |shape| shape.is_of(&["enqueue"], &["dequeue"])),
    ("total-queue", |shape| shape.is_of(&["enqueue"], &["dequeue", "drain"])),
    ("stack", |shape| shape.is_of(&["push"], &["pop"])),
    ("lock", |shape| {
        shape.is_of(&["acquire"], &["release"]) && shape.answers("acquire").numbers == 0
    }),
    ("fenced-lock", |shape| {
        shape.is_of(&["acquire"], &["release"]) && shape.answers("acquire").numbers > 0
    }),
    ("unique-ids", |shape| shape.is_of(&["generate"], &[])),
    ("bank", |shape| shape.is_of(&["read"], &["transfer"]) && shape.answers("read").are_maps()),
    ("comments", |shape| shape.is_of(&["read", "write"], &[]) && shape.answers("read").are_lists()),
    ("kafka", |shape| {
        let control = ["assign", "subscribe", "crash", "debug-topic-partitions"];
        let others = [&["send", "poll", "txn"], &control[..]].concat();
        (shape.operations.contains_key("send") || shape.operations.contains_key("poll"))
            && shape.is_of(&[], &others)
            || shape.parts_are_of(&["send"], &["poll"])
            || shape.parts_are_of(&["poll"], &[])
    }),
];

/// The names of all models that the shape fits, known here or not.
pub fn candidates(shape: &Shape) -> Vec<&'static str> {
    RULES.iter().filter(|(_, fits)| fits(shape)).map(|(name, _)| *name).collect()
}
