//! Of each knot in the order of commits the cycle that needs least: reads alone, then what follows from
//! them, and session order only where nothing else closes a circle.

use super::Cycle;
use super::committed::{Committed, INITIAL};
use super::order::{Allowed, Order, Step};

/// Whether a step may hold only because each process did its own in order. A long way of reads from one
/// to the other is not looked for.
pub(crate) fn needs_process(committed: &Committed, step: &Step) -> bool {
    match step {
        Step::Session { from, .. } => *from != INITIAL,
        Step::ReadFrom { .. } => false,
        Step::Inferred(inferred) => {
            let mut reads = committed.reads(inferred.reader).iter();
            inferred.from != INITIAL && !reads.any(|read| read.writer == inferred.from)
        }
    }
}

/// A cycle for each of the first `most` knots, and how many knots there are in all. Linear but for the
/// search for short ones.
pub(crate) fn cycles(mut order: Order, most: usize) -> (Vec<Cycle>, usize) {
    let knots = order.knots();
    let mut found: Vec<Option<Cycle>> = vec![None; knots.len().min(most)];
    if knots.is_empty() {
        return (Vec::new(), 0);
    }
    let home = |node: u32| {
        let holds = |knot: &Vec<u32>| knot.binary_search(&node).is_ok();
        knots.iter().take(most).position(holds)
    };
    for allowed in [Allowed::Reads, Allowed::NoProcess, Allowed::All] {
        order.allowed = allowed;
        for part in order.knots() {
            let Some(place) = part.first().and_then(|node| home(*node)) else { continue };
            if found[place].is_none() {
                found[place] = Some(Cycle { steps: order.cycle(&part) });
            }
        }
    }
    (found.into_iter().flatten().collect(), knots.len())
}
