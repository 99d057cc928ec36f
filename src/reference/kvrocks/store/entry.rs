//! What a key holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use bytes::Bytes;

/// A key's value and when it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub content: Content,
    /// Wall-clock milliseconds since 1970; after then the key is not there.
    pub expires: Option<i64>,
}

impl Entry {
    pub fn is_expired(&self, now_ms: i64) -> bool {
        self.expires.is_some_and(|at| at < now_ms)
    }
}

/// Only a string may be empty: a key goes with its last element.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    String(Bytes),
    /// By position; positions say order and may have gaps.
    List(BTreeMap<i64, Bytes>),
    Hash(BTreeMap<Bytes, Bytes>),
    Set(BTreeSet<Bytes>),
    /// Members with their scores.
    SortedSet(BTreeMap<Bytes, f64>),
    /// Entries, each with fields and values by turns.
    Stream(BTreeMap<StreamId, Vec<Bytes>>),
}

impl Content {
    /// As `TYPE` says it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Content::String(_) => "string",
            Content::List(_) => "list",
            Content::Hash(_) => "hash",
            Content::Set(_) => "set",
            Content::SortedSet(_) => "zset",
            Content::Stream(_) => "stream",
        }
    }
}

/// `milliseconds-number`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    pub ms: u64,
    pub number: u64,
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.number)
    }
}
