//! Consistency models, the anomalies that rule them out, and what a history is asked to satisfy.
//!
//! Names and relations are Elle's (`elle.consistency-model`), which cites for them Adya ("Weak Consistency",
//! 1999), Bailis et al. ("Highly Available Transactions", 2013), Cerone et al. ("A Framework for
//! Transactional Consistency Models with Atomic Visibility", 2015; "Analysing Snapshot Isolation", 2016) and
//! Daudjee and Salem ("Lazy Database Replication with Snapshot Isolation", 2006).

mod catalogue;
#[cfg(test)]
mod tests;
mod wanted;

use catalogue::{IMPLIED, MODELS, PROSCRIBED, SYNONYMS};
pub use wanted::Wanted;

use crate::checker::Consistency;

/// Pairs of a name and what it leads to.
type Relation = &'static [(&'static str, &'static [&'static str])];

/// What these names lead to, themselves included, in the order found.
fn forward(relation: Relation, from: impl IntoIterator<Item = &'static str>) -> Vec<&'static str> {
    closure(from, |name| {
        let led = relation.iter().filter(move |(from, _)| *from == name);
        led.flat_map(|(_, to)| to.iter().copied()).collect()
    })
}

/// What leads to these names, themselves included, in the order found.
fn backward(relation: Relation, to: impl IntoIterator<Item = &'static str>) -> Vec<&'static str> {
    closure(to, |name| {
        let leads = relation.iter().filter(move |(_, to)| to.contains(&name));
        leads.map(|(from, _)| *from).collect()
    })
}

fn closure(
    from: impl IntoIterator<Item = &'static str>,
    next: impl Fn(&'static str) -> Vec<&'static str>,
) -> Vec<&'static str> {
    let mut all: Vec<&'static str> = Vec::new();
    let mut waiting: Vec<&'static str> = from.into_iter().collect();
    waiting.reverse();
    while let Some(name) = waiting.pop() {
        if !all.contains(&name) {
            all.push(name);
            waiting.extend(next(name));
        }
    }
    all
}

/// The one name of a model that has several; an error lists them all.
pub fn canonical_model(name: &str) -> Result<&'static str, String> {
    let known = MODELS.iter().map(|(model, _)| *model).find(|model| *model == name);
    let synonym = || SYNONYMS.iter().find(|(other, _)| *other == name).map(|(_, model)| *model);
    known.or_else(synonym).ok_or_else(|| {
        let models: Vec<&str> = MODELS.iter().map(|(model, _)| *model).collect();
        format!("unknown consistency model `{name}`: expected one of {}", models.join(", "))
    })
}

/// Anomalies that need not be looked for where this one was found: they are there by definition.
pub fn implied_by(anomaly: &'static str) -> Vec<&'static str> {
    forward(IMPLIED, [anomaly])
}

/// What satisfies a model satisfies these too, itself among them.
#[cfg(test)]
pub fn weaker(model: &str) -> Vec<&'static str> {
    canonical_model(model).map_or(Vec::new(), |model| forward(MODELS, [model]))
}

/// The models of transactions.
#[cfg(test)]
pub fn judged_models() -> Vec<&'static str> {
    let models = MODELS.iter().map(|(model, _)| *model);
    models.filter(|model| !directly_proscribed([*model]).is_empty()).collect()
}

/// Which orders a search looked at besides the dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders {
    pub process: bool,
    pub realtime: bool,
}

/// What anomalies rule out, and what is left, of the models that a search with these orders can rule out.
pub fn ruled_out(anomalies: impl IntoIterator<Item = &'static str>, orders: Orders) -> Consistency {
    let implied = forward(IMPLIED, anomalies);
    let found = |anomaly: &&str| implied.contains(anomaly);
    let direct = PROSCRIBED.iter().filter(|(_, anomalies)| anomalies.iter().any(found));
    let mut violates = backward(MODELS, direct.map(|(model, _)| *model));
    violates.sort_by_key(|model| (forward(MODELS, [*model]).len(), *model));
    // A cycle in real time may be one of process order, which was not looked at by itself then.
    let in_process = orders.process || !implied.iter().any(|kind| kind.ends_with("-realtime"));
    let may_survive = |model: &&'static str| {
        is_judged(model, orders) && (in_process || !needs(model, "-process"))
    };
    let left = MODELS.iter().map(|(model, _)| *model);
    let left: Vec<&str> =
        left.filter(|model| !violates.contains(model) && may_survive(model)).collect();
    let weaker: Vec<&str> =
        left.iter().flat_map(|model| forward(MODELS, [*model]).into_iter().skip(1)).collect();
    let survives = left.into_iter().filter(|model| !weaker.contains(model));
    Consistency {
        survives: survives.map(str::to_owned).collect(),
        violates: violates.into_iter().map(str::to_owned).collect(),
    }
}

/// Whether a search with these orders would have found what the model forbids.
fn is_judged(model: &&'static str, orders: Orders) -> bool {
    !directly_proscribed([*model]).is_empty()
        && !PARTLY.contains(model)
        && (orders.realtime || !needs(model, "-realtime"))
        && (orders.process || orders.realtime || !needs(model, "-process"))
}

/// What these forbid is looked for only where one of them is asked for.
pub const PARTLY: [&str; 5] =
    ["parallel-snapshot-isolation", "prefix", "causal-cerone", "ROLA", "read-atomic"];

/// Whether a model forbids anomalies of this kind.
fn needs(model: &'static str, suffix: &str) -> bool {
    directly_proscribed([model]).iter().any(|anomaly| anomaly.ends_with(suffix))
}

/// What these models and the weaker ones forbid by their definitions.
fn directly_proscribed(models: impl IntoIterator<Item = &'static str>) -> Vec<&'static str> {
    let models = forward(MODELS, models);
    let rows = PROSCRIBED.iter().filter(|(model, _)| models.contains(model));
    rows.flat_map(|(_, anomalies)| anomalies.iter().copied()).collect()
}
