//! Interposers in front of real ZooKeeper servers: each form acts on exactly what it names, is told,
//! and is taken back.

mod raw;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use stormglass::cluster::{
    Action, Applied, Cluster, Concerning, Coordination, CoordinationError, CreateMode, Effect,
    FaultId, Form, Lookout, LookoutId, MessageRule, MessageSeen, Needs, Observed, Proof, Side,
    Sight, Tap, Toxic,
};
use stormglass::docker::DockerCluster;
use stormglass::duration::Span;
use stormglass::op::NodeName;

use crate::docker_cluster::harness::{Scratch, with_engine};
use raw::Raw;

const SESSION: Duration = Duration::from_secs(4);
/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);
const FAULT: FaultId = FaultId(1);

fn node(index: usize) -> NodeName {
    format!("zookeeper{index}").into()
}

/// Connections of clients to a node's client port.
fn tap(index: usize) -> Tap {
    let peers = BTreeSet::from(["clients".into()]);
    Tap { node: node(index), side: Side::Inbound, port: 2181, peers }
}

fn interpose(effect: Effect) -> Action {
    Action::Interpose { fault: FAULT, taps: BTreeSet::from([tap(1)]), effect }
}

fn rule(pattern: &str, form: Form) -> MessageRule {
    let pattern = pattern.parse().expect("a pattern");
    MessageRule { pattern, form, nth: 1, times: Some(1), delay: None }
}

fn message(pattern: &str, form: Form) -> Action {
    interpose(Effect::Message(rule(pattern, form)))
}

async fn apply(cluster: &DockerCluster, action: &Action) -> Proof {
    match cluster.apply(action).await.expect("applied") {
        Applied::Installed { proof } => {
            println!("{} in {} us", action.name(), proof.took_us);
            proof
        }
        other => panic!("not installed: {other:#?}"),
    }
}

/// Takes it back; how many messages were hit.
async fn withdraw(cluster: &DockerCluster, action: &Action) -> Option<u64> {
    apply(cluster, &action.undo().expect("an inverse")).await.packets
}

async fn observed(cluster: &DockerCluster) -> Observed {
    tokio::time::timeout(PATIENCE, cluster.observed()).await.expect("something is observed")
}

async fn hit(cluster: &DockerCluster) -> MessageSeen {
    let observed = observed(cluster).await;
    assert_eq!((observed.concerning, observed.node), (Concerning::Fault(FAULT), node(1)));
    observed.message.expect("a message")
}

/// Nothing that was seen is still to be told.
async fn nothing_observed(cluster: &DockerCluster) {
    let waiting = futures::FutureExt::now_or_never(cluster.observed());
    assert_eq!(waiting, None);
}

async fn prepared(scratch: &Scratch, zookeepers: usize) -> DockerCluster {
    let cluster = scratch.up(zookeepers).await;
    let taps = BTreeSet::from([tap(1)]);
    cluster.prepare(&Needs { taps, ..Needs::default() }).await.expect("taps in place");
    cluster
}

fn raw(cluster: &DockerCluster) -> Raw {
    let address = cluster.topology().nodes[0].address;
    Raw::open((address, 2181).into()).expect("a session")
}

#[test]
fn a_held_reply_is_lost_and_its_request_applied() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = prepared(&scratch, 3).await;
        let one = cluster.connect(&node(1), SESSION).await.expect("a session");
        let beside = cluster.connect(&node(1), SESSION).await.expect("a session");
        let two = cluster.connect(&node(2), SESSION).await.expect("a session");
        one.create("/r", b"0", CreateMode::Persistent).await.expect("created");
        one.create("/other", b"0", CreateMode::Persistent).await.expect("created");

        let mut second = rule("zookeeper set /r", Form::Hold);
        second.nth = 2;
        let hold = interpose(Effect::Message(second));
        apply(&cluster, &hold).await;
        one.set("/r", b"16", None).await.expect("the first is not meant");
        one.set("/other", b"1", None).await.expect("nor is another path");
        let lost = one.set("/r", b"17", None).await;
        assert_eq!(lost.map(|stat| stat.version), Err(CoordinationError::ConnectionLoss));
        two.sync("/r").await.expect("synced");
        let (data, stat) = two.get("/r").await.expect("there");
        assert_eq!((data.as_slice(), stat.version), (&b"17"[..], 2));
        beside.set("/r", b"18", None).await.expect("other connections go on");

        let seen = hit(&cluster).await;
        println!("{seen:?}");
        assert_eq!((&*seen.request, seen.form), ("set /r = \"17\"", Form::Hold));
        assert_eq!(seen.subject.as_deref(), Some("/r"));
        assert!(seen.reply.expect("a reply").ends_with(" version=2") && seen.applied);
        assert_eq!(seen.nth, 2);
        assert_eq!(withdraw(&cluster, &hold).await, Some(1), "exactly one reply");

        let again = cluster.connect(&node(1), SESSION).await.expect("a session");
        let restored = again.set("/r", b"19", None).await.expect("answered");
        assert_eq!(restored.version, 4);
        nothing_observed(&cluster).await;
        scratch.down(cluster).await;
    });
}
