//! Work spread over the cores, with results in the order of the work.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Does `work` on each item, on as many threads as there are cores, and hands each result to `each` in
/// the order of the items, as soon as all before it are there.
pub fn in_order<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut each: impl FnMut(&T, R),
) {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..cores.min(items.len()) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                while let Some((position, item)) = take(items, next) {
                    if sender.send((position, work(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut due = 0;
        for (position, result) in receiver {
            early.insert(position, result);
            while let Some(result) = early.remove(&due) {
                each(&items[due], result);
                due += 1;
            }
        }
    });
}

fn take<'a, T>(items: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let position = next.fetch_add(1, Ordering::Relaxed);
    items.get(position).map(|item| (position, item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..1000).collect();
        let mut seen = Vec::new();
        let work = |item: &u64| {
            // The early ones take longest.
            (0..(1000 - item) * 10).fold(*item, |sum, n| sum.wrapping_mul(31).wrapping_add(n))
        };
        in_order(&items, work, |item, _| seen.push(*item));
        assert_eq!(seen, items);
        in_order(&[] as &[u64], |item| *item, |_, _| panic!("nothing to do"));
    }
}
