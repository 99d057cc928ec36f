//! How long a run against a real ensemble takes around its operations: from command to first
//! operation, from last operation to nothing left; how long a partition takes to be proven and to be
//! proven healed; and what the agent takes for it. Needs a Docker engine; images are made before the clock
//! starts. `links` as an argument measures the agent alone, `kvrocks` a kvrocks cluster alone.

#[path = "docker/kvrocks.rs"]
mod kvrocks;
#[path = "docker/links.rs"]
mod links;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use stormglass::cluster::Applied;
use stormglass::nemesis::FaultRecord;
use stormglass::op::{Event, Kind, Process, SECOND};
use stormglass::results_folder::ResultsFolder;

/// What Jepsen's documentation says of bringing a cluster up.
const JEPSEN_SECONDS: f64 = 240.0;

const EXECUTABLE: &str = env!("CARGO_BIN_EXE_stormglass");

fn stormglass(arguments: &[&str]) -> bool {
    Command::new(EXECUTABLE).args(arguments).status().is_ok_and(|status| status.success())
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    if let Ok(run) = std::env::var(links::VICTIM) {
        return runtime.block_on(links::be_the_victim(&run)).expect("a victim");
    }
    if std::env::args().any(|argument| argument == "links") {
        return runtime.block_on(links::measure()).expect("links measured");
    }
    if !stormglass(&["images"]) {
        println!("not run: no Docker engine");
        return;
    }
    let root = std::env::temp_dir().join(format!("stormglass-bench-{}", std::process::id()));
    if !std::env::args().any(|argument| argument == "kvrocks") {
        let arguments = [
            "zookeeper/register --nemesis partition-halves --world docker",
            "--set nemesis.faults.0.after=6s --set nemesis.faults.0.for=3s",
            "--set nemesis.faults.0.every=4s",
        ]
        .join(" ");
        // The first run makes the images.
        let first = Ran::of(&root, &format!("{arguments} --time 1s"));
        assert!(first.folder.exists(), "the first run could not be started");
        report(&Ran::of(&root, &format!("{arguments} --time 30s")));
        runtime.block_on(links::measure()).expect("links measured");
    }
    kvrocks::measure(&root);
    std::fs::remove_dir_all(&root).expect("our own folder");
}

/// A run of the binary that has ended.
struct Ran {
    passed: bool,
    /// When its command was given.
    began: f64,
    wall: f64,
    folder: PathBuf,
}

impl Ran {
    fn of(root: &Path, arguments: &str) -> Ran {
        let results = root.display().to_string();
        let arguments = format!("run {arguments} --quiet --results {results}");
        let began = now();
        let start = Instant::now();
        let passed = stormglass(&arguments.split(' ').collect::<Vec<_>>());
        let wall = start.elapsed().as_secs_f64();
        Ran { passed, began, wall, folder: root.join("latest") }
    }

    fn results(&self) -> ResultsFolder {
        ResultsFolder::open(&self.folder).expect("the run left its results")
    }

    /// From the command to the beginning of its history.
    fn up(&self) -> f64 {
        started(&self.folder) - self.began
    }

    /// From the command to the first operation that was ok.
    fn first_ok(&self) -> f64 {
        let run = self.results();
        let is_it = |event: &&Event| is_client(event.process) && event.kind == Kind::Ok;
        let first = run.history.events().iter().find(is_it).expect("an ok operation");
        self.up() + first.time as f64 / SECOND as f64
    }
}

fn is_client(process: Process) -> bool {
    process != Process::Nemesis
}

fn report(ran: &Ran) {
    let run = ran.results();
    let events = run.history.events();
    let last = events.iter().rfind(|event| is_client(event.process)).expect("operations");
    let last = last.time as f64 / SECOND as f64;
    let (begun, up) = (ran.up(), ran.first_ok());
    println!("passed: {}", ran.passed);
    println!(
        "command to first ok operation: {up:.1} s, {:.0} times faster than 4 minutes",
        JEPSEN_SECONDS / up
    );
    println!(
        "last operation to nothing left, judged and reported: {:.1} s",
        ran.wall - begun - last
    );
    let (mut cut, mut joined) = (Vec::new(), Vec::new());
    for event in events {
        let (deeds, into) = match FaultRecord::of(event) {
            Some(FaultRecord::Began { deeds, .. }) => (deeds, &mut cut),
            Some(FaultRecord::Ended { deeds, .. }) => (deeds, &mut joined),
            _ => continue,
        };
        for deed in deeds {
            if let Applied::Installed { proof } = deed.outcome {
                into.push(proof.took_us as f64 / 1000.0);
            }
        }
    }
    println!(
        "partition applied and proven: {:.1} ms (median of {})",
        median(cut.clone()),
        cut.len()
    );
    println!(
        "partition healed and proven: {:.1} ms (median of {})",
        median(joined.clone()),
        joined.len()
    );
}

/// When the history began: the file is made with the cluster up.
fn started(folder: &Path) -> f64 {
    let made = std::fs::metadata(folder.join("ledger.jsonl")).and_then(|file| file.created());
    let made = made.expect("a file system that keeps creation times");
    made.duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64()
}
