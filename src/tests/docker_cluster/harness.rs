//! What each docker test starts from: an engine, a run of its own, and the proof that nothing is left.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use stormglass::docker::{
    ClusterSpec, DockerCluster, Engine, Limits, RunId, remove, runs, self_image,
};

const EXECUTABLE: &str = env!("CARGO_BIN_EXE_stormglass");

/// Runs a test against the engine, or says why not.
pub fn with_engine<F>(name: &str, test: impl FnOnce(Engine) -> F)
where
    F: Future<Output = ()>,
{
    if std::env::var_os("STORMGLASS_DOCKER").is_none_or(|value| value != "1") {
        println!("not run: docker {name} (set STORMGLASS_DOCKER=1 to run it)");
        return;
    }
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
        let run = RunId::fresh();
        let results = std::env::temp_dir().join(format!("stormglass-test-{run}"));
        Scratch { run, engine, results }
    }

    pub fn spec(&self, zookeepers: usize) -> ClusterSpec {
        ClusterSpec {
            run: self.run.clone(),
            zookeepers,
            images: BTreeMap::new(),
            limits: Limits::default(),
            subnet: None,
            results: self.results.clone(),
        }
    }

    pub async fn up(&self, zookeepers: usize) -> DockerCluster {
        let started = Instant::now();
        let progress = |line: &str| println!("{:>8.3} {line}", started.elapsed().as_secs_f64());
        let cluster = DockerCluster::up(&self.engine, &self.spec(zookeepers), &progress).await;
        println!("{:>8.3} up", started.elapsed().as_secs_f64());
        cluster.unwrap_or_else(|error| panic!("{error}"))
    }

    pub async fn down(&self, cluster: DockerCluster) {
        let started = Instant::now();
        cluster.down().await.expect("down");
        println!("{:>8.3} down", started.elapsed().as_secs_f64());
        assert_eq!(left_of(&self.engine, &self.run).await, Vec::<String>::new());
    }

    pub fn log(&self, node: &str) -> PathBuf {
        self.results.join("nodes").join(node).join("service.log")
    }

    pub async fn own_image(&self) -> String {
        let made = self_image::ensure(self.engine.api(), Path::new(EXECUTABLE)).await;
        made.expect("our own image")
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
    ours.map(|found| format!("{found:?}")).collect()
}
