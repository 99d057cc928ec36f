//! Registers, with and without compare-and-set.

use super::{ModelKind, ModelOptions};
use crate::checker::{Checker, Linearizability};
use crate::history::Datum;
use crate::op::Value;

/// How the operations of a register history are to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterModel {
    /// What every key holds before the first write.
    pub initial: Value,
    /// Whether `cas` is an operation of this register.
    pub cas: bool,
    /// A `cas` that failed for its precondition proves that the value differed at some moment.
    ///
    /// Only for systems that compare values: where versions are compared, it proves nothing.
    pub failed_cas_is_evidence: bool,
    /// An `ok` read of nil says nothing, as in Knossos, instead of "observed empty".
    pub nil_is_wildcard: bool,
}

impl RegisterModel {
    /// Read and write, empty at first.
    pub const REGISTER: RegisterModel = RegisterModel {
        initial: Value::Nil,
        cas: false,
        failed_cas_is_evidence: false,
        nil_is_wildcard: false,
    };

    /// Read, write and compare-and-set, empty at first.
    pub const CAS_REGISTER: RegisterModel = RegisterModel { cas: true, ..RegisterModel::REGISTER };

    /// This register under the options that concern it.
    pub fn with(self, options: &ModelOptions) -> RegisterModel {
        RegisterModel {
            initial: Datum::Json(options.initial()).to_value(),
            failed_cas_is_evidence: options.failed_cas_is_evidence,
            nil_is_wildcard: options.nil_read_is_unknown,
            ..self
        }
    }
}

pub(super) const REGISTER: ModelKind = ModelKind {
    name: "register",
    what: "read, write: each key is a linearizable register",
    checkers: |options| checkers(RegisterModel::REGISTER.with(options)),
};

pub(super) const CAS_REGISTER: ModelKind = ModelKind {
    name: "cas-register",
    what: "read, write, cas [from to]: each key is a linearizable register",
    checkers: |options| checkers(RegisterModel::CAS_REGISTER.with(options)),
};

fn checkers(model: RegisterModel) -> Result<Vec<Box<dyn Checker>>, String> {
    Ok(vec![Box::new(Linearizability::new(model))])
}
