//! Transactions and long values in few words.

use serde_json::Value as Json;

use crate::op::Value;

/// Of a longer list the first and the last items are told.
const ITEMS_MAX: usize = 8;
const FIRST: usize = 3;
const LAST: usize = 3;
/// Parts of one transaction.
const PARTS_MAX: usize = 12;

/// A value as people write it, lists shortened in the middle.
pub fn value(value: &Value) -> String {
    match value {
        Value::Json(json) => match json.as_ref() {
            Json::String(text) => format!("\"{}\"", super::shorten(text, 120)),
            json => transaction(json).unwrap_or_else(|| text(json)),
        },
        other => other.to_string(),
    }
}

/// `append x 3, r y [1 2]`; `None` of what is no transaction.
fn transaction(json: &Json) -> Option<String> {
    let parts = json.as_array().filter(|parts| !parts.is_empty())?;
    let told: Option<Vec<String>> = parts.iter().take(PARTS_MAX).map(part).collect();
    let mut told = told?;
    if parts.len() > PARTS_MAX {
        told.push(format!("… {} in all", parts.len()));
    }
    Some(told.join(", "))
}

/// Whether it is a list of micro-operations that all bear this name.
pub fn is_all(value: &Value, name: &str) -> bool {
    let Value::Json(json) = value else { return false };
    let is_named = |part: &Json| part.get(0).and_then(Json::as_str) == Some(name);
    json.as_array().is_some_and(|parts| !parts.is_empty() && parts.iter().all(is_named))
}

fn part(json: &Json) -> Option<String> {
    let fields = json.as_array()?;
    let name = fields.first()?.as_str()?;
    let rest = fields[1..].iter().filter(|field| !field.is_null()).map(text);
    Some(std::iter::once(name.to_owned()).chain(rest).collect::<Vec<_>>().join(" "))
}

fn text(json: &Json) -> String {
    match json {
        Json::Null => "nil".to_owned(),
        Json::String(text) => super::shorten(text, 60),
        Json::Array(items) => list(items),
        Json::Object(_) => super::shorten(&json.to_string(), 120),
        other => other.to_string(),
    }
}

fn list(items: &[Json]) -> String {
    let texts = |items: &[Json]| items.iter().map(text).collect::<Vec<_>>().join(" ");
    match items.len() {
        0..=ITEMS_MAX => format!("[{}]", texts(items)),
        length => {
            let (first, last) = (texts(&items[..FIRST]), texts(&items[length - LAST..]));
            format!("[{first} … {last}] of {length}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let json: Json = serde_json::from_str(text).expect(text);
        value(&Value::Json(Box::new(json)))
    }

    #[test]
    fn transactions_and_lists_are_short() {
        assert_eq!(
            told(r#"[["append","x",3],["r",7,[1,2]],["r","y",null]]"#),
            "append x 3, r 7 [1 2], r y"
        );
        let long = (0..1000).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        assert_eq!(told(&format!("[{long}]")), "[0 1 2 … 997 998 999] of 1000");
        assert_eq!(told(&format!(r#"[["r",1,[{long}]]]"#)), "r 1 [0 1 2 … 997 998 999] of 1000");
        assert_eq!(told(r#"{"a":1}"#), r#"{"a":1}"#);
        assert_eq!((told("[]"), told(r#""""#)), ("[]".into(), r#""""#.into()));
    }
}
