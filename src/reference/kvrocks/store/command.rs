//! The table of commands on keys: how many words, which of them are keys, whether it writes.
//!
//! Commands on connections, clusters and servers are not in it; they are the server's own.

mod table;

use bytes::Bytes;

use super::call::{Answer, Call};
use crate::resp::Value;

/// One command.
#[derive(Debug)]
pub struct Command {
    /// In lower case.
    pub name: &'static str,
    /// The number of words, the name counted; where negative, the least number of them.
    pub arity: i32,
    /// True if it may write: then only a master of the slot may execute it.
    pub write: bool,
    pub keys: Keys,
    pub(super) run: fn(&Call<'_>) -> Answer,
}

/// Which words of a request are keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    None,
    /// From `first` to `last`, each `step`th; a negative `last` counts from the end (-1 is the last word).
    Range {
        first: usize,
        last: i32,
        step: usize,
    },
    /// The word at `count` says how many follow it.
    Counted {
        count: usize,
    },
}

/// All of them.
pub fn commands() -> &'static [Command] {
    table::COMMANDS
}

/// The command of this name in any case.
pub fn lookup(name: &[u8]) -> Option<&'static Command> {
    table::COMMANDS.iter().find(|command| command.name.as_bytes().eq_ignore_ascii_case(name))
}

/// What a request is answered whose name nobody knows.
pub fn unknown_command(words: &[Bytes]) -> Value {
    let text = |word: &Bytes| format!("`{}`", String::from_utf8_lossy(word));
    let name = words.first().map(text).unwrap_or_else(|| "``".to_owned());
    let rest: Vec<String> = words.iter().skip(1).map(text).collect();
    Value::Error(format!(
        "ERR unknown command {name}, with args beginning with: {}",
        rest.join(", ")
    ))
}

impl Command {
    /// True if a request of so many words may be executed.
    pub fn takes(&self, words: usize) -> bool {
        let arity = usize::try_from(self.arity.unsigned_abs()).unwrap_or(usize::MAX);
        if self.arity < 0 { words >= arity } else { words == arity }
    }

    /// The keys among these words; as many as there are, where words are missing.
    pub fn keys<'a>(&self, words: &'a [Bytes]) -> Vec<&'a Bytes> {
        let (first, end, step) = match self.keys {
            Keys::None => return Vec::new(),
            Keys::Range { first, last, step } => {
                let end = match usize::try_from(last) {
                    Ok(last) => (last + 1).min(words.len()),
                    Err(_) => (words.len() + 1).saturating_sub(last.unsigned_abs() as usize),
                };
                (first, end, step)
            }
            Keys::Counted { count } => {
                let number = words.get(count).and_then(|word| std::str::from_utf8(word).ok());
                let number: usize = number.and_then(|word| word.parse().ok()).unwrap_or(0);
                (count + 1, words.len().min((count + 1).saturating_add(number)), 1)
            }
        };
        words.get(first..end.max(first)).unwrap_or_default().iter().step_by(step).collect()
    }
}
