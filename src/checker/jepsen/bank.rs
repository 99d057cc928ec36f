//! Accounts and transfers: every read must sum to the same total. As Jepsen's `bank`.
//!
//! Accounts and total are those of the first read, unless `init` gives the accounts with their first
//! balances. A read is a map of accounts to balances, or a list of the balances. No balance may be below 0,
//! unless that is allowed.

use std::collections::BTreeMap;

use super::streaming::{self, Step, Workload};
use super::tally::{Tally, Told, at, listed};
use crate::checker::{Checker, ModelOptions};
use crate::history::Datum;
use crate::op::Kind;

/// What a read saw, by account; nil where there was no balance.
type Balances = BTreeMap<String, Option<i64>>;

#[derive(Clone, Default)]
pub(super) struct Bank {
    expected: Option<Balances>,
    total: i128,
    may_be_negative: bool,
}

pub(super) fn checkers(options: &ModelOptions) -> Result<Vec<Box<dyn Checker>>, String> {
    let mut bank = Bank { may_be_negative: options.negative_balances, ..Bank::default() };
    if !options.initial().is_null() {
        let first = balances(Datum::Json(options.initial()))
            .ok_or("init: expected {account: balance, ...}")?;
        bank.open_with(first);
    }
    streaming::with(bank, options)
}

/// Of a map or a list of whole numbers and nils.
fn balances(value: Datum) -> Option<Balances> {
    let balance = |value: Datum| match value.is_nil() {
        true => Some(None),
        false => value.as_i64().map(Some),
    };
    if let Some(entries) = value.entries() {
        let entry =
            |(account, value): (Datum, Datum)| Some((account_name(account), balance(value)?));
        return entries.map(entry).collect();
    }
    let items = value.items()?.enumerate();
    items.map(|(account, value)| Some((account.to_string(), balance(value)?))).collect()
}

fn account_name(account: Datum) -> String {
    match account.as_str() {
        Some(text) => text.to_owned(),
        None => account.to_text().into_owned(),
    }
}

fn sum(balances: &Balances) -> i128 {
    balances.values().flatten().map(|balance| i128::from(*balance)).sum()
}

impl Bank {
    fn open_with(&mut self, first: Balances) {
        self.total = sum(&first);
        self.expected = Some(first);
    }

    fn read(&mut self, step: &Step, tally: &mut Tally) {
        let Some(read) = balances(step.value) else {
            let (index, found) = (step.event.index, step.value.to_text());
            tally.broken(|| {
                format!("event {index}: a read of {found:.40}, expected {{account balance ...}}")
            });
            return;
        };
        tally.count("reads", 1);
        if self.expected.is_none() {
            self.open_with(read.clone());
        }
        let Some((kind, what)) = self.wrong(&read) else { return };
        let moment = step.now();
        tally.report(kind, || Told {
            summary: format!("process {} read at {} {what}", moment.process, at(moment)),
            details: vec![format!("all that it read: {}", told_balances(&read))],
            proof: vec![moment],
        });
    }

    /// The first rule that the read breaks, in Jepsen's order.
    fn wrong(&self, read: &Balances) -> Option<(&'static str, String)> {
        let expected = self.expected.as_ref()?;
        let strange: Vec<&String> =
            read.keys().filter(|account| !expected.contains_key(*account)).collect();
        if !strange.is_empty() {
            return Some((
                "unexpected-key",
                format!("accounts that there are not: {}", listed(strange)),
            ));
        }
        let nil: Vec<&String> =
            read.iter().filter(|(_, balance)| balance.is_none()).map(|(name, _)| name).collect();
        if !nil.is_empty() {
            return Some(("nil-balance", format!("no balance of account {}", listed(nil))));
        }
        let total = sum(read);
        if total != self.total {
            let missing = expected.keys().filter(|account| !read.contains_key(*account));
            let missing = listed(missing);
            let lacks = if missing.is_empty() {
                String::new()
            } else {
                format!(", without account {missing}")
            };
            let by = total - self.total;
            let what = format!("a total of {total} ({by:+}) instead of {}{lacks}", self.total);
            return Some(("wrong-total", what));
        }
        let negative = read.iter().filter_map(|(name, balance)| Some((name, (*balance)?)));
        let negative = negative.filter(|(_, balance)| *balance < 0);
        let negative: Vec<String> =
            negative.map(|(name, balance)| format!("{balance} on account {name}")).collect();
        (!negative.is_empty() && !self.may_be_negative)
            .then(|| ("negative-value", format!("a balance below 0: {}", listed(negative))))
    }
}

fn told_balances(read: &Balances) -> String {
    listed(read.iter().map(|(name, balance)| match balance {
        Some(balance) => format!("{name}={balance}"),
        None => format!("{name}=nil"),
    }))
}

impl Workload for Bank {
    const NAME: &'static str = "bank";
    const OPS: &'static [&'static str] = &["read", "transfer"];
    const PAIRED: bool = false;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        match (step.kind(), step.f) {
            (Kind::Ok, "read") => self.read(step, tally),
            (Kind::Ok, _) => tally.count("transfers", 1),
            _ => {}
        }
    }

    fn finish(&mut self, _tally: &mut Tally) {}

    fn bytes(&self) -> usize {
        self.expected.as_ref().map_or(0, |accounts| accounts.len() * 64)
    }
}
