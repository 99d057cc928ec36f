//! Random sequences of every action there is against real servers, taken back newest first: the cluster
//! and the host are as they were.

mod anything;

use std::collections::BTreeMap;
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, Instant};

use stormglass::client::zookeeper::sessions;
use stormglass::cluster::{
    Action, Applied, Cluster, Coordination, CreateMode, FaultId, Needs, SessionEvent,
};
use stormglass::docker::{DockerCluster, RunId};
use stormglass::op::NodeName;
use stormglass::rng::Rng;

use crate::docker_cluster::harness::{Scratch, with_engine};
use anything::{Anything, KINDS, taps};

/// Each kind of action is installed so often.
const EACH: usize = 20;

/// So many actions are in force together at most.
const DEPTH: usize = 3;

const SESSION: Duration = Duration::from_secs(6);

const RECOVERY: Duration = Duration::from_secs(90);

/// How often each kind of action was tried and how often it was installed.
type Tally = BTreeMap<&'static str, (usize, usize)>;

struct Storm {
    cluster: Rc<DockerCluster>,
    nodes: Vec<NodeName>,
    tally: Tally,
    /// Not taken back yet, oldest first.
    open: Vec<Action>,
    last_fault: u32,
    rng: Rng,
}

impl Storm {
    /// Performs an action; whether it was installed. None may fail its proof.
    async fn perform(&mut self, action: &Action) -> bool {
        let applied = self.cluster.apply(action).await;
        let applied = applied.unwrap_or_else(|error| panic!("{action:?}: {error:#}"));
        let tried = self.tally.entry(action.name()).or_default();
        tried.0 += 1;
        match applied {
            Applied::Installed { .. } => {
                tried.1 += 1;
                true
            }
            Applied::Skipped { why } => {
                println!("skipped {action:?} over {:?}: {why}", self.open);
                false
            }
            failed @ Applied::Indeterminate { .. } => {
                panic!("{action:?} over {:?}: {failed:#?}", self.open)
            }
        }
    }

    async fn rage(&mut self) {
        while let Some(kind) = self.rarest() {
            // Sessions and connections can be relied on only where nothing else is in force.
            if matches!(kind, "sever" | "expire" | "interpose") {
                self.calm_down().await;
            }
            let view = self.cluster.view().await;
            self.last_fault += 1;
            let fault = FaultId(self.last_fault);
            let drawn = Anything { nodes: &self.nodes, view: &view, fault, rng: &mut self.rng };
            let drawn = { drawn }.of_kind(kind);
            match drawn {
                None => self.calm_down().await,
                Some(action) => {
                    if self.perform(&action).await && action.undo().is_some() {
                        self.open.push(action);
                    }
                }
            }
            while self.open.len() > DEPTH || !self.open.is_empty() && self.rng.chance(0.5) {
                self.take_back().await;
            }
        }
        self.calm_down().await;
    }

    /// A kind of which not enough have been installed, the rarer the likelier.
    fn rarest(&mut self) -> Option<&'static str> {
        let installed = |kind: &&str| self.tally.get(*kind).map_or(0, |(_, done)| *done);
        let lacking: Vec<&'static str> =
            KINDS.into_iter().filter(|kind| installed(kind) < EACH).collect();
        self.rng.pick(&lacking).copied()
    }

    async fn take_back(&mut self) {
        if let Some(undo) = self.open.pop().and_then(|action| action.undo()) {
            self.perform(&undo).await;
        }
    }

    /// Takes everything back and waits until all is well.
    async fn calm_down(&mut self) {
        while !self.open.is_empty() {
            self.take_back().await;
        }
        let healthy = async {
            while !self.cluster.view().await.is_healthy() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let recovered = tokio::time::timeout(RECOVERY, healthy).await;
        assert!(recovered.is_ok(), "{:?}", self.cluster.view().await);
        for node in &self.nodes {
            must_answer(&self.cluster, node).await;
        }
    }
}

