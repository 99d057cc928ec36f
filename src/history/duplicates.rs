//! Keys that a map has twice: no writer writes that, and which value holds nobody can know.

use rustc_hash::FxHashSet;

use super::datum::Datum;
use super::fault::Fault;
use super::tape::{Cursor, Node};

/// Maps of up to so many keys are compared key by key.
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
    let mut seen = [map; FEW];
    for (position, key) in keys(map, count).enumerate() {
        if seen[..position].iter().any(|other| is_same(*other, key)) {
            return Some(key);
        }
        seen[position] = key;
    }
    None
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
