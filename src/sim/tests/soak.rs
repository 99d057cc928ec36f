//! Many seeds of random faults: the sound ensemble keeps all promises, each planted bug breaks one.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use super::anything::taps;
use super::chaos::{calm, rage, rage_in_every_way};
use super::judge::{Judge, Seen};
use crate::cluster::{Cluster, Coordination, CoordinationError, CreateMode, Needs, SessionEvent};
use crate::op::NodeName;
use crate::rng::Rng;
use crate::sim::{ModelSession, SimCluster, SimSpec, Variant};

const SPAN: Duration = Duration::from_secs(20);
const TIMEOUT: Duration = Duration::from_secs(4);
const KEYS: u64 = 3;
/// Longer than any recovery takes: elections back off to a minute.
const RECOVERY: Duration = Duration::from_secs(150);

struct Soak {
    judge: Rc<RefCell<Judge>>,
    trace: Vec<u8>,
}

fn path(key: u64) -> String {
    format!("/r{key}")
}

/// One client: writes, compare-and-sets and barrier reads until the time is over.
struct Worker {
    cluster: Rc<SimCluster>,
    judge: Rc<RefCell<Judge>>,
    node: NodeName,
    rng: Rng,
    number: usize,
    written: usize,
}

impl Worker {
    async fn work(mut self) {
        let end = tokio::time::Instant::now() + SPAN;
        while tokio::time::Instant::now() < end {
            let Ok(session) = self.cluster.connect(&self.node, TIMEOUT).await else { continue };
            let scratch = session.create("/s", b"", CreateMode::EphemeralSequential).await;
            let Ok(scratch) = scratch else { continue };
            while session.state() != SessionEvent::Expired && tokio::time::Instant::now() < end {
                tokio::time::sleep(Duration::from_millis(self.rng.below(60))).await;
                // Whether it was done stays open: nothing is concluded from an error.
                drop(self.operate(&session, &scratch).await);
            }
        }
    }

    async fn operate(
        &mut self,
        session: &ModelSession,
        scratch: &str,
    ) -> Result<(), CoordinationError> {
        let key = self.rng.below(KEYS);
        let floor = self.judge.borrow().floor(key);
        let (version, value) = if self.rng.chance(0.5) {
            session.set(scratch, b"", None).await?;
            let (data, stat) = session.get(&path(key)).await?;
            (stat.version, String::from_utf8_lossy(&data).into_owned())
        } else {
            self.written += 1;
            let value = format!("{}.{}", self.number, self.written);
            let expected = match self.rng.chance(0.5) {
                true => Some(session.get(&path(key)).await?.1.version),
                false => None,
            };
            let stat = session.set(&path(key), value.as_bytes(), expected).await?;
            (stat.version, value)
        };
        let by = format!("client {} at {}", self.number, self.node);
        self.judge.borrow_mut().saw(Seen { key, version, value, by }, floor);
        Ok(())
    }
}

async fn prepare(cluster: &SimCluster) {
    let first = cluster.topology().names().next().cloned().unwrap();
    let session = cluster.connect(&first, TIMEOUT).await.unwrap();
    for key in 0..KEYS {
        session.create(&path(key), b"", CreateMode::Persistent).await.unwrap();
    }
    session.close().await.unwrap();
}

