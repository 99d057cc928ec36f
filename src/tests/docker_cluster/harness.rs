//! What each docker test starts from: an engine, a run of its own, and the proof that nothing is left.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use stormglass::cluster::Role;
use stormglass::docker::agent::{Agent, AgentPlan};
use stormglass::docker::{ClusterSpec, DockerCluster, Engine, RunId, remove, runs, self_image};

use crate::gate::{on_engine, wanted};

pub const EXECUTABLE: &str = env!("CARGO_BIN_EXE_stormglass");

/// Tells a test that it is the process to be killed, and for which run.
pub const VICTIM: &str = "STORMGLASS_TEST_VICTIM";

/// What that process prints once it is where it should be killed.
pub const READY: &str = "ready to be killed";

/// Runs a test of this binary, named with its modules, as another process, until it says that it is ready.
pub fn victim(test: &str, run: &RunId) -> Child {
    let mut child = Command::new(std::env::current_exe().expect("this test binary"))
        .args([test, "--exact", "--nocapture"])
        .env(VICTIM, run.as_str())
        .stdout(Stdio::piped())
        .spawn()
        .expect("another process");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let is_ready = lines.map_while(Result::ok).any(|line| line == READY);
    assert!(is_ready, "the process ended before it was ready");
    child
}

/// Runs a test against the engine, or says why not.
pub fn with_engine<F>(test: impl FnOnce(Engine) -> F)
where
    F: Future<Output = ()>,
{
    if !wanted("docker") {
        return;
    }
    let _beside_others = on_engine();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let engine = Engine::connect().await.unwrap_or_else(|error| panic!("{error}"));
        test(engine.with_executable(Path::new(EXECUTABLE))).await;
    });
}

/// One run's id and results folder, both taken away at the end.
pub struct Scratch {
    pub run: RunId,
    engine: Engine,
    results: PathBuf,
}

impl Scratch {
    pub fn new(engine: Engine) -> Scratch {
        Scratch::of(engine, RunId::fresh())
    }

    pub fn of(engine: Engine, run: RunId) -> Scratch {
        let results = std::env::temp_dir().join(format!("stormglass-test-{run}"));
        Scratch { run, engine, results }
    }

    pub fn spec(&self, zookeepers: usize) -> ClusterSpec {
        self.spec_of(&[(Role::Zookeeper, zookeepers)])
    }

    pub fn spec_of(&self, services: &[(Role, usize)]) -> ClusterSpec {
        let services = services.iter().copied().collect();
        ClusterSpec::new(self.run.clone(), services, self.results.clone())
    }

    pub async fn up(&self, zookeepers: usize) -> DockerCluster {
        self.up_by(&self.spec(zookeepers)).await
    }

    pub async fn up_by(&self, spec: &ClusterSpec) -> DockerCluster {
        let started = Instant::now();
        let progress = |line: &str| println!("{:>8.3} {line}", started.elapsed().as_secs_f64());
        let cluster = DockerCluster::up(&self.engine, spec, &progress).await;
        println!("{:>8.3} up", started.elapsed().as_secs_f64());
        cluster.unwrap_or_else(|error| panic!("{error}"))
    }

    pub async fn down(&self, cluster: DockerCluster) {
        let started = Instant::now();
        cluster.down().await.expect("down");
        println!("{:>8.3} down", started.elapsed().as_secs_f64());
        assert_eq!(left_of(&self.engine, &self.run).await, Vec::<String>::new());
    }

    pub fn results(&self) -> &Path {
        &self.results
    }

    pub fn log(&self, node: &str) -> PathBuf {
        self.results.join("nodes").join(node).join("service.log")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A test that failed must not leave its cluster; one that passed has left nothing.
        let (engine, run) = (self.engine.clone(), self.run.clone());
        let cleaning = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map(|runtime| runtime.block_on(remove(&engine, &run)))
        });
        let _ = cleaning.join();
        let _ = std::fs::remove_dir_all(&self.results);
    }
}

/// What is left of a run: containers, networks, volumes, and rules in the kernel.
pub async fn left_of(engine: &Engine, run: &RunId) -> Vec<String> {
    let found = runs(engine).await.expect("listed");
    let ours = found.iter().filter(|found| found.run == run.as_str());
    let mut left: Vec<String> = ours.map(|found| format!("{found:?}")).collect();
    let image = self_image::ensure(engine.api(), Path::new(EXECUTABLE)).await;
    let plan = AgentPlan::new(run.as_str(), &image.expect("our own image"));
    let agent = Agent::start(engine.api(), &plan).await.expect("an agent to look with");
    left.extend(agent.status().await.expect("tables").iter().map(|table| table.name.clone()));
    agent.stop().await.expect("ended");
    left
}
