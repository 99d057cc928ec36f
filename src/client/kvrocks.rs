//! Clients of a kvrocks cluster: RESP to its nodes, REST to its controllers.

mod kind;

pub use kind::{CasMode, ClientKind};