/// Looks at all servers now and then.
async fn observe(cluster: Rc<SimCluster>, judge: Rc<RefCell<Judge>>, servers: u8) {
    loop {
        cluster.inspect(|world| judge.borrow_mut().look(world, servers));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn recover(cluster: &SimCluster) -> bool {
    let end = tokio::time::Instant::now() + RECOVERY;
    while !cluster.view().await.is_healthy() {
        if tokio::time::Instant::now() > end {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    true
}

/// After all is healed: every server has the same state, and it is no older than what was promised.
async fn conclude(cluster: &SimCluster, judge: &Rc<RefCell<Judge>>, servers: u8) {
    if !recover(cluster).await {
        let view = cluster.view().await;
        judge.borrow_mut().violations.push(format!("no recovery: {view:?}"));
        return;
    }
    // Closing sessions are still being committed.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut judge = judge.borrow_mut();
    cluster.inspect(|world| {
        // Twice: what the last server adds to the ledger the first must have, too.
        judge.look_again(world, servers);
        judge.look_again(world, servers);
        let first = world.server(0).tree();
        for node in 0..servers {
            let tree = world.server(node).tree();
            if tree != first {
                judge.violations.push(format!("server {node} differs from server 0 at the end"));
            }
            for key in 0..KEYS {
                let Some(znode) = tree.znode(&path(key)) else { continue };
                let value = String::from_utf8_lossy(&znode.data).into_owned();
                let by = format!("server {node} at the end");
                let floor = judge.floor(key);
                judge.saw(Seen { key, version: znode.version, value, by }, floor);
            }
        }
    });
}

/// What breaks.
#[derive(Clone, Copy, PartialEq)]
enum Faults {
    /// Cuts, kills and pauses.
    Plain,
    Every,
}

async fn soak(seed: u64, variant: Variant, faults: Faults) -> Soak {
    let rng = Rng::from_seed(seed);
    let servers = if seed.is_multiple_of(2) { 3 } else { 5 };
    let spec = SimSpec::ensemble(servers, variant, rng.fork("cluster"));
    let cluster = Rc::new(SimCluster::up(spec).await.unwrap());
    cluster.inspect(|world| world.record_trace());
    prepare(&cluster).await;
    let judge = Rc::new(RefCell::new(Judge::default()));
    let observer = tokio::task::spawn_local(observe(cluster.clone(), judge.clone(), servers as u8));
    let mut tasks = Vec::new();
    let nodes: Vec<NodeName> = cluster.topology().names().cloned().collect();
    for number in 0..2 * servers {
        let worker = Worker {
            cluster: cluster.clone(),
            judge: judge.clone(),
            node: nodes[number % servers],
            rng: rng.fork(&format!("client {number}")),
            number,
            written: 0,
        };
        tasks.push(tokio::task::spawn_local(worker.work()));
    }
    let needs = Needs { taps: taps(&nodes).into_iter().collect(), ..Needs::default() };
    cluster.prepare(&needs).await.unwrap();
    for rager in 1..=2 {
        let rng = rng.fork(&format!("faults {rager}"));
        tasks.push(match faults {
            Faults::Plain => {
                tokio::task::spawn_local(rage(cluster.clone(), rng, SPAN, rager * 1_000))
            }
            Faults::Every => {
                tokio::task::spawn_local(rage_in_every_way(cluster.clone(), rng, SPAN))
            }
        });
    }
    for task in tasks {
        task.await.unwrap();
    }
    calm(&cluster).await;
    conclude(&cluster, &judge, servers as u8).await;
    observer.abort();
    let trace = cluster.inspect(|world| world.trace().to_vec());
    Soak { judge, trace }
}

fn violations(seed: u64, variant: Variant, faults: Faults) -> Vec<String> {
    let soak = crate::sim::run(soak(seed, variant, faults)).unwrap();
    let judge = soak.judge.borrow();
    assert!(judge.confirmed > 10, "seed {seed}: just {} operations", judge.confirmed);
    judge.violations.clone()
}

/// More where asked for: `STORMGLASS_SOAK_SEEDS=1000`.
fn seeds() -> u64 {
    let asked = std::env::var("STORMGLASS_SOAK_SEEDS").ok();
    asked.map_or(24, |asked| asked.parse().expect("STORMGLASS_SOAK_SEEDS is a number of seeds"))
}

#[test]
fn the_sound_ensemble_keeps_its_promises_on_every_seed() {
    let plain = (0..seeds()).map(|seed| (seed, Faults::Plain));
    // These leave the ensemble at work most of the time, so each seed has much more to show.
    let every = (0..seeds() / 3).map(|seed| (seed, Faults::Every));
    for (seed, faults) in plain.chain(every) {
        let violations = violations(seed, Variant::AsShipped, faults);
        assert!(violations.is_empty(), "seed {seed}: {violations:#?}");
    }
}

#[test]
fn every_planted_bug_is_seen_on_some_seed() {
    for variant in Variant::ALL.into_iter().filter(|variant| *variant != Variant::AsShipped) {
        // Clients must see it: what only a look into the servers tells does not count.
        let found = (0..seeds()).find_map(|seed| {
            let seen = |violation: &String| violation.starts_with("client");
            violations(seed, variant, Faults::Plain)
                .into_iter()
                .find(seen)
                .map(|violation| (seed, violation))
        });
        println!("{variant}: {found:?}");
        assert!(found.is_some(), "{variant} was never seen");
    }
}

#[test]
fn the_same_seed_gives_the_same_trace_to_the_byte() {
    for (seed, variant) in [(5, Variant::AsShipped), (6, Variant::LosesAckedWrite)] {
        let first = crate::sim::run(soak(seed, variant, Faults::Every)).unwrap().trace;
        let second = crate::sim::run(soak(seed, variant, Faults::Every)).unwrap().trace;
        assert!(first.len() > 1_000_000, "{} bytes", first.len());
        assert!(first == second, "seed {seed} does not repeat");
    }
    let other = crate::sim::run(soak(7, Variant::AsShipped, Faults::Every)).unwrap().trace;
    assert!(other != crate::sim::run(soak(5, Variant::AsShipped, Faults::Every)).unwrap().trace);
}
