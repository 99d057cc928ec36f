//! Histories of a small kvrocks cluster that is simulated: two shards of two nodes, migrations and
//! failovers, replication that lags, masters that do not know that they were deposed. Sound by
//! construction, but for the one flaw that a plan may ask for; what is lost, and why, is known.

mod migrations;
mod ordered;
mod record;
mod store;
mod told_of;

use std::collections::{BTreeMap, BTreeSet};

use super::KvrocksObject;
use crate::checker::text;
use crate::history::History;
use crate::op::NodeName;
use crate::rng::Rng;
use migrations::Moving;
use ordered::Pending;
use record::Recorder;
use store::{Change, Store};

pub(super) const NODES: [&str; 4] = ["kvrocks1", "kvrocks2", "kvrocks3", "kvrocks4"];

/// What is wrong with the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    Nothing,
    /// A migration may succeed at its destination and fail at its source: both serve the slot until
    /// the topology says whose it is.
    SplitMigration,
    /// A replica may be promoted that lacks a change in the middle.
    Gap,
    /// A migration may leave behind what was written last.
    ShortMigration,
}

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub object: KvrocksObject,
    pub operations: usize,
    pub clients: usize,
    pub keys: i64,
    /// Chances of each step, in percent.
    pub migrate: u64,
    pub failover: u64,
    /// Of failovers that an operator asks for.
    pub order: u64,
    pub info: u64,
    pub replicate: u64,
    /// A deposed master may go on until it learns of it.
    pub zombies: bool,
    pub flaw: Flaw,
}

/// Why an acknowledged write is not there any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    Failover,
    Flaw,
}

/// A history and the truth about it.
pub(super) struct Simulated {
    pub history: History,
    pub text: String,
    /// Acknowledged elements that are lost, by value; of registers nothing.
    pub lost: BTreeMap<i64, Cause>,
    /// Whether the flaw showed at all.
    pub flawed: bool,
}

/// An operation on its way.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub f: &'static str,
    pub key: i64,
    /// What a compare-and-set replaces.
    pub from: i64,
    pub value: i64,
    /// In milliseconds.
    pub at: u64,
}

/// What a node made of it.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    pub node: usize,
    pub at: u64,
    /// `None` where a compare-and-set found something else.
    pub value: Option<serde_json::Value>,
}

struct Client {
    process: u32,
    asked: Option<Asked>,
    answered: Option<Answered>,
}

pub(super) struct Cluster {
    plan: Plan,
    rng: Rng,
    recorder: Recorder,
    clients: Vec<Client>,
    invoked: usize,
    next_value: i64,
    /// By node.
    stores: Vec<Store>,
    /// The topology: version, master of each shard, owner of each slot.
    version: u64,
    masters: [usize; 2],
    /// As controllers tell it: nodes may not know yet.
    told_masters: [usize; 2],
    pending: Option<Pending>,
    owners: BTreeMap<u16, usize>,
    moving: Option<Moving>,
    /// Nodes that were deposed and have not learned of it; dead ones serve nothing meanwhile.
    deposed: BTreeMap<usize, bool>,
    /// The version that each node goes by.
    known: [u64; 4],
    acknowledged: BTreeSet<i64>,
    lost: BTreeMap<i64, Cause>,
    flawed: bool,
}

pub(super) fn simulate(plan: Plan, rng: &Rng) -> Simulated {
    let client = |process| Client { process, asked: None, answered: None };
    let cluster = Cluster {
        clients: (0..plan.clients as u32).map(client).collect(),
        rng: rng.fork("cluster"),
        recorder: Recorder::new(rng.fork("time")),
        invoked: 0,
        next_value: 1,
        stores: vec![Store::default(); 4],
        version: 1,
        masters: [0, 2],
        told_masters: [0, 2],
        pending: None,
        owners: [(100, 0), (101, 0), (9000, 1)].into(),
        moving: None,
        deposed: BTreeMap::new(),
        known: [1; 4],
        acknowledged: BTreeSet::new(),
        lost: BTreeMap::new(),
        flawed: false,
        plan,
    };
    cluster.run()
}

impl Cluster {
    fn run(mut self) -> Simulated {
        self.recorder.phase("main");
        self.look();
        while self.invoked < self.plan.operations || self.clients.iter().any(|c| c.asked.is_some())
        {
            self.step();
        }
        self.settle();
        self.drain();
        self.look();
        let text = self.recorder.text();
        let lost = self.lost.into_iter().filter(|(value, _)| self.acknowledged.contains(value));
        Simulated { history: text::history(&text), text, lost: lost.collect(), flawed: self.flawed }
    }

