//! Independent jobs over the machine's cores. Results depend on the jobs alone, not on the threads.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads at most; memory budgets are divided by it, so that they do not depend on the machine.
pub const WORKERS: usize = 8;

/// Does every job of `order` and returns the results by job.
pub fn run<T: Send>(
    order: &[usize],
    parallel: bool,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<(usize, T)> {
    let workers = if parallel { cores().min(WORKERS).min(order.len()) } else { 1 };
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some(job) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((*job, work(*job)));
        }
        done
    };
    let mut results = if workers <= 1 {
        worker()
    } else {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
            threads.into_iter().flat_map(joined).collect()
        })
    };
    results.sort_by_key(|(job, _)| *job);
    results
}

/// Asking takes longer than judging a small history.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

fn joined<T>(thread: std::thread::ScopedJoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_job_is_done_once_and_results_stand_by_job() {
        let order: Vec<usize> = (0..1_000).rev().collect();
        let expected: Vec<(usize, usize)> = (0..1_000).map(|job| (job, job * job)).collect();
        for parallel in [false, true] {
            assert_eq!(super::run(&order, parallel, |job| job * job), expected);
        }
        assert!(super::run(&[], true, |job| job).is_empty());
    }
}
