//! Tells a person why some operations have no order. Bounded, however many there are.

mod attempts;
mod wording;

use super::object::Object;
use super::seen::Timed;
use super::shrink::Shrunk;
use super::split::Pair;
use crate::checker::Anomaly;
use crate::op::Key;
use attempts::{Attempt, attempts};
use wording::Wording;

/// Operations that are told one by one.
const TOLD: usize = 10;
/// Up to so many operations, the orders are told, and so many of them.
const FEW: usize = 6;
const ORDERS: usize = 8;

/// The moment at which a violation shows.
pub(super) fn shown<T>(core: &[Timed<T>]) -> u32 {
    let certain = core.iter().filter(|timed| !timed.is_open());
    certain.map(|timed| timed.complete).max().unwrap_or(0)
}

pub(super) fn explain<O: Object>(
    object: &O,
    pairs: &[Pair],
    key: Option<&Key>,
    shrunk: &Shrunk<O::Operation>,
) -> Anomaly {
    let core = &shrunk.operations;
    let wording = Wording { object, pairs, timed: wording::is_timed(pairs) };
    let tried = match core.len() <= FEW {
        true => attempts(object, core),
        false => Vec::new(),
    };
    let mut details = wording.operations(core, TOLD);
    details.extend(reasons(&wording, core, &tried));
    if !shrunk.minimal {
        details.push("a limit ended the search for fewer operations that show it".to_owned());
    }
    let (from, to) = wording.span(core);
    Anomaly {
        kind: "nonlinearizable".to_owned(),
        summary: summary(&wording, key, core, &tried),
        details,
        key: key.map(Key::to_string),
        nodes: wording.nodes(core),
        ops: core.iter().map(|timed| wording.index(timed)).collect(),
        from,
        to,
        faults: None,
        cycle: None,
    }
}

fn summary<O: Object>(
    wording: &Wording<O>,
    key: Option<&Key>,
    core: &[Timed<O::Operation>],
    tried: &[Attempt<O>],
) -> String {
    let at = key.map_or(String::new(), |key| format!(" on key {key}"));
    let Some(last) = core.iter().filter(|timed| !timed.is_open()).max_by_key(|t| t.complete) else {
        return format!("no order of these operations{at} explains what was seen");
    };
    let seen = wording.seen(last);
    match (core.len(), tried) {
        (1, [only]) => {
            let holds = wording.object.describe_state(&only.state);
            format!(
                "the {seen} cannot be: nothing before it can have brought it about{at}, and at first {holds}"
            )
        }
        (_, [only]) => {
            let holds = wording.object.describe_state(&only.state);
            let others = wording.others(core, last);
            format!("the {seen} cannot be{at}: after {others}, {holds}")
        }
        (count, _) => format!("no order of {count} operations{at} explains the {seen}"),
    }
}

/// What the object has to say, unless there is but one order to tell.
fn reasons<O: Object>(
    wording: &Wording<O>,
    core: &[Timed<O::Operation>],
    tried: &[Attempt<O>],
) -> Vec<String> {
    if tried.len() == 1 {
        return orders(wording, core, tried);
    }
    match wording.object.reason(core, &|event| wording.event(core, event)) {
        none if none.is_empty() => orders(wording, core, tried),
        sentences => sentences,
    }
}

/// A line for each order, up to where it fails.
fn orders<O: Object>(
    wording: &Wording<O>,
    core: &[Timed<O::Operation>],
    tried: &[Attempt<O>],
) -> Vec<String> {
    let number = |position: &usize| format!("({})", position + 1);
    let told = tried.iter().take(ORDERS).map(|attempt| {
        let holds = wording.object.describe_state(&attempt.state);
        let order: Vec<String> = attempt.order.iter().map(number).collect();
        let before = match order.is_empty() {
            true => "at first".to_owned(),
            false => format!("after {}", order.join(" ")),
        };
        let refused = number(&attempt.refused);
        let what = wording.object.describe(&core[attempt.refused].operation);
        format!("{before} {holds}, and {refused}, the {what}, cannot follow")
    });
    let mut lines: Vec<String> = told.collect();
    if tried.len() > ORDERS {
        lines.push(format!("{} more orders fail as well", tried.len() - ORDERS));
    }
    lines
}
