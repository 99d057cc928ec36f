//! The models, and their lines in the table of all.

pub(super) mod kv;
pub(super) mod multi_register;

use super::{Object, Objects};
use crate::checker::{Checker, ModelKind, ModelOptions};
use kv::Kv;
use multi_register::MultiRegister;

pub(in crate::checker) const KV: ModelKind = ModelKind {
    name: "kv",
    what: "get, put, append, delete: each key is a linearizable string",
    checkers: |options| checkers(Kv::new(options)),
};

pub(in crate::checker) const MULTI_REGISTER: ModelKind = ModelKind {
    name: "multi-register",
    what: "txn [[read x nil] [write y 1]]: transactions on registers are linearizable",
    checkers: |options| checkers(MultiRegister::new(options)),
};

fn checkers<O: Object + 'static>(
    object: Result<O, String>,
) -> Result<Vec<Box<dyn Checker>>, String> {
    Ok(vec![Box::new(Objects::new(object?))])
}
