//! YAML text to typed values, with errors that name file, line and field.

use serde::de::DeserializeOwned;

/// Why a file is no scenario. Always names the file; line and field where they are known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{origin}{}: {message}", line.map_or(String::new(), |line| format!(":{line}")))]
pub struct YamlError {
    pub origin: String,
    pub line: Option<usize>,
    pub message: String,
}

impl YamlError {
    /// An error about a field that parsed but makes no sense; the line is where the field stands.
    pub fn field(origin: &str, text: &str, field: &str, message: &str) -> YamlError {
        YamlError {
            origin: origin.into(),
            line: line_of(text, field.rsplit('.').next().unwrap_or(field), 0),
            message: format!("field `{field}`: {message}"),
        }
    }

    /// As [`YamlError::field`], within the `nth` item (from 0) of those that a field begins, else the
    /// item's own line.
    pub fn in_item(
        origin: &str,
        text: &str,
        (begins, nth): (&str, usize),
        field: &str,
        message: &str,
    ) -> YamlError {
        let start = line_of(text, begins, nth);
        let end = line_of(text, begins, nth + 1).unwrap_or(usize::MAX);
        let last = field.rsplit('.').next().unwrap_or(field);
        let within = |line: &usize| start.is_some_and(|start| *line >= start) && *line < end;
        let line = lines_of(text, last).find(within).or(start);
        YamlError { origin: origin.into(), line, message: format!("field `{field}`: {message}") }
    }
}

/// Parses strictly: an unknown field, a wrong type or a missing field is an error.
pub fn parse<T: DeserializeOwned>(origin: &str, text: &str) -> Result<T, YamlError> {
    serde_yaml::from_str(text).map_err(|error| {
        let located = error.location().map(|location| location.line());
        let line = second_line(text, &error.to_string()).or(located);
        YamlError { origin: origin.into(), line, message: explain(&error.to_string()) }
    })
}

/// Where a field stands that is there twice: the parser names the place of what holds it.
fn second_line(text: &str, message: &str) -> Option<usize> {
    let (field, _) = message.split_once("duplicate field `")?.1.split_once('`')?;
    line_of(text, field, 1)
}

/// Drops the parser's own position (it stands in front already) and adds the near field name.
fn explain(message: &str) -> String {
    let message = match message.rfind(" at line ") {
        Some(position) => &message[..position],
        None => message,
    };
    let message = &plain_types(message);
    let near = unknown_field(message)
        .and_then(|(found, expected)| crate::catalog::nearest(found, expected))
        .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    // A variant is something else here: how a server of our own behaves.
    message.replace("unknown variant `", "unknown choice `") + &near
}

/// The types of the program in the words of a person.
fn plain_types(message: &str) -> String {
    let words = [
        ("u32", "a whole number of 0 or more"),
        ("u64", "a whole number of 0 or more"),
        ("usize", "a whole number of 0 or more"),
        ("struct ", "fields: "),
    ];
    let Some((found, expected)) = message.rsplit_once("expected ") else { return message.into() };
    if found.contains("invalid value: integer") && expected == "u32" {
        return format!("{found}expected a whole number from 0 to {}", u32::MAX);
    }
    match words.iter().find_map(|(kind, word)| Some((word, expected.strip_prefix(kind)?))) {
        Some((word, rest)) => format!("{found}expected {word}{rest}"),
        None => message.into(),
    }
}

/// The unknown name in serde's message, and the names that it would have taken.
fn unknown_field(message: &str) -> Option<(&str, Vec<&str>)> {
    let rest = message
        .split_once("unknown field `")
        .or_else(|| message.split_once("unknown variant `"))?
        .1;
    let (found, rest) = rest.split_once('`')?;
    Some((found, rest.split('`').skip(1).step_by(2).collect()))
}

fn line_of(text: &str, field: &str, nth: usize) -> Option<usize> {
    lines_of(text, field).nth(nth)
}

fn lines_of<'a>(text: &'a str, field: &'a str) -> impl Iterator<Item = usize> {
    let named = move |line: &str| {
        let line = line.split('#').next().unwrap_or_default();
        line.split(['{', ',', ' ', '-']).any(|part| part.strip_suffix(':') == Some(field))
    };
    text.lines().enumerate().filter(move |(_, line)| named(line)).map(|(number, _)| number + 1)
}
