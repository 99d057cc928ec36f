//! What a workload file says of clients and operators of a kvrocks cluster.

use serde::{Deserialize, Serialize};

use crate::client::kvrocks::{CasMode, ClientKind};
use crate::duration::Span;
use crate::workload::OptionError;

/// What clients of a kvrocks cluster do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KvrocksOptions {
    /// Nodes of a shard: the first is its master at the start.
    pub replicas: usize,
    pub data: DataKind,
    /// Keys in use at once.
    pub keys: u32,
    /// Operations on a key before it is retired and a fresh one takes its place.
    pub ops_per_key: u32,
    /// Relative weights of the kinds of operations.
    pub mix: KvrocksMix,
    /// How registers are compared and set.
    pub cas: CasMode,
    /// Relative weights of the kinds of clients, the same at every node.
    pub clients: ClientMix,
    /// All keys lie in a few slots of the first shard; absent, in many slots of all shards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<SlotOptions>,
    pub lock: LockOptions,
    pub operators: OperatorOptions,
    /// A server that has not answered a request after this long will not. Shorter than the timeout of
    /// operations, so that the way of the operation is not lost with it.
    pub request_timeout: Span,
}

/// What clients work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataKind {
    /// Read, write, compare-and-set of one value a key.
    #[default]
    Register,
    /// Transactions of appends to and reads of lists, each within one slot.
    Append,
    /// Elements added to sets, and reads of whole sets.
    Set,
    /// Counters that only grow.
    Counter,
    /// Locks that expire, with fencing tokens, and what they protect.
    Lock,
}

/// Weights; `write` stands for adds, increments and appends as well, `cas` is for registers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KvrocksMix {
    pub read: u32,
    pub write: u32,
    pub cas: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClientMix {
    pub follow: u32,
    pub stale: u32,
    pub pinned: u32,
    pub replica: u32,
}

/// Where keys lie that are to be migrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlotOptions {
    pub count: u32,
    /// Other data in each of them, so that a migration takes its time.
    #[serde(default)]
    pub filler_kib: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LockOptions {
    /// A lock that is not given back is free after this long.
    pub ttl: Span,
}

/// Which operators ask for changes. A follower carries them out as well, but tells nobody: nodes learn of
/// them only when the leader probes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorsAt {
    /// Those of the controller that has last answered a look, instead of naming another leader.
    #[default]
    Leader,
    Any,
}

/// What operators ask of the controllers, beside looking at the topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OperatorOptions {
    /// Operators of each controller.
    pub each: u32,
    /// How often an operator asks for a change. Between two it looks twice.
    pub every: Span,
    /// Who asks for changes.
    pub at: OperatorsAt,
    /// Relative weights of what it asks for; all 0: it only looks.
    pub migrate: u32,
    pub failover: u32,
    pub namespace: u32,
}

impl Default for KvrocksOptions {
    fn default() -> KvrocksOptions {
        KvrocksOptions {
            replicas: 2,
            data: DataKind::Register,
            keys: 10,
            ops_per_key: 200,
            mix: KvrocksMix::default(),
            cas: CasMode::Command,
            clients: ClientMix { follow: 3, stale: 1, pinned: 1, replica: 1 },
            slots: None,
            lock: LockOptions::default(),
            operators: OperatorOptions::default(),
            request_timeout: Span(std::time::Duration::from_millis(1500)),
        }
    }
}

impl Default for KvrocksMix {
    fn default() -> KvrocksMix {
        KvrocksMix { read: 45, write: 35, cas: 20 }
    }
}

impl Default for LockOptions {
    fn default() -> LockOptions {
        LockOptions { ttl: Span::seconds(2) }
    }
}

impl Default for OperatorOptions {
    fn default() -> OperatorOptions {
        let at = OperatorsAt::Leader;
        OperatorOptions {
            each: 1,
            every: Span::seconds(3),
            at,
            migrate: 0,
            failover: 0,
            namespace: 0,
        }
    }
}

/// Data that the slots of a workload may be filled with, altogether.
const MOST_FILLER_KIB: u64 = 256 << 10;

impl KvrocksOptions {
    pub fn check(&self) -> Result<(), OptionError> {
        let wrong = |field, expected, found: u64| Err(OptionError::new(field, expected, found));
        if !(1..=1000).contains(&self.keys) {
            return wrong("keys", "a number from 1 to 1000", self.keys.into());
        }
        if self.ops_per_key == 0 {
            return wrong("ops_per_key", "a number of 1 or more", 0);
        }
        if self.replicas == 0 {
            return wrong("replicas", "1 or more nodes of a shard", 0);
        }
        if self.mix.read + self.mix.write == 0 {
            return wrong("mix", "a weight of `read` or `write` above 0", 0);
        }
        if self.mix.total() > u64::from(u32::MAX) {
            return wrong("mix", "weights of at most 4294967295 together", self.mix.total());
        }
        if self.clients.kinds().next().is_none() || self.clients.total() > 1000 {
            let expected = "weights from 1 to 1000 together";
            return wrong("clients", expected, self.clients.total());
        }
        if let Some(slots) = self.slots {
            if !(1..=64).contains(&slots.count) {
                return wrong("slots.count", "1 to 64 slots", slots.count.into());
            }
            // Every node of a shard holds it, and migrations hold it once more.
            let filler = u64::from(slots.count) * u64::from(slots.filler_kib);
            if filler > MOST_FILLER_KIB {
                return wrong(
                    "slots.filler_kib",
                    "at most 262144 KiB in all slots together",
                    filler,
                );
            }
            if slots.filler_kib > 64 << 10 {
                return wrong(
                    "slots.filler_kib",
                    "at most 65536 KiB a slot",
                    slots.filler_kib.into(),
                );
            }
        }
        self.check_times()
    }

