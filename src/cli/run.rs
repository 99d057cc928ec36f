//! `stormglass run`: load, play in one of the two worlds, judge, report, clean up.

mod docker;
mod recorder;
mod sim;
mod watching;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::arguments::{Pair, cores, image, map, node_count, seed, subnet, time};
use super::{exit, fail};
use crate::checker::World;
use crate::cluster::Role;
use crate::conclude::{Limits, conclude_with_logs};
use crate::docker::Subnet;
use crate::duration::Span;
use crate::generator::{Concurrency, Rate};
use crate::history::History;
use crate::node_logs::judge_logs;
use crate::play::PlayError;
use crate::progress::Progress;
use crate::results_folder::ResultsFolder;
use crate::run::Interrupt;
use crate::run_log::RunLog;
use crate::say::say;
use crate::scenario::{Overrides, REFERENCE, Scenario, VariantChoice};
use crate::store::Store;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WorldArgument {
    /// Deterministic simulation
    Sim,
    /// Real software in containers
    Docker,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExpectArgument {
    /// Ignore what the workload expects
    None,
}

#[derive(Args)]
pub struct RunArguments {
    /// Name of a workload (`stormglass list workloads`), or a path to a .yaml file
    workload: String,
    /// What breaks: names with commas between, each with an aim if wanted (kill-leader, pause:zookeeper2)
    #[arg(long, default_value = "none", value_name = "A,B")]
    nemesis: String,
    /// What is done when, in place of nemeses: the schedule.yaml of an earlier run, or one by hand
    #[arg(long, value_name = "FILE", conflicts_with = "nemesis")]
    schedule: Option<PathBuf>,
    /// Where it runs
    #[arg(long, value_enum, default_value = "sim")]
    world: WorldArgument,
    /// Length of the main phase, instead of the workload's
    #[arg(long, value_parser = time, allow_negative_numbers = true)]
    time: Option<Span>,
    /// Operations a second, instead of the workload's
    #[arg(long, allow_negative_numbers = true)]
    rate: Option<Rate>,
    /// Client processes: 30, or 5n for five a node
    #[arg(long, allow_negative_numbers = true)]
    concurrency: Option<Concurrency>,
    /// The source of all chance; drawn and printed where absent
    #[arg(long, value_parser = seed, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Number of nodes of a service, repeatable: kvrocks=6. Those of kvrocks make shards of 2, or as
    /// many as the workload's `replicas` says
    #[arg(long, value_name = "SERVICE=COUNT", value_parser = node_count)]
    nodes: Vec<(Role, usize)>,
    /// How servers of our own behave (`stormglass list variants`), repeatable; a bare name is of the data
    /// nodes, as with node=NAME
    #[arg(long, value_name = "[SERVICE=]NAME")]
    variant: Vec<VariantChoice>,
    /// An image instead of the catalogue's, repeatable: kvrocks=apache/kvrocks:2.10.1, or
    /// kvrocks=reference for a server of our own (docker)
    #[arg(long, value_name = "SERVICE=IMAGE", value_parser = image)]
    image: Vec<Pair>,
    /// A field of the workload, repeatable: kvrocks.keys=3, or of a service's own configuration:
    /// config.kvrocks.migrate-type=redis-command. With `nemesis.` in front one of the nemeses:
    /// nemesis.faults.0.for=5s (`stormglass describe NAME` shows all)
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// What to make of the anomalies that the workload expects
    #[arg(long, value_enum)]
    expect: Option<ExpectArgument>,
    /// Leave the cluster up afterwards and tell how to reach it (docker)
    #[arg(long)]
    keep: bool,
    /// The network of the cluster, such as 10.77.0.0/24 (docker); a free one where absent
    #[arg(long, value_name = "CIDR", value_parser = subnet)]
    subnet: Option<Subnet>,
    /// Memory of each container (docker)
    #[arg(long, default_value = DEFAULT_NODE_MEMORY, value_parser = super::arguments::bytes)]
    node_memory: usize,
    /// Cores of each container, such as 0.5 (docker); no limit where absent
    #[arg(long, value_name = "CORES", value_parser = cores, allow_negative_numbers = true)]
    node_cpus: Option<f64>,
    /// Where results go
    #[arg(long, default_value = "results")]
    results: PathBuf,
    /// How long each checker may take
    #[arg(long, default_value = "60s")]
    budget: Span,
    /// How much memory a checker's tables may take
    #[arg(long, default_value = "4g", value_parser = super::arguments::bytes)]
    memory: usize,
    /// End the main phase as soon as a checker finds a promise broken
    #[arg(long)]
    stop_on_violation: bool,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

/// A path that leads to the same file later on: `latest` will soon be another run.
fn settled(path: &Path) -> PathBuf {
    let here = std::env::current_dir().and_then(std::fs::canonicalize);
    match (path.canonicalize(), here) {
        (Ok(real), Ok(here)) => real.strip_prefix(&here).unwrap_or(&real).to_owned(),
        _ => path.to_owned(),
    }
}

const DEFAULT_NODE_MEMORY: &str = "768m";

/// Why a run could not be played at all, with its exit code.
struct Broken {
    code: i32,
    message: String,
}

impl Broken {
    fn infrastructure(error: impl std::fmt::Display) -> Broken {
        Broken { code: exit::INFRASTRUCTURE, message: error.to_string() }
    }

    fn usage(error: impl std::fmt::Display) -> Broken {
        Broken { code: exit::USAGE, message: error.to_string() }
    }
}

impl From<PlayError> for Broken {
    fn from(error: PlayError) -> Broken {
        match error {
            PlayError::Options(_) => Broken::usage(error),
            PlayError::Prepare(_) | PlayError::Bootstrap(_) => Broken::infrastructure(error),
            PlayError::Interrupted => {
                Broken { code: exit::INTERRUPTED, message: error.to_string() }
            }
        }
    }
}

/// What is left of a run once its cluster is gone.
struct Played {
    history: History,
    /// Failures after the history was closed: something could not be removed.
    broken: Vec<String>,
    log: RunLog,
}

impl RunArguments {
    fn overrides(&self) -> Overrides {
        Overrides {
            time: self.time,
            rate: self.rate,
            concurrency: self.concurrency,
            nodes: self.nodes.iter().copied().collect(),
            variants: self.variant.clone(),
            images: map(&self.image),
            set: self.set.clone(),
            ignore_expectations: self.expect.is_some(),
            schedule: self.schedule.as_deref().map(settled),
        }
    }

    fn world(&self) -> World {
        match self.world {
            WorldArgument::Sim => World::Sim,
            WorldArgument::Docker => World::Docker,
        }
    }

    fn store(&self, scenario: &Scenario) -> Result<Store, Broken> {
        Store::create(&self.results, scenario.family(), jiff::Timestamp::now(), scenario.seed)
            .map_err(Broken::infrastructure)
    }

    fn limits(&self, interrupt: Interrupt) -> Limits {
        Limits { time: self.budget.0, memory_bytes: self.memory, interrupt }
    }

    /// What this world lacks, said before anything starts.
    fn refusal(&self) -> Option<&'static str> {
        match self.world {
            WorldArgument::Sim if self.image.iter().any(|image| image.value != REFERENCE) => {
                Some("--image: the simulation runs no images; add --world docker")
            }
            WorldArgument::Sim if self.keep => {
                Some("--keep: a simulation leaves nothing to keep; add --world docker")
            }
            WorldArgument::Sim if self.subnet.is_some() => {
                Some("--subnet: the simulation needs no network; add --world docker")
            }
            WorldArgument::Sim if self.node_cpus.is_some() => {
                Some("--node-cpus: the simulation has no containers; add --world docker")
            }
            _ => None,
        }
    }

    /// Results go into a folder, or one that can be made.
    fn check_results(&self) -> Result<(), Broken> {
        let there = self.results.ancestors().find(|path| path.exists());
        match there.filter(|path| !path.is_dir()) {
            None => Ok(()),
            Some(file) => Err(Broken::usage(format!(
                "--results {}: expected a folder, found the file `{}`; name another place",
                self.results.display(),
                file.display()
            ))),
        }
    }

    /// What decides what a run does beyond its scenario, so that its repetition needs it.
    fn settled_arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        if self.stop_on_violation {
            arguments.push("--stop-on-violation".to_owned());
        }
        let default = super::arguments::bytes(DEFAULT_NODE_MEMORY);
        if self.world == WorldArgument::Docker && Ok(self.node_memory) != default {
            arguments.extend(["--node-memory".to_owned(), self.node_memory.to_string()]);
        }
        if let Some(cpus) = self.node_cpus {
            arguments.extend(["--node-cpus".to_owned(), cpus.to_string()]);
        }
        arguments
    }
}

