//! Writes of one key each, and reads of whole groups of keys: any two reads of a group must be in
//! order, the one having seen no less than the other. As Jepsen's `long-fork`.
//!
//! As long as the reads of a group are in order, there are at most as many different ones as keys;
//! so a read is compared with few others.

use rustc_hash::{FxHashMap, FxHashSet};

use super::elements::Elements;
use super::parts::{Access, access};
use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, Told, at, listed};
use crate::history::Datum;
use crate::op::Kind;

/// What a read saw of its group: the keys that were there, sorted.
#[derive(Clone)]
struct Seen {
    keys: Box<[u32]>,
    first: Moment,
}

/// The different reads of one group of keys that are in order among themselves.
#[derive(Clone, Default)]
struct Group {
    chain: Vec<Seen>,
}

#[derive(Clone, Default)]
pub(super) struct LongFork {
    keys: Elements,
    values: Elements,
    /// What each key was read as, if it was there.
    read_as: FxHashMap<u32, u32>,
    written: FxHashSet<u32>,
    groups: FxHashMap<Box<[u32]>, Group>,
    /// How many keys the first read had.
    size: Option<usize>,
    remembered: usize,
}

impl LongFork {
    /// Each key is written once: else nil and not nil would say nothing of the order.
    fn write(&mut self, step: &Step, parts: &[Access], tally: &mut Tally) {
        for key in parts.iter().filter_map(|part| part.key) {
            let number = self.keys.number(key);
            if !self.written.insert(number) {
                let (index, name) = (step.event.index, self.keys.name(number));
                tally.broken(|| format!("event {index}: key {name} is written a second time"));
            }
        }
    }

    fn read(&mut self, step: &Step, parts: &[Access], tally: &mut Tally) {
        tally.count("reads", 1);
        let mut group: Vec<u32> = Vec::with_capacity(parts.len());
        let mut seen: Vec<u32> = Vec::with_capacity(parts.len());
        for Access { key, value, .. } in parts {
            let number = key.map_or(0, |key| self.keys.number(key));
            group.push(number);
            if !value.is_nil() {
                seen.push(number);
                self.know(step, number, *value, tally);
            }
        }
        for keys in [&mut group, &mut seen] {
            keys.sort_unstable();
            keys.dedup();
        }
        let size = *self.size.get_or_insert(group.len());
        if group.len() != size {
            let (index, found) = (step.event.index, group.len());
            tally.broken(|| {
                format!("event {index}: a read of {found} keys, where the first had {size}")
            });
            return;
        }
        match seen.len() {
            0 => tally.count("early-reads", 1),
            all if all == size => tally.count("late-reads", 1),
            _ => {}
        }
        self.compare(step, group, seen, tally);
    }

    /// A key that is there always has the same value.
    fn know(&mut self, step: &Step, key: u32, value: Datum, tally: &mut Tally) {
        let number = self.values.number(value);
        let known = *self.read_as.entry(key).or_insert(number);
        if known != number {
            let (index, name) = (step.event.index, self.keys.name(key));
            let (one, other) = (self.values.name(known), self.values.name(number));
            tally.broken(|| format!("event {index}: key {name} was read as {one} and as {other}"));
        }
    }

    fn compare(&mut self, step: &Step, group: Vec<u32>, seen: Vec<u32>, tally: &mut Tally) {
        let entry = self.groups.entry(group.into_boxed_slice()).or_default();
        let place = entry.chain.partition_point(|other| other.keys.len() < seen.len());
        let neighbours = [place.checked_sub(1), Some(place)].into_iter().flatten();
        let mut others = neighbours.filter_map(|position| entry.chain.get(position));
        if entry.chain.get(place).is_some_and(|other| *other.keys == *seen) {
            return;
        }
        if let Some(other) = others.find(|other| !in_order(&other.keys, &seen)) {
            let keys = &self.keys;
            tally.report("long-fork", || fork(keys, other, &seen, step.now()));
            return;
        }
        self.remembered += size_of::<Seen>() + seen.len() * size_of::<u32>();
        entry.chain.insert(place, Seen { keys: seen.into(), first: step.now() });
    }
}

/// Whether one of two sorted lists has all of the other.
fn in_order(one: &[u32], other: &[u32]) -> bool {
    let (few, many) = if one.len() < other.len() { (one, other) } else { (other, one) };
    few.iter().all(|key| many.binary_search(key).is_ok())
}

fn fork(keys: &Elements, other: &Seen, seen: &[u32], read: Moment) -> Told {
    let only = |these: &[u32], those: &[u32]| {
        let mine = these.iter().filter(|key| !those.contains(key));
        listed(mine.map(|key| keys.name(*key)))
    };
    let first = other.first;
    Told {
        summary: format!(
            "process {} read at {} that key {} was written and {} not yet; process {} read at {} that \
             {} was written and {} not yet",
            first.process,
            at(first),
            only(&other.keys, seen),
            only(seen, &other.keys),
            read.process,
            at(read),
            only(seen, &other.keys),
            only(&other.keys, seen),
        ),
        proof: vec![first, read],
        ..Told::default()
    }
}

impl Workload for LongFork {
    const NAME: &'static str = "long-fork";
    const OPS: &'static [&'static str] = &[];
    const PAIRED: bool = false;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        if !matches!(step.kind(), Kind::Invoke | Kind::Ok) {
            return;
        }
        let items = step.value.items();
        let Some(parts) = items.and_then(|items| items.map(access).collect::<Option<Vec<_>>>())
        else {
            if step.kind() == Kind::Ok {
                let (index, found) = (step.event.index, step.value.to_text());
                tally.broken(|| format!("event {index}: {found:.40}, expected [[r k v] ...]"));
            }
            return;
        };
        match (step.kind(), parts.iter().all(|part| !part.writes)) {
            (Kind::Ok, true) => self.read(step, &parts, tally),
            (Kind::Invoke, false) if parts.len() == 1 => self.write(step, &parts, tally),
            (Kind::Invoke, false) => {
                let index = step.event.index;
                tally.broken(|| format!("event {index}: expected one write, or reads alone"));
            }
            _ => {}
        }
    }

    fn finish(&mut self, _tally: &mut Tally) {}

    fn bytes(&self) -> usize {
        let each = self.keys.len() * 40;
        self.keys.bytes() + self.values.bytes() + each + self.remembered
    }
}