/// Every server takes a write, so that its link to the leader is there, and holds a session of somebody.
async fn must_answer(cluster: &DockerCluster, node: &NodeName) {
    let answered = async {
        loop {
            if let Ok(session) = cluster.connect(node, SESSION).await {
                let set = session.set("/a", b"", None).await;
                drop(session.close().await);
                if set.is_ok() {
                    return;
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(RECOVERY, answered).await.unwrap_or_else(|_| panic!("{node} is silent"));
    let address = cluster.topology().node(node).expect("a node").address;
    let held = async {
        while !sessions((address, 2181).into(), SESSION).await.is_ok_and(|held| !held.is_empty()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(RECOVERY, held).await.unwrap_or_else(|_| panic!("nobody is at {node}"));
}

/// Keeps a session at one server and writes, so that there is something to hit.
async fn work(cluster: Rc<DockerCluster>, node: NodeName) {
    loop {
        let Ok(session) = cluster.connect(&node, SESSION).await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        while session.state() == SessionEvent::Connected {
            tokio::time::sleep(Duration::from_millis(50)).await;
            // Whatever becomes of it: it is traffic.
            let set = session.set("/a", &[7; 40], None);
            drop(tokio::time::timeout(Duration::from_secs(2), set).await);
        }
    }
}

#[test]
fn whatever_is_done_and_taken_back_leaves_cluster_and_host_as_they_were() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = Rc::new(scratch.up(3).await);
        let nodes: Vec<NodeName> = cluster.topology().names().copied().collect();
        let needs = Needs { taps: taps(&nodes), ..Needs::default() };
        cluster.prepare(&needs).await.expect("prepared");
        let session = cluster.connect(&nodes[0], SESSION).await.expect("a session");
        session.create("/a", b"", CreateMode::Persistent).await.expect("created");
        session.close().await.expect("closed");
        let before = time_of_day_s();
        let working = tokio::task::LocalSet::new();
        for node in &nodes {
            working.spawn_local(work(cluster.clone(), *node));
        }
        let (tally, last_fault, rng) = (Tally::new(), 0, Rng::from_seed(11));
        let mut storm =
            Storm { cluster: cluster.clone(), nodes, tally, open: Vec::new(), last_fault, rng };
        let started = Instant::now();
        working.run_until(storm.rage()).await;
        println!("{:?} after {:?}", storm.tally, started.elapsed());
        assert_eq!(time_of_day_s(), before, "the host's own clock");
        assert_eq!(rules_of(&scratch.run), Vec::<String>::new());
        for kind in KINDS {
            let (tried, installed) = storm.tally[kind];
            assert!(installed >= EACH, "{kind}: {installed}");
            assert!(installed * 10 >= tried * 8, "{kind}: {installed} of {tried} installed");
        }
        drop((working, storm));
        let cluster = Rc::into_inner(cluster).expect("nobody else holds it");
        scratch.down(cluster).await;
    });
}

/// The run's tables in the host's own network, where the tool that shows them is installed.
fn rules_of(run: &RunId) -> Vec<String> {
    let Ok(output) = Command::new("nft").args(["list", "tables"]).output() else {
        println!("not run: nft is not installed, so the host's rules are not read");
        return Vec::new();
    };
    let tables = String::from_utf8_lossy(&output.stdout).into_owned();
    tables.lines().filter(|line| line.contains(run.as_str())).map(str::to_owned).collect()
}

/// How far the host's time of day is from what its other clock says, in whole seconds.
fn time_of_day_s() -> f64 {
    let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    (wall.expect("after 1970").as_secs_f64() - monotonic_s()).round()
}

fn monotonic_s() -> f64 {
    let uptime = std::fs::read_to_string("/proc/uptime").expect("readable");
    uptime.split(' ').next().and_then(|text| text.parse().ok()).expect("seconds")
}
