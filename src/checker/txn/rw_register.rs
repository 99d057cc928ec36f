//! Transactions on registers, as Elle's `rw-register` judges them.
//!
//! A read names the transaction that wrote the value, and no more: which value of a key came after
//! which is inferred from sources that the caller trusts (the initial state, writes that follow reads,
//! keys that are sequential or linearizable, a stated order). What follows is a graph of dependencies
//! as for any workload. Read committed, read atomic and causal consistency need no order of versions:
//! they are decided by [`weak`](crate::checker::txn::weak).

mod asked;
mod by_graph;
mod case;
mod dependencies;
mod derived;
pub(crate) mod direct;
pub(crate) mod footprint;
pub(crate) mod initial;
mod justify;
mod realtime;
mod search;
mod singles;
mod sources;
mod stated;
mod touches;
mod unwritten;
mod version_order;
pub(crate) mod versions;
pub(crate) mod words;

#[cfg(test)]
mod tests;

use crate::checker::txn::judgement::Judgement;
use crate::checker::txn::table::{NONE, Shape, Table};
use crate::checker::txn::weak::committed::Committed;
use crate::checker::{Anomaly, Budget, Checker, Finding, ModelKind, ModelOptions, Verdict};
use crate::history::{Datum, History};
use crate::op::Event;
use asked::Asks;
use case::Case;
use footprint::Footprints;
use initial::InitialVersions;
use search::{Asked, Scene, Searched};
use stated::StatedOrder;
use version_order::VersionOrder;
use versions::Registers;

pub const RW_REGISTER: ModelKind = ModelKind {
    name: "rw-register",
    what: "transactions of [\"r\" key value] and [\"w\" key value], each value written once: no anomaly that the wanted consistency models forbid",
    checkers: |options| Ok(vec![Box::new(RwRegister::new(options)?)]),
};

const NAME: &str = "rw-register";

/// Where versions' order may be taken from, besides what was there at first.
#[derive(Clone, Debug, Default)]
struct Trusted {
    writes_follow_reads: bool,
    sequential: bool,
    linearizable: bool,
    stated: Option<StatedOrder>,
}

impl Trusted {
    fn any(&self) -> bool {
        self.writes_follow_reads || self.sequential || self.linearizable || self.stated.is_some()
    }
}

/// Judges transactions on registers.
#[derive(Debug)]
pub(crate) struct RwRegister {
    asks: Asks,
    trusted: Trusted,
    /// What every key holds at first, if it was said.
    initial: Option<serde_json::Value>,
    table: Table,
}

impl RwRegister {
    pub fn new(options: &ModelOptions) -> Result<RwRegister, String> {
        let stated = options.transaction_order.as_deref().map(StatedOrder::parse).transpose()?;
        Ok(RwRegister {
            asks: Asks::of(options)?,
            trusted: Trusted {
                writes_follow_reads: options.wfr_keys,
                sequential: options.sequential_keys,
                linearizable: options.linearizable_keys,
                stated,
            },
            initial: options.init.clone(),
            table: Table::new(Shape::Registers),
        })
    }

    fn judge(&self, budget: &Budget) -> Finding {
        let stray = self.trusted.stated.as_ref().and_then(|stated| stated.stray(&self.table));
        if let Some(why) = self.table.refused().map(str::to_owned).or(stray) {
            return Finding::new(NAME, Verdict::Unknown, why);
        }
        // The graph of dependencies takes about as much again.
        let needed = 2 * (self.table.bytes() + Registers::expected_bytes(&self.table));
        if needed > budget.memory {
            let why =
                format!("{needed} bytes are needed, and the memory budget is {}", budget.memory);
            return Finding::new(NAME, Verdict::Unknown, why);
        }
        let registers = Registers::of(&self.table);
        let prints = Footprints::of(&registers);
        let said = self.initial.as_ref().map(|initial| unwritten::number(&self.table, initial));
        let case = Case {
            initial: InitialVersions::of(&registers, said.unwrap_or(NONE)),
            registers: &registers,
            prints: &prints,
            budget,
        };
        let mut judgement = Judgement::default();
        let direct = case.direct(said, self.asks.wanted.orders(), &mut judgement);
        case.tell_singles(&direct, self.asks.level, &mut judgement);
        if let Some(level) = self.asks.level {
            case.judge_weakly(level, &mut judgement);
        }
        // What is trusted may show more of a weak level's anomalies.
        if self.asks.more || self.trusted.any() {
            self.judge_dependencies(&case, &mut judgement);
        }
        case.tell_doubts(&mut judgement);
        let finding = judgement.into_finding(NAME, &self.asks.wanted, &self.table.what());
        case.with_consistency(finding, &self.asks, &direct)
    }

    /// Tries orders of writes where what was inferred is no contradiction.
    fn search(&self, case: &Case, order: &VersionOrder, judgement: &mut Judgement) {
        let asked = Asked::of(&self.asks.wanted);
        if asked.is_empty() || judgement.found_any(&self.asks.wanted) {
            return;
        }
        let committed = Committed::of(case.registers, case.prints, &case.initial);
        let scene = Scene { committed: &committed, prints: case.prints, order };
        // Where orders of versions are trusted they are all but complete, as in Elle.
        let steps = if self.trusted.any() { search::SHORT } else { search::LONG };
        for asked in asked {
            if judgement.found_any(&self.asks.wanted) {
                break;
            }
            self.search_one(&scene, asked, steps, case.budget, judgement);
        }
    }

    fn search_one(
        &self,
        scene: &Scene,
        asked: Asked,
        steps: u64,
        budget: &Budget,
        judgement: &mut Judgement,
    ) {
        match search::search(scene, asked, steps, budget) {
            Searched::Ordered => {
                judgement.figures.insert("ordered".to_owned(), 1.0);
            }
            Searched::Impossible(refuted) => {
                let kind = refuted.asked.anomaly();
                judgement.tell(kind, || search::explain(scene, &refuted));
            }
            Searched::Undecided(why) if !self.trusted.any() => {
                judgement.doubt(format!(
                    "no contradiction was found in what could be inferred, but {why}; trust \
                     linearizable_keys, sequential_keys or wfr_keys if the system promises them"
                ));
            }
            Searched::Undecided(_) => {
                judgement.figures.insert("ordered".to_owned(), 0.0);
            }
        }
    }
}

impl Checker for RwRegister {
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
