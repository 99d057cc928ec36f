//! The order that linearizable zones stand for: the certificate of their verdict, for tests.

use super::*;

/// Positions of the operations in an order that explains them.
pub(in crate::checker::linearizability) fn of(
    operations: &[Operation],
    values: usize,
) -> Option<Vec<u32>> {
    let clusters = clusters(operations, values, &Observed::of(operations, values)).ok()?;
    let mut blocks = block::all(operations, &clusters).ok()?;
    let mut reads: Vec<Vec<u32>> = vec![Vec::new(); values];
    for (position, operation) in operations.iter().enumerate() {
        if let Effect::Read(value) = operation.effect {
            reads[value as usize].push(position as u32);
        }
    }
    // If no two blocks must precede each other, their lower ends are an order.
    blocks.sort_by_key(|block| block.lower_end());
    let mut order = Vec::new();
    for block in blocks {
        let mut value = block.root;
        loop {
            let cluster = clusters[value as usize];
            if cluster.producer != START {
                order.push(cluster.producer);
            }
            order.extend(&reads[value as usize]);
            let Some(next) = operations.get(cluster.successor as usize) else { break };
            value = next.effect.produces().expect("a compare-and-set replaces a value");
        }
    }
    Some(order)
}
