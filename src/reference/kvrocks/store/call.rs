//! One request on its way: what handlers see of the store, and how they answer.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use super::{Content, Entry, Executed, Record, Store, StreamId, command};
use crate::resp::Value;

/// A request and the store at one time of day.
pub struct Call<'a> {
    pub store: &'a Store,
    /// At least as many as the command's arity says.
    pub words: &'a [Bytes],
    pub now_ms: i64,
}

pub type Answer = Result<Executed, Refusal>;

/// An error reply, with its code word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl Refusal {
    /// An error of the class that has no code of its own.
    pub fn err(text: &str) -> Refusal {
        Refusal(format!("ERR {text}"))
    }

    /// How kvrocks passes on what its storage refuses.
    pub fn invalid(text: &str) -> Refusal {
        Refusal(format!("ERR Invalid argument: {text}"))
    }

    pub fn wrong_type() -> Refusal {
        Refusal::invalid("WRONGTYPE Operation against a key holding the wrong kind of value")
    }

    pub fn not_integer() -> Refusal {
        Refusal::err("value is not an integer or out of range")
    }

    pub fn syntax() -> Refusal {
        Refusal::err("syntax error")
    }

    pub fn wrong_number() -> Refusal {
        Refusal::err("wrong number of arguments")
    }
}

pub fn execute(store: &Store, words: &[Bytes], now_ms: i64) -> Executed {
    let Some(command) = words.first().and_then(|name| command::lookup(name)) else {
        return read(command::unknown_command(words));
    };
    let answer = match command.takes(words.len()) {
        true => (command.run)(&Call { store, words, now_ms }),
        false => Err(Refusal::wrong_number()),
    };
    answer.unwrap_or_else(|refusal| read(Value::Error(refusal.0)))
}

/// A reply that changes nothing.
pub fn read(reply: Value) -> Executed {
    Executed { reply, effects: Vec::new() }
}

pub fn wrote(reply: Value, effects: Vec<Record>) -> Executed {
    Executed { reply, effects }
}

pub fn int(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

impl<'a> Call<'a> {
    pub fn word(&self, index: usize) -> &'a Bytes {
        &self.words[index]
    }

    /// The first key.
    pub fn key(&self) -> &'a Bytes {
        &self.words[1]
    }

    /// What a key holds now.
    pub fn live(&self, key: &[u8]) -> Option<&'a Entry> {
        self.store.entry(key).filter(|entry| !entry.is_expired(self.now_ms))
    }

    /// What has to come before a key is made anew: the end of one that is past its expiry, which is
    /// still in the store.
    pub fn before_new(&self, key: &Bytes) -> Vec<Record> {
        match self.store.entry(key) {
            Some(entry) if entry.is_expired(self.now_ms) => {
                vec![Record::Delete { key: key.clone() }]
            }
            _ => Vec::new(),
        }
    }

    /// The string under a key; an error where it holds something else.
    pub fn string(&self, key: &[u8]) -> Result<Option<&'a Bytes>, Refusal> {
        self.content(key, |content| match content {
            Content::String(value) => Some(value),
            _ => None,
        })
    }

    pub fn list(&self, key: &[u8]) -> Result<Option<&'a BTreeMap<i64, Bytes>>, Refusal> {
        self.content(key, |content| match content {
            Content::List(list) => Some(list),
            _ => None,
        })
    }

    pub fn hash(&self, key: &[u8]) -> Result<Option<&'a BTreeMap<Bytes, Bytes>>, Refusal> {
        self.content(key, |content| match content {
            Content::Hash(hash) => Some(hash),
            _ => None,
        })
    }

    pub fn set(&self, key: &[u8]) -> Result<Option<&'a BTreeSet<Bytes>>, Refusal> {
        self.content(key, |content| match content {
            Content::Set(set) => Some(set),
            _ => None,
        })
    }

    pub fn sorted_set(&self, key: &[u8]) -> Result<Option<&'a BTreeMap<Bytes, f64>>, Refusal> {
        self.content(key, |content| match content {
            Content::SortedSet(set) => Some(set),
            _ => None,
        })
    }

    pub fn stream(
        &self,
        key: &[u8],
    ) -> Result<Option<&'a BTreeMap<StreamId, Vec<Bytes>>>, Refusal> {
        self.content(key, |content| match content {
            Content::Stream(stream) => Some(stream),
            _ => None,
        })
    }

    fn content<T>(
        &self,
        key: &[u8],
        pick: impl Fn(&'a Content) -> Option<&'a T>,
    ) -> Result<Option<&'a T>, Refusal> {
        let Some(entry) = self.live(key) else { return Ok(None) };
        pick(&entry.content).map(Some).ok_or_else(Refusal::wrong_type)
    }
}
