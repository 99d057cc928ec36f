//! A run in the real world: containers up, play, containers down.

use super::recorder::Recorder;
use super::{Broken, Played, RunArguments};
use crate::cli::exit;
use crate::cluster::Role;
use crate::docker::{self, ClusterSpec, DockerCluster, Engine, Limits, RunId, Subnet, UpError};
use crate::play::play as play_scenario;
use crate::progress::Progress;
use crate::run::Interrupt;
use crate::scenario::Scenario;
use crate::store::Store;

pub fn play(
    arguments: &RunArguments,
    scenario: &mut Scenario,
    progress: Progress,
    interrupt: &Interrupt,
) -> Result<(Store, Played), Broken> {
    let subnet = match arguments.subnet.as_deref().map(str::parse::<Subnet>) {
        Some(Err(error)) => return Err(Broken::usage(format!("--subnet: {error}"))),
        Some(Ok(subnet)) => Some(subnet),
        None => None,
    };
    let runtime = crate::cli::runtime().map_err(Broken::infrastructure)?;
    runtime.block_on(async {
        let engine = Engine::connect().await.map_err(Broken::infrastructure)?;
        let store = arguments.store(scenario)?;
        let played =
            play_in(arguments, scenario, progress, interrupt, &engine, &store, subnet).await;
        match played {
            Ok(played) => Ok((store, played)),
            Err(broken) => {
                store.abandon(&arguments.results);
                Err(broken)
            }
        }
    })
}

async fn play_in(
    arguments: &RunArguments,
    scenario: &mut Scenario,
    progress: Progress,
    interrupt: &Interrupt,
    engine: &Engine,
    store: &Store,
    subnet: Option<Subnet>,
) -> Result<Played, Broken> {
    let spec = ClusterSpec {
        run: RunId::fresh(),
        zookeepers: scenario.workload.services.get(&Role::Zookeeper).copied().unwrap_or(0),
        images: scenario.images.clone(),
        limits: Limits { memory_bytes: arguments.node_memory as u64, cpus: arguments.node_cpus },
        subnet,
        results: store.path().to_owned(),
    };
    progress.say(&format!("run {}: starting {} nodes", spec.run, scenario.workload.nodes()));
    let cluster = up(engine, &spec, &progress, interrupt).await?;
    for image in cluster.images() {
        scenario.images.insert(image.name.clone(), image.pinned().to_owned());
    }
    scenario.kernel = format!("Linux {}", cluster.kernel());
    let played = record(scenario, progress, interrupt, store, &cluster).await;
    let gone =
        if arguments.keep { leave(cluster).await } else { down(cluster, engine, &spec.run).await };
    let mut played = played?;
    played.broken.extend(gone.err());
    Ok(played)
}

/// Starts the cluster; a request to stop meanwhile removes what has been made.
async fn up(
    engine: &Engine,
    spec: &ClusterSpec,
    progress: &Progress,
    interrupt: &Interrupt,
) -> Result<DockerCluster, Broken> {
    let say = |line: &str| progress.say(line);
    let result = tokio::select! {
        biased;
        () = interrupt.raised() => None,
        result = DockerCluster::up(engine, spec, &say) => Some(result),
    };
    match result {
        Some(Ok(cluster)) => Ok(cluster),
        Some(Err(error)) => {
            progress.finish();
            let code =
                if matches!(error, UpError::Size(_)) { exit::USAGE } else { exit::INFRASTRUCTURE };
            Err(Broken { code, message: error.to_string() })
        }
        None => {
            progress.finish();
            let removed = docker::remove(engine, &spec.run).await;
            let rest = removed.err().map_or(String::new(), |error| format!("; {error:#}"));
            let message = format!("interrupted while the cluster was starting{rest}");
            Err(Broken { code: exit::INTERRUPTED, message })
        }
    }
}

async fn record(
    scenario: &Scenario,
    progress: Progress,
    interrupt: &Interrupt,
    store: &Store,
    cluster: &DockerCluster,
) -> Result<Played, Broken> {
    let mut recorder = Recorder::new(store, scenario, progress)?;
    let ran = play_scenario(scenario, cluster, &mut recorder, interrupt).await;
    let broken = recorder.finish();
    Ok(Played { history: ran.map_err(Broken::usage)?.history, broken })
}

async fn leave(cluster: DockerCluster) -> Result<(), String> {
    let lines =
        cluster.leave().await.map_err(|error| format!("leave the cluster up: {error:#}"))?;
    for line in lines {
        println!("{line}");
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