pub fn run(arguments: &RunArguments) -> i32 {
    match play_and_judge(arguments) {
        Ok(code) => code,
        Err(broken) => fail(broken.code, broken.message),
    }
}

fn play_and_judge(arguments: &RunArguments) -> Result<i32, Broken> {
    if let Some(refusal) = arguments.refusal() {
        return Err(Broken::usage(refusal));
    }
    arguments.check_results()?;
    let seed = arguments.seed.unwrap_or_else(random_seed);
    let mut scenario = Scenario::load(
        &arguments.workload,
        &arguments.nemesis,
        arguments.world(),
        seed,
        &arguments.overrides(),
    )
    .map_err(Broken::usage)?;
    scenario.kernel = kernel();
    scenario.arguments.extend(arguments.settled_arguments());
    let interrupt = Interrupt::default();
    listen(interrupt.clone()).map_err(Broken::infrastructure)?;
    let progress = Progress::new(arguments.quiet);
    progress.say(&format!("seed {seed}"));
    let (folder, played) = match arguments.world() {
        World::Sim => sim::play(arguments, &scenario, progress, &interrupt)?,
        World::Docker => docker::play(arguments, &mut scenario, progress, &interrupt)?,
    };
    judge(arguments, scenario, folder, played, interrupt)
}

fn judge(
    arguments: &RunArguments,
    scenario: Scenario,
    store: Store,
    played: Played,
    interrupt: Interrupt,
) -> Result<i32, Broken> {
    let limits = arguments.limits(interrupt);
    let path = store.path().to_owned();
    let logs = judge_logs(&path, &scenario);
    let results = conclude_with_logs(&scenario, &played.history, logs, &played.broken, &limits);
    let folder = ResultsFolder { path, scenario, history: played.history, damage: None };
    folder.write_results(&results).map_err(|error| Broken::infrastructure(format!("{error:#}")))?;
    played
        .log
        .say(&format!("{}, exit code {}: {}", results.verdict, results.exit_code, results.why));
    let report = folder.path.join("report.html").display().to_string();
    say!("{}", crate::report::terminal(&results, &report, super::colours()));
    Ok(results.exit_code)
}

