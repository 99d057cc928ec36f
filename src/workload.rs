//! Workloads: what clients do, as generators of calls, and the clients that perform them.
//!
//! Pure: no clock, socket or file, and no async runtime. Clients are async over the seams in
//! `cluster` only.

mod keys;
pub mod kvrocks;
pub mod register;
pub mod register_client;

use crate::cluster::{Role, Topology};
use crate::generator::{Concurrency, Crew, Generator};
use crate::rng::Rng;
use crate::scenario::WorkloadSpec;
use crate::workload::kvrocks::Kvrocks;
use crate::workload::register::Register;

/// What the clients of one run do. Its generators share what is known of the data.
pub trait Workload {
    /// Who the clients are, and where each is bound.
    fn crew(&self, topology: &Topology, concurrency: Concurrency) -> Crew;

    /// Names of the operations on data that it performs all along.
    fn kinds(&self) -> Vec<&'static str>;

    /// Operations on data, whenever a thread is free. It never ends.
    fn source(&self, rng: Rng) -> Box<dyn Generator>;

    /// What operators do beside, in their own time; none where there are no operators.
    fn operators(&self, _rng: Rng) -> Option<Box<dyn Generator>> {
        None
    }

    /// Final operations, made from what has been done so far.
    fn drain(&self) -> Box<dyn Generator>;
}

/// One of the workloads that there are.
pub enum AnyWorkload {
    /// Registers in znodes.
    Register(Register),
    Kvrocks(Kvrocks),
}

impl AnyWorkload {
    pub fn of(spec: &WorkloadSpec) -> Result<AnyWorkload, OptionError> {
        match (&spec.register, &spec.kvrocks) {
            (Some(_), Some(_)) => {
                let expected = "either `register` or `kvrocks`";
                Err(OptionError::new("kvrocks", expected, "both"))
            }
            (None, Some(options)) => {
                let nodes = spec.services.get(&Role::Kvrocks).copied().unwrap_or(0);
                Ok(AnyWorkload::Kvrocks(Kvrocks::new(options.clone(), nodes)?))
            }
            (register, None) => {
                let options = register.clone().unwrap_or_default();
                Ok(AnyWorkload::Register(Register::new(options)?))
            }
        }
    }

    pub fn get(&self) -> &dyn Workload {
        match self {
            AnyWorkload::Register(register) => register,
            AnyWorkload::Kvrocks(kvrocks) => kvrocks,
        }
    }
}

/// An option that makes no sense, for the scenario to name with its file and line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("field `{field}`: expected {expected}, found {found}")]
pub struct OptionError {
    pub field: &'static str,
    pub expected: &'static str,
    pub found: String,
}

impl OptionError {
    fn new(field: &'static str, expected: &'static str, found: impl ToString) -> OptionError {
        OptionError { field, expected, found: found.to_string() }
    }
}
