//! Replays a linearization on the object. It shares nothing with the search that claims to have found one.

use super::object::Object;
use super::seen::Timed;

/// Why a claimed order is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refuted {
    #[error("operation {0} stands twice or does not exist")]
    NotOnce(u32),
    #[error("operation {0} completed and is missing")]
    Missing(u32),
    #[error("operation {0} stands after one that was invoked after it completed")]
    OutOfTime(u32),
    #[error("operation {0} stands as another than it was")]
    Changed(u32),
    #[error("operation {0} cannot happen in the state it meets")]
    Illegal(u32),
}

/// Checks that `order` (positions in `operations`, and what each was) explains them all.
pub(super) fn replay<O: Object>(
    object: &O,
    operations: &[Timed<O::Operation>],
    order: &[(u32, O::Operation)],
) -> Result<(), Refuted> {
    let mut placed = vec![false; operations.len()];
    let mut state = object.init();
    let mut latest_invocation = 0;
    for (position, operation) in order {
        match placed.get_mut(*position as usize) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(Refuted::NotOnce(*position)),
        }
        let timed = &operations[*position as usize];
        let is_itself = *operation == timed.operation
            || timed.is_open()
                && object.alternatives(&timed.operation, operations).contains(operation);
        if !is_itself {
            return Err(Refuted::Changed(*position));
        }
        if timed.complete < latest_invocation {
            return Err(Refuted::OutOfTime(*position));
        }
        latest_invocation = latest_invocation.max(timed.invoke);
        state = object.step(&state, operation).ok_or(Refuted::Illegal(*position))?;
    }
    let missing = (0..operations.len()).find(|p| !placed[*p] && !operations[*p].is_open());
    missing.map_or(Ok(()), |position| Err(Refuted::Missing(position as u32)))
}