    fn step(&mut self) {
        self.recorder.pass();
        let draw = self.rng.below(100);
        if draw < self.plan.migrate {
            self.migrate();
        } else if draw < self.plan.migrate + self.plan.failover {
            self.failover();
        } else if draw < self.plan.migrate + self.plan.failover + self.plan.order {
            self.order();
        } else if draw < 60 {
            self.learn();
        }
        if self.rng.below(100) < self.plan.replicate {
            self.replicate();
        }
        self.serve();
        if self.rng.below(100) < 3 {
            self.recorder.topology(&self.document());
        }
        if self.recorder.may_look() {
            self.look();
        }
    }

    pub(super) fn slot(&self, key: i64) -> u16 {
        [100, 101, 9000][(key % 3) as usize]
    }

    fn keys_in(&self, slot: u16) -> Vec<i64> {
        (0..self.plan.keys).filter(|key| self.slot(*key) == slot).collect()
    }

    /// Nodes that answer for a slot.
    fn serving(&self, slot: u16) -> Vec<usize> {
        let owner = self.owners[&slot];
        let moving = self.moving.filter(|moving| moving.slot == slot && moving.arrived);
        let shards: Vec<usize> = match moving {
            None => vec![owner],
            Some(Moving { target, split: false, .. }) => vec![target],
            Some(Moving { target, .. }) => vec![owner, target],
        };
        let mut nodes: Vec<usize> = shards.iter().map(|shard| self.masters[*shard]).collect();
        let zombies = self.deposed.iter().filter(|(_, dead)| !**dead).map(|(node, _)| *node);
        nodes.extend(zombies.filter(|node| shards.contains(&(node / 2))));
        nodes.retain(|node| self.deposed.get(node) != Some(&true) && !self.has_stopped(*node));
        nodes
    }

    /// One client invokes, is answered, or learns of its answer.
    fn serve(&mut self) {
        let position = self.rng.below(self.clients.len() as u64) as usize;
        let client = &self.clients[position];
        match (client.asked.clone(), client.answered.clone()) {
            (None, _) if self.invoked < self.plan.operations => {
                self.invoked += 1;
                let asked = self.ask();
                self.recorder.invoke(self.clients[position].process, &asked);
                self.clients[position].asked = Some(asked);
            }
            (None, _) => {}
            (Some(asked), None) => {
                let nodes = self.serving(self.slot(asked.key));
                if let Some(node) = self.rng.pick(&nodes).copied() {
                    let value = self.perform(node, &asked);
                    let at = self.recorder.now;
                    self.clients[position].answered = Some(Answered { node, at, value });
                }
            }
            (Some(asked), Some(answered)) => self.complete(position, &asked, &answered),
        }
    }

    fn ask(&mut self) -> Asked {
        let key = self.rng.below(self.plan.keys as u64) as i64;
        let value = self.next_value;
        self.next_value += 1;
        let reads = self.rng.chance(0.4);
        let f = match (&self.plan.object, reads) {
            (KvrocksObject::Register(_), false) if self.rng.chance(0.3) => "cas",
            (KvrocksObject::Register(_), false) => "write",
            (KvrocksObject::List, true) => "txn-read",
            (KvrocksObject::List, false) => "txn",
            (KvrocksObject::Counter, false) => "incr",
            (_, false) => "add",
            (_, true) => "read",
        };
        let master = self.masters[self.owners[&self.slot(key)]];
        let held = self.stores[master].get(key).last().copied();
        let from = if self.rng.chance(0.8) { held.unwrap_or(1) } else { 1 };
        Asked { f, key, from, value, at: self.recorder.now }
    }

    /// What a node answers; `None` where a compare-and-set found something else.
    fn perform(&mut self, node: usize, asked: &Asked) -> Option<serde_json::Value> {
        let held = self.stores[node].get(asked.key);
        let last = held.last().copied();
        let change = match asked.f {
            "read" => return Some(self.seen(&held)),
            "txn-read" => return Some(held.into()),
            "write" => Change::Set(asked.value),
            "cas" if last == Some(asked.from) => Change::Set(asked.value),
            "cas" => return None,
            "incr" => Change::Set(last.unwrap_or(0) + 1),
            _ => Change::Append(asked.value),
        };
        let told = match (asked.f, &change) {
            ("incr", Change::Set(count)) => Some((*count).into()),
            _ => None,
        };
        self.stores[node].apply(asked.key, change);
        Some(told.unwrap_or_else(|| self.stores[node].get(asked.key).into()))
    }

    fn seen(&self, held: &[i64]) -> serde_json::Value {
        match self.plan.object {
            KvrocksObject::Set => held.into(),
            _ => held.last().copied().into(),
        }
    }

    fn complete(&mut self, position: usize, asked: &Asked, answered: &Answered) {
        let slot = self.slot(asked.key);
        let client = &mut self.clients[position];
        (client.asked, client.answered) = (None, None);
        let process = client.process;
        let kind = match &answered.value {
            _ if self.rng.below(100) < self.plan.info => "info",
            None => "fail",
            Some(_) => "ok",
        };
        if kind == "info" {
            client.process += self.plan.clients as u32;
        }
        if kind == "ok" && ["add", "txn"].contains(&asked.f) {
            self.acknowledged.insert(asked.value);
        }
        self.recorder.complete(process, kind, asked, slot, answered);
    }

