//! Keys and values as small numbers.

use std::borrow::Cow;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::NONE;
use crate::history::Datum;

/// Numbers from here on stand for what is no small number itself.
const NAMED: u32 = 1 << 31;

/// Keys that are numbers below this one are looked up in an array.
const SMALL: u32 = 1 << 20;

/// Characters of a key or a value that are told.
const TOLD: usize = 48;

/// Gives every value a number. Small ones stand for themselves, so that most need no look-up at all.
#[derive(Debug, Default)]
pub struct Interner {
    /// The JSON texts of the others; equal values have equal texts.
    named: IndexSet<Box<str>, FxBuildHasher>,
}

impl Interner {
    pub fn intern(&mut self, value: Datum) -> u32 {
        if let Some(small) = small(value) {
            return small;
        }
        let text = value.to_text();
        let position = match self.named.get_index_of(&*text) {
            Some(position) => position,
            None => self.named.insert_full(text.into()).0,
        };
        // More than two thousand million of them would not fit the history's own numbering either.
        NAMED | position as u32
    }

    /// Appends the numbers of a list's items; `None` if it is no list.
    pub fn intern_all(&mut self, list: Datum, numbers: &mut Vec<u32>) -> Option<()> {
        // Small numbers stand for themselves.
        if !list.small_numbers(NAMED, numbers) {
            numbers.extend(list.items()?.map(|item| self.intern(item)));
        }
        Some(())
    }

    /// The number of a value that has been seen.
    pub fn find(&self, value: Datum) -> Option<u32> {
        small(value).or_else(|| {
            let position = self.named.get_index_of(&*value.to_text())?;
            Some(NAMED | position as u32)
        })
    }

    /// As people write it: text without its quotes, of a long one the beginning and the end.
    pub fn text(&self, number: u32) -> Cow<'_, str> {
        if number < NAMED {
            return Cow::Owned(number.to_string());
        }
        let named = self.named.get_index((number & !NAMED) as usize);
        shortened(named.map_or("?", |text| text.trim_matches('"')))
    }

    pub fn bytes(&self) -> usize {
        self.named.iter().map(|text| text.len() + 40).sum()
    }
}

fn shortened(text: &str) -> Cow<'_, str> {
    let is_long = text.len() > TOLD && text.chars().nth(TOLD).is_some();
    let beginning = text.char_indices().nth(TOLD / 3).map_or(text.len(), |(place, _)| place);
    let end = text.char_indices().rev().nth(TOLD / 3 * 2 - 1).map_or(0, |(place, _)| place);
    match is_long {
        true => Cow::Owned(format!("{}...{}", &text[..beginning], &text[end..])),
        false => Cow::Borrowed(text),
    }
}

fn small(value: Datum) -> Option<u32> {
    let number = u32::try_from(value.as_i64()?).ok()?;
    (number < NAMED).then_some(number)
}

/// Numbers keys densely, so that tables by key are plain arrays.
#[derive(Debug, Default)]
pub struct Keys {
    values: Interner,
    /// By small number: its key, or [`NONE`].
    small: Vec<u32>,
    other: rustc_hash::FxHashMap<u32, u32>,
    keys: Vec<u32>,
}

impl Keys {
    pub fn intern(&mut self, key: Datum) -> u32 {
        let value = self.values.intern(key);
        let next = self.keys.len() as u32;
        let place = match value < SMALL {
            true => {
                if self.small.len() <= value as usize {
                    self.small.resize(value as usize + 1, NONE);
                }
                &mut self.small[value as usize]
            }
            false => self.other.entry(value).or_insert(NONE),
        };
        if *place == NONE {
            *place = next;
            self.keys.push(value);
        }
        *place
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn text(&self, key: u32) -> Cow<'_, str> {
        self.keys.get(key as usize).map_or(Cow::Borrowed("?"), |value| self.values.text(*value))
    }

    pub fn bytes(&self) -> usize {
        self.values.bytes()
            + (self.keys.capacity() + self.small.capacity()) * 4
            + self.other.capacity() * 9
    }
}
