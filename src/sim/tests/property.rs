//! Random sequences of every action there is, taken back newest first: the cluster is as it was.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use super::anything::{Anything, is_program, taps};
use super::tally::{count, dial, tally};
use crate::cluster::{
    Action, Applied, Clock, Cluster, Coordination, CreateMode, Needs, Role, SessionEvent,
};
use crate::op::NodeName;
use crate::rng::Rng;
use crate::sim::program::Program;
use crate::sim::{ModelSession, SimCluster, SimSpec, Variant};

const ACTIONS: usize = 50;
/// So many actions are in force together at most.
const DEPTH: usize = 4;
const TIMEOUT: Duration = Duration::from_secs(6);
/// Longer than any recovery takes: elections back off to a minute.
const RECOVERY: Duration = Duration::from_secs(150);

/// How often each kind of action was tried and how often it was installed.
type Tally = BTreeMap<&'static str, (usize, usize)>;

struct Storm {
    cluster: Rc<SimCluster>,
    tally: Tally,
    /// Not taken back yet, oldest first.
    open: Vec<Action>,
    seed: u64,
}

impl Storm {
    /// Performs an action and tells whether it was installed. None may fail its proof.
    async fn perform(&mut self, action: &Action) -> bool {
        let applied = self.cluster.apply(action).await.unwrap();
        let tried = self.tally.entry(action.name()).or_default();
        tried.0 += 1;
        match applied {
            Applied::Installed { .. } => {
                tried.1 += 1;
                true
            }
            Applied::Skipped { .. } => false,
            failed @ Applied::Indeterminate { .. } => {
                panic!("seed {}: {action:?} over {:?}: {failed:?}", self.seed, self.open)
            }
        }
    }

    async fn take_back(&mut self) {
        if let Some(undo) = self.open.pop().and_then(|action| action.undo()) {
            self.perform(&undo).await;
        }
    }

    async fn rage(&mut self, rng: &mut Rng) {
        for _ in 0..ACTIONS {
            let action = Anything::new(&self.cluster, &self.open, rng).action().await;
            if self.perform(&action).await && action.undo().is_some() {
                self.open.push(action);
            }
            tokio::time::sleep(Duration::from_millis(rng.between(10, 1_500))).await;
            while self.open.len() > DEPTH || !self.open.is_empty() && rng.chance(0.4) {
                self.take_back().await;
            }
            if self.open.is_empty() && rng.chance(0.6) {
                // A quiet period: some faults need a cluster that is well.
                self.must_recover().await;
            }
        }
        while !self.open.is_empty() {
            self.take_back().await;
        }
    }

    async fn must_recover(&self) {
        let healthy = async {
            while !self.cluster.view().await.is_healthy() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let recovered = tokio::time::timeout(RECOVERY, healthy).await;
        let view = self.cluster.view().await;
        assert!(recovered.is_ok(), "seed {}: {view:?}", self.seed);
    }

    async fn must_be_as_before(&self) {
        self.must_recover().await;
        let seed = self.seed;
        let failed = self.cluster.every_link_passes().await;
        assert!(failed.is_empty(), "seed {seed}: {failed:?}");
        let nodes = self.cluster.topology().nodes.len() as u8;
        self.cluster.inspect(|world| {
            for node in 0..nodes {
                for clock in [Clock::Wall, Clock::Monotonic] {
                    let right = world.shows_ns(0, clock);
                    assert_eq!(world.offset_ns(node, clock), 0, "seed {seed}: node {node}");
                    assert_eq!(world.shows_ns(node, clock), right, "seed {seed}: node {node}");
                }
            }
            assert!(world.is_untouched(), "seed {seed}: rules are left");
        });
        for node in self.cluster.topology().names() {
            if is_program(node) {
                let mut stream = dial(&self.cluster, node).await.unwrap();
                assert!(count(&mut stream, &["INCR", "a"]).await.is_some(), "seed {seed}: {node}");
                continue;
            }
            let session = self.cluster.connect(node, TIMEOUT).await.unwrap();
            session.set("/a", b"", None).await.unwrap();
            session.close().await.unwrap();
        }
    }
}

/// Keeps a session at one server and writes, so that there is something to hit.
async fn work(cluster: Rc<SimCluster>, node: NodeName, mut rng: Rng) {
    loop {
        let Ok(session) = cluster.connect(&node, TIMEOUT).await else { continue };
        while session.state() != SessionEvent::Expired {
            tokio::time::sleep(Duration::from_millis(rng.between(20, 200))).await;
            // Whatever becomes of it: it is traffic.
            drop(operate(&session, &mut rng).await);
        }
    }
}

async fn operate(session: &ModelSession, rng: &mut Rng) -> Result<(), impl Sized> {
    match rng.below(3) {
        0 => session.get("/a").await.map(drop),
        1 => session.create("/a/e", b"", CreateMode::EphemeralSequential).await.map(drop),
        _ => session.set("/a", &[7; 40], None).await.map(drop),
    }
}

/// Counts at a program, and sees that no acknowledged increment is ever lost.
async fn count_on(cluster: Rc<SimCluster>, node: NodeName, mut rng: Rng) {
    let mut least = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(rng.between(20, 200))).await;
        let Ok(mut stream) = dial(&cluster, &node).await else { continue };
        while let Some(now) = count(&mut stream, &["INCR", "a"]).await {
            assert!(now > least, "{node}: {least} was acknowledged, and {now} after that");
            least = now;
            tokio::time::sleep(Duration::from_millis(rng.between(20, 200))).await;
        }
    }
}

