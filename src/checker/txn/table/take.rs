//! Events into the table.

use super::{ListRead, MicroOp, Moment, NONE, Outcome, Shape, Table, Txn};
use crate::history::Datum;
use crate::op::{Event, Kind, Process};

impl Table {
    /// Takes in the next event of the history, its value apart. Events of the nemesis say nothing here.
    pub fn take(&mut self, head: &Event, value: Datum) {
        let Process::Client(process) = head.process else { return };
        if self.refused.is_some() {
            return;
        }
        if self.txns.len() >= (NONE >> 1) as usize
            || self.micro_ops.len() >= NONE as usize - (1 << 20)
        {
            self.refused = Some("there are more transactions than can be numbered".to_owned());
            return;
        }
        let taken = match head.kind {
            Kind::Invoke => self.invoke(process, head, value),
            _ => self.complete(process, head, value),
        };
        if let Err(what) = taken {
            self.refused = Some(format!("the event at index {}: {what}", head.index));
        }
    }

    fn invoke(&mut self, process: u32, head: &Event, value: Datum) -> Result<(), String> {
        let first = self.micro_ops.len() as u32;
        self.parse(value, false)?;
        let id = self.add(process, Outcome::Info, first);
        self.txns[id as usize].invoked = Some(moment(head));
        self.steps.push(id << 1);
        // One that was still open has no completion and stays indeterminate.
        self.open.begin(process, id);
        Ok(())
    }

    fn complete(&mut self, process: u32, head: &Event, value: Datum) -> Result<(), String> {
        let outcome = match head.kind {
            Kind::Ok => Outcome::Ok,
            Kind::Fail => Outcome::Fail,
            _ => Outcome::Info,
        };
        let begun = self.open.end(process);
        let first = self.micro_ops.len() as u32;
        // What an invocation asked for is all there is to know of a transaction that was not ok.
        if outcome == Outcome::Ok || (begun.is_none() && !value.is_nil()) {
            self.parse(value, outcome == Outcome::Ok)?;
        }
        let id = match begun {
            Some(id) => id,
            None => {
                if value.is_nil() && outcome == Outcome::Info {
                    self.blind.get_or_insert(head.index);
                }
                self.add(process, outcome, first)
            }
        };
        if outcome == Outcome::Ok && begun.is_some() {
            self.replace(id, first);
        }
        let txn = &mut self.txns[id as usize];
        txn.outcome = outcome;
        txn.completed = Some(moment(head));
        self.steps.push(id << 1 | 1);
        Ok(())
    }

    fn add(&mut self, process: u32, outcome: Outcome, first: u32) -> u32 {
        let last = self.micro_ops.len() as u32;
        self.txns.push(Txn { process, outcome, invoked: None, completed: None, first, last });
        self.txns.len() as u32 - 1
    }

    /// Puts the micro-operations from `first` on in the place of those that were asked for.
    fn replace(&mut self, id: u32, first: u32) {
        let txn = &mut self.txns[id as usize];
        let done = self.micro_ops.len() as u32 - first;
        if done == txn.last - txn.first {
            self.micro_ops.copy_within(first as usize.., txn.first as usize);
            self.micro_ops.truncate(first as usize);
        } else {
            (txn.first, txn.last) = (first, first + done);
        }
    }

    /// Adds the micro-operations of a value to the table; `seen` if its reads say what they saw.
    fn parse(&mut self, value: Datum, seen: bool) -> Result<(), String> {
        let expected = || "expected a list of micro-operations".to_owned();
        let first = self.micro_ops.len();
        for micro_op in value.items().ok_or_else(expected)? {
            match self.micro_op(micro_op, seen) {
                Ok(micro_op) => self.micro_ops.push(micro_op),
                Err(what) => {
                    self.micro_ops.truncate(first);
                    return Err(what);
                }
            }
        }
        Ok(())
    }

    fn micro_op(&mut self, micro_op: Datum, seen: bool) -> Result<MicroOp, String> {
        let wanted = match self.shape {
            Shape::Lists => "[\"append\" key value] or [\"r\" key list]",
            Shape::Registers => "[\"w\" key value] or [\"r\" key value]",
        };
        let expected = || format!("expected {wanted}, found {}", short(&micro_op.to_text()));
        let (f, key, value) = micro_op.first_three().ok_or_else(expected)?;
        let f = f.as_str().ok_or_else(expected)?;
        match (self.shape, f) {
            (Shape::Lists, "append") | (Shape::Registers, "w") => {
                let value = value.ok_or_else(expected)?;
                Ok(MicroOp::Write { key: self.keys.intern(key), value: self.value(value) })
            }
            (_, "r") => self.read(key, value, seen).ok_or_else(expected),
            _ => Err(expected()),
        }
    }

    fn value(&mut self, value: Datum) -> u32 {
        if value.is_nil() { NONE } else { self.values.intern(value) }
    }

    fn read(&mut self, key: Datum, value: Option<Datum>, seen: bool) -> Option<MicroOp> {
        let key = self.keys.intern(key);
        if !seen {
            return Some(MicroOp::Asked { key });
        }
        let value = value.filter(|value| !value.is_nil());
        if self.shape == Shape::Registers {
            let value = value.map_or(NONE, |value| self.values.intern(value));
            return Some(MicroOp::Read { key, value });
        }
        let Some(value) = value else {
            return Some(MicroOp::ReadList { key, read: ListRead::EMPTY });
        };
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        self.values.intern_all(value, &mut list)?;
        let read = self.lists.take(key, &list);
        self.list = list;
        Some(MicroOp::ReadList { key, read })
    }
}

fn moment(head: &Event) -> Moment {
    Moment { index: head.index, time: head.time }
}

fn short(text: &str) -> &str {
    text.char_indices().nth(60).map_or(text, |(end, _)| &text[..end])
}
