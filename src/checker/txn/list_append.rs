//! Transactions of appends to lists and reads of lists.
//!
//! Every read of a list tells the order of all appends before it, so that the order of a key's versions is
//! known from the longest list that was read of it (Kingsbury and Alvaro, "Elle", VLDB 2020, section 3).
//! Values appended to one key must differ. Linear in the history where there are no anomalies.
//!
//! What an indeterminate transaction read is not looked at; what it appended may be seen or not.

mod edges;
mod explain;
mod internal;
mod reads;
#[cfg(test)]
mod tests;
mod updates;
mod versions;
mod visible;

use crate::checker::txn::consistency::Wanted;
use crate::checker::txn::cycles::find_cycles;
use crate::checker::txn::explain::cycle_anomaly;
use crate::checker::txn::graph::{Edges, Graph, process_order, realtime_order};
use crate::checker::txn::judgement::Judgement;
use crate::checker::txn::table::{Shape, Table};
use crate::checker::{Anomaly, Budget, Checker, Finding, ModelKind, ModelOptions, Verdict};
use crate::history::{Datum, History};
use crate::op::Event;
use explain::Reasons;
use versions::Versions;
use visible::{Asked, Visible};

const NAME: &str = "list-append";

pub const LIST_APPEND: ModelKind = ModelKind {
    name: NAME,
    what: "txn of [append key value], [r key list]: transactions on lists, strict serializable unless other models are named",
    checkers: |options| Ok(vec![Box::new(ListAppend::new(options)?)]),
};

/// Judges transactions on lists.
pub struct ListAppend {
    table: Table,
    wanted: Wanted,
    asked: Asked,
}

impl ListAppend {
    pub fn new(options: &ModelOptions) -> Result<ListAppend, String> {
        let wanted = Wanted::new(options)?;
        let anomalies = options.anomalies.iter().map(String::as_str);
        let names: Vec<&str> = wanted.models.iter().copied().chain(anomalies).collect();
        let asked = Asked::of(&names);
        Ok(ListAppend { table: Table::new(Shape::Lists), wanted, asked })
    }

    fn judge(&self, budget: &Budget) -> Finding {
        let unknown = |why: String| Finding::new(NAME, Verdict::Unknown, why);
        let table = &self.table;
        if let Some(refused) = table.refused() {
            return unknown(refused.to_owned());
        }
        if self.over(budget, table.bytes()) {
            return unknown(memory_text(table.len(), budget));
        }
        let versions = Versions::of(table);
        if let Some((key, value)) = versions.ambiguous {
            let (key, value) = (table.key_text(key), table.value_text(value));
            return unknown(format!(
                "{value} was appended to key {key} more than once, so that reads do not tell whose it is; appended values must differ"
            ));
        }
        let mut judgement = Judgement::default();
        reads::check(table, &versions, &mut judgement);
        internal::check(table, &versions, &mut judgement);
        updates::dirty(table, &versions, &mut judgement);
        updates::reordered(table, &versions, &mut judgement);
        updates::lost(table, &mut judgement);
        let graph = self.graph(&versions);
        self.cycles(&graph, &versions, budget, &mut judgement);
        let mut finding = judgement.into_finding(NAME, &self.wanted, &table.what());
        self.wanted.name_survivors(&mut finding);
        finding
    }

    fn graph(&self, versions: &Versions) -> Graph {
        let mut edges = Edges::with_capacity(self.table.len(), self.table.len() * 6);
        edges::add(&self.table, versions, &mut edges);
        let orders = self.wanted.orders();
        if orders.process || self.asked.read_atomic {
            process_order(&self.table, &mut edges);
        }
        if orders.realtime {
            realtime_order(&self.table, &mut edges);
        }
        edges.into_graph()
    }

    fn cycles(
        &self,
        graph: &Graph,
        versions: &Versions,
        budget: &Budget,
        judgement: &mut Judgement,
    ) {
        let table = &self.table;
        if !table.txns().any(|(_, txn)| txn.is_ok()) {
            judgement.doubt("no transaction was ok, so that nothing can be said");
        } else if graph.edges() == 0 {
            judgement.doubt("empty-transaction-graph: no transaction depends on another, so that nothing can be said");
        }
        if self.over(budget, table.bytes() + versions.bytes() + graph.bytes() * 4) {
            judgement.doubt(memory_text(table.len(), budget));
            return;
        }
        let reasons = Reasons { table, versions };
        judgement
            .take_cycles(find_cycles(graph, budget), |cycle| cycle_anomaly(table, cycle, &reasons));
        Visible { table, versions, asked: self.asked, budget }.check(graph, judgement);
    }

    fn over(&self, budget: &Budget, bytes: usize) -> bool {
        bytes > budget.memory
    }
}

fn memory_text(txns: usize, budget: &Budget) -> String {
    format!("{txns} transactions do not fit the {} MB that the check may take", budget.memory >> 20)
}

impl Checker for ListAppend {
    fn name(&self) -> &'static str {
        NAME
    }

    fn streams(&self) -> bool {
        true
    }

    fn takes_completions_alone(&self) -> bool {
        true
    }

    fn observe(&mut self, event: &Event) -> Option<Anomaly> {
        self.table.take(event, Datum::Value(&event.value));
        None
    }

    fn observe_raw(&mut self, head: &Event, value: Datum) -> Option<Anomaly> {
        self.table.take(head, value);
        None
    }

    fn finish(&mut self, _history: &History, budget: &Budget) -> Finding {
        self.judge(budget)
    }
}
