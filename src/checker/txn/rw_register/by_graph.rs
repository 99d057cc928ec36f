//! Registers judged by the graph of dependencies.

use super::case::Case;
use super::dependencies::{Users, anti_dependencies, dependencies};
use super::derived::{Derivation, derivations};
use super::justify::Evidence;
use super::touches::Touches;
use super::version_order::{VersionEdge, VersionOrder};
use super::{RwRegister, realtime, sources};
use crate::checker::Budget;
use crate::checker::txn::cycles::{Tag, find_cycles, find_cycles_of};
use crate::checker::txn::explain::cycle_anomaly;
use crate::checker::txn::graph::{Edges, Graph, process_order, realtime_order};
use crate::checker::txn::judgement::Judgement;

impl RwRegister {
    /// By what depends on what; where that shows no forbidden cycle by ways that need more time.
    pub(super) fn judge_dependencies(&self, case: &Case, judgement: &mut Judgement) {
        let registers = case.registers;
        let touches = &Touches::of(registers, case.prints);
        let users = &Users::of(registers, case.prints);
        let order = &VersionOrder::of(registers, self.version_edges(case, touches));
        let evidence = Evidence { registers, users, order, derived: None, touches };
        for cycle in &order.cycles {
            judgement.tell("cyclic-versions", || evidence.explain_cycle(cycle));
        }
        let edges = self.judge_cycles(&evidence, Tag::Plain, case.budget, judgement);
        if edges == 0 && self.asks.more {
            judgement.doubt("no transaction is known to depend on another, so nothing can be said");
        }
        self.judge_derived(&evidence, case.budget, judgement);
        self.judge_beneath(case, judgement);
        self.search(case, order, judgement);
    }

    /// Tells the cycles, by this tag at least, and how many edges there are.
    fn judge_cycles(
        &self,
        evidence: &Evidence,
        least: Tag,
        budget: &Budget,
        judgement: &mut Judgement,
    ) -> usize {
        let graph = self.graph(evidence);
        let cycles = find_cycles_of(&graph, least, budget);
        judgement.take_cycles(cycles, |cycle| cycle_anomaly(&self.table, cycle, evidence));
        graph.edges()
    }

    /// With the orders that the wanted models need.
    fn graph(&self, evidence: &Evidence) -> Graph {
        let mut edges = Edges::new(self.table.len());
        dependencies(evidence.users, evidence.order, &mut edges);
        if let Some(derived) = evidence.derived {
            anti_dependencies(evidence.users, derived, &mut edges);
        }
        let orders = self.asks.wanted.orders();
        if orders.process {
            process_order(&self.table, &mut edges);
        }
        if orders.realtime {
            realtime_order(&self.table, &mut edges);
        }
        edges.into_graph()
    }

    /// By orders of versions that follow if the history is what is wanted: by as few of them as show a cycle.
    fn judge_derived(&self, known: &Evidence, budget: &Budget, judgement: &mut Judgement) {
        let all = derivations(&self.asks.wanted);
        if all.is_empty() || judgement.found_any(&self.asks.wanted) {
            return;
        }
        let derived = |derivations: &[Derivation]| {
            let edges = derivations.iter().flat_map(|derivation| (derivation.edges)(known));
            VersionOrder::of(known.registers, vec![edges.collect()])
        };
        // In most histories none of them shows any.
        let order = derived(&all);
        let graph = self.graph(&Evidence { derived: Some(&order), ..*known });
        if find_cycles(&graph, budget).told.is_empty() {
            return;
        }
        drop((order, graph));
        for (at, derivation) in all.iter().enumerate() {
            if judgement.found_any(&self.asks.wanted) {
                return;
            }
            let order = derived(&all[..=at]);
            let evidence = Evidence { derived: Some(&order), ..*known };
            self.judge_cycles(&evidence, derivation.tag, budget, judgement);
        }
    }

    /// By the weak level that what is asked for holds.
    fn judge_beneath(&self, case: &Case, judgement: &mut Judgement) {
        let beneath = self.asks.beneath.filter(|level| Some(*level) > self.asks.level);
        if let Some(level) = beneath.filter(|_| !judgement.found_any(&self.asks.wanted)) {
            case.judge_weakly(level, judgement);
        }
    }

    fn version_edges(&self, case: &Case, touches: &Touches) -> Vec<Vec<VersionEdge>> {
        let registers = case.registers;
        let mut sources = vec![sources::initial(registers, &case.initial)];
        if let Some(stated) = &self.trusted.stated {
            let places = stated.places(&self.table);
            sources.push(sources::stated(registers, case.prints, &places));
        }
        if self.trusted.writes_follow_reads {
            sources.push(sources::writes_follow_reads(registers, touches));
        }
        if self.trusted.sequential {
            sources.push(sources::sequential(registers, touches));
        }
        if self.trusted.linearizable {
            sources.push(realtime::linearizable(registers, touches));
        }
        sources
    }
}
