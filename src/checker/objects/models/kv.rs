//! A string that can be put, appended to, deleted and got.

use crate::checker::ModelOptions;
use crate::checker::objects::atom::shortened;
use crate::checker::objects::object::Object;
use crate::checker::objects::rope::{Piece, Rope};
use crate::checker::objects::seen::Seen;
use crate::op::Value;

/// What is meant by the names that histories use, in the order in which `ops` renames them.
const NAMES: [&[&str]; 4] =
    [&["get", "read"], &["put", "write", "set"], &["append"], &["delete", "del", "remove"]];

/// What a key holds. Nothing and an empty string are the same: systems tell either.
#[derive(Clone, Debug)]
pub struct Kv {
    init: Text,
    nil_is_unknown: bool,
    /// Other names of get, put, append and delete.
    names: Vec<String>,
}

type Text = Piece<u8>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Get(Text),
    Put(Text),
    Append(Text),
}

impl Kv {
    pub fn new(options: &ModelOptions) -> Result<Kv, String> {
        let init = crate::history::Datum::Json(options.initial()).to_value();
        if options.ops.len() > NAMES.len() {
            let (count, most) = (options.ops.len(), NAMES.len());
            return Err(format!(
                "`ops` names {count} operations, expected at most {most}: get, put, append, delete"
            ));
        }
        Ok(Kv {
            init: text(&init),
            nil_is_unknown: options.nil_read_is_unknown,
            names: options.ops.clone(),
        })
    }

    /// Which operation is meant: its place among `NAMES`.
    fn meant(&self, f: &str) -> Option<usize> {
        let usual = NAMES.iter().position(|names| names.contains(&f));
        usual.or_else(|| self.names.iter().position(|name| name == f))
    }
}

impl Object for Kv {
    type State = Rope<u8>;
    type Operation = Operation;

    fn name(&self) -> &'static str {
        "kv"
    }

    fn init(&self) -> Rope<u8> {
        Rope::of(&self.init)
    }

    fn parse(&self, seen: &Seen) -> Result<Option<Operation>, String> {
        let operation = match self.meant(seen.f()) {
            Some(0) => match seen.answer() {
                None => return Ok(None),
                Some(Value::Nil) if self.nil_is_unknown => return Ok(None),
                Some(answer) => Operation::Get(text(answer)),
            },
            Some(1) => Operation::Put(text(seen.asked())),
            Some(2) => Operation::Append(text(seen.asked())),
            Some(3) => Operation::Put(Text::new(Vec::new())),
            _ => return Err(seen.foreign("get, put, append, delete")),
        };
        Ok(Some(operation))
    }

    fn step(&self, state: &Rope<u8>, operation: &Operation) -> Option<Rope<u8>> {
        match operation {
            Operation::Get(seen) => state.is(seen).then(|| state.clone()),
            Operation::Put(value) => Some(Rope::of(value)),
            Operation::Append(value) => Some(state.with(value)),
        }
    }

    fn describe(&self, operation: &Operation) -> String {
        match operation {
            Operation::Get(seen) => format!("get of {}", quoted(seen.elements())),
            Operation::Put(value) if value.elements().is_empty() => "delete".to_owned(),
            Operation::Put(value) => format!("put of {}", quoted(value.elements())),
            Operation::Append(value) => format!("append of {}", quoted(value.elements())),
        }
    }

    fn describe_state(&self, state: &Rope<u8>) -> String {
        format!("the value is {}", quoted(&state.to_vec()))
    }

    fn observes(&self, operation: &Operation) -> bool {
        matches!(operation, Operation::Get(_))
    }

    /// What nobody got, whether by itself or within, might as well not have been written: between it and
    /// the next put there is no get.
    fn may_tell(&self, by: &Operation, open: &Operation) -> bool {
        match (by, open) {
            (Operation::Get(seen), Operation::Put(value)) => {
                seen.elements().starts_with(value.elements())
            }
            (Operation::Get(seen), Operation::Append(value)) => {
                contains(seen.elements(), value.elements())
            }
            _ => false,
        }
    }

    fn resets(&self, operation: &Operation) -> bool {
        matches!(operation, Operation::Put(_))
    }

    /// Without a put, what is there stays the beginning.
    fn hopeless(&self, state: &Rope<u8>, wanted: &Operation) -> bool {
        matches!(wanted, Operation::Get(seen) if !state.begins(seen.elements()))
    }

    fn overwrites(&self) -> bool {
        true
    }

    fn weight(&self, _state: &Rope<u8>) -> usize {
        size_of::<Rope<u8>>() + Rope::<u8>::LINK
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}

/// A value as a string; nothing is an empty one.
fn text(value: &Value) -> Text {
    let text = match value {
        Value::Nil => String::new(),
        Value::Json(json) => json.as_str().map_or_else(|| json.to_string(), str::to_owned),
        other => other.to_string(),
    };
    Piece::new(text.into_bytes())
}

fn quoted(text: &[u8]) -> String {
    format!("{:?}", shortened(&String::from_utf8_lossy(text)))
}
