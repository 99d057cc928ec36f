//! A checker is guilty until proven innocent: told stories, a brute-force oracle, simulated
//! registers, and histories recorded elsewhere.

mod beginnings;
mod mutations;
mod online;
mod oracle;
mod plainly_wrong;
mod recorded;
mod simulated;
mod soundness;
mod terms;
mod told;
mod undecided;

use super::*;
use crate::op::Value;

const UNLIMITED: Limits<'static> =
    Limits { exhausted: &|| false, memory: 1 << 30, steps: u64::MAX, patience: u64::MAX };

fn cas_register() -> RegisterModel {
    RegisterModel::CAS_REGISTER
}

fn with_evidence() -> RegisterModel {
    RegisterModel { failed_cas_is_evidence: true, ..RegisterModel::CAS_REGISTER }
}

/// The operations of a history with a single key.
fn register(history: &History, model: &RegisterModel) -> Register {
    let pairs = history.operations();
    let members: Vec<u32> = (0..pairs.len() as u32).collect();
    Register::read(&pairs, &members, model).expect("the model knows all operations")
}

fn finish(history: &History, model: RegisterModel) -> Finding {
    Linearizability::new(model).finish(history, &Budget::UNBOUNDED)
}