async fn ensemble(servers: usize, rng: Rng) -> SimCluster {
    SimCluster::up(SimSpec::ensemble(servers, Variant::AsShipped, rng)).await.unwrap()
}

/// Three ZooKeeper servers and as many programs.
async fn with_programs(rng: Rng) -> SimCluster {
    let program: Program = Rc::new(|host| Box::pin(tally(host, 3)));
    let mut spec = SimSpec::ensemble(3, Variant::AsShipped, rng);
    spec.services.insert(Role::Kvrocks, 3);
    SimCluster::start_with(&spec, Role::Kvrocks, &program).unwrap().risen().await.unwrap()
}

async fn storm(seed: u64, cluster: SimCluster) -> (Tally, Vec<u8>) {
    let rng = Rng::from_seed(seed);
    let cluster = Rc::new(cluster);
    cluster.inspect(|world| world.record_trace());
    let nodes: Vec<NodeName> = cluster.topology().names().copied().collect();
    let needs = Needs { taps: taps(&nodes).into_iter().collect(), ..Needs::default() };
    cluster.prepare(&needs).await.unwrap();
    let first = cluster.connect(&nodes[0], TIMEOUT).await.unwrap();
    first.create("/a", b"", CreateMode::Persistent).await.unwrap();
    first.close().await.unwrap();
    let mut workers = Vec::new();
    for node in nodes {
        let rng = rng.fork(&format!("client at {node}"));
        workers.push(match is_program(&node) {
            true => tokio::task::spawn_local(count_on(cluster.clone(), node, rng)),
            false => tokio::task::spawn_local(work(cluster.clone(), node, rng)),
        });
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut storm = Storm { cluster, tally: Tally::new(), open: Vec::new(), seed };
    storm.rage(&mut rng.fork("faults")).await;
    storm.must_be_as_before().await;
    for worker in workers {
        assert!(!worker.is_finished(), "seed {seed}: {:?}", worker.await);
        worker.abort();
    }
    let trace = storm.cluster.inspect(|world| world.trace().to_vec());
    (storm.tally, trace)
}

async fn storm_over_servers(seed: u64) -> (Tally, Vec<u8>) {
    let servers = if seed.is_multiple_of(2) { 3 } else { 5 };
    storm(seed, ensemble(servers, Rng::from_seed(seed).fork("cluster")).await).await
}

async fn storm_over_programs(seed: u64) -> (Tally, Vec<u8>) {
    storm(seed, with_programs(Rng::from_seed(seed).fork("cluster")).await).await
}

/// Every kind of action was installed often, and seldom in vain.
fn check(all: Tally, least: usize) {
    println!("tried and installed: {all:?}");
    assert_eq!(all.len(), 16, "every kind of action: {all:?}");
    for (kind, (tried, installed)) in all {
        assert!(installed >= least, "{kind}: just {installed} installed");
        assert!(installed * 10 >= tried * 8, "{kind}: {installed} of {tried} installed");
    }
}

fn add(all: &mut Tally, one: Tally) {
    for (kind, (tried, installed)) in one {
        let sum = all.entry(kind).or_default();
        *sum = (sum.0 + tried, sum.1 + installed);
    }
}

#[test]
fn whatever_is_done_and_taken_back_leaves_the_cluster_as_it_was() {
    let mut all = Tally::new();
    (0..16).for_each(|seed| add(&mut all, crate::sim::run(storm_over_servers(seed)).unwrap().0));
    check(all, 20);
}

#[test]
fn whatever_is_done_to_programs_and_taken_back_leaves_them_as_they_were() {
    let mut all = Tally::new();
    (0..12).for_each(|seed| add(&mut all, crate::sim::run(storm_over_programs(seed)).unwrap().0));
    check(all, 15);
}

#[test]
fn the_same_storm_leaves_the_same_trace_to_the_byte() {
    let first = crate::sim::run(storm_over_servers(3)).unwrap();
    let second = crate::sim::run(storm_over_servers(3)).unwrap();
    assert!(first.1.len() > 1_000_000, "{} bytes", first.1.len());
    assert!(first == second, "the storm does not repeat");
    let first = crate::sim::run(storm_over_programs(4)).unwrap();
    let second = crate::sim::run(storm_over_programs(4)).unwrap();
    assert!(first.1.len() > 1_000_000, "{} bytes", first.1.len());
    assert!(first == second, "the storm over programs does not repeat");
}
