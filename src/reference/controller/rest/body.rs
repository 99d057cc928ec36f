//! Bodies of requests: JSON objects, with complaints in the words of Go's decoder.

use serde_json::{Map, Value};

/// The fields of one request. Unknown ones are passed over, null is as good as none.
pub struct Body {
    fields: Map<String, Value>,
    /// What the real one calls this kind of request; it is part of its complaints.
    kind: &'static str,
}

impl Body {
    /// Reads the first value of a body; what comes behind it does not matter.
    pub fn read(kind: &'static str, bytes: &[u8]) -> Result<Body, String> {
        let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
        let fields = match values.next() {
            None => return Err("EOF".to_owned()),
            Some(Err(error)) if error.is_eof() => return Err("unexpected EOF".to_owned()),
            Some(Err(error)) => return Err(complaint(bytes, &error)),
            Some(Ok(Value::Object(fields))) => fields,
            Some(Ok(Value::Null)) => Map::new(),
            Some(Ok(other)) => {
                let found = kind_of(&other);
                return Err(format!(
                    "json: cannot unmarshal {found} into Go value of type api.{kind}"
                ));
            }
        };
        Ok(Body { fields, kind })
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    fn wrong<T>(&self, value: &Value, name: &str, wanted: &str) -> Result<T, String> {
        let (found, kind) = (kind_of(value), self.kind);
        Err(format!(
            "json: cannot unmarshal {found} into Go struct field {kind}.{name} of type {wanted}"
        ))
    }

    /// A text; empty where there is none.
    pub fn text(&self, name: &str) -> Result<String, String> {
        match self.field(name) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => self.wrong(other, name, "string"),
        }
    }

    /// A list of texts; empty where there is none.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let values = match self.field(name) {
            None => return Ok(vec![]),
            Some(Value::Array(values)) => values,
            Some(other) => return self.wrong(other, name, "[]string"),
        };
        let texts = values.iter().map(|value| match value {
            Value::String(text) => Ok(text.clone()),
            Value::Null => Ok(String::new()),
            other => self.wrong(other, name, "string"),
        });
        texts.collect()
    }

    /// A whole number; 0 where there is none.
    pub fn number(&self, name: &str) -> Result<i64, String> {
        let Some(value) = self.field(name) else { return Ok(0) };
        match value.as_i64() {
            Some(number) => Ok(number),
            None => self.wrong(value, name, "int"),
        }
    }

    pub fn flag(&self, name: &str) -> Result<bool, String> {
        match self.field(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => self.wrong(other, name, "bool"),
        }
    }
}

fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if number.as_i64().is_none() => format!("number {number}"),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    }
}

/// Go names the letter that it stumbled over.
fn complaint(bytes: &[u8], error: &serde_json::Error) -> String {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    match first {
        Some(letter) if !b"{[\"-0123456789tfn".contains(letter) => {
            format!("invalid character '{}' looking for beginning of value", letter.escape_ascii())
        }
        _ => format!("invalid JSON: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Body, String> {
        Body::read("MigrateSlotRequest", text.as_bytes())
    }

    #[test]
    fn fields_have_their_values_or_none() {
        let body =
            read(r#"{"slot":"5","target":1,"slot_only":true,"nodes":["a",null],"x":1} rest"#);
        let body = body.expect("sound");
        assert_eq!(body.text("slot"), Ok("5".to_owned()));
        assert_eq!((body.number("target"), body.flag("slot_only")), (Ok(1), Ok(true)));
        assert_eq!(body.texts("nodes"), Ok(vec!["a".to_owned(), String::new()]));
        let body = read(r#"{"slot":null}"#).expect("sound");
        assert_eq!(body.text("slot"), Ok(String::new()));
        assert_eq!((body.number("target"), body.flag("slot_only")), (Ok(0), Ok(false)));
        assert_eq!(body.texts("nodes"), Ok(vec![]));
    }

    #[test]
    fn complaints_are_those_of_go() {
        for (text, why) in [
            ("", "EOF"),
            ("  ", "EOF"),
            ("{\"a\":", "unexpected EOF"),
            ("hello", "invalid character 'h' looking for beginning of value"),
            ("[1]", "json: cannot unmarshal array into Go value of type api.MigrateSlotRequest"),
        ] {
            assert_eq!(read(text).err().as_deref(), Some(why), "{text}");
        }
        assert!(read("{\"a\" 1}").is_err_and(|why| why.contains("invalid JSON")));
        assert!(read(&"[".repeat(100_000)).is_err());
        let body =
            read(r#"{"slot":100,"target":1.5,"slot_only":"no","nodes":[1]}"#).expect("sound");
        let field = "json: cannot unmarshal number into Go struct field MigrateSlotRequest.slot of type string";
        assert_eq!(body.text("slot").as_ref().map_err(String::as_str), Err(field));
        assert!(body.number("target").is_err_and(|why| why.contains("number 1.5 into")));
        assert!(body.flag("slot_only").is_err_and(|why| why.contains("string into")));
        assert!(body.texts("nodes").is_err_and(|why| why.contains("number into")));
    }
}