    /// Replicas take some of what they lack.
    fn replicate(&mut self) {
        for shard in 0..2 {
            let (master, replica) = self.pair(shard);
            if !self.deposed.contains_key(&replica) {
                let most = self.rng.below(4) as usize;
                let lacking = self.stores[master].beyond(&self.stores[replica]);
                for (key, change) in lacking.into_iter().take(most) {
                    self.stores[replica].apply(key, change);
                }
            }
        }
    }

    fn pair(&self, shard: usize) -> (usize, usize) {
        let master = self.masters[shard];
        (master, shard * 2 + (1 - master % 2))
    }

    /// Nodes take up the topology; a deposed one takes its successor's data.
    fn learn(&mut self) {
        let node = self.rng.below(4) as usize;
        if self.take_up(node) {
            return;
        }
        if !self.deposed.contains_key(&node) {
            self.known[node] = self.version;
        } else if self.rng.chance(0.2) {
            self.undepose(node);
        }
    }

    fn undepose(&mut self, node: usize) {
        let successor = self.masters[node / 2];
        // What it took since it was deposed goes with it.
        for key in 0..self.plan.keys {
            let kept = self.stores[successor].get(key);
            for value in self.stores[node].get(key) {
                if self.owners[&self.slot(key)] == node / 2 && !kept.contains(&value) {
                    self.lose(&Change::Append(value), Cause::Failover);
                }
            }
        }
        self.stores[node] = self.stores[successor].clone();
        let was_dead = self.deposed.remove(&node);
        self.known[node] = self.version;
        self.recorder.heal(NODES[node], was_dead == Some(true));
    }

    /// A shard that may be failed over now, its master and its replica.
    fn steady(&mut self) -> Option<(usize, usize, usize)> {
        let shard = self.rng.below(2) as usize;
        let (master, replica) = self.pair(shard);
        let concerned = self.moving.is_some_and(|moving| moving.arrived);
        let deposed = [master, replica].iter().any(|node| self.deposed.contains_key(node));
        (!concerned && !deposed && self.pending.is_none()).then_some((shard, master, replica))
    }

    fn failover(&mut self) {
        let Some((shard, master, replica)) = self.steady() else { return };
        let dead = !self.plan.zombies || self.rng.chance(0.5);
        self.recorder.strike(NODES[master], dead);
        self.deposed.insert(master, dead);
        let lacking = self.stores[master].beyond(&self.stores[replica]);
        let gap = self.plan.flaw == Flaw::Gap && lacking.len() > 1 && self.rng.chance(0.7);
        for (position, (key, change)) in lacking.iter().enumerate() {
            let cause = if gap { Cause::Flaw } else { Cause::Failover };
            match gap && position > 0 {
                true => self.stores[replica].apply(*key, change.clone()),
                false => self.lose(change, cause),
            }
        }
        self.flawed |= gap;
        self.masters[shard] = replica;
        self.told_masters[shard] = replica;
        self.version += 1;
        self.known[replica] = self.version;
        self.stores[replica].begin_term();
    }

    fn lose(&mut self, change: &Change, cause: Cause) {
        if let Change::Append(value) = change {
            self.lost.entry(*value).or_insert(cause);
        }
    }

    /// The faults are healed and everybody knows the topology.
    fn settle(&mut self) {
        self.recorder.phase("heal");
        self.finish_order();
        while let Some(moving) = self.moving {
            match moving.arrived {
                true => self.decide(moving),
                false => self.end_of_migration(),
            }
        }
        for node in 0..4 {
            if self.deposed.contains_key(&node) {
                self.undepose(node);
            }
        }
        self.known = [self.version; 4];
        self.recorder.phase("recover");
        self.look();
    }

    fn drain(&mut self) {
        self.recorder.phase("drain");
        let f = if self.plan.object == KvrocksObject::List { "txn-read" } else { "read" };
        for key in 0..self.plan.keys {
            self.recorder.pass();
            let at = self.recorder.now;
            let asked = Asked { f, key, from: 0, value: 0, at };
            let node = self.masters[self.owners[&self.slot(key)]];
            let process = self.clients[0].process;
            self.recorder.invoke(process, &asked);
            let answered = Answered { node, at, value: self.perform(node, &asked) };
            self.recorder.pass();
            self.recorder.complete(process, "ok", &asked, self.slot(key), &answered);
        }
    }
}

/// The shards of the simulated cluster.
pub(super) fn shards() -> Vec<Vec<NodeName>> {
    NODES.chunks(2).map(|shard| shard.iter().map(|node| (*node).into()).collect()).collect()
}
