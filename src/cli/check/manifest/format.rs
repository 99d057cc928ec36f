//! Reads a manifest: a JSON list of histories with their stated verdicts. What it does not know is an
//! error, since a requirement that nobody reads is none.

use serde_json::{Map, Value as Json};

use super::entry::{Entry, Model, Stated};
use super::meaning;
use crate::catalog::nearest;
use crate::checker::{MODELS, ModelOptions, UnknownModel, Verdict};

const ENTRY_FIELDS: [&str; 6] = ["path", "raw", "model", "family", "options", "checks"];

/// Fields that say where an entry is from.
const REMARKS: [&str; 4] = ["origin", "stated_in", "confirmed_by", "note"];

const CHECK_FIELDS: [&str; 6] = [
    "options",
    "consistency_model",
    "verdict",
    "anomalies_include",
    "anomalies_exclude",
    "violates",
];

/// Other names under which manifests list anomalies that must not be named.
const EXCLUDES: [&str; 4] =
    ["anomalies_exclude", "anomalies_excluded", "anomalies_must_not", "anomalies_not"];

/// A manifest as far as it can be read.
#[derive(Debug)]
pub struct Manifest {
    /// In order; at least one.
    pub entries: Vec<Entry>,
    /// Why others are none, with their numbers and fields.
    pub refused: Vec<String>,
}

/// One bad entry keeps nobody from judging the others; if all are bad, the first one's error is told.
pub fn parse(text: &str) -> Result<Manifest, String> {
    let json: Json = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let Json::Array(entries) = json else {
        return Err(format!("expected a list of entries, found {}", kind_of(&json)));
    };
    if entries.is_empty() {
        return Err("expected entries, found an empty list".to_owned());
    }
    let (mut read, mut refused) = (Vec::new(), Vec::new());
    for (json, number) in entries.iter().zip(1..) {
        match Reader::new(json, number).and_then(|reader| reader.entry()) {
            Ok(entry) => read.push(entry),
            Err(why) => refused.push(why),
        }
    }
    match (read.is_empty(), refused.first()) {
        (true, Some(why)) => Err(why.clone()),
        _ => Ok(Manifest { entries: read, refused }),
    }
}

/// One entry while it is read.
struct Reader<'a> {
    place: String,
    map: &'a Map<String, Json>,
}

