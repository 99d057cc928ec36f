//! Registers, one for each key: read, write, compare-and-set, and final reads.
//!
//! Every value is written at most once in a run, so that a checker knows which write a read saw.

mod drain;
mod source;

use std::sync::{Arc, Mutex, MutexGuard};

use serde::{Deserialize, Serialize};

pub use drain::RegisterDrain;
pub use source::RegisterSource;

use crate::cluster::{Role, Topology};
use crate::generator::{Concurrency, Crew, Generator};
use crate::rng::Rng;
use crate::workload::keys::Keys;
use crate::workload::register_client::ReadMode;
use crate::workload::{OptionError, Workload};

/// Retired keys that the drain still reads, for each key in use.
const RETIRED_PER_ACTIVE: usize = 2;

/// What clients do to the registers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RegisterOptions {
    /// How reads make sure that they are not stale.
    pub reads: ReadMode,
    /// Keys in use at once.
    pub keys: u32,
    /// Operations on a key before it is retired and a fresh one takes its place.
    pub ops_per_key: u32,
    /// Relative weights of the kinds of operations.
    pub mix: RegisterMix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RegisterMix {
    pub read: u32,
    pub write: u32,
    pub cas: u32,
}

impl Default for RegisterOptions {
    fn default() -> RegisterOptions {
        RegisterOptions {
            reads: ReadMode::Barrier,
            keys: 10,
            ops_per_key: 200,
            mix: RegisterMix::default(),
        }
    }
}

impl Default for RegisterMix {
    fn default() -> RegisterMix {
        RegisterMix { read: 5, write: 3, cas: 2 }
    }
}

impl RegisterOptions {
    pub fn check(&self) -> Result<(), OptionError> {
        let wrong = |field, expected, found: u64| Err(OptionError::new(field, expected, found));
        if !(1..=1000).contains(&self.keys) {
            return wrong("keys", "a number from 1 to 1000", self.keys.into());
        }
        if self.ops_per_key == 0 {
            return wrong("ops_per_key", "a number of 1 or more", 0);
        }
        if self.mix.total() == 0 {
            return wrong("mix", "at least one weight of `read`, `write` and `cas` above 0", 0);
        }
        Ok(())
    }
}

impl RegisterMix {
    /// Names of the operations that this mix holds.
    pub fn kinds(&self) -> Vec<&'static str> {
        [("read", self.read), ("write", self.write), ("cas", self.cas)]
            .into_iter()
            .filter(|(_, weight)| *weight > 0)
            .map(|(kind, _)| kind)
            .collect()
    }

    fn total(&self) -> u64 {
        u64::from(self.read) + u64::from(self.write) + u64::from(self.cas)
    }
}

/// The workload of one run. Its generators share what is known of the keys.
#[derive(Clone)]
pub struct Register {
    options: RegisterOptions,
    keys: Arc<Mutex<Keys>>,
}

impl Register {
    pub fn new(options: RegisterOptions) -> Result<Register, OptionError> {
        options.check()?;
        let retired = RETIRED_PER_ACTIVE * options.keys as usize;
        let keys = Arc::new(Mutex::new(Keys::new(options.keys, retired)));
        Ok(Register { options, keys })
    }

    /// Registers on these keys, which others share.
    pub(super) fn sharing(options: RegisterOptions, keys: Arc<Mutex<Keys>>) -> Register {
        Register { options, keys }
    }

    pub fn reads(&self) -> ReadMode {
        self.options.reads
    }

    /// Reads, writes and compare-and-sets, whenever a process is free. It never ends.
    pub fn source(&self, rng: Rng) -> RegisterSource {
        RegisterSource::new(self.clone(), rng)
    }

    /// Final reads: each of the last keys at each node, so that a lost write shows.
    ///
    /// Which keys those are is settled when it is first asked.
    pub fn drain(&self) -> RegisterDrain {
        RegisterDrain::new(self.clone())
    }

    fn keys(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().expect("nobody panics while holding the keys")
    }
}

impl Workload for Register {
    fn crew(&self, topology: &Topology, concurrency: Concurrency) -> Crew {
        let places: Vec<_> = topology.with_role(Role::Zookeeper).map(|node| node.name).collect();
        let data = concurrency.threads(places.len());
        Crew::new(places, data)
    }

    fn kinds(&self) -> Vec<&'static str> {
        self.options.mix.kinds()
    }

    fn source(&self, rng: Rng) -> Box<dyn Generator> {
        Box::new(Register::source(self, rng))
    }

    fn drain(&self) -> Box<dyn Generator> {
        Box::new(Register::drain(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_defaults_and_are_checked() {
        let options: RegisterOptions =
            serde_yaml::from_str("keys: 3\nmix: {read: 1}").expect("yaml");
        assert_eq!((options.keys, options.ops_per_key), (3, 200));
        assert_eq!(options.check(), Ok(()));
        for (yaml, field) in [
            ("keys: 0", "`keys`"),
            ("keys: 1001", "`keys`"),
            ("ops_per_key: 0", "`ops_per_key`"),
            ("mix: {read: 0, write: 0, cas: 0}", "`mix`"),
        ] {
            let options: RegisterOptions = serde_yaml::from_str(yaml).expect("yaml");
            let error = Register::new(options).err().expect(yaml).to_string();
            assert!(error.contains(field), "{yaml}: {error}");
        }
        assert!(serde_yaml::from_str::<RegisterOptions>("kesy: 3").is_err());
    }
}
