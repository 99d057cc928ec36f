//! Plays a scenario on a cluster that is up: makes the workload's generators and clients, and runs.

#[cfg(test)]
mod tests;

use std::rc::Rc;

use crate::client::kvrocks::{
    Addresses, BootstrapError, ClientKind, Common, Identity, KvrocksClient, Operator, Wanted,
    bootstrap, seeds,
};
use crate::cluster::{Client, Cluster};
use crate::generator::{Generator, arrivals, both};
use crate::op::{Call, Completion, NodeName};
use crate::rng::Rng;
use crate::run::{Interrupt, MakeClient, Ran, Seat, Settings, Sink, Work, run};
use crate::scenario::Scenario;
use crate::workload::kvrocks::Kvrocks;
use crate::workload::register::Register;
use crate::workload::register_client::RegisterClient;
use crate::workload::{AnyWorkload, OptionError, Workload};

/// Why a scenario could not begin.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    #[error(transparent)]
    Options(#[from] OptionError),
    #[error("prepare the cluster for its faults: {0:#}")]
    Prepare(anyhow::Error),
    #[error("bring the kvrocks cluster up: {0}")]
    Bootstrap(#[from] BootstrapError),
    #[error("interrupted while the kvrocks cluster was being made")]
    Interrupted,
}

/// Runs main to drain. The cluster is left as it then is.
pub async fn play<C: Cluster>(
    scenario: &Scenario,
    cluster: &C,
    sink: &mut dyn Sink,
    interrupt: &Interrupt,
) -> Result<Ran, PlayError> {
    cluster.prepare(&scenario.needs()).await.map_err(PlayError::Prepare)?;
    let play = Play { scenario, cluster, sink, interrupt };
    match AnyWorkload::of(&scenario.workload)? {
        AnyWorkload::Register(register) => Ok(play.register(register).await),
        AnyWorkload::Kvrocks(kvrocks) => play.kvrocks(kvrocks).await,
    }
}

/// The part of an operation's time that a client of kvrocks may use up.
const BUDGET: f64 = 0.8;

/// A client of a kvrocks cluster.
enum Either<D, O> {
    Data(D),
    Operator(O),
}

impl<D: Client, O: Client> Client for Either<D, O> {
    async fn invoke(&mut self, call: &Call) -> Completion {
        match self {
            Either::Data(client) => client.invoke(call).await,
            Either::Operator(operator) => operator.invoke(call).await,
        }
    }
}

struct Play<'a, C> {
    scenario: &'a Scenario,
    cluster: &'a C,
    sink: &'a mut dyn Sink,
    interrupt: &'a Interrupt,
}

impl<'a, C: Cluster> Play<'a, C> {
    async fn register(self, register: Register) -> Ran {
        let (reads, cluster) = (register.reads(), self.cluster);
        let session_timeout = self.scenario.workload.session_timeout.0;
        let client = move |seat: Seat| {
            let connect = move || async move { cluster.connect(&seat.node, session_timeout).await };
            RegisterClient::new(connect, reads, &seat.process.to_string())
        };
        self.run(register, Box::new(client)).await
    }

    async fn kvrocks(self, kvrocks: Kvrocks) -> Result<Ran, PlayError> {
        let (cluster, topology) = (self.cluster, self.cluster.topology());
        let dial = move |node: NodeName| async move {
            let Some(of) = topology.node(&node) else {
                return Err(std::io::ErrorKind::NotFound.into());
            };
            cluster.dial(&node, of.role.client_port().0).await
        };
        let options = kvrocks.options().clone();
        let wanted = Wanted {
            topology,
            replicas: options.replicas,
            keys: kvrocks.space(),
            filler_kib: options.slots.map_or(0, |slots| slots.filler_kib),
        };
        tokio::select! {
            biased;
            () = self.interrupt.raised() => return Err(PlayError::Interrupted),
            made = bootstrap(&dial, &wanted) => made?,
        }
        // What is left of an operation's time is for the loop, which would forget the operation's way.
        let budget = self.scenario.workload.operation_timeout.0.mul_f64(BUDGET);
        let common = Rc::new(Common {
            keys: kvrocks.space().clone(),
            addresses: Addresses::of(topology),
            seeds: seeds(topology),
            cas: options.cas,
            request_timeout: options.request_timeout.0,
            budget,
            kept: Default::default(),
        });
        let crew = kvrocks.crew(topology, self.scenario.workload.concurrency);
        let kinds: Vec<ClientKind> =
            (0..crew.data).map(|thread| kvrocks.kind(thread, crew.places.len())).collect();
        let client = move |seat: Seat| match kinds.get(seat.thread) {
            Some(kind) => {
                let identity = Identity { thread: seat.thread, home: seat.node, kind: *kind };
                Either::Data(KvrocksClient::new(dial, common.clone(), identity))
            }
            None => Either::Operator(Operator::new(dial, common.clone(), seat.node)),
        };
        Ok(self.run(kvrocks, Box::new(client)).await)
    }

    async fn run<K: Client>(
        self,
        workload: impl Workload + 'static,
        client: MakeClient<'_, K>,
    ) -> Ran {
        let spec = &self.scenario.workload;
        let rng = Rng::from_seed(self.scenario.seed);
        let settings = Settings {
            operation_timeout: spec.operation_timeout.nanos(),
            main: spec.time.nanos(),
            recover_within: spec.recover_within.nanos(),
            faults: self.scenario.faults.clone(),
            leader: spec.leader,
            script: self.scenario.script.clone(),
            turns: self.scenario.turns.clone(),
            rng: rng.fork("run"),
        };
        let source = workload.source(rng.fork("workload"));
        let data = arrivals(spec.rate, rng.fork("arrivals"), source);
        let main: Box<dyn Generator> = match workload.operators(rng.fork("operators")) {
            None => Box::new(data),
            Some(operators) => Box::new(both(operators, data)),
        };
        let crew = workload.crew(self.cluster.topology(), spec.concurrency);
        let drain = Box::new(move || workload.drain());
        let work = Work { crew, main, drain, client };
        run(self.cluster, &settings, work, self.sink, self.interrupt).await
    }
}