/// Begins the run's log.
fn open_log(store: &Store, scenario: &Scenario) -> Result<RunLog, Broken> {
    let log = RunLog::new(store.run_log().map_err(Broken::infrastructure)?);
    log.say(&format!("stormglass {} on {}", scenario.version, scenario.kernel));
    log.say(&scenario.repro());
    log.say(&format!("seed {}", scenario.seed));
    Ok(log)
}

/// A seed that is easy to type again.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish() % 1_000_000_000
}

fn kernel() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    format!("Linux {}", read("/proc/sys/kernel/osrelease"))
}

/// Turns SIGINT, SIGTERM and SIGHUP (a terminal that went away) into requests to stop, on a thread of its
/// own: the loop of a simulation has no signals. From its return on, none of them ends the process as it
/// is. Under `nohup`, SIGHUP stays ignored.
fn listen(interrupt: Interrupt) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let entered = runtime.enter();
    let mut int = signal(SignalKind::interrupt())?;
    let mut term = signal(SignalKind::terminate())?;
    let mut hangup = match ignores_hangup() {
        true => None,
        false => Some(signal(SignalKind::hangup())?),
    };
    drop(entered);
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(async {
            loop {
                tokio::select! {
                    biased;
                    _ = int.recv() => interrupt.raise(),
                    _ = term.recv() => interrupt.raise(),
                    () = hung_up(hangup.as_mut()) => interrupt.raise(),
                }
            }
        });
    })?;
    Ok(())
}

/// Never, where that is to be ignored.
async fn hung_up(hangup: Option<&mut tokio::signal::unix::Signal>) {
    match hangup {
        Some(hangup) => drop(hangup.recv().await),
        None => std::future::pending().await,
    }
}

/// Whoever started this process had it ignore SIGHUP, as `nohup` does.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 != 0)
}
