//! Replays a linearization. It shares nothing with the algorithms that claim to have found one.

use crate::checker::linearizability::operation::{INITIAL, Operation};

/// Why a claimed order is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refuted {
    #[error("operation {0} stands twice or does not exist")]
    NotOnce(u32),
    #[error("operation {0} completed and is missing")]
    Missing(u32),
    #[error("operation {0} stands after one that was invoked after it completed")]
    OutOfTime(u32),
    #[error("operation {0} cannot happen in the state it meets")]
    Illegal(u32),
}

/// Checks that `order` (positions in `operations`) explains them all.
pub(super) fn replay(operations: &[Operation], order: &[u32]) -> Result<(), Refuted> {
    let mut placed = vec![false; operations.len()];
    let mut state = INITIAL;
    let mut latest_invocation = 0;
    for &position in order {
        match placed.get_mut(position as usize) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(Refuted::NotOnce(position)),
        }
        let operation = &operations[position as usize];
        if operation.complete < latest_invocation {
            return Err(Refuted::OutOfTime(position));
        }
        latest_invocation = latest_invocation.max(operation.invoke);
        state = operation.effect.apply(state).ok_or(Refuted::Illegal(position))?;
    }
    let missing = (0..operations.len()).find(|p| !placed[*p] && !operations[*p].is_open());
    missing.map_or(Ok(()), |position| Err(Refuted::Missing(position as u32)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::linearizability::operation::{Effect, NEVER};

    #[test]
    fn each_way_of_being_wrong_is_refuted() {
        let operation =
            |effect, invoke, complete| Operation { effect, invoke, complete, origin: 0 };
        let operations = [
            operation(Effect::Write(1), 1, 2),
            operation(Effect::Read(1), 3, 4),
            operation(Effect::Write(2), 5, NEVER),
        ];
        assert_eq!(replay(&operations, &[0, 1]), Ok(()));
        assert_eq!(replay(&operations, &[0, 1, 2]), Ok(()));
        assert_eq!(replay(&operations, &[0]), Err(Refuted::Missing(1)));
        assert_eq!(replay(&operations, &[1, 0]), Err(Refuted::Illegal(1)));
        assert_eq!(replay(&operations, &[0, 0]), Err(Refuted::NotOnce(0)));
        assert_eq!(replay(&operations, &[0, 9]), Err(Refuted::NotOnce(9)));
        assert_eq!(replay(&operations, &[0, 2, 1]), Err(Refuted::OutOfTime(1)));
    }
}
