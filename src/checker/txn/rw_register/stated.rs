//! An order of transactions that the caller knows: `0 2, 1 1` says that the transaction at event 0 came
//! second and that at event 1 first.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::checker::txn::table::Table;

/// Pairs of an event's index and a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatedOrder {
    places: FxHashMap<u64, u64>,
}

impl StatedOrder {
    pub fn parse(text: &str) -> Result<StatedOrder, String> {
        let mut places = FxHashMap::default();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let numbers = pair.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>();
            let Ok([index, place]) = numbers.as_deref() else {
                return Err(format!(
                    "transaction_order has `{pair}`: expected pairs of an event's index and the \
                     transaction's place, as in `0 2, 1 1`"
                ));
            };
            if places.insert(*index, *place).is_some() {
                return Err(format!("transaction_order names event {index} twice"));
            }
        }
        Ok(StatedOrder { places })
    }

    /// That an index is of no event of a transaction, if one is: the lowest.
    pub fn stray(&self, table: &Table) -> Option<String> {
        let moments =
            |(_, txn): (u32, &crate::checker::txn::table::Txn)| [txn.invoked, txn.completed];
        let moments = table.txns().flat_map(moments).flatten();
        let known: FxHashSet<u64> = moments.map(|moment| moment.index).collect();
        let stray = self.places.keys().filter(|index| !known.contains(index)).min()?;
        Some(format!(
            "transaction_order names event {stray}, and no transaction begins or ends there; expected \
             indices of transactions' events"
        ))
    }

    /// The place of each transaction, named by the index of its invocation or its completion;
    /// `u64::MAX` where none is stated.
    pub fn places(&self, table: &Table) -> Vec<u64> {
        let place = |index: u64| self.places.get(&index).copied();
        let of = |(_, txn): (u32, &crate::checker::txn::table::Txn)| {
            let moments = [txn.completed, txn.invoked];
            let mut stated = moments.iter().flatten().filter_map(|moment| place(moment.index));
            stated.next().unwrap_or(u64::MAX)
        };
        table.txns().map(of).collect()
    }
}
