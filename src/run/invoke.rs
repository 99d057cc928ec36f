//! One client operation: invoke, bounded wait, completion. Unknown is `info`, and retires the process.

use std::time::Duration;

use futures::FutureExt;

use super::{Done, Loop};
use crate::cluster::{Client, Cluster};
use crate::nemesis::Phase;
use crate::op::{Call, Kind, Outcome};

impl<'a, C: Cluster, K: Client + 'a> Loop<'a, C, K> {
    pub(super) fn invoke(&mut self, thread: usize, call: Call) {
        let process = self.threads.process(thread);
        let node = self.nodes[self.threads.node_of(thread)];
        self.threads.take(thread);
        self.asked[thread].at = self.now();
        let key = Some(call.key());
        self.record(Kind::Invoke, process, Some(node), call.f().into(), key, call.value(), None);
        let mut client = match self.clients[thread].take() {
            Some(client) => client,
            None => (self.make_client)(process, &node),
        };
        let limit = Duration::from_nanos(self.settings.operation_timeout);
        self.running.push(
            async move {
                match tokio::time::timeout(limit, client.invoke(&call)).await {
                    Ok(outcome) => Done::Called { thread, call, client: Some(client), outcome },
                    // The request may still be on its way: this client is not used again.
                    Err(_) => {
                        let outcome =
                            Outcome::Info(format!("no answer in {} s", limit.as_secs_f64()));
                        Done::Called { thread, call, client: None, outcome }
                    }
                }
            }
            .boxed_local(),
        );
    }

    pub(super) fn returned(
        &mut self,
        thread: usize,
        call: &Call,
        client: Option<K>,
        outcome: Outcome,
    ) {
        let process = self.threads.process(thread);
        let node = Some(self.nodes[self.threads.node_of(thread)]);
        let kind = outcome.kind();
        let (value, error) = match outcome {
            Outcome::Ok(value) => (value, None),
            Outcome::Fail(error) | Outcome::Info(error) => (call.value(), Some(error.into())),
        };
        self.record(kind, process, node, call.f().into(), Some(call.key()), value, error);
        if kind == Kind::Ok && self.phase == Phase::Recover {
            self.asked[thread].answered |= self.asked[thread].at >= self.phase_since;
        }
        if kind == Kind::Info {
            self.threads.retire(thread);
        } else {
            self.clients[thread] = client;
        }
        self.threads.release(thread);
    }
}
