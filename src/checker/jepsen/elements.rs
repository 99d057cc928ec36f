//! Values of a history as small numbers: equal values have equal numbers.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::history::Datum;

/// The longest text of a value that is told in full.
const LONGEST: usize = 60;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Int(i64),
    /// Anything else, as JSON.
    Text(Arc<str>),
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Int(value) => write!(f, "{value}"),
            Element::Text(text) if &**text == "null" => f.write_str("nil"),
            Element::Text(text) => match text.char_indices().nth(LONGEST) {
                Some((end, _)) => write!(f, "{}...", &text[..end]),
                None => f.write_str(text),
            },
        }
    }
}

/// Every value met so far, numbered from 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Elements {
    ints: FxHashMap<i64, u32>,
    texts: FxHashMap<Arc<str>, u32>,
    names: Vec<Element>,
    text_bytes: usize,
}

impl Elements {
    /// The number of a value, a new one if it was not met before.
    pub fn number(&mut self, value: Datum) -> u32 {
        // Nobody can hold four milliards of values: what remembers them is bounded long before.
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        if let Some(int) = value.as_i64() {
            return *self.ints.entry(int).or_insert_with(|| {
                self.names.push(Element::Int(int));
                next
            });
        }
        let text = value.to_text();
        if let Some(known) = self.texts.get(&*text) {
            return *known;
        }
        let text: Arc<str> = text.into();
        self.text_bytes += text.len() + 64;
        self.names.push(Element::Text(text.clone()));
        self.texts.insert(text, next);
        next
    }

    pub fn name(&self, number: u32) -> &Element {
        &self.names[number as usize]
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn bytes(&self) -> usize {
        self.names.capacity() * size_of::<Element>()
            + self.ints.capacity() * 17
            + self.texts.capacity() * 25
            + self.text_bytes
    }
}
