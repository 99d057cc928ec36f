//! One client operation: invoke, bounded wait, completion. Unknown is `info`, and retires the process.

use std::time::Duration;

use futures::FutureExt;

use super::{Done, Loop, Seat};
use crate::cluster::{Client, Cluster};
use crate::nemesis::Phase;
use crate::op::{Call, Completion, Event, Kind, Outcome};

impl<'a, C: Cluster, K: Client + 'a> Loop<'a, C, K> {
    pub(super) fn invoke(&mut self, thread: usize, call: Call) {
        let process = self.threads.process(thread);
        let node = self.nodes[self.threads.node_of(thread)];
        self.threads.take(thread);
        self.asked[thread].at = self.now();
        self.record(Event {
            node: Some(node),
            key: call.key(),
            value: call.value(),
            ..Event::new(Kind::Invoke, process, call.f())
        });
        let mut client = match self.clients[thread].take() {
            Some(client) => client,
            None => (self.make_client)(Seat { thread, process, node }),
        };
        let limit = Duration::from_nanos(self.settings.operation_timeout);
        self.running.push(
            async move {
                match tokio::time::timeout(limit, client.invoke(&call)).await {
                    Ok(completion) => {
                        Done::Called { thread, call, client: Some(client), completion }
                    }
                    // The request may still be on its way: this client is not used again.
                    Err(_) => {
                        let why = format!("no answer in {} s", limit.as_secs_f64());
                        let completion = Outcome::Info(why).into();
                        Done::Called { thread, call, client: None, completion }
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
        Completion { outcome, route }: Completion,
    ) {
        let process = self.threads.process(thread);
        let node = Some(self.nodes[self.threads.node_of(thread)]);
        let kind = outcome.kind();
        let (value, error) = match outcome {
            Outcome::Ok(value) => (value, None),
            Outcome::Fail(error) | Outcome::Info(error) => (call.value(), Some(error.into())),
        };
        let key = call.key();
        self.record(Event {
            node,
            key,
            value,
            error,
            route,
            ..Event::new(kind, process, call.f())
        });
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
