//! Workloads of a kvrocks cluster: what its clients do to their data, and its operators to its topology.

mod append;
mod drain;
mod elements;
mod lock;
mod operators;
mod options;
mod suited;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

pub use options::{
    ClientMix, DataKind, KvrocksMix, KvrocksOptions, LockOptions, OperatorOptions, OperatorsAt,
    SlotOptions,
};

use crate::client::kvrocks::ClientKind;
use crate::cluster::{Role, Topology};
use crate::generator::{Concurrency, Crew, Generator};
use crate::key_space::KeySpace;
use crate::op::{Call, MicroOp};
use crate::resp::SLOTS;
use crate::rng::Rng;
use crate::workload::keys::Keys;
use crate::workload::register::{Register, RegisterMix, RegisterOptions};
use crate::workload::{OptionError, Workload};

/// Retired keys that the final reads still read.
const MOST_RETIRED: usize = 200;

/// Hash tags of keys that may lie anywhere.
const SPREAD: usize = 64;

/// Lists that share a slot, so that transactions touch several.
const LISTS_PER_SLOT: u32 = 3;

/// The workload of one run. Its generators share what is known of the keys.
#[derive(Clone)]
pub struct Kvrocks {
    options: KvrocksOptions,
    /// How many shards there are at the start.
    shards: usize,
    space: KeySpace,
    /// Kinds of clients at each node, in turn.
    turns: Vec<ClientKind>,
    keys: Arc<Mutex<Keys>>,
}

impl Kvrocks {
    /// For so many data nodes.
    pub fn new(options: KvrocksOptions, nodes: usize) -> Result<Kvrocks, OptionError> {
        options.check()?;
        if nodes == 0 || !nodes.is_multiple_of(options.replicas) {
            let expected = "the kvrocks nodes to be a multiple of the nodes of each shard";
            return Err(OptionError::new("replicas", expected, odd(&options, nodes)));
        }
        let shards = nodes / options.replicas;
        let (space, turns) = (space(&options, shards), options.clients.in_turn());
        let keys = Arc::new(Mutex::new(Keys::new(options.keys, MOST_RETIRED)));
        Ok(Kvrocks { options, shards, space, turns, keys })
    }

    pub fn options(&self) -> &KvrocksOptions {
        &self.options
    }

    /// What the keys are called, and so where they lie.
    pub fn space(&self) -> &KeySpace {
        &self.space
    }

    /// What kind of client a data thread is, where the nodes are so many. Every node has each kind.
    pub fn kind(&self, thread: usize, nodes: usize) -> ClientKind {
        self.turns[(thread / nodes.max(1)) % self.turns.len()]
    }

    /// The nodes of each shard, its first master in front.
    pub fn shards(&self, topology: &Topology) -> Vec<Vec<crate::op::NodeName>> {
        let nodes: Vec<_> = topology.with_role(Role::Kvrocks).map(|node| node.name).collect();
        nodes.chunks(self.options.replicas).map(<[_]>::to_vec).collect()
    }

    fn keys(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().expect("nobody panics while holding the keys")
    }

    /// All that a key holds.
    fn whole_read(&self, key: i64) -> Call {
        match self.options.data {
            DataKind::Register | DataKind::Counter | DataKind::Lock => Call::Read { key },
            DataKind::Set => Call::ReadAll { key },
            DataKind::Append => Call::Txn { ops: vec![MicroOp::Read { key }] },
        }
    }

    fn register(&self) -> Register {
        let KvrocksMix { read, write, cas } = self.options.mix;
        let options = RegisterOptions {
            keys: self.options.keys,
            ops_per_key: self.options.ops_per_key,
            mix: RegisterMix { read, write, cas },
            ..RegisterOptions::default()
        };
        Register::sharing(options, self.keys.clone())
    }
}

/// Nodes that make no whole shards, and how many would; migrations need two shards.
fn odd(options: &KvrocksOptions, nodes: usize) -> String {
    let least = if options.operators.migrate > 0 { 2 } else { 1 };
    let shards = nodes.div_ceil(options.replicas).max(least);
    format!(
        "{nodes} kvrocks nodes and {} a shard; take --nodes kvrocks={} for {shards} shards",
        options.replicas,
        shards * options.replicas
    )
}

/// Where keys lie: in a few slots spread over those that the first shard has at the start, or anywhere.
fn space(options: &KvrocksOptions, shards: usize) -> KeySpace {
    match options.slots {
        Some(slots) => {
            let (count, first_shard) = (slots.count, u32::from(SLOTS) / shards as u32);
            let middle = |number| (2 * number + 1) * first_shard / (2 * count);
            KeySpace::of_slots((0..count).map(|number| middle(number) as u16))
        }
        None if options.data == DataKind::Append => {
            KeySpace::spread(options.keys.div_ceil(LISTS_PER_SLOT) as usize)
        }
        None => KeySpace::spread(SPREAD),
    }
}

impl Workload for Kvrocks {
    fn crew(&self, topology: &Topology, concurrency: Concurrency) -> Crew {
        let names = |role| topology.with_role(role).map(|node| node.name);
        let places: Vec<_> = names(Role::Kvrocks).collect();
        let data = concurrency.threads(places.len());
        let each = self.options.operators.each as usize;
        let operators = names(Role::Controller).flat_map(|name| std::iter::repeat_n(name, each));
        let lost = |thread: &usize| !self.kind(*thread, places.len()).finds_its_way();
        let quiet: BTreeSet<usize> = (0..data).filter(lost).collect();
        Crew { operators: operators.collect(), quiet, ..Crew::new(places, data) }
    }

    fn kinds(&self) -> Vec<&'static str> {
        let KvrocksMix { read, write, cas } = self.options.mix;
        let weighed = match self.options.data {
            DataKind::Register => vec![("read", read), ("write", write), ("cas", cas)],
            DataKind::Append => vec![("txn", 1)],
            DataKind::Set => vec![("read", read), ("add", write)],
            DataKind::Counter => vec![("read", read), ("incr", write)],
            DataKind::Lock => vec![("acquire", 1), ("store", 1), ("release", 1)],
        };
        weighed.into_iter().filter(|(_, weight)| *weight > 0).map(|(kind, _)| kind).collect()
    }

    fn source(&self, rng: Rng) -> Box<dyn Generator> {
        match self.options.data {
            DataKind::Register => suited::suited(self.clone(), self.register().source(rng)),
            DataKind::Set | DataKind::Counter => {
                suited::suited(self.clone(), elements::Elements::new(self.clone(), rng))
            }
            DataKind::Append => {
                suited::suited(self.clone(), append::Append::new(self.clone(), rng))
            }
            DataKind::Lock => Box::new(lock::Lock::new(self.clone(), rng)),
        }
    }

    fn operators(&self, rng: Rng) -> Option<Box<dyn Generator>> {
        let has_operators = self.options.operators.each > 0;
        has_operators.then(|| {
            let slots = self.space.slots().collect();
            let operators =
                operators::Operators::new(self.options.operators, slots, self.shards, rng);
            Box::new(operators) as Box<dyn Generator>
        })
    }

    fn drain(&self) -> Box<dyn Generator> {
        Box::new(drain::Drain::new(self.clone()))
    }
}
