//! What is asked of registers: weak levels, models that need the graph of dependencies, or both.

use super::case::CAUSAL;
use crate::checker::ModelOptions;
use crate::checker::txn::consistency::Wanted;
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

impl Asks {
    /// The `causal` of transactions is not that of single operations.
    pub fn of(options: &ModelOptions) -> Result<Asks, String> {
        let mut options = options.clone();
        for model in options.consistency_models.iter_mut().filter(|model| *model == "causal") {
            *model = CAUSAL.to_owned();
        }
        let levels = || options.consistency_models.iter().map(|model| level(model));
        let level = levels().flatten().max();
        let more = level.is_none() || levels().any(|level| level.is_none());
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
