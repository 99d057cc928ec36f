//! What is wrong with single reads, whatever the order of the versions.
//!
//! Names are Elle's where it has one: `internal`, `G1a`, `G1b`, `future-read`.

use super::footprint::{Footprints, OwnWrites};
use super::versions::{Access, Registers, Writer};
use crate::checker::txn::table::NONE;

/// What a transaction saw that it cannot have seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Direct {
    pub kind: Kind,
    pub reader: u32,
    /// What it read.
    pub version: u32,
    /// What it had read or written before, or what else was there at first; `NONE` if nothing.
    pub other: u32,
    /// Who wrote the version; `NONE` if it is not one transaction.
    pub writer: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Not what it had written itself.
    NotOwnWrite,
    /// Not what it had read before, without a write between.
    NotRepeatable,
    /// What only failed transactions wrote.
    Aborted,
    /// What its writer overwrote itself.
    Intermediate,
    /// What itself wrote only later.
    Future,
    /// Neither written nor what is said to have been there at first.
    Garbage,
    /// Nobody wrote it, and neither another such value of its key, so that one of them is garbage; unless
    /// the history is not all that happened, as excerpts are not.
    Unwritten,
    /// Nobody wrote it, and its process had met what somebody wrote before, so that it is too late for a
    /// first value; or it is garbage.
    LateInProcess,
    /// The same in real time.
    LateInRealTime,
}

impl Kind {
    /// Whether all that speaks against the value is that nobody is known to have written it.
    pub fn is_garbage(self) -> bool {
        matches!(self, Kind::Garbage | Kind::Unwritten | Kind::LateInProcess | Kind::LateInRealTime)
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::NotOwnWrite | Kind::NotRepeatable => "internal",
            Kind::Aborted => "G1a",
            Kind::Intermediate => "G1b",
            Kind::Future => "future-read",
            Kind::Garbage => "garbage-read",
            Kind::Unwritten => "unwritten-read",
            Kind::LateInProcess => "garbage-read-process",
            Kind::LateInRealTime => "garbage-read-realtime",
        }
    }
}

/// All of them, by kind and then in order of the history. Linear.
pub(crate) fn direct(registers: &Registers, prints: &Footprints) -> Vec<Direct> {
    let mut found = Vec::new();
    let mut seen = Seen::of(registers);
    for txn in 0..registers.table.len() as u32 {
        if registers.table.txn(txn).is_ok() {
            seen.judge(registers, prints, txn, &mut found);
        }
    }
    found.sort_by_key(|direct| direct.kind);
    found
}

struct Seen {
    /// The last access to each key.
    last: OwnWrites,
    /// Of each key, what was read though nobody wrote it.
    unwritten: Vec<u32>,
}

impl Seen {
    fn of(registers: &Registers) -> Seen {
        Seen { last: OwnWrites::of(registers), unwritten: vec![NONE; registers.table.keys.len()] }
    }

    fn judge(
        &mut self,
        registers: &Registers,
        prints: &Footprints,
        txn: u32,
        into: &mut Vec<Direct>,
    ) {
        let accesses = registers.accesses(txn);
        for (place, access) in accesses.iter().enumerate() {
            let former = self.last.put(txn, registers.key_of(*access), place as u32);
            let former = former.map(|place| accesses[place as usize]);
            let is_same = former.is_some_and(|former| former.version() == access.version());
            if access.is_write() || is_same {
                continue;
            }
            let read = Direct {
                kind: Kind::NotRepeatable,
                reader: txn,
                version: access.version(),
                other: former.map_or(NONE, Access::version),
                writer: NONE,
            };
            into.extend(judge_repeated(registers, read, former));
            let is_own = into
                .last()
                .is_some_and(|found| found.reader == txn && found.kind == Kind::NotOwnWrite);
            if !is_own {
                into.extend(self.judge_source(registers, prints, read));
            }
        }
    }

    /// Whether there is something wrong with where a read's value came from.
    fn judge_source(
        &mut self,
        registers: &Registers,
        prints: &Footprints,
        read: Direct,
    ) -> Option<Direct> {
        let known = registers.versions[read.version as usize];
        let of = |kind, other, writer| Some(Direct { kind, other, writer, ..read });
        match known.writer {
            Writer::Failed(writer) => of(Kind::Aborted, NONE, writer),
            Writer::One(writer) if writer == read.reader => of(Kind::Future, NONE, writer),
            Writer::One(writer) if prints.intermediate[read.version as usize] => {
                of(Kind::Intermediate, NONE, writer)
            }
            Writer::One(_) | Writer::Several => None,
            Writer::Nobody => {
                let first = &mut self.unwritten[known.key as usize];
                if *first == NONE {
                    *first = read.version;
                }
                (*first != read.version).then_some(())?;
                of(Kind::Unwritten, *first, NONE)
            }
        }
    }
}

/// The transaction had met the key before, and it held something else.
fn judge_repeated(registers: &Registers, read: Direct, former: Option<Access>) -> Option<Direct> {
    let former = former?;
    let writer = registers.versions[former.version() as usize].writer;
    let is_own = former.is_write() || writer == Writer::One(read.reader);
    let kind = if is_own { Kind::NotOwnWrite } else { Kind::NotRepeatable };
    Some(Direct { kind, ..read })
}
