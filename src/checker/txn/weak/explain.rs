//! A cycle that no order of commits can contain, in words.

mod drawn;
mod hops;

use super::committed::{Committed, INITIAL};
use super::order::{Inferred, Rule, Step};
use super::plainest::needs_process;
use super::{Cycle, Level, rule};
use crate::checker::Anomaly;
use crate::checker::txn::rw_register::words::Cast;
use crate::checker::txn::table::NONE;
use drawn::drawn;
use hops::hops;

/// Steps that are told; cycles in practice are shorter.
const TOLD: usize = 12;

/// What a cycle is called: by the strongest rule that one of its steps needs.
pub(crate) fn kind(committed: &Committed, cycle: &Cycle) -> &'static str {
    let rules = cycle.steps.iter().filter_map(|step| match step {
        Step::Inferred(inferred) => Some(rule(committed, inferred)),
        Step::Session { .. } | Step::ReadFrom { .. } => None,
    });
    let has_session = cycle.steps.iter().any(|step| holds_by_process(committed, step));
    match (rules.max(), has_session) {
        (None, true) => "session-cycle",
        (None, false) => "G1c",
        (Some(Rule::ReadBefore), true) => "non-monotonic-read-process",
        (Some(Rule::ReadBefore), false) => "non-monotonic-read",
        (Some(Rule::Session | Rule::ReadFrom), true) => "fractured-read-process",
        (Some(Rule::Session | Rule::ReadFrom), false) => "fractured-read",
        (Some(Rule::Causal), true) => "causality-violation-process",
        (Some(Rule::Causal), false) => "causality-violation",
    }
}

/// Whether a step needs that each process did its own in order.
fn holds_by_process(committed: &Committed, step: &Step) -> bool {
    let leads =
        |inferred: &Inferred| !hops(committed, inferred.from, inferred.reader, false).is_empty();
    needs_process(committed, step) && !matches!(step, Step::Inferred(inferred) if leads(inferred))
}

pub(crate) fn explain(committed: &Committed, cycle: &Cycle, level: Level) -> Anomaly {
    let mut cast = Cast::of(committed.registers);
    let mut reasons: Vec<String> = Vec::new();
    for step in cycle.steps.iter().take(TOLD) {
        reasons.push(reason(committed, step, &mut cast));
    }
    if cycle.steps.len() > TOLD {
        reasons.push(format!("... and {} more steps", cycle.steps.len() - TOLD));
    }
    if let Some(last) = reasons.last_mut() {
        *last += ": a contradiction";
    }
    let names: Vec<String> =
        cycle.steps.iter().take(TOLD).map(|step| name(committed, step.from(), &mut cast)).collect();
    let summary = match overlooked(cycle) {
        Some(inferred) => missed_summary(committed, inferred, level, &mut cast),
        None => circle_summary(committed, cycle, &names, level),
    };
    let drawn = drawn(committed, cycle, &names, &reasons, &mut cast);
    Anomaly { cycle: drawn.map(Box::new), ..cast.anomaly(kind(committed, cycle), summary, reasons) }
}

fn circle_summary(committed: &Committed, cycle: &Cycle, names: &[String], level: Level) -> String {
    let steps = names.iter().zip(&cycle.steps);
    let members = steps.map(|(name, step)| called(committed, name, step.from()));
    format!(
        "no order of commits is {}: {} would each have to come before the next, and the last before \
         the first",
        level.name(),
        members.collect::<Vec<_>>().join(", ")
    )
}

/// Where somebody read the initial state who must have seen what replaced it.
fn missed_summary(
    committed: &Committed,
    inferred: &Inferred,
    level: Level,
    cast: &mut Cast,
) -> String {
    let [reader, writer] = [inferred.reader, inferred.from].map(|node| {
        let name = name(committed, node, cast);
        called(committed, &name, node)
    });
    let reads = committed.reads(inferred.reader).iter();
    let mut first = reads.filter(|read| read.key == inferred.key && read.writer == INITIAL);
    let read = first.next().map_or(String::new(), |read| committed.registers.told(read.version));
    format!(
        "no order of commits is {}: {reader} read {read}, as it was at first, though {writer}, which it \
         must have seen, had written there",
        level.name()
    )
}

