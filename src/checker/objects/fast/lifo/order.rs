//! The order that a peeling stands for.

use super::peel::Peeling;
use crate::checker::objects::fast::moments::Moments;
use crate::checker::objects::fast::values::Values;

/// What happens at one moment, in this order: what is there goes out, the last in first; whoever finds
/// nothing does so; what is there for no time comes and goes; what stays goes in, the lowest first.
const OUT: u32 = 0;
const NOTHING: u32 = 1;
const AT_ONCE: u32 = 2;
const IN: u32 = 3;

/// Positions of operations; `taken` tells which takings of unknown outcome took which lives.
pub(super) fn order(
    values: &Values,
    moments: &Moments,
    peeling: &Peeling,
    taken: &[(usize, usize)],
) -> Vec<usize> {
    let mut places: Vec<((u32, u32, u32), usize)> = Vec::with_capacity(values.operations.len());
    let mut nests = vec![false; values.lives.len()];
    for (rank, nested) in peeling.nested.iter().enumerate() {
        let number = peeling.stays[nested.stay].life;
        let (life, rank) = (&values.lives[number], rank as u32);
        nests[number] = true;
        let taken = life.taken.or_else(|| {
            let place = taken.binary_search_by_key(&number, |(life, _)| *life).ok()?;
            Some(taken[place].1)
        });
        places.extend(life.put.map(|put| ((nested.enters, IN, rank), put)));
        places.extend(taken.map(|taken| ((nested.leaves, OUT, u32::MAX - rank), taken)));
    }
    let at_once = values.lives.iter().zip(nests).filter(|(_, nests)| !nests);
    for (place, (life, _)) in at_once.enumerate() {
        let (Some(put), Some(taken)) = (life.put, life.taken) else { continue };
        let asked = values.operations[put].invoke.max(values.operations[taken].invoke);
        let moment = moments.after(asked);
        places.push(((moment, AT_ONCE, 2 * place as u32), put));
        places.push(((moment, AT_ONCE, 2 * place as u32 + 1), taken));
    }
    for position in &values.empty {
        let found = &values.operations[*position];
        let between = moments.between(found.invoke, found.complete);
        if let Some(moment) = peeling.emptied(between) {
            places.push(((moment, NOTHING, 0), *position));
        }
    }
    places.sort_unstable();
    places.into_iter().map(|(_, position)| position).collect()
}
