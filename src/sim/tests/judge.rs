//! What must hold, whatever breaks: kept as a run goes on, each violation in words.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::sim::world::World;
use crate::sim::zookeeper::{Txn, Zxid};

/// A write or a barrier read that was confirmed: the register's version and value then.
#[derive(Clone, Debug)]
pub struct Seen {
    pub key: u64,
    pub version: i32,
    pub value: String,
    pub by: String,
}

#[derive(Default)]
pub struct Judge {
    pub violations: Vec<String>,
    pub confirmed: usize,
    /// The newest version that anybody has been shown or promised, by key.
    floors: BTreeMap<u64, i32>,
    /// Each version of a register has one value.
    values: BTreeMap<(u64, i32), String>,
    /// Everything that any server has applied, in order.
    ledger: BTreeMap<Zxid, Rc<Txn>>,
    /// How far each server's log has been compared, by process.
    compared: BTreeMap<(u8, Option<u32>), Zxid>,
    leaders: BTreeMap<u32, u8>,
}

impl Judge {
    /// The version below which no operation that begins now may see the register.
    pub fn floor(&self, key: u64) -> i32 {
        self.floors.get(&key).copied().unwrap_or(0)
    }

    /// A linearizable operation that began at `floor` has ended.
    pub fn saw(&mut self, seen: Seen, floor: i32) {
        self.confirmed += 1;
        let Seen { key, version, value, by } = seen;
        if version < floor {
            self.violations.push(format!("{by}: key {key} at version {version}, was {floor}"));
        }
        let known = self.values.entry((key, version)).or_insert_with(|| value.clone());
        if *known != value {
            self.violations.push(format!("{by}: key {key} v{version} is {value}, was {known}"));
        }
        let floor = self.floors.entry(key).or_insert(0);
        *floor = version.max(*floor);
    }

    /// Compares what all servers have applied, and who leads.
    pub fn look(&mut self, world: &World, servers: u8) {
        for node in 0..servers {
            let server = world.server(node);
            let status = server.status();
            if status.leads {
                let leader = *self.leaders.entry(status.epoch).or_insert(node);
                if leader != node {
                    let epoch = status.epoch;
                    self.violations.push(format!("{leader} and {node} both lead epoch {epoch}"));
                }
            }
            let mark = (node, world.pid(node));
            // A server that took a snapshot over has not applied what came before.
            let compared = self.compared.get(&mark).copied().unwrap_or(0);
            let from = compared.max(server.log_start());
            self.compare(node, from, &server.applied_after(from));
            self.compared.insert(mark, status.zxid.max(from));
        }
    }

    /// Compares all that servers still have in their logs, also what has been compared before.
    pub fn look_again(&mut self, world: &World, servers: u8) {
        self.compared.clear();
        self.look(world, servers);
    }

    /// A server must have applied what all others have, each under its zxid, and nothing else.
    ///
    /// The ledger may have holes: who takes a snapshot over does not apply what it holds.
    fn compare(&mut self, node: u8, from: Zxid, applied: &[Rc<Txn>]) {
        let Some(last) = applied.last() else { return };
        let known = self.ledger.range(from + 1..=last.zxid);
        let skipped =
            known.filter(|(zxid, _)| applied.binary_search_by_key(zxid, |txn| &txn.zxid).is_err());
        if let Some((zxid, _)) = skipped.clone().next() {
            self.violations.push(format!("server {node} did not apply {zxid:#x}"));
        }
        for txn in applied {
            let known = self.ledger.entry(txn.zxid).or_insert_with(|| Rc::clone(txn));
            if known != txn {
                self.violations.push(format!("server {node} applied {txn:?}, not {known:?}"));
            }
        }
    }
}