    fn check_times(&self) -> Result<(), OptionError> {
        let operators = &self.operators;
        if operators.each > 100 {
            return Err(OptionError::new(
                "operators.each",
                "at most 100 operators",
                operators.each,
            ));
        }
        if operators.migrate > 0 && self.slots.is_none() {
            let found = "operators that migrate and no `slots`";
            return Err(OptionError::new("operators.migrate", "`slots` that are migrated", found));
        }
        for (field, span) in [
            ("operators.every", operators.every),
            ("lock.ttl", self.lock.ttl),
            ("request_timeout", self.request_timeout),
        ] {
            if span.nanos() < crate::op::MILLISECOND {
                return Err(OptionError::new(field, "at least 1ms", span));
            }
        }
        Ok(())
    }
}

impl KvrocksMix {
    fn total(&self) -> u64 {
        u64::from(self.read) + u64::from(self.write) + u64::from(self.cas)
    }
}

impl ClientMix {
    /// The kinds that there are, with their weights.
    pub fn kinds(&self) -> impl Iterator<Item = (ClientKind, u32)> {
        [
            (ClientKind::Follow, self.follow),
            (ClientKind::Stale, self.stale),
            (ClientKind::Pinned, self.pinned),
            (ClientKind::Replica, self.replica),
        ]
        .into_iter()
        .filter(|(_, weight)| *weight > 0)
    }

    fn total(&self) -> u64 {
        self.kinds().map(|(_, weight)| u64::from(weight)).sum()
    }

    /// Kinds in an order that keeps the weights at every length, as far as that goes: the next one is
    /// always the one that lags behind most.
    pub fn in_turn(&self) -> Vec<ClientKind> {
        let kinds: Vec<(ClientKind, u32)> = self.kinds().collect();
        let total = self.total() as i64;
        let mut credit = vec![0_i64; kinds.len()];
        let turns = (0..total).filter_map(|_| {
            for (credit, (_, weight)) in credit.iter_mut().zip(&kinds) {
                *credit += i64::from(*weight);
            }
            // The first of the greatest.
            let most = (0..kinds.len()).rev().max_by_key(|position| credit[*position])?;
            credit[most] -= total;
            Some(kinds[most].0)
        });
        turns.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ClientKind::{Follow, Pinned, Replica, Stale};

    fn parsed(yaml: &str) -> KvrocksOptions {
        serde_yaml::from_str(yaml).unwrap_or_else(|error| panic!("{yaml}: {error}"))
    }

    #[test]
    fn options_have_defaults_and_are_checked() {
        assert_eq!(KvrocksOptions::default().check(), Ok(()));
        let sound = "{data: append, slots: {count: 4, filler_kib: 512}, operators: {migrate: 1}}";
        assert_eq!(parsed(sound).check(), Ok(()));
        for (yaml, field) in [
            ("keys: 0", "`keys`"),
            ("ops_per_key: 0", "`ops_per_key`"),
            ("replicas: 0", "`replicas`"),
            ("mix: {read: 0, write: 0}", "`mix`"),
            ("clients: {follow: 0}", "`clients`"),
            ("slots: {count: 0}", "`slots.count`"),
            ("slots: {count: 1, filler_kib: 65537}", "`slots.filler_kib`"),
            ("slots: {count: 64, filler_kib: 8192}", "`slots.filler_kib`"),
            ("operators: {each: 101}", "`operators.each`"),
            ("operators: {migrate: 1}", "`operators.migrate`"),
            ("operators: {every: 0s}", "`operators.every`"),
            ("lock: {ttl: 0s}", "`lock.ttl`"),
            ("request_timeout: 0s", "`request_timeout`"),
        ] {
            let error = parsed(yaml).check().expect_err(yaml).to_string();
            assert!(error.contains(field), "{yaml}: {error}");
        }
        for yaml in ["kesy: 3", "data: table", "slots: {}", "clients: {asking: 1}"] {
            assert!(serde_yaml::from_str::<KvrocksOptions>(yaml).is_err(), "{yaml}");
        }
    }

    #[test]
    fn clients_take_turns_by_their_weights() {
        let turns = KvrocksOptions::default().clients.in_turn();
        assert_eq!(turns, [Follow, Stale, Follow, Pinned, Replica, Follow]);
        assert_eq!(parsed("clients: {pinned: 2}").clients.in_turn(), [Pinned, Pinned]);
        assert_eq!(parsed("clients: {stale: 1, replica: 1}").clients.in_turn(), [Stale, Replica]);
    }
}
