//! Migrations that the controllers' document still holds for under way at the end.

use super::super::evidence::{Evidence, Mark, Told};
use super::super::wording::seconds;
use super::Settling;
use crate::checker::Anomaly;

pub(super) struct AtTheEnd {
    /// Migrations that controllers acknowledged.
    pub accepted: usize,
    pub anomalies: Vec<Anomaly>,
    /// What the history does not decide, in words.
    pub open: Option<String>,
}

pub(super) fn at_the_end(evidence: &Evidence, settling: Settling) -> AtTheEnd {
    let accepted = evidence.migrations.iter().filter_map(|migration| migration.accepted);
    let (count, latest) = (accepted.clone().count(), accepted.max());
    let reads = evidence.told.iter().filter(|told| told.is_read);
    let last = reads.max_by_key(|told| (told.asked, told.index));
    let looked = last.filter(|last| latest.is_none_or(|latest| last.asked >= latest));
    let mut told = AtTheEnd { accepted: count, anomalies: Vec::new(), open: None };
    let Some(last) = looked else {
        if count > 0 {
            told.open = Some("no controller told the topology after the last migration".to_owned());
        }
        return told;
    };
    for mark in last.document.marks() {
        // Since when it was told without a break.
        let later = evidence.told.iter().filter(|told| told.is_read && told.asked <= last.asked);
        let has = |told: &&Told| told.document.marks().any(|m| m == mark);
        let first = later.rev().take_while(has).last().unwrap_or(last);
        let since = first.answered.max(settling.healed);
        if last.asked.saturating_sub(since) >= settling.within {
            told.anomalies.push(anomaly(mark, evidence, settling, (first, last)));
            continue;
        }
        let after = seconds(last.asked.saturating_sub(settling.healed));
        told.open = Some(format!("{} was still under way {after} after the heal", words(mark)));
    }
    told
}

fn words(mark: &Mark) -> String {
    match mark.slots.single() {
        Some(slot) => format!("the migration of slot {slot} to shard {}", mark.target),
        None => format!("a migration of several slots to shard {}", mark.target),
    }
}

fn anomaly(
    mark: &Mark,
    evidence: &Evidence,
    settling: Settling,
    (first, last): (&Told, &Told),
) -> Anomaly {
    let own = mark.slots.single().and_then(|slot| {
        let accepted = evidence.migrations_of(slot).filter(|one| one.accepted.is_some());
        accepted.filter(|one| one.target == mark.target && one.invoked <= first.answered).last()
    });
    let asked = own.map_or(first.index, |migration| migration.index);
    let since = own.and_then(|migration| migration.accepted).unwrap_or(first.answered);
    let (by, at) = (last.by.map_or("a controller".to_owned(), |by| by.to_string()), last.answered);
    let mut ops = vec![asked, last.index];
    ops.dedup();
    Anomaly {
        kind: "stuck-migration".to_owned(),
        summary: format!(
            "{} was accepted at {} and was still under way at {}, {} after the heal; {} are allowed",
            words(mark),
            seconds(since),
            seconds(at),
            seconds(at.saturating_sub(settling.healed)),
            seconds(settling.within),
        ),
        details: vec![format!(
            "{by} told version {} of the topology at {}, in which it is marked; neither success nor failure was told since",
            last.document.version,
            seconds(at),
        )],
        key: None,
        nodes: last
            .document
            .shards
            .iter()
            .filter(|part| part.mark.as_ref() == Some(mark))
            .filter_map(|part| part.master)
            .map(|node| node.to_string())
            .collect(),
        ops,
        from: since,
        to: at,
        faults: None,
        cycle: None,
    }
}
