//! Why one transaction depends on another, in words.

use super::versions::{Versions, effective};
use crate::checker::txn::explain::{Justify, Reason, earlier, list_text, lists_read, written};
use crate::checker::txn::graph::rel;
use crate::checker::txn::table::{MicroOp, NONE, Table};

/// What the edges were made from.
pub struct Reasons<'a> {
    pub table: &'a Table,
    pub versions: &'a Versions,
}

/// A transaction and its name.
type Named<'a> = (u32, &'a str);

impl Justify for Reasons<'_> {
    fn justify(&self, from: Named, to: Named, kind: u8) -> Reason {
        let why = match kind {
            rel::WW => self.followed(from, to),
            rel::WR => self.observed(from, to),
            _ => self.lacked(from, to),
        };
        why.unwrap_or_else(|| Reason {
            about: None,
            text: format!("{} depends on {}", to.1, from.1),
        })
    }
}

impl Reasons<'_> {
    fn keys(&self, id: u32) -> impl Iterator<Item = u32> {
        let mut keys: Vec<u32> = self.table.micro_ops(id).iter().map(|op| op.key()).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter()
    }

    fn followed(&self, from: Named, to: Named) -> Option<Reason> {
        self.keys(to.0).find_map(|key| {
            written(self.table, to.0, key)
                .find_map(|value| self.append_followed(key, value, from, to))
        })
    }

    fn append_followed(&self, key: u32, value: u32, from: Named, to: Named) -> Option<Reason> {
        let place = self.versions.place(key, value);
        let writers = self.versions.writers(key);
        let end = place.map_or(writers.len(), |place| place as usize);
        let before =
            writers[..end].iter().rposition(|writer| effective(self.table, *writer).is_some())?;
        if writers[before] != from.0 {
            return None;
        }
        let earlier = self.table.value_text(self.versions.elements(key)[before]);
        let (value, key_text) = (self.table.value_text(value), self.table.key_text(key));
        let text = match place {
            Some(_) => format!(
                "{} appended {value} to key {key_text} right after {earlier} that {} had appended",
                to.1, from.1
            ),
            None => format!(
                "{} appended {value} to key {key_text}; the longest list that was read of it ends with {earlier} that {} had appended, so that {value} came after it",
                to.1, from.1
            ),
        };
        Some(Reason { about: Some((key, value.into_owned())), text })
    }

    fn observed(&self, from: Named, to: Named) -> Option<Reason> {
        self.keys(to.0).find_map(|key| {
            lists_read(self.table, to.0, key).find_map(|list| {
                let last = list.last().copied()?;
                if self.versions.writer(key, last) != Some(from.0) {
                    return None;
                }
                let (text, value) = (list_text(self.table, list), self.table.value_text(last));
                let text = format!(
                    "{} read {text} of key {}, which ends with {value} that {} had appended",
                    to.1,
                    self.table.key_text(key),
                    from.1
                );
                Some(Reason { about: Some((key, value.into_owned())), text })
            })
        })
    }

    fn lacked(&self, from: Named, to: Named) -> Option<Reason> {
        self.keys(from.0).find_map(|key| {
            lists_read(self.table, from.0, key).find_map(|list| {
                let value = self.missing(key, list, to.0)?;
                let (text, value) = (list_text(self.table, list), self.table.value_text(value));
                let earlier = earlier(self.table, to.0, from.0);
                let had = if earlier.is_empty() { "" } else { "had " };
                let text = format!(
                    "{} read {text} of key {}, which lacks {value} that {} {had}appended{earlier}",
                    from.1,
                    self.table.key_text(key),
                    to.1
                );
                Some(Reason { about: Some((key, value.into_owned())), text })
            })
        })
    }

    /// The element by which a transaction overwrote what was read.
    fn missing(&self, key: u32, list: &[u32], by: u32) -> Option<u32> {
        let after = match list.last() {
            Some(last) => self.versions.place(key, *last)? as usize + 1,
            None => 0,
        };
        match self.versions.next(key, after) {
            Some(next) if next != by => None,
            Some(_) => {
                let writers = &self.versions.writers(key)[after..];
                let place = after + writers.iter().position(|writer| *writer == by)?;
                self.versions.elements(key).get(place).copied()
            }
            None => {
                let unseen = |op: &MicroOp| match op {
                    MicroOp::Write { key: other, value } if *other == key && *value != NONE => {
                        self.versions.place(key, *value).is_none().then_some(*value)
                    }
                    _ => None,
                };
                self.table.micro_ops(by).iter().find_map(unseen)
            }
        }
    }
}
