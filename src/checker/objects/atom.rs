//! Values of objects that are only compared.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde_json::Value as Json;

use crate::op::Value;

/// A value that is only compared with others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    Nil,
    Int(i64),
    /// A text by itself.
    Text(Arc<str>),
    /// Anything else, as JSON; equal values have equal texts.
    Other(Arc<str>),
}

impl Atom {
    pub fn of(value: &Value) -> Atom {
        match value {
            Value::Nil => Atom::Nil,
            Value::Int(value) => Atom::Int(*value),
            Value::Pair(..) => Atom::Other(Value::to_string(value).into()),
            Value::Json(json) => Atom::of_json(json),
        }
    }

    pub fn of_json(json: &Json) -> Atom {
        match (json, json.as_i64()) {
            (_, Some(value)) => Atom::Int(value),
            (Json::Null, _) => Atom::Nil,
            (Json::String(text), _) => Atom::Text(text.as_str().into()),
            (Json::Array(items), _) => match items.as_slice() {
                // As a pair of numbers tells itself.
                [one, other] if one.is_i64() && other.is_i64() => {
                    Atom::Other(format!("[{one} {other}]").into())
                }
                _ => Atom::Other(json.to_string().into()),
            },
            _ => Atom::Other(json.to_string().into()),
        }
    }

    /// A number of it; different values may have the same.
    pub fn digest(&self) -> u64 {
        let mut hasher = rustc_hash::FxHasher::default();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// The items of a list.
    pub fn list(value: &Value) -> Option<Vec<Atom>> {
        match value {
            Value::Pair(one, other) => Some(vec![Atom::Int(*one), Atom::Int(*other)]),
            Value::Json(json) => Some(json.as_array()?.iter().map(Atom::of_json).collect()),
            Value::Nil | Value::Int(_) => None,
        }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Atom::Nil => f.write_str("nil"),
            Atom::Int(value) => write!(f, "{value}"),
            Atom::Text(text) => f.write_str(&shortened(text)),
            Atom::Other(text) => f.write_str(&shortened(text)),
        }
    }
}

/// Characters of a value that are told.
const TOLD: usize = 48;

/// The text, or its beginning and its end.
pub(super) fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= TOLD {
        return text.to_owned();
    }
    let beginning: String = text.chars().take(TOLD / 3).collect();
    let end: String = text.chars().skip(count - TOLD / 3 * 2).collect();
    format!("{beginning}...{end}")
}

/// A list in a line: its first and last items, and how many there are.
pub(super) fn listed(items: &[Atom]) -> String {
    let told: Vec<String> = items.iter().map(Atom::to_string).collect();
    match told.as_slice() {
        all if all.len() <= 8 => format!("[{}]", all.join(" ")),
        all => format!(
            "[{} ... {}] ({} items)",
            all[..2].join(" "),
            all[all.len() - 4..].join(" "),
            all.len()
        ),
    }
}
