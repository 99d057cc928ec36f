//! Namespaces that controllers made and nobody removed, and that were not there.

use std::collections::BTreeMap;

use super::super::answers::Pair;
use super::super::wording::seconds;
use super::changes::Lost;
use crate::checker::Anomaly;
use crate::op::{Event, Kind, Nanos, Value};

/// Only a name that was asked for once, and whose only removal came afterwards and found nothing, proves it.
pub(super) fn lost(pairs: &[Pair]) -> Vec<Lost> {
    let mut by_name: BTreeMap<&str, Vec<&Pair>> = BTreeMap::new();
    for pair in pairs {
        if let Some(name) = name(pair.0) {
            by_name.entry(name).or_default().push(pair);
        }
    }
    by_name.iter().filter_map(|(name, pairs)| lost_one(name, pairs)).collect()
}

fn name(invocation: &Event) -> Option<&str> {
    let concerns = ["create-namespace", "delete-namespace"].contains(&&*invocation.f);
    match &invocation.value {
        Value::Json(json) if concerns => json.get("namespace")?.as_str(),
        _ => None,
    }
}

fn lost_one(name: &str, pairs: &[&Pair]) -> Option<Lost> {
    let [(made, Some(ok)), (removed, Some(refused))] = pairs else { return None };
    let in_turn = &*made.f == "create-namespace"
        && ok.kind == Kind::Ok
        && &*removed.f == "delete-namespace"
        && removed.time >= ok.time;
    let is_absent = refused.kind == Kind::Fail
        && refused.error.as_ref().is_some_and(|error| error.starts_with("404"));
    (in_turn && is_absent).then(|| {
        let by = |event: &Event| event.node.map_or("a controller".to_owned(), |n| n.to_string());
        let (made_by, asked) = (by(made), by(removed));
        let (from, to): (Nanos, Nanos) = (made.time, refused.time);
        let summary = format!(
            "{made_by} acknowledged at {} that namespace {name} was made; nobody removed it, and at {} {asked} did not find it",
            seconds(ok.time),
            seconds(to),
        );
        let mut nodes = vec![made_by, asked];
        nodes.dedup();
        let ops = vec![made.index, removed.index];
        let (kind, details, key) = ("lost-change".to_owned(), Vec::new(), None);
        Lost { anomaly: Anomaly { kind, summary, details, key, nodes, ops, from, to, faults: None, cycle: None }, proof: None }
    })
}
