//! Tells a violation so that a tired person understands it: one sentence, then the operations.

mod attempts;
mod pattern;
mod wording;

use std::collections::BTreeSet;

use crate::checker::Anomaly;
use crate::checker::linearizability::decide::Method;
use crate::checker::linearizability::operation::{Operation, Pair, Register};
use crate::checker::linearizability::shrink::Shrunk;
use pattern::{Pattern, Stale};
use wording::Wording;

/// Operations listed at most.
const LISTED: usize = 40;

/// The register a violation happened on.
pub(super) struct Scene<'a> {
    pub pairs: &'a [Pair<'a>],
    /// All operations of the key, the failed ones among them.
    pub members: &'a [u32],
    pub register: &'a Register,
    pub key: Option<String>,
    pub by: Method,
    /// The invocations of lost writes, where another checker finds them.
    pub lost: Option<&'a BTreeSet<u64>>,
}

impl Scene<'_> {
    /// Whether the write that was not seen is lost for good, rather than late.
    fn is_lost(&self, wording: &Wording, stale: &Stale) -> bool {
        match self.lost {
            Some(lost) => lost.contains(&wording.index(&stale.evidence)),
            None => wording.is_lost(self.register, stale),
        }
    }
}

/// Explains the violation that the shrunk core proves; `beginning` tells how the term began that is
/// judged by itself, if it is not all there is.
pub(super) fn explain(scene: &Scene, shrunk: &Shrunk, beginning: Option<String>) -> Anomaly {
    let core = as_recorded(scene.register, &shrunk.operations);
    let pattern = pattern::find(scene.register, &core, last_to_complete(&shrunk.operations, &core));
    let (shown, of_its_own) = match &pattern {
        Pattern::Stale(stale) => stale.shown(scene.register, &core),
        _ => (core, false),
    };
    let wording = Wording::new(scene.pairs, scene.members);
    let kind = match &pattern {
        Pattern::Stale(stale) if scene.is_lost(&wording, stale) => "lost-write",
        Pattern::Stale(_) => "stale-read",
        _ => "nonlinearizable",
    };
    let mut details: Vec<String> =
        shown.iter().take(LISTED).map(|operation| wording.line(operation)).collect();
    if shown.len() > LISTED {
        details.push(format!("and {} more operations", shown.len() - LISTED));
    }
    if let Pattern::Stale(stale) = &pattern {
        details.push(wording.staleness(stale));
    }
    if let Pattern::Tangled { .. } = &pattern {
        let attempts = attempts::all(&shown, shrunk.from_any_state);
        details.extend(attempts.told.iter().map(|attempt| wording.attempt(attempt, &shown)));
        if attempts.more > 0 {
            details.push(format!("and {} more orders that fail as well", attempts.more));
        }
    }
    details.push(told_of_core(scene, shrunk, shown.len(), of_its_own));
    details.extend(beginning.map(|beginning| {
        format!("judged {beginning}; of what was there before, any one value may have been left")
    }));
    let (from, to) = wording.span(&shown);
    Anomaly {
        kind: kind.to_owned(),
        summary: summary(&wording, &pattern, kind, shown.len()),
        details,
        key: scene.key.clone(),
        nodes: wording.nodes(&shown),
        ops: shown.iter().map(|operation| wording.index(operation)).collect(),
        from,
        to,
        faults: None,
        cycle: None,
    }
}

/// Explains two sights of which a term's first state accounts for one at most.
pub(super) fn torn(
    scene: &Scene,
    (one, other): (Operation, Operation),
    beginning: &str,
) -> Anomaly {
    let wording = Wording::new(scene.pairs, scene.members);
    let mut shown = vec![one, other];
    shown.sort_by_key(|operation| operation.invoke);
    let (from, to) = wording.span(&shown);
    Anomaly {
        kind: "nonlinearizable".to_owned(),
        summary: wording.torn(&shown, beginning),
        details: shown.iter().map(|operation| wording.line(operation)).collect(),
        key: scene.key.clone(),
        nodes: wording.nodes(&shown),
        ops: shown.iter().map(|operation| wording.index(operation)).collect(),
        from,
        to,
        faults: None,
        cycle: None,
    }
}

/// The core's operations with their real completions, in order of invocation.
///
/// To take a weakening back leaves a core without an order as it is.
fn as_recorded(register: &Register, core: &[Operation]) -> Vec<Operation> {
    let recorded = |origin| {
        let found = register.operations.binary_search_by_key(&origin, |o: &Operation| o.origin);
        found.ok().map(|position| register.operations[position])
    };
    core.iter().filter_map(|operation| recorded(operation.origin)).collect()
}

/// The operation at whose completion no order was left.
fn last_to_complete(shrunk: &[Operation], recorded: &[Operation]) -> Operation {
    let certain = shrunk.iter().filter(|operation| !operation.is_open());
    let last = certain.max_by_key(|operation| operation.complete).map(|last| last.origin);
    let found = recorded.iter().find(|operation| Some(operation.origin) == last);
    *found.expect("open operations alone have an order")
}

fn told_of_core(scene: &Scene, shrunk: &Shrunk, shown: usize, of_its_own: bool) -> String {
    let all = scene.register.operations.len();
    let method = match scene.by {
        Method::Zones => "zones",
        Method::Search => "search",
    };
    let before = match shrunk.from_any_state && !of_its_own {
        true => ", whatever the register held before",
        false => "",
    };
    let perhaps = match shrunk.minimal || of_its_own {
        true => "",
        false => "; a limit ended the shrinking",
    };
    format!(
        "decided by {method}; {shown} of {all} operations prove it by themselves{before}{perhaps}"
    )
}

fn summary(wording: &Wording, pattern: &Pattern, kind: &str, shown: usize) -> String {
    match pattern {
        Pattern::Unwritten { seen, written_later } => wording.unwritten(seen, written_later),
        Pattern::ReplacedTwice { one, other } => wording.replaced_twice(one, other),
        Pattern::Stale(stale) if kind == "lost-write" => wording.lost(stale),
        Pattern::Stale(stale) => wording.stale(stale),
        Pattern::Tangled { last } => wording.tangled(last, shown),
    }
}

impl Stale {
    /// The operations to show, and whether they are a proof of their own rather than the core.
    fn shown(&self, register: &Register, core: &[Operation]) -> (Vec<Operation>, bool) {
        let mut proof = self.proof(register).unwrap_or_default();
        let of_its_own = !proof.is_empty();
        if !of_its_own {
            proof = core.to_vec();
            if !proof.contains(&self.evidence) {
                proof.push(self.evidence);
            }
        }
        proof.sort_by_key(|operation| operation.invoke);
        (proof, of_its_own)
    }
}