/// The step by which a cycle goes through the initial state, if one does.
fn overlooked(cycle: &Cycle) -> Option<&Inferred> {
    cycle.steps.iter().find_map(|step| match step {
        Step::Inferred(inferred) if inferred.to == INITIAL => Some(inferred),
        _ => None,
    })
}

/// `T1 (process 3)`.
fn called(committed: &Committed, name: &str, node: u32) -> String {
    if node == INITIAL {
        return name.to_owned();
    }
    let txn = committed.txns[node as usize];
    format!("{name} (process {})", committed.registers.table.txn(txn).process)
}

fn name(committed: &Committed, node: u32, cast: &mut Cast) -> String {
    cast.name(if node == INITIAL { NONE } else { committed.txns[node as usize] })
}

fn reason(committed: &Committed, step: &Step, cast: &mut Cast) -> String {
    let (from, to) = match step {
        Step::Session { from, to } | Step::ReadFrom { from, to, .. } => (*from, *to),
        Step::Inferred(inferred) => (inferred.from, inferred.to),
    };
    let (one, other) = (name(committed, from, cast), name(committed, to, cast));
    let why = match step {
        Step::Session { from: INITIAL, .. } => "the initial state is before everything".to_owned(),
        Step::Session { from, .. } => {
            let txn = committed.txns[*from as usize];
            format!(
                "process {} did one after the other",
                committed.registers.table.txn(txn).process
            )
        }
        Step::ReadFrom { version, .. } => {
            cast.about(committed.registers.key(*version));
            format!("{other} read {} from {one}", committed.registers.told(*version))
        }
        Step::Inferred(inferred) => inferred_reason(committed, inferred, [&one, &other], cast),
    };
    format!("{one} is before {other}: {why}")
}

fn inferred_reason(
    committed: &Committed,
    step: &Inferred,
    [one, other]: [&str; 2],
    cast: &mut Cast,
) -> String {
    let reader = name(committed, step.reader, cast);
    let reads = committed.reads(step.reader);
    let read = reads.iter().rfind(|read| read.key == step.key && read.writer == step.to);
    let read = read.map_or(String::new(), |read| committed.registers.told(read.version));
    let seen = reads.iter().find(|read| read.writer == step.from);
    if let Some(seen) = seen {
        cast.about(seen.key);
    }
    let seen = seen.map_or(String::new(), |read| committed.registers.told(read.version));
    let visible = match rule(committed, step) {
        Rule::ReadBefore => format!("{reader} had read {seen} from {one}"),
        Rule::Session if step.from == INITIAL => format!("{one} is before everything"),
        Rule::Session => format!("{one} came before {reader} in the same process"),
        Rule::ReadFrom => format!("{reader} reads {seen} from {one}"),
        Rule::Causal => {
            let way = way(committed, step.from, step.reader, cast);
            format!("{one} happened before {reader} ({way})")
        }
    };
    cast.about(step.key);
    let key = committed.registers.table.key_text(step.key);
    format!("{visible}, and {one} wrote {key} too, yet {reader} read {read} from {other}")
}

/// Hops on a way that are told.
const HOPS: usize = 6;

/// How one transaction happened before another: `T2 read x = 1 from T1, process 3 did T2 before T3`.
fn way(committed: &Committed, from: u32, to: u32, cast: &mut Cast) -> String {
    let by_reads = hops(committed, from, to, false);
    let hops = if by_reads.is_empty() { hops(committed, from, to, true) } else { by_reads };
    let mut told: Vec<String> = Vec::new();
    for step in hops.iter().take(HOPS) {
        let (Step::Session { to, .. } | Step::ReadFrom { to, .. }) = step else { continue };
        let (one, other) = (name(committed, step.from(), cast), name(committed, *to, cast));
        told.push(match step {
            Step::ReadFrom { version, .. } => {
                cast.about(committed.registers.key(*version));
                format!("{other} read {} from {one}", committed.registers.told(*version))
            }
            _ => format!("{one} was before {other} in its process"),
        });
    }
    if hops.len() > HOPS {
        told.push(format!("{} more steps", hops.len() - HOPS));
    }
    told.join(", ")
}
