//! The run loop with a client that does nothing, and whole simulated runs. Prints recorded operations
//! a second, simulated seconds a wall second, and peak memory at a million operations.

use std::hint::black_box;
use std::time::Instant;

use stormglass::cluster::{Client, Cluster};
use stormglass::conclude::{Limits, conclude};
use stormglass::generator::{Context, Crew, calls, limit, sequence};
use stormglass::op::{Call, Completion, Event, Kind, Outcome, SECOND};
use stormglass::play::play;
use stormglass::rng::Rng;
use stormglass::run::{Interrupt, Ran, Seat, Settings, Sink, Work, run};
use stormglass::scenario::{Overrides, Scenario, World};
use stormglass::sim::{SimCluster, SimSpec, Variant};
use stormglass::store::Store;

const OPERATIONS: u64 = 1_000_000;

/// Answers at once.
struct Nobody;

impl Client for Nobody {
    async fn invoke(&mut self, call: &Call) -> Completion {
        Outcome::Ok(call.value()).into()
    }
}

/// Writes the history as a run does.
struct Disk(stormglass::store::HistoryWriter);

impl Sink for Disk {
    fn record(&mut self, event: &Event) {
        self.0.push(event).expect("a writable folder");
    }

    fn write_ahead(&mut self, _event: &Event) {}

    fn flush(&mut self) {
        self.0.flush().expect("a writable folder");
    }
}

struct Nowhere;

impl Sink for Nowhere {
    fn record(&mut self, event: &Event) {
        black_box(event);
    }

    fn write_ahead(&mut self, _event: &Event) {}

    fn flush(&mut self) {}
}

fn spec(servers: usize, seed: u64) -> SimSpec {
    SimSpec::ensemble(servers, Variant::AsShipped, Rng::from_seed(seed).fork("sim"))
}

/// A million writes by thirty clients, each recorded, encoded and written.
fn no_op_client() -> (Ran, f64, u64) {
    let root = std::env::temp_dir().join(format!("stormglass-bench-{}", std::process::id()));
    let store = Store::create(&root, "bench", jiff::Timestamp::now(), 1).expect("a folder");
    let mut disk = Disk(store.history_writer().expect("a file"));
    let mut value = 0;
    let writes = calls(move |_: &Context| {
        value += 1;
        Call::Write { key: value % 5, value }
    });
    let settings = Settings {
        operation_timeout: 5 * SECOND,
        main: 3600 * SECOND,
        recover_within: SECOND,
        leader: stormglass::cluster::Role::Zookeeper,
        faults: Vec::new(),
        script: None,
        turns: Default::default(),
        rng: Rng::from_seed(1),
    };
    let interrupt = Interrupt::default();
    let start = Instant::now();
    let ran = stormglass::sim::run(async {
        let cluster = SimCluster::up(spec(5, 1)).await.expect("a cluster");
        let work = Work {
            main: Box::new(limit(OPERATIONS, writes)),
            drain: Box::new(|| Box::new(sequence(Vec::new()))),
            client: Box::new(|_: Seat| Nobody),
            crew: Crew::new(cluster.topology().names().copied().collect(), 30),
        };
        run(&cluster, &settings, work, &mut disk, &interrupt).await
    })
    .expect("a runtime");
    let seconds = start.elapsed().as_secs_f64();
    let bytes = disk.0.written();
    std::fs::remove_dir_all(&root).expect("our own folder");
    (ran, seconds, bytes)
}

/// A whole run of the register workload on five simulated servers, history kept, nothing written.
fn simulated(seconds: u64) -> f64 {
    let overrides = Overrides {
        nodes: [(stormglass::cluster::Role::Zookeeper, 5)].into(),
        time: Some(stormglass::duration::Span::seconds(seconds)),
        ..Overrides::default()
    };
    let nemesis = "partition-halves";
    let scenario = Scenario::load("zookeeper/register", nemesis, World::Sim, 7, &overrides)
        .expect("the built-in scenario");
    let start = Instant::now();
    let ran = stormglass::sim::run(async {
        let cluster = SimCluster::up(spec(5, 7)).await.expect("a cluster");
        let interrupt = Interrupt::default();
        play(&scenario, &cluster, &mut Nowhere, &interrupt).await.expect("a sound scenario")
    })
    .expect("a runtime");
    let wall = start.elapsed().as_secs_f64();
    let end = ran.history.events().last().expect("a run has events").time;
    let results = conclude(&scenario, &ran.history, &[], &Limits::default());
    assert_eq!(results.verdict, "valid", "{}", results.why);
    end as f64 / SECOND as f64 / wall
}

/// A run of registers on a whole kvrocks cluster, seven simulated services. Gives simulated seconds a wall
/// second, and completed client operations a wall second.
fn kvrocks(seconds: u64) -> (f64, f64) {
    let overrides = Overrides {
        time: Some(stormglass::duration::Span::seconds(seconds)),
        set: vec!["rate=2000".to_owned(), "concurrency=30n".to_owned()],
        ..Overrides::default()
    };
    let scenario = Scenario::load("kvrocks/register", "none", World::Sim, 7, &overrides)
        .expect("the built-in scenario");
    let spec = SimSpec {
        services: scenario.workload.services.clone(),
        config: scenario.workload.config.clone(),
        variants: Default::default(),
        rng: Rng::from_seed(7).fork("sim"),
    };
    let start = Instant::now();
    let ran = stormglass::sim::run(async {
        let cluster = SimCluster::up(spec).await.expect("a cluster");
        let interrupt = Interrupt::default();
        play(&scenario, &cluster, &mut Nowhere, &interrupt).await.expect("a sound scenario")
    })
    .expect("a runtime");
    let wall = start.elapsed().as_secs_f64();
    let events = ran.history.events();
    let end = events.last().expect("a run has events").time as f64 / SECOND as f64;
    let ok = events.iter().filter(|event| event.kind == Kind::Ok).count();
    (end / wall, ok as f64 / wall)
}

/// Peak resident memory of this process so far, in MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    let kib: f64 = line.trim().trim_end_matches(" kB").trim().parse().unwrap_or(0.0);
    kib / 1024.0
}

fn main() {
    let (ran, seconds, bytes) = no_op_client();
    let rate = OPERATIONS as f64 / seconds;
    println!(
        "loop with a no-op client, recorded to disk: {rate:.0} ops/s, {:.1} times the target of 100000",
        rate / 100_000.0
    );
    println!("history: {:.1} bytes an operation", bytes as f64 / OPERATIONS as f64);
    println!("peak memory with {} events kept: {:.0} MiB", ran.history.len(), peak_mib());
    drop(ran);
    let ratio = simulated(600);
    println!(
        "simulation, 5 nodes, 200 ops/s: {ratio:.0} simulated seconds a wall second, {:.1} times the target of 300",
        ratio / 300.0
    );
    let (ratio, rate) = kvrocks(60);
    println!(
        "kvrocks cluster in the simulation, 2000 ops/s: {ratio:.1} simulated seconds a wall second, {rate:.0} ops/s"
    );
}
