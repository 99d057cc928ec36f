//! What is asked of registers: weak levels, models that need the graph of dependencies, or both.

use super::case::CAUSAL;
use crate::checker::ModelOptions;
use crate::checker::txn::consistency::{Wanted, canonical_model};
use crate::checker::txn::weak::Level;

/// Everything asked for; the worst answer counts.
#[derive(Clone, Debug)]
pub(super) struct Asks {
    pub wanted: Wanted,
    /// The strongest of the weak levels that were named, which holds the others.
    pub level: Option<Level>,
    /// The strongest weak level that the other models hold: what breaks it shows at any size, while orders
    /// of all transactions can be tried for a few only.
    pub beneath: Option<Level>,
    /// Something is asked for besides weak levels.
    pub more: bool,
}

/// Models that ask little more than read committed, which is judged for them as if it were named.
pub(crate) const ON_READ_COMMITTED: [&str; 4] =
    ["monotonic-atomic-view", "cursor-stability", "monotonic-view", "monotonic-snapshot-read"];

impl Asks {
    /// The `causal` of transactions is not that of single operations.
    pub fn of(options: &ModelOptions) -> Result<Asks, String> {
        let mut options = options.clone();
        for model in options.consistency_models.iter_mut().filter(|model| *model == "causal") {
            *model = CAUSAL.to_owned();
        }
        let models = || options.consistency_models.iter();
        let more = models().next().is_none() || models().any(|model| level(model).is_none());
        let held = |model: &String| match canonical_model(model) {
            Ok(name) if ON_READ_COMMITTED.contains(&name) => Some(Level::ReadCommitted),
            _ => level(model),
        };
        let level = models().filter_map(held).max();
        let mut wanted = Wanted::new(&options)?;
        wanted.what = wanted.what.replace(CAUSAL, "causal");
        if let Some(level) = level {
            wanted.prohibit(level.cycles());
            wanted.prohibit(&["forgotten-write"]);
        }
        let holds = |level: &Level| wanted.prohibits(level.own());
        let beneath = Level::ALL.into_iter().filter(holds).max();
        Ok(Asks { wanted, level, beneath, more: more || !options.anomalies.is_empty() })
    }
}

fn level(model: &str) -> Option<Level> {
    if model == CAUSAL { Some(Level::Causal) } else { Level::by_name(model) }
}
