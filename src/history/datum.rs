//! A value as a reader hands it on: looked at where it stands, and made only where it is kept.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::tape::{Cursor, Node};
use crate::op::Value;

/// A value that somebody else holds: nothing, a number, text, a list (or set), or a map.
#[derive(Clone, Copy, Debug)]
pub enum Datum<'a> {
    Value(&'a Value),
    Json(&'a Json),
    /// As a parser left it.
    Parsed(Cursor<'a>),
    /// A member of a pair of numbers, or a key that is one.
    Int(i64),
    /// A key of a map.
    Text(&'a str),
}

/// The items of a list.
#[derive(Clone, Debug)]
pub enum Items<'a> {
    Pair(std::array::IntoIter<i64, 2>),
    Json(std::slice::Iter<'a, Json>),
    Parsed { next: Cursor<'a>, left: u32 },
}

/// The keys of a map and what they stand for.
#[derive(Clone, Debug)]
pub enum Entries<'a> {
    Json(serde_json::map::Iter<'a>),
    Parsed { next: Cursor<'a>, left: u32 },
}

impl<'a> Datum<'a> {
    /// Nothing: a read that says so observed that nothing was there.
    pub const NIL: Datum<'static> = Datum::Value(&Value::Nil);

    #[inline]
    pub fn is_nil(self) -> bool {
        match self {
            Datum::Value(value) => *value == Value::Nil,
            Datum::Json(json) => json.is_null(),
            Datum::Parsed(cursor) => cursor.node() == Node::Nil,
            Datum::Int(_) | Datum::Text(_) => false,
        }
    }

    #[inline]
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Datum::Int(value) => Some(value),
            Datum::Value(Value::Int(value)) => Some(*value),
            Datum::Json(json) => json.as_i64(),
            Datum::Value(Value::Json(json)) => json.as_i64(),
            Datum::Parsed(cursor) => match cursor.node() {
                Node::Int(value) => Some(value),
                _ => None,
            },
            Datum::Value(_) | Datum::Text(_) => None,
        }
    }

    /// Text, which keywords and symbols of EDN are too, and whole numbers beyond 64 bits.
    #[inline]
    pub fn as_str(self) -> Option<&'a str> {
        match self {
            Datum::Json(json) => json.as_str(),
            Datum::Value(Value::Json(json)) => json.as_str(),
            Datum::Parsed(cursor) => cursor.as_str(),
            Datum::Text(text) => Some(text),
            Datum::Value(_) | Datum::Int(_) => None,
        }
    }

    pub fn as_bool(self) -> Option<bool> {
        match self {
            Datum::Json(json) => json.as_bool(),
            Datum::Value(Value::Json(json)) => json.as_bool(),
            Datum::Parsed(cursor) => match cursor.node() {
                Node::Bool(value) => Some(value),
                _ => None,
            },
            Datum::Value(_) | Datum::Int(_) | Datum::Text(_) => None,
        }
    }

    /// The items, of a list or set.
    pub fn items(self) -> Option<Items<'a>> {
        match self {
            Datum::Value(Value::Pair(one, other)) => Some(Items::Pair([*one, *other].into_iter())),
            Datum::Json(Json::Array(items)) => Some(Items::Json(items.iter())),
            Datum::Value(Value::Json(json)) => Datum::Json(json).items(),
            Datum::Parsed(cursor) => match cursor.node() {
                Node::List { count, .. } => {
                    Some(Items::Parsed { next: cursor.inner(), left: count })
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The first two items of a list and, where there is one, the third: what micro-operations are made of.
    #[inline]
    pub fn first_three(self) -> Option<(Datum<'a>, Datum<'a>, Option<Datum<'a>>)> {
        if let Datum::Parsed(cursor) = self {
            let Node::List { count: 2.., .. } = cursor.node() else { return None };
            let has_third = matches!(cursor.node(), Node::List { count: 3.., .. });
            let first = cursor.inner();
            let second = first.next();
            let third = has_third.then(|| Datum::Parsed(second.next()));
            return Some((Datum::Parsed(first), Datum::Parsed(second), third));
        }
        let mut items = self.items()?;
        Some((items.next()?, items.next()?, items.next()))
    }

    /// Appends the items of a list if all are whole numbers from 0 to below `limit`; else nothing.
    ///
    /// Long lists of such numbers are what histories of transactions are made of.
    pub fn small_numbers(self, limit: u32, into: &mut Vec<u32>) -> bool {
        let Datum::Parsed(cursor) = self else { return false };
        let Some(leaves) = cursor.leaves() else { return false };
        let before = into.len();
        for leaf in leaves {
            match *leaf {
                Node::Int(value) if (0..i64::from(limit)).contains(&value) => {
                    into.push(value as u32)
                }
                _ => {
                    into.truncate(before);
                    return false;
                }
            }
        }
        true
    }

    /// The keys and values, of a map. Keys that are numbers written as text are numbers: JSON has no
    /// other way to write them.
    pub fn entries(self) -> Option<Entries<'a>> {
        match self {
            Datum::Json(Json::Object(map)) => Some(Entries::Json(map.iter())),
            Datum::Value(Value::Json(json)) => Datum::Json(json).entries(),
            Datum::Parsed(cursor) => match cursor.node() {
                Node::Map { count, .. } => {
                    Some(Entries::Parsed { next: cursor.inner(), left: count })
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The value by itself.
    pub fn to_value(self) -> Value {
        match self {
            Datum::Value(value) => value.clone(),
            Datum::Int(value) => Value::Int(value),
            _ if self.is_nil() => Value::Nil,
            _ => match (self.as_i64(), self.as_pair()) {
                (Some(value), _) => Value::Int(value),
                (None, Some((from, to))) => Value::Pair(from, to),
                (None, None) => Value::Json(Box::new(self.to_json())),
            },
        }
    }

    fn as_pair(self) -> Option<(i64, i64)> {
        let mut items = self.items()?;
        if items.len() != 2 {
            return None;
        }
        Some((items.next()?.as_i64()?, items.next()?.as_i64()?))
    }

    pub fn to_json(self) -> Json {
        match self {
            Datum::Json(json) => json.clone(),
            Datum::Value(Value::Json(json)) => Json::clone(json),
            Datum::Value(Value::Nil) => Json::Null,
            Datum::Value(Value::Pair(one, other)) => vec![*one, *other].into(),
            Datum::Value(Value::Int(value)) => (*value).into(),
            Datum::Int(value) => value.into(),
            Datum::Text(text) => text.into(),
            Datum::Parsed(cursor) => cursor.to_json(),
        }
    }

    /// As JSON text; equal values have equal texts.
    pub fn to_text(self) -> Cow<'a, str> {
        match (self, self.as_i64()) {
            (_, Some(value)) => Cow::Owned(value.to_string()),
            (Datum::Json(json), _) => Cow::Owned(json.to_string()),
            (Datum::Value(Value::Json(json)), _) => Cow::Owned(json.to_string()),
            _ if self.is_nil() => Cow::Borrowed("null"),
            _ => Cow::Owned(self.to_json().to_string()),
        }
    }
}

impl Items<'_> {
    pub fn len(&self) -> usize {
        match self {
            Items::Pair(pair) => pair.len(),
            Items::Json(items) => items.len(),
            Items::Parsed { left, .. } => *left as usize,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Datum<'a>;

    fn next(&mut self) -> Option<Datum<'a>> {
        match self {
            Items::Pair(pair) => pair.next().map(Datum::Int),
            Items::Json(items) => items.next().map(Datum::Json),
            Items::Parsed { next, left } => {
                *left = left.checked_sub(1)?;
                let item = *next;
                *next = item.next();
                Some(Datum::Parsed(item))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }
}

impl ExactSizeIterator for Items<'_> {}

impl<'a> Iterator for Entries<'a> {
    type Item = (Datum<'a>, Datum<'a>);

    fn next(&mut self) -> Option<(Datum<'a>, Datum<'a>)> {
        match self {
            Entries::Json(entries) => {
                entries.next().map(|(key, value)| (key_of(Datum::Text(key)), Datum::Json(value)))
            }
            Entries::Parsed { next, left } => {
                *left = left.checked_sub(1)?;
                let key = *next;
                let value = key.next();
                *next = value.next();
                Some((key_of(Datum::Parsed(key)), Datum::Parsed(value)))
            }
        }
    }
}

/// A number where the key is the text of one, as JSON has it.
fn key_of(key: Datum) -> Datum {
    let number = key.as_str().and_then(|text| {
        let number: i64 = text.parse().ok()?;
        // `+1` and `01` are no way to write a number.
        let digits = text.trim_start_matches('-');
        (!text.starts_with('+') && (digits == "0" || !digits.starts_with('0'))).then_some(number)
    });
    number.map_or(key, Datum::Int)
}

#[cfg(test)]
mod tests {
    use super::super::tape::Tape;
    use super::super::{edn, json};
    use super::*;

    #[test]
    fn all_forms_of_a_list_have_the_same_items() {
        let (pair, tree, tape) =
            (Value::Pair(3, 4), serde_json::json!([3, 4]), edn::parsed("[3 4]"));
        for datum in [Datum::Value(&pair), Datum::Json(&tree), Datum::Parsed(tape.root())] {
            let items: Vec<_> = datum.items().expect("a list").map(Datum::as_i64).collect();
            assert_eq!(items, [Some(3), Some(4)]);
            assert_eq!(datum.to_text(), "[3,4]");
            assert_eq!(datum.to_value(), pair);
        }
    }

    #[test]
    fn the_first_items_are_the_same_however_a_list_is_held() {
        for text in ["[]", "[1]", "[1, 2]", "[1, [2, 9], 3]", "[[1], 2, 3, 4]", "7"] {
            let (tree, tape) = (serde_json::from_str(text).expect("JSON"), json::parsed(text));
            let told = |datum: Datum| {
                let (one, other, third) = datum.first_three()?;
                Some((one.to_json(), other.to_json(), third.map(Datum::to_json)))
            };
            assert_eq!(told(Datum::Parsed(tape.root())), told(Datum::Json(&tree)), "{text}");
        }
    }

    #[test]
    fn lists_of_small_numbers_are_taken_at_once() {
        let mut numbers = vec![7];
        for (text, all) in [("[0 3 9]", true), ("[]", true), ("[1 10]", false), ("[1 [2]]", false)]
        {
            let tape = edn::parsed(text);
            assert_eq!(Datum::Parsed(tape.root()).small_numbers(10, &mut numbers), all, "{text}");
        }
        assert!(!Datum::Parsed(edn::parsed("5").root()).small_numbers(10, &mut numbers));
        assert_eq!(numbers, [7, 0, 3, 9]);
    }

    #[test]
    fn nil_is_no_number_and_text_is_no_list() {
        assert!(Datum::NIL.is_nil() && Datum::Json(&Json::Null).is_nil());
        assert!(Datum::Parsed(Tape::default().root()).is_nil());
        for text in [json::parsed("\"a\""), edn::parsed(":a"), edn::parsed("\\a")] {
            let datum = Datum::Parsed(text.root());
            assert_eq!((datum.as_str(), &*datum.to_text()), (Some("a"), "\"a\""));
            assert!(datum.items().is_none() && datum.as_i64().is_none() && !datum.is_nil());
        }
        let text = Json::from("a");
        assert_eq!(Datum::Json(&text).as_str(), Some("a"));
    }

    #[test]
    fn maps_of_both_languages_have_the_same_entries() {
        let tree = serde_json::json!({"0": 100, "-7": {"x": [1]}, "01": null});
        let text = json::parsed(&tree.to_string());
        let edn = edn::parsed("{-7 {:x [1]}, 0 100, \"01\" nil}");
        for datum in [Datum::Json(&tree), Datum::Parsed(text.root()), Datum::Parsed(edn.root())] {
            let mut entries: Vec<_> = datum
                .entries()
                .expect("a map")
                .map(|(key, value)| format!("{}: {}", key.to_text(), value.to_text()))
                .collect();
            entries.sort();
            assert_eq!(entries, ["\"01\": null", "-7: {\"x\":[1]}", "0: 100"]);
            assert_eq!(datum.to_json(), tree);
        }
    }
}
