//! The order of each key's elements, and who appended them.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::checker::txn::table::{ListRead, MicroOp, NONE, Outcome, Table};

/// An append that no read has seen, of a transaction that may have taken effect.
#[derive(Clone, Copy, Debug)]
pub struct Unseen {
    pub key: u32,
    pub value: u32,
    pub txn: u32,
}

/// For each key the longest list that was read of it, without what it holds twice.
#[derive(Debug, Default)]
pub struct Versions {
    /// By key where its elements begin.
    starts: Vec<u32>,
    elements: Vec<u32>,
    /// By element who appended it: also one that failed, or [`NONE`].
    writers: Vec<u32>,
    /// By element who appended it or, if that one had no effect, the next that may have had; or [`NONE`].
    next: Vec<u32>,
    /// Those elements, by position among all, whose transaction appended to the key again later.
    went_on: FxHashSet<u32>,
    /// By key and value: who appended it, and the place in the key's order.
    appends: FxHashMap<u64, Append>,
    /// Sorted by key and then by transaction.
    pub unseen: Vec<Unseen>,
    /// A value that was appended twice, so that reads do not tell whose it is.
    pub ambiguous: Option<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Append {
    /// Twice the transaction, and one more if it appended to the key again.
    origin: u32,
    place: u32,
}

impl Append {
    fn txn(self) -> u32 {
        self.origin >> 1
    }

    fn went_on(self) -> bool {
        self.origin & 1 == 1
    }
}

fn pack(key: u32, value: u32) -> u64 {
    (key as u64) << 32 | value as u64
}

impl Versions {
    pub fn of(table: &Table) -> Versions {
        let mut versions = Versions::default();
        versions.collect(table);
        for key in 0..table.keys.len() as u32 {
            versions.starts.push(versions.elements.len() as u32);
            versions.order(key, table.lists.longest_of(key));
            versions.look_ahead(table, versions.starts[key as usize] as usize);
        }
        versions.starts.push(versions.elements.len() as u32);
        versions.look_for_unseen(table);
        versions
    }

    fn collect(&mut self, table: &Table) {
        self.appends.reserve(table.writes());
        for (id, _) in table.txns() {
            let ops = table.micro_ops(id);
            for (position, op) in ops.iter().enumerate() {
                let MicroOp::Write { key, value } = *op else { continue };
                let again =
                    |op: &MicroOp| matches!(op, MicroOp::Write { key: other, .. } if *other == key);
                let more = ops[position + 1..].iter().any(again);
                let append = Append { origin: id << 1 | more as u32, place: NONE };
                if self.appends.insert(pack(key, value), append).is_some() {
                    self.ambiguous.get_or_insert((key, value));
                }
            }
        }
    }

    fn order(&mut self, key: u32, longest: &[u32]) {
        let start = self.elements.len();
        for element in longest {
            let place = (self.elements.len() - start) as u32;
            let writer = match self.appends.get_mut(&pack(key, *element)) {
                Some(append) if append.place != NONE => continue,
                Some(append) => {
                    append.place = place;
                    if append.went_on() {
                        self.went_on.insert(self.elements.len() as u32);
                    }
                    append.txn()
                }
                None if self.elements[start..].contains(element) => continue,
                None => NONE,
            };
            self.elements.push(*element);
            self.writers.push(writer);
        }
    }

    fn look_ahead(&mut self, table: &Table, start: usize) {
        let mut next = NONE;
        self.next.resize(self.writers.len(), NONE);
        for place in (start..self.writers.len()).rev() {
            next = effective(table, self.writers[place]).unwrap_or(next);
            self.next[place] = next;
        }
    }

    fn look_for_unseen(&mut self, table: &Table) {
        let unseen = self.appends.iter().filter(|(_, append)| append.place == NONE);
        let unseen = unseen.map(|(packed, append)| Unseen {
            key: (packed >> 32) as u32,
            value: *packed as u32,
            txn: append.txn(),
        });
        self.unseen = unseen.filter(|unseen| effective(table, unseen.txn).is_some()).collect();
        // The map has no order of its own to rely on.
        self.unseen.sort_unstable_by_key(|unseen| (unseen.key, unseen.txn, unseen.value));
    }

    /// Who appended a value.
    pub fn writer(&self, key: u32, value: u32) -> Option<u32> {
        self.appends.get(&pack(key, value)).map(|append| append.txn())
    }

    /// Who appended a value, if he appended to the key again later.
    pub fn went_on(&self, key: u32, value: u32) -> Option<u32> {
        let append = self.appends.get(&pack(key, value))?;
        append.went_on().then(|| append.txn())
    }

    /// The same of the element at a place of the key's order.
    pub fn went_on_at(&self, key: u32, place: usize) -> Option<u32> {
        if self.went_on.is_empty() {
            return None;
        }
        let position = self.starts[key as usize] + place as u32;
        self.went_on.contains(&position).then(|| self.writers[position as usize])
    }

    /// From this place on, who appended first among those that may have had effect.
    pub fn next(&self, key: u32, place: usize) -> Option<u32> {
        let next = self.next[self.range(key)].get(place).copied();
        next.filter(|next| *next != NONE)
    }

    /// The place of a value in its key's order, if a read has seen it.
    pub fn place(&self, key: u32, value: u32) -> Option<u32> {
        self.appends
            .get(&pack(key, value))
            .map(|append| append.place)
            .filter(|place| *place != NONE)
    }

    /// The place in the key's order after the last element of a read, unless that lies outside of the
    /// order.
    pub fn place_after(&self, table: &Table, key: u32, read: ListRead) -> Option<usize> {
        if read.length == 0 {
            return Some(0);
        }
        let lists = &table.lists;
        if read.branch == lists.longest(key) && self.range(key).len() == lists.longest_of(key).len()
        {
            return Some(read.length as usize);
        }
        let last = lists.seen(read).last()?;
        self.place(key, *last).map(|place| place as usize + 1)
    }

    /// A key's elements in order.
    pub fn elements(&self, key: u32) -> &[u32] {
        &self.elements[self.range(key)]
    }

    /// Who appended them, by place.
    pub fn writers(&self, key: u32) -> &[u32] {
        &self.writers[self.range(key)]
    }

    /// The appends to a key that no read has seen.
    pub fn unseen_of(&self, key: u32) -> &[Unseen] {
        let start = self.unseen.partition_point(|unseen| unseen.key < key);
        let end = self.unseen.partition_point(|unseen| unseen.key <= key);
        &self.unseen[start..end]
    }

    fn range(&self, key: u32) -> std::ops::Range<usize> {
        self.starts[key as usize] as usize..self.starts[key as usize + 1] as usize
    }

    pub fn bytes(&self) -> usize {
        self.elements.capacity() * 12 + self.appends.capacity() * 18 + self.unseen.capacity() * 12
    }
}

/// A writer, if it is one and may have taken effect.
pub fn effective(table: &Table, writer: u32) -> Option<u32> {
    (writer != NONE && table.txn(writer).outcome != Outcome::Fail).then_some(writer)
}
