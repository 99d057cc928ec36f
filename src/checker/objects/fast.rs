//! Algorithms made for one kind of object, most of them where every value goes in once. Each is compared with the
//! search and with trying all orders.

pub(super) mod bag;
mod counts;
pub(super) mod fifo;
pub(super) mod growing;
pub(super) mod least;
pub(super) mod lifo;
mod moments;
mod openly;
mod presence;
pub(super) mod reason;
pub(super) mod sources;
mod unclaimed;
mod values;

/// The answer of an algorithm made for one kind of object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shortcut {
    /// It does not apply, or is not certain.
    None,
    Linearizable,
    /// In this order (of positions) the operations explain themselves; it is replayed before it is believed.
    Ordered {
        order: Vec<usize>,
    },
    /// These operations (by position) have no order, and no history that holds them so has one.
    Violated {
        core: Vec<usize>,
    },
    /// As `Violated`, if a search of these operations says so.
    Suspected {
        core: Vec<usize>,
    },
    /// The operations cannot be judged, and why.
    Refused {
        why: &'static str,
    },
}
