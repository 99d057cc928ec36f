//! Independent jobs over the machine's cores. Results depend on the jobs alone, not on the threads.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads at most; memory budgets are divided by it, so that they do not depend on the machine.
pub(super) const WORKERS: usize = 8;

/// Does the jobs in this order and returns the results in the order of the jobs' numbers.
pub(super) fn run<T: Send>(
    order: &[usize],
    parallel: bool,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let workers = if parallel { cores.min(WORKERS).min(order.len()) } else { 1 };
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some(job) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((*job, work(*job)));
        }
        done
    };
    let mut results = match workers {
        0 | 1 => worker(),
        _ => std::thread::scope(|scope| {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
            threads.into_iter().flat_map(joined).collect()
        }),
    };
    results.sort_by_key(|(job, _)| *job);
    results.into_iter().map(|(_, result)| result).collect()
}

fn joined<T>(thread: std::thread::ScopedJoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
