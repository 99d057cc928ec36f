//! Plays a scenario on a cluster that is up: makes the workload's generator and clients, and runs.

use crate::cluster::Cluster;
use crate::generator::arrivals;
use crate::op::NodeName;
use crate::rng::Rng;
use crate::run::{Interrupt, Ran, Settings, Sink, Work, run};
use crate::scenario::Scenario;
use crate::workload::register::{OptionError, Register};
use crate::workload::register_client::RegisterClient;

/// Why a scenario could not begin.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    #[error(transparent)]
    Options(#[from] OptionError),
    #[error("prepare the cluster for its faults: {0:#}")]
    Prepare(anyhow::Error),
}

/// Runs main to drain. The cluster is left as it then is.
pub async fn play<C: Cluster>(
    scenario: &Scenario,
    cluster: &C,
    sink: &mut dyn Sink,
    interrupt: &Interrupt,
) -> Result<Ran, PlayError> {
    cluster.prepare(&scenario.needs()).await.map_err(PlayError::Prepare)?;
    let spec = &scenario.workload;
    let rng = Rng::from_seed(scenario.seed);
    let register = Register::new(spec.register.clone().unwrap_or_default())?;
    let settings = Settings {
        concurrency: spec.concurrency.threads(spec.nodes()),
        operation_timeout: spec.operation_timeout.nanos(),
        main: spec.time.nanos(),
        recover_within: spec.recover_within.nanos(),
        faults: scenario.faults.clone(),
        leader: spec.leader,
        script: scenario.script.clone(),
        turns: scenario.turns.clone(),
        rng: rng.fork("run"),
    };
    let source = register.source(rng.fork("workload"));
    let reads = spec.register.clone().unwrap_or_default().reads;
    let session_timeout = spec.session_timeout.0;
    let work = Work {
        main: Box::new(arrivals(spec.rate, rng.fork("arrivals"), source)),
        drain: Box::new(move || Box::new(register.drain())),
        client: Box::new(move |process, node: &NodeName| {
            let node = *node;
            let connect = move || {
                let node = node;
                async move { cluster.connect(&node, session_timeout).await }
            };
            RegisterClient::new(connect, reads, &process.to_string())
        }),
    };
    Ok(run(cluster, &settings, work, sink, interrupt).await)
}
