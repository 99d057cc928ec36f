//! A value as a reader hands it on: looked at where it stands, and made only where it is kept.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::op_map;
use crate::op::Value;

/// A value that somebody else holds.
#[derive(Clone, Copy, Debug)]
pub enum Datum<'a> {
    Value(&'a Value),
    Json(&'a Json),
    /// A member of a pair of numbers.
    Int(i64),
}

/// The items of a list.
pub enum Items<'a> {
    Pair(std::array::IntoIter<i64, 2>),
    Json(std::slice::Iter<'a, Json>),
}

impl<'a> Datum<'a> {
    pub fn is_nil(self) -> bool {
        matches!(self, Datum::Value(Value::Nil) | Datum::Json(Json::Null))
    }

    pub fn as_i64(self) -> Option<i64> {
        match self {
            Datum::Int(value) => Some(value),
            Datum::Value(Value::Int(value)) => Some(*value),
            Datum::Json(json) => json.as_i64(),
            Datum::Value(Value::Json(json)) => json.as_i64(),
            Datum::Value(_) => None,
        }
    }

    pub fn as_str(self) -> Option<&'a str> {
        match self {
            Datum::Json(json) => json.as_str(),
            Datum::Value(Value::Json(json)) => json.as_str(),
            _ => None,
        }
    }

    /// The items, of a list.
    pub fn items(self) -> Option<Items<'a>> {
        match self {
            Datum::Value(Value::Pair(one, other)) => Some(Items::Pair([*one, *other].into_iter())),
            Datum::Json(Json::Array(items)) => Some(Items::Json(items.iter())),
            Datum::Value(Value::Json(json)) => Datum::Json(json).items(),
            _ => None,
        }
    }

    /// The value by itself.
    pub fn to_value(self) -> Value {
        match self {
            Datum::Value(value) => value.clone(),
            Datum::Json(json) => op_map::value(Some(json)),
            Datum::Int(value) => Value::Int(value),
        }
    }

    /// As JSON text; equal values have equal texts.
    pub fn to_text(self) -> Cow<'a, str> {
        match self {
            Datum::Value(Value::Nil) => Cow::Borrowed("null"),
            Datum::Value(Value::Int(value)) => Cow::Owned(value.to_string()),
            Datum::Int(value) => Cow::Owned(value.to_string()),
            Datum::Value(Value::Pair(one, other)) => Cow::Owned(format!("[{one},{other}]")),
            Datum::Value(Value::Json(json)) => Cow::Owned(json.to_string()),
            Datum::Json(json) => Cow::Owned(json.to_string()),
        }
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Datum<'a>;

    fn next(&mut self) -> Option<Datum<'a>> {
        match self {
            Items::Pair(pair) => pair.next().map(Datum::Int),
            Items::Json(items) => items.next().map(Datum::Json),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_list_have_the_same_items() {
        let pair = Value::Pair(3, 4);
        let json = serde_json::json!([3, 4]);
        for datum in [Datum::Value(&pair), Datum::Json(&json)] {
            let items: Vec<_> = datum.items().expect("a list").map(Datum::as_i64).collect();
            assert_eq!(items, [Some(3), Some(4)]);
            assert_eq!(datum.to_text(), "[3,4]");
            assert_eq!(datum.to_value(), pair);
        }
    }

    #[test]
    fn nil_is_no_number_and_text_is_no_list() {
        assert!(Datum::Value(&Value::Nil).is_nil() && Datum::Json(&Json::Null).is_nil());
        let text = Json::from("a");
        assert_eq!(Datum::Json(&text).as_str(), Some("a"));
        assert!(Datum::Json(&text).items().is_none() && Datum::Json(&text).as_i64().is_none());
    }
}
