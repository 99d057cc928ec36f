//! A run in the real world: containers up, play, containers down.

use std::time::Duration;

use super::recorder::Recorder;
use super::watching::Watching;
use super::{Broken, Played, RunArguments, open_log};
use crate::cli::exit;
use crate::cluster::Cluster;
use crate::docker::{self, ClusterSpec, DockerCluster, Engine, Limits, RunId, UpError};
use crate::play::play as play_scenario;
use crate::progress::Progress;
use crate::run::Interrupt;
use crate::run_log::RunLog;
use crate::say::say_line;
use crate::scenario::Scenario;
use crate::store::Store;

/// So often nothing of the run must be found in a row.
const QUIET_LOOKS: u32 = 4;

const LOOK_AGAIN: Duration = Duration::from_millis(250);

pub fn play(
    arguments: &RunArguments,
    scenario: &mut Scenario,
    progress: Progress,
    interrupt: &Interrupt,
) -> Result<(Store, Played), Broken> {
    let runtime = crate::cli::runtime().map_err(Broken::infrastructure)?;
    runtime.block_on(async {
        let engine = Engine::connect().await.map_err(Broken::infrastructure)?;
        let store = arguments.store(scenario)?;
        match play_in(arguments, scenario, progress, interrupt, &engine, &store).await {
            Ok(played) => Ok((store, played)),
            Err((broken, Keep::Logs)) => Err(broken),
            Err((broken, Keep::Nothing)) => {
                store.abandon();
                Err(broken)
            }
        }
    })
}

/// What is worth keeping of a run that never began.
enum Keep {
    /// The nodes were up, or the error points to their logs.
    Logs,
    Nothing,
}

impl From<Broken> for (Broken, Keep) {
    fn from(broken: Broken) -> (Broken, Keep) {
        (broken, Keep::Nothing)
    }
}

async fn play_in(
    arguments: &RunArguments,
    scenario: &mut Scenario,
    progress: Progress,
    interrupt: &Interrupt,
    engine: &Engine,
    store: &Store,
) -> Result<Played, (Broken, Keep)> {
    let log = open_log(store, scenario)?;
    let spec = ClusterSpec {
        images: scenario.images.clone(),
        variants: scenario.variant.clone(),
        config: scenario.workload.config.clone(),
        limits: Limits { memory_bytes: arguments.node_memory as u64, cpus: arguments.node_cpus },
        subnet: arguments.subnet,
        needs: scenario.needs(),
        ..ClusterSpec::new(
            RunId::fresh(),
            scenario.workload.services.clone(),
            store.path().to_owned(),
        )
    };
    let say = |line: &str| {
        log.say(line);
        progress.say(line);
    };
    say(&format!("run {}: starting {} nodes", spec.run, scenario.workload.nodes()));
    let cluster = up(engine, &spec, &say, interrupt).await.inspect_err(|_| progress.finish())?;
    settle(scenario, &cluster, &log);
    let played =
        record(arguments, scenario, progress, interrupt, store, &cluster, log.clone()).await;
    let gone =
        if arguments.keep { leave(cluster).await } else { down(cluster, engine, &spec.run).await };
    let mut played = played.map_err(|broken| (broken, Keep::Logs))?;
    log.say(if arguments.keep { "the cluster is left up" } else { "the cluster is removed" });
    played.broken.extend(gone.err());
    Ok(played)
}

/// What is known only once the cluster is up.
fn settle(scenario: &mut Scenario, cluster: &DockerCluster, log: &RunLog) {
    for image in cluster.images() {
        let (name, pinned) = (&image.name, image.pinned());
        match image.is_reference() {
            true => log.say(&format!("image {name}: {pinned}, our own server in {}", image.id)),
            false => log.say(&format!("image {name}: {pinned}")),
        }
        scenario.images.insert(image.name.clone(), image.pinned().to_owned());
    }
    for node in &cluster.topology().nodes {
        log.say(&format!("{} serves at {}", node.name, node.address));
    }
    scenario.kernel = format!("Linux {}", cluster.kernel());
}

/// Starts the cluster; a request to stop meanwhile removes what has been made.
async fn up(
    engine: &Engine,
    spec: &ClusterSpec,
    say: docker::Progress<'_>,
    interrupt: &Interrupt,
) -> Result<DockerCluster, (Broken, Keep)> {
    let result = tokio::select! {
        biased;
        () = interrupt.raised() => None,
        result = DockerCluster::up(engine, spec, say) => Some(result),
    };
    match result {
        Some(Ok(cluster)) => Ok(cluster),
        Some(Err(error)) => {
            let code = if error.is_usage() { exit::USAGE } else { exit::INFRASTRUCTURE };
            let keep = match error {
                UpError::NotReady { .. } => Keep::Logs,
                _ => Keep::Nothing,
            };
            Err((Broken { code, message: error.to_string() }, keep))
        }
        None => {
            let removed = remove_all(engine, &spec.run).await;
            let rest = removed.err().map_or(String::new(), |error| format!("; {error:#}"));
            let message = format!("interrupted while the cluster was starting{rest}");
            Err(Broken { code: exit::INTERRUPTED, message }.into())
        }
    }
}

/// Removes what has been made, and what the engine goes on to make of requests under way when we
/// turned away.
async fn remove_all(engine: &Engine, run: &RunId) -> anyhow::Result<()> {
    let mut quiet = 0;
    while quiet < QUIET_LOOKS {
        let is_there = docker::runs(engine).await?.iter().any(|found| found.run == run.as_str());
        if is_there {
            docker::remove(engine, run).await?;
        }
        quiet = if is_there { 0 } else { quiet + 1 };
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(())
}

async fn record(
    arguments: &RunArguments,
    scenario: &Scenario,
    progress: Progress,
    interrupt: &Interrupt,
    store: &Store,
    cluster: &DockerCluster,
    log: RunLog,
) -> Result<Played, Broken> {
    let watching = Watching::of(arguments, scenario)?;
    let mut recorder = Recorder::new(store, scenario, progress, log.clone(), watching)?;
    let ran = play_scenario(scenario, cluster, &mut recorder, interrupt).await;
    let broken = recorder.finish();
    Ok(Played { history: ran.map_err(Broken::from)?.history, broken, log })
}

async fn leave(cluster: DockerCluster) -> Result<(), String> {
    let lines =
        cluster.leave().await.map_err(|error| format!("leave the cluster up: {error:#}"))?;
    for line in lines {
        say_line!("{line}");
    }
    Ok(())
}

/// Takes the cluster down; what that could not remove is swept by label.
async fn down(cluster: DockerCluster, engine: &Engine, run: &RunId) -> Result<(), String> {
    let Err(first) = cluster.down().await else { return Ok(()) };
    match docker::remove(engine, run).await {
        Ok(()) => Ok(()),
        Err(error) => {
            Err(format!("{first:#}; and {error:#}; `stormglass down --run {run}` tries again"))
        }
    }
}