impl<'a> Reader<'a> {
    fn new(json: &'a Json, number: usize) -> Result<Reader<'a>, String> {
        let place = match json.get("path").and_then(Json::as_str) {
            Some(path) => format!("entry {number} ({path})"),
            None => format!("entry {number}"),
        };
        match json {
            Json::Object(map) => Ok(Reader { place, map }),
            other => Err(format!("{place}: expected an object, found {}", kind_of(other))),
        }
    }

    fn entry(&self) -> Result<Entry, String> {
        self.known_fields()?;
        let text = |field| self.text(self.map, field, field);
        let required = |field| text(field)?.ok_or_else(|| self.wrong(field, "text", None));
        let name = required("model")?;
        let entry = Entry {
            path: required("path")?,
            raw: text("raw")?,
            family: text("family")?.unwrap_or_else(|| name.clone()),
            model: Model::of(&name).map_err(|error| self.unknown_model(&error))?,
            checks: self.checks()?,
        };
        meaning::check(&entry, &self.place)?;
        Ok(entry)
    }

    fn unknown_model(&self, unknown: &UnknownModel) -> String {
        let near = nearest(&unknown.name, MODELS.iter().map(|model| model.name));
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        format!("{}: field `model`: {unknown}, any{near}", self.place)
    }

    /// Any other field with text is a remark, unless it looks like a known one with a slip.
    fn known_fields(&self) -> Result<(), String> {
        for (field, value) in self.map {
            if REMARKS.contains(&field.as_str()) {
                continue;
            }
            let is_known = ENTRY_FIELDS.contains(&field.as_str());
            let near = nearest(field, ENTRY_FIELDS);
            let is_of_a_check =
                CHECK_FIELDS.contains(&field.as_str()) || EXCLUDES.contains(&field.as_str());
            if !is_known && (near.is_some() || is_of_a_check || !value.is_string()) {
                return Err(self.unknown(field, near, &ENTRY_FIELDS));
            }
        }
        Ok(())
    }

    fn checks(&self) -> Result<Vec<Stated>, String> {
        let expected = "a list of at least one check";
        let checks = match self.map.get("checks") {
            Some(Json::Array(checks)) if !checks.is_empty() => checks,
            found => return Err(self.wrong("checks", expected, found)),
        };
        let is_only = checks.len() == 1;
        let numbered = checks.iter().enumerate();
        numbered.map(|(position, json)| self.check(json, position, is_only)).collect()
    }

    fn check(&self, json: &Json, position: usize, is_only: bool) -> Result<Stated, String> {
        let at = |field: &str| format!("checks[{position}].{field}");
        let Json::Object(map) = json else {
            let field = format!("checks[{position}]");
            return Err(self.wrong(&field, "an object", Some(json)));
        };
        for field in map.keys() {
            if !CHECK_FIELDS.contains(&field.as_str()) && !EXCLUDES.contains(&field.as_str()) {
                let near = nearest(field, CHECK_FIELDS);
                return Err(self.unknown(&at(field), near, &CHECK_FIELDS));
            }
        }
        let mut options = self.options(map, &at("options"))?;
        if let Some(model) = self.text(map, "consistency_model", &at("consistency_model"))? {
            options.consistency_models = vec![model];
        }
        let excludes = EXCLUDES
            .iter()
            .map(|field| self.names(map, field, &at(field)))
            .collect::<Result<Vec<_>, _>>();
        Ok(Stated {
            options,
            label: if is_only { String::new() } else { label(map) },
            verdict: self.verdict(map.get("verdict"), &at("verdict"))?,
            includes: self.names(map, "anomalies_include", &at("anomalies_include"))?,
            excludes: excludes?.concat(),
            violates: self.names(map, "violates", &at("violates"))?,
        })
    }

    /// Those of the entry, but for what the check says otherwise.
    fn options(&self, check: &Map<String, Json>, at: &str) -> Result<ModelOptions, String> {
        let mut merged = Map::new();
        for (field, found) in [("options", self.map.get("options")), (at, check.get("options"))] {
            match found {
                None => {}
                Some(Json::Object(options)) => merged.extend(options.clone()),
                other => return Err(self.wrong(field, "an object", other)),
            }
        }
        serde_json::from_value(merged.into())
            .map_err(|error| format!("{}: field `options`: {error}", self.place))
    }

    fn verdict(&self, found: Option<&Json>, at: &str) -> Result<Option<Verdict>, String> {
        let expected = "valid, invalid, unknown or any";
        match found.and_then(Json::as_str) {
            Some("any") => Ok(None),
            Some("valid") => Ok(Some(Verdict::Valid)),
            Some("invalid") => Ok(Some(Verdict::Invalid)),
            Some("unknown") => Ok(Some(Verdict::Unknown)),
            _ => Err(self.wrong(at, expected, found)),
        }
    }

    fn text(
        &self,
        map: &Map<String, Json>,
        field: &str,
        at: &str,
    ) -> Result<Option<String>, String> {
        match map.get(field) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::String(text)) => Ok(Some(text.clone())),
            found => Err(self.wrong(at, "text", found)),
        }
    }

    fn names(&self, map: &Map<String, Json>, field: &str, at: &str) -> Result<Vec<String>, String> {
        let found = map.get(field);
        let names = match found {
            None | Some(Json::Null) => return Ok(Vec::new()),
            Some(Json::Array(names)) => names.iter().map(|name| name.as_str().map(str::to_owned)),
            _ => return Err(self.wrong(at, "a list of names", found)),
        };
        let names: Option<Vec<String>> = names.collect();
        names.ok_or_else(|| self.wrong(at, "a list of names", found))
    }

    fn wrong(&self, field: &str, expected: &str, found: Option<&Json>) -> String {
        let found = found.map_or("nothing", kind_of);
        format!("{}: field `{field}`: expected {expected}, found {found}", self.place)
    }

    fn unknown(&self, field: &str, near: Option<&str>, known: &[&str]) -> String {
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let known = known.join(", ");
        format!("{}: unknown field `{field}`, expected one of {known}{near}", self.place)
    }
}

/// What a check adds to its entry's options.
fn label(check: &Map<String, Json>) -> String {
    if let Some(model) = check.get("consistency_model").and_then(Json::as_str) {
        return model.to_owned();
    }
    let options = check.get("options").and_then(Json::as_object);
    let told = options.into_iter().flatten().map(|(name, value)| format!("{name}={value}"));
    told.collect::<Vec<_>>().join(" ")
}

/// What a value is, or a short one itself.
fn kind_of(json: &Json) -> &str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(text) if text.len() <= 40 => text,
        Json::String(_) => "a long text",
        Json::Array(items) if items.is_empty() => "an empty list",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}
