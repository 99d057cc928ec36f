//! Keys that a map has twice: no writer writes that, and which value holds nobody can know.

use rustc_hash::FxHashSet;

use super::datum::Datum;
use super::fault::Fault;
use super::tape::{Cursor, Node};

/// Maps of up to so many keys are compared key by key, where it takes more than a look.
const FEW: usize = 12;

/// Fails if a key is there twice; `begun` is where the map begins in its text.
pub fn find_duplicate(map: Cursor, begun: usize) -> Result<(), Fault> {
    let Node::Map { count, .. } = map.node() else { return Ok(()) };
    let duplicate =
        if count as usize <= FEW { among_few(map, count) } else { among_many(map, count) };
    match duplicate {
        None => Ok(()),
        Some(key) => {
            let key = Datum::Parsed(key).to_text().chars().take(80).collect::<String>();
            Fault::wrong(begun, format!("key {key} twice in one map"))
        }
    }
}

fn keys<'a>(map: Cursor<'a>, count: u32) -> impl Iterator<Item = Cursor<'a>> {
    let mut next = map.inner();
    (0..count).map(move |_| {
        let key = next;
        next = key.next().next();
        key
    })
}

fn among_few<'a>(map: Cursor<'a>, count: u32) -> Option<Cursor<'a>> {
    let mut seen = 0_u64;
    keys(map, count).enumerate().find_map(|(position, key)| {
        let mark = 1 << (hash(key) & 63);
        let is_new = seen & mark == 0;
        seen |= mark;
        let is_twice = !is_new && keys(map, count).take(position).any(|other| is_same(other, key));
        is_twice.then_some(key)
    })
}

/// Differs for most different keys.
fn hash(key: Cursor) -> u64 {
    let number = match key.node() {
        Node::Int(value) => value as u64,
        Node::Text { length, .. } => {
            let text = key.as_str().unwrap_or_default().as_bytes();
            let [first, last] = [text.first(), text.last()].map(|byte| byte.map_or(0, |b| *b));
            u64::from(length) << 16 | u64::from(first) << 8 | u64::from(last)
        }
        _ => 0,
    };
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58
}

fn among_many<'a>(map: Cursor<'a>, count: u32) -> Option<Cursor<'a>> {
    let mut seen = FxHashSet::default();
    keys(map, count).find(|key| !seen.insert(Datum::Parsed(*key).to_text()))
}

/// Keys that are no plain ones, such as maps, are compared as text.
fn is_same(one: Cursor, other: Cursor) -> bool {
    match (one.node(), other.node()) {
        (Node::Text { length, .. }, Node::Text { length: other_length, .. }) => {
            length == other_length && one.as_str() == other.as_str()
        }
        (Node::List { .. }, Node::List { .. }) | (Node::Map { .. }, Node::Map { .. }) => {
            Datum::Parsed(one).to_text() == Datum::Parsed(other).to_text()
        }
        (one, other) => one == other,
    }
}
