//! What a client of a kind makes of an operation: one that reads from replicas says so in the history.

use super::Kvrocks;
use crate::client::kvrocks::ClientKind;
use crate::generator::{Context, Generator, Next, What};
use crate::op::{Call, Event, MicroOp};

pub fn suited<G: Generator + 'static>(workload: Kvrocks, inner: G) -> Box<dyn Generator> {
    Box::new(Suited { workload, inner })
}

/// Turns the reads of clients that ask replicas into stale ones.
struct Suited<G> {
    workload: Kvrocks,
    inner: G,
}

impl<G: Generator> Generator for Suited<G> {
    fn next(&mut self, ctx: &Context) -> Next {
        match self.inner.next(ctx) {
            Next::Do { what: What::Call(call), to } => {
                let reads_replicas = ctx.pick(to).is_some_and(|thread| {
                    self.workload.kind(thread, ctx.threads.nodes()) == ClientKind::Replica
                });
                let call = match reads_replicas && only_reads(&call) {
                    true => Call::Stale(Box::new(call)),
                    false => call,
                };
                Next::Do { what: What::Call(call), to }
            }
            next => next,
        }
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        self.inner.observe(ctx, event);
    }
}

fn only_reads(call: &Call) -> bool {
    match call {
        Call::Read { .. } | Call::ReadAll { .. } => true,
        Call::Txn { ops } => ops.iter().all(|op| matches!(op, MicroOp::Read { .. })),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tests::{sound, workload};
    use super::*;
    use crate::generator::{Threads, limit, simulate};
    use crate::op::{Kind, Process};
    use crate::rng::Rng;
    use crate::workload::Workload;

    #[test]
    fn reads_of_replica_clients_are_stale_reads_and_nobody_elses_are() {
        let workload = workload("{}");
        let mut source = limit(4000, workload.source(Rng::from_seed(1)));
        let run = simulate(&mut source, Threads::new(24, 4), sound());
        let mut seen = BTreeSet::new();
        for event in run.events.iter().filter(|event| event.kind == Kind::Invoke) {
            let Process::Client(process) = event.process else { continue };
            let kind = workload.kind(process as usize % 24, 4);
            assert!(kind != ClientKind::Replica || &*event.f != "read");
            assert!(kind == ClientKind::Replica || &*event.f != "stale-read");
            seen.insert((kind, event.f.to_string()));
        }
        // Three kinds with three operations each, and the replica's.
        assert_eq!(seen.len(), 12, "{seen:?}");
    }
}
