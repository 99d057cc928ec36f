//! Which values are joined by compare-and-sets. Values of different chains can be told apart by
//! all.

use crate::checker::linearizability::operation::{Effect, Operation, ValueId};

/// For each value, the smallest value of its chain.
pub(super) fn of_values<'a>(
    operations: impl IntoIterator<Item = &'a Operation>,
    values: usize,
) -> Vec<ValueId> {
    let mut parent: Vec<ValueId> = (0..values as ValueId).collect();
    for operation in operations {
        if let Effect::Cas { from, to } = operation.effect {
            let (one, other) = (root(&mut parent, from), root(&mut parent, to));
            parent[one.max(other) as usize] = one.min(other);
        }
    }
    // Parents are smaller than their children, so one pass upwards settles all.
    for value in 0..values {
        parent[value] = parent[parent[value] as usize];
    }
    parent
}

fn root(parent: &mut [ValueId], mut value: ValueId) -> ValueId {
    while parent[value as usize] != value {
        parent[value as usize] = parent[parent[value as usize] as usize];
        value = parent[value as usize];
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_joined_through_any_number_of_steps() {
        let cas = |from, to| Operation {
            effect: Effect::Cas { from, to },
            invoke: 1,
            complete: 2,
            origin: 0,
        };
        let operations = [cas(5, 4), cas(3, 2), cas(2, 5), cas(6, 7)];
        assert_eq!(of_values(&operations, 9), [0, 1, 2, 2, 2, 2, 6, 6, 8]);
    }
}
