//! Workloads of a kvrocks cluster: what its clients do to their data, and its operators to its topology.

mod options;

pub use options::{
    ClientMix, DataKind, KvrocksMix, KvrocksOptions, LockOptions, OperatorOptions, SlotOptions,
};
