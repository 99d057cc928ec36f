//! Migrations and failovers that controllers acknowledged and their store then did not hold.

use std::collections::BTreeMap;

use super::super::answers::Pair;
use super::super::evidence::{Evidence, Migration, Told};
use super::super::wording::{bounded, seconds};
use super::documents::{Doubt, differences, who};
use crate::checker::Anomaly;
use crate::op::{Event, Kind, NodeName, Value};

/// An acknowledged change that vanished.
pub(super) struct Lost {
    pub anomaly: Anomaly,
    /// Indices of the two documents that prove it, if two do.
    pub proof: Option<[u64; 2]>,
}

impl Lost {
    pub fn is_told_by(&self, doubt: &Doubt) -> bool {
        self.proof == Some([doubt.one.index, doubt.other.index])
    }
}

/// A migration is lost if a document of its version, or one that came after a fall of versions, does not
/// have its mark: no controller has had the time to end it.
pub(super) fn lost_migrations(evidence: &Evidence, doubts: &[Doubt]) -> Vec<Lost> {
    let accepted = |migration: &&Migration| migration.accepted.is_some();
    let migrations = evidence.migrations.iter().filter(accepted);
    migrations.filter_map(|migration| lost_migration(migration, evidence, doubts)).collect()
}

fn lost_migration(migration: &Migration, evidence: &Evidence, doubts: &[Doubt]) -> Option<Lost> {
    let version = migration.version?;
    let own = evidence.told.iter().find(|told| {
        told.index == migration.index && told.document.version == version && !told.is_read
    })?;
    let lacks = |told: &&Told| !told.document.is_marked(migration.slot);
    let twin = evidence.told.iter().filter(|told| told.document.version == version).find(lacks);
    let fallen = || {
        let falls = doubts.iter().filter(|doubt| {
            doubt.one.document.version >= version && doubt.other.document.version < version
        });
        let after = falls.map(|doubt| doubt.other).filter(|told| told.asked >= own.answered);
        after.clone().find(lacks)
    };
    let instead = twin.or_else(fallen)?;
    let Migration { slot, target, .. } = migration;
    let (by, at) = (who(own), seconds(own.answered));
    let (other, other_at) = (who(instead), seconds(instead.answered));
    let summary = format!(
        "{by} acknowledged the migration of slot {slot} to shard {target} at {at}, as version {version} of the topology; {other} told version {} at {other_at}, in which the slot is not on its way, and nobody said that it had failed",
        instead.document.version,
    );
    let proof = doubts.iter().find(|doubt| {
        let pair = [doubt.one.index, doubt.other.index];
        pair.contains(&own.index) || pair.contains(&instead.index)
    });
    let proof = proof.map(|doubt| [doubt.one.index, doubt.other.index]);
    let details = differences(&own.document, &instead.document);
    let anomaly = anomaly("lost-migration", summary, details, own, instead);
    Some(Lost { anomaly, proof })
}

fn anomaly(
    kind: &str,
    summary: String,
    details: Vec<String>,
    own: &Told,
    instead: &Told,
) -> Anomaly {
    let mut nodes = vec![who(own), who(instead)];
    nodes.dedup();
    let mut ops = vec![own.index, instead.index];
    ops.sort_unstable();
    let (kind, key) = (kind.to_owned(), None);
    let (from, to) = (own.asked.min(instead.asked), own.answered.max(instead.answered));
    Anomaly {
        kind,
        summary,
        details: bounded(details),
        key,
        nodes,
        ops,
        from,
        to,
        faults: None,
        cycle: None,
    }
}

/// A failover is lost if what controllers told of every version since it was asked for is known, up to one
/// that was asked for after it was acknowledged, and in none of them its new master is one.
pub(super) fn lost_failovers(pairs: &[Pair], evidence: &Evidence) -> Vec<Lost> {
    if !evidence.views.reads_are_current() {
        return Vec::new();
    }
    let names = names_by_id(pairs);
    let failovers = pairs.iter().filter(|(invocation, _)| &*invocation.f == "failover");
    failovers
        .filter_map(|(invocation, completion)| {
            let ok = completion.filter(|event| event.kind == Kind::Ok)?;
            lost_failover(invocation, ok, &names, evidence)
        })
        .collect()
}

fn lost_failover(
    invocation: &Event,
    ok: &Event,
    names: &BTreeMap<String, NodeName>,
    evidence: &Evidence,
) -> Option<Lost> {
    let Value::Json(json) = &ok.value else { return None };
    let shard = usize::try_from(json.get("shard")?.as_u64()?).ok()?;
    let promoted = *names.get(json.get("new_master_id")?.as_str()?)?;
    let told = || evidence.told.iter();
    let before = told().filter(|told| told.answered <= invocation.time);
    let before = before.max_by_key(|told| told.document.version)?;
    let after = told().find(|told| told.is_read && told.asked >= ok.time)?;
    let (from, to) = (before.document.version, after.document.version);
    let leads = |told: &Told| {
        told.document.shards.get(shard).is_some_and(|part| part.master == Some(promoted))
    };
    let known = |version| told().any(|told| told.document.version == version);
    let since = |told: &&Told| (from..=to).contains(&told.document.version);
    let is_lost = from <= to
        && to - from < evidence.told.len() as u64
        && (from + 1..=to).all(known)
        && !told().filter(since).any(leads);
    is_lost.then(|| {
        let by = ok.route.as_ref().and_then(|route| route.last()).map(|hop| hop.node);
        let by = by.or(invocation.node).map_or("a controller".to_owned(), |by| by.to_string());
        let summary = format!(
            "{by} acknowledged at {} that {promoted} is the new master of shard {shard}; {} told version {to} of the topology at {}, and from version {from} on {promoted} is not the master in any",
            seconds(ok.time),
            who(after),
            seconds(after.answered),
        );
        let mut nodes = vec![by, promoted.to_string()];
        nodes.dedup();
        let details = differences(&before.document, &after.document);
        let anomaly = Anomaly {
            kind: "lost-change".to_owned(),
            summary,
            details: bounded(details),
            key: None,
            nodes,
            ops: vec![invocation.index, after.index],
            from: invocation.time,
            to: after.answered, faults: None, cycle: None, };
        Lost { anomaly, proof: None }
    })
}

/// Nodes as documents call them.
fn names_by_id(pairs: &[Pair]) -> BTreeMap<String, NodeName> {
    let oks = pairs.iter().filter_map(|(_, completion)| *completion);
    let documents = oks.filter_map(|event| match &event.value {
        Value::Json(json) => Some(json.get("cluster").unwrap_or(json)),
        _ => None,
    });
    let shards = documents.filter_map(|document| document.get("shards")?.as_array()).flatten();
    let nodes = shards.filter_map(|shard| shard.get("nodes")?.as_array()).flatten();
    let named = nodes.filter_map(|node| {
        let address = node.get("addr")?.as_str()?;
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        Some((node.get("id")?.as_str()?.to_owned(), host.into()))
    });
    named.collect()
}
