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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::ModelOptions;
    use crate::checker::objects::Atom;
    use crate::checker::objects::models::container::{Operation, Taken};
    use crate::checker::objects::models::queue::Queue;
    use crate::checker::objects::seen::NEVER;

    #[test]
    fn each_way_of_being_wrong_is_refuted() {
        let queue = Queue::unordered(&ModelOptions::default()).expect("no options");
        let put = |value| Operation::Put(Atom::Int(value));
        let take = |value| Operation::Take(Taken::Value(Atom::Int(value)));
        let unknown = Operation::Take(Taken::Unknown);
        let timed = |operation: &Operation, invoke, complete| Timed {
            operation: operation.clone(),
            invoke,
            complete,
            origin: 0,
        };
        let operations = [
            timed(&put(1), 1, 2),
            timed(&take(1), 3, 4),
            timed(&put(2), 5, NEVER),
            timed(&unknown, 6, NEVER),
        ];
        let replay = |order: &[(u32, Operation)]| replay(&queue, &operations, order);
        let (first, second) = ((0, put(1)), (1, take(1)));
        assert_eq!(replay(&[first.clone(), second.clone()]), Ok(()));
        let all = [first.clone(), second.clone(), (2, put(2)), (3, take(2))];
        assert_eq!(replay(&all), Ok(()));
        assert_eq!(replay(std::slice::from_ref(&first)), Err(Refuted::Missing(1)));
        assert_eq!(replay(&[second.clone(), first.clone()]), Err(Refuted::Illegal(1)));
        assert_eq!(replay(&[first.clone(), first.clone()]), Err(Refuted::NotOnce(0)));
        assert_eq!(replay(&[(9, put(1))]), Err(Refuted::NotOnce(9)));
        // What surely happened is nothing else, and what perhaps did is one of what it may have been.
        assert_eq!(replay(&[(0, put(2)), second.clone()]), Err(Refuted::Changed(0)));
        assert_eq!(replay(&[first.clone(), second.clone(), (3, put(2))]), Err(Refuted::Changed(3)));
        // Invoked after the other had completed; later ones do not make that good.
        let late = [(2, put(2)), first.clone(), second.clone()];
        assert_eq!(replay(&late), Err(Refuted::OutOfTime(0)));
        let later = [(2, put(2)), (3, take(2)), first, second];
        assert_eq!(replay(&later), Err(Refuted::OutOfTime(0)));
    }
}
