//! Interposers in front of real ZooKeeper servers: each form acts on exactly what it names, is told,
//! and is taken back.

mod links;
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

#[test]
fn each_form_does_what_its_name_says_until_it_is_taken_back() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = prepared(&scratch, 1).await;
        let mut setup = raw(&cluster);
        assert_eq!(setup.ask(&raw::create(1, "/r", b"0")).expect("created").error, 0);
        idle_taps_pass_everything(&cluster);
        held_connections_stay_until_the_end(&cluster).await;
        closed_connections_lose_the_reply(&cluster).await;
        delayed_replies_come_late_and_in_order(&cluster).await;
        doubled_requests_are_applied_twice_and_answered_once(&cluster).await;
        dropped_requests_do_not_arrive(&cluster).await;
        nothing_observed(&cluster).await;
        assert_eq!(raw(&cluster).ask(&raw::set(1, "/r", b"end")).expect("an answer").error, 0);
        scratch.down(cluster).await;
    });
}

fn version(cluster: &DockerCluster) -> i32 {
    raw(cluster).ask(&raw::exists(1, "/r")).expect("there").version()
}

fn idle_taps_pass_everything(cluster: &DockerCluster) {
    let mut session = raw(cluster);
    let value = vec![b'x'; 900_000];
    session.say(&[raw::set(1, "/r", &value), raw::get(2, "/r")].concat()).expect("said");
    assert_eq!(session.hear().expect("an answer").error, 0);
    let read = session.hear().expect("an answer").rest;
    assert!(read[4..].starts_with(&value), "{} bytes", read.len());
    let mut word = Raw::connect(session.stream.peer_addr().expect("a server")).expect("connected");
    word.say(b"ruok").expect("said");
    assert_eq!(word.rest(), (b"imok".to_vec(), None));
}

async fn held_connections_stay_until_the_end(cluster: &DockerCluster) {
    let before = version(cluster);
    let mut session = raw(cluster);
    let hold = message("zookeeper set /r", Form::Hold);
    apply(cluster, &hold).await;
    session.say(&[raw::exists(1, "/r"), raw::set(2, "/r", b"held")].concat()).expect("said");
    assert_eq!(session.hear().expect("what comes before is answered").number, 1);
    assert!(hit(cluster).await.applied);
    session.say(&raw::get(3, "/r")).expect("the connection is still there");
    assert_eq!(version(cluster), before + 1, "the request was applied");
    session.stream.set_nonblocking(true).expect("set up");
    let nothing = session.hear().expect_err("no reply").kind();
    assert_eq!(nothing, std::io::ErrorKind::WouldBlock, "neither a reply nor an end");
    session.stream.set_nonblocking(false).expect("set up");
    let proof = apply(cluster, &hold.undo().expect("an inverse")).await;
    assert!(proof.checks[0].seen.contains("1 connections released"), "{proof:#?}");
    let reset = (Vec::new(), Some(std::io::ErrorKind::ConnectionReset));
    assert_eq!(session.rest(), reset, "nothing is answered, the connection is reset");
    assert_eq!(raw(cluster).ask(&raw::set(1, "/r", b"2")).expect("an answer").error, 0);
}

async fn closed_connections_lose_the_reply(cluster: &DockerCluster) {
    let before = version(cluster);
    let mut session = raw(cluster);
    let close = message("zookeeper set /r", Form::Close);
    apply(cluster, &close).await;
    session.say(&[raw::exists(1, "/r"), raw::set(2, "/r", b"closed")].concat()).expect("said");
    assert_eq!(session.hear().expect("what comes before is answered").number, 1);
    assert_eq!(session.rest().0, b"", "no reply, and an end");
    assert!(hit(cluster).await.applied);
    assert_eq!(version(cluster), before + 1, "the request was applied");
    assert_eq!(withdraw(cluster, &close).await, Some(1));
}

async fn delayed_replies_come_late_and_in_order(cluster: &DockerCluster) {
    let delay = Duration::from_millis(400);
    let mut late = rule("zookeeper set /r", Form::Delay);
    late.delay = Some(Span(delay));
    let action = interpose(Effect::Message(late));
    let mut session = raw(cluster);
    apply(cluster, &action).await;
    let started = Instant::now();
    session.say(&[raw::set(1, "/r", b"late"), raw::exists(2, "/r")].concat()).expect("said");
    assert_eq!(session.hear().expect("an answer").number, 1);
    assert!(started.elapsed() >= delay, "late by what was asked for");
    assert_eq!(session.hear().expect("an answer").number, 2);
    assert!(hit(cluster).await.applied);
    assert_eq!(withdraw(cluster, &action).await, Some(1));

    let mut later = rule("zookeeper set /r", Form::Delay);
    later.delay = Some(Span::seconds(3600));
    let action = interpose(Effect::Message(later));
    apply(cluster, &action).await;
    session.say(&raw::set(3, "/r", b"later")).expect("said");
    assert!(hit(cluster).await.applied);
    assert_eq!(withdraw(cluster, &action).await, Some(1));
    assert_eq!(session.hear().expect("released with the fault").number, 3);
}

async fn doubled_requests_are_applied_twice_and_answered_once(cluster: &DockerCluster) {
    let before = version(cluster);
    let mut session = raw(cluster);
    let double = message("zookeeper set /r", Form::Duplicate);
    apply(cluster, &double).await;
    session.say(&[raw::set(1, "/r", b"twice"), raw::exists(2, "/r")].concat()).expect("said");
    assert_eq!(session.hear().expect("an answer").version(), before + 1);
    let next = session.hear().expect("an answer");
    assert_eq!((next.number, next.version()), (2, before + 2), "applied twice, answered once");
    let seen = hit(cluster).await;
    assert!(seen.reply.expect("replies").contains("; again: ok"));
    let once = session.ask(&raw::set(3, "/r", b"once")).expect("an answer");
    assert_eq!(once.version(), before + 3);
    assert_eq!(withdraw(cluster, &double).await, Some(1));
}

async fn dropped_requests_do_not_arrive(cluster: &DockerCluster) {
    let before = version(cluster);
    let mut session = raw(cluster);
    let drop = message("zookeeper set /r", Form::DropRequest);
    apply(cluster, &drop).await;
    session.say(&[raw::set(1, "/r", b"dropped"), raw::exists(2, "/r")].concat()).expect("said");
    let next = session.hear().expect("an answer");
    assert_eq!((next.number, next.version()), (2, before), "later requests go on");
    let seen = hit(cluster).await;
    assert_eq!((seen.reply, seen.applied), (None, false));
    assert_eq!(withdraw(cluster, &drop).await, Some(1));
    let arrives = session.ask(&raw::set(3, "/r", b"arrives")).expect("an answer");
    assert_eq!(arrives.version(), before + 1);
}

#[test]
fn toxics_act_on_live_connections_and_heal() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = prepared(&scratch, 1).await;
        let mut session = raw(&cluster);
        let value = vec![b'x'; 20_000];
        session.ask(&raw::create(1, "/r", &value)).expect("created");
        let span = |millis| Span(Duration::from_millis(millis));
        let slow = [
            (Toxic::Latency { delay: span(150), jitter: span(50) }, 200),
            (Toxic::Bandwidth { bytes_per_second: 50_000 }, 350),
            (Toxic::Slicer { bytes: 1000, pause: span(20) }, 350),
        ];
        for (toxic, least_ms) in slow {
            let action = interpose(Effect::Toxic(toxic));
            apply(&cluster, &action).await;
            let started = Instant::now();
            let read = session.ask(&raw::get(2, "/r")).expect("an answer").rest;
            let took = started.elapsed();
            assert!(read[4..].starts_with(&value), "{toxic:?} changes no byte");
            assert!(took >= Duration::from_millis(least_ms), "{toxic:?} took {took:?}");
            let hits = withdraw(&cluster, &action).await;
            assert!(hits.is_some_and(|hits| hits >= 2), "{toxic:?}: {hits:?}");
        }
        let endless = interpose(Effect::Toxic(Toxic::Latency {
            delay: Span::seconds(3600),
            jitter: Span::seconds(0),
        }));
        apply(&cluster, &endless).await;
        session.say(&raw::get(3, "/r")).expect("said");
        withdraw(&cluster, &endless).await;
        assert_eq!(session.hear().expect("what was late comes at once").number, 3);

        let after = interpose(Effect::Toxic(Toxic::Reset { after_bytes: 10_000 }));
        apply(&cluster, &after).await;
        session.say(&raw::get(4, "/r")).expect("said");
        let (part, end) = session.rest();
        assert_eq!((part.len(), end), (10_000, Some(std::io::ErrorKind::ConnectionReset)));
        assert_eq!(withdraw(&cluster, &after).await, Some(1));

        let mut session = raw(&cluster);
        let at_once = interpose(Effect::Toxic(Toxic::Reset { after_bytes: 0 }));
        apply(&cluster, &at_once).await;
        assert_eq!(session.rest().1, Some(std::io::ErrorKind::ConnectionReset));
        assert!(Raw::open(session_address(&cluster)).is_err(), "new ones are reset, too");
        withdraw(&cluster, &at_once).await;
        assert_eq!(raw(&cluster).ask(&raw::get(1, "/r")).expect("an answer").error, 0);
        scratch.down(cluster).await;
    });
}

async fn healthy(cluster: &DockerCluster) {
    let healthy = async {
        while !cluster.view().await.is_healthy() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, healthy).await.expect("a healthy cluster");
}

fn session_address(cluster: &DockerCluster) -> std::net::SocketAddr {
    (cluster.topology().nodes[0].address, 2181).into()
}

#[test]
fn a_restarted_server_is_still_tapped_and_a_dead_one_resets() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(1).await;
        let pattern = "zookeeper set".parse().expect("a pattern");
        let sight = Sight::Message { taps: BTreeSet::from([tap(1)]), pattern };
        let lookouts = vec![Lookout { id: LookoutId(4), sight }];
        cluster.prepare(&Needs { lookouts, ..Needs::default() }).await.expect("looking out");
        let mut session = raw(&cluster);
        session.ask(&raw::create(1, "/r", b"0")).expect("created");
        session.ask(&raw::set(2, "/r", b"1")).expect("an answer");
        let seen = observed(&cluster).await;
        println!("told after {} us: {seen:?}", seen.age_us);
        assert_eq!(seen.concerning, Concerning::Lookout(LookoutId(4)));
        assert_eq!(seen.what, "set /r = \"1\"");

        let kill = Action::Kill { node: node(1) };
        apply(&cluster, &kill).await;
        session.rest();
        let refused = Raw::open(session_address(&cluster)).err().expect("nobody there").kind();
        println!("a dead server's clients see: {refused}");
        let hold = message("zookeeper set /r", Form::Close);
        let proof = apply(&cluster, &hold).await;
        let through = |proof: &Proof, end: &str| {
            proof.checks.iter().any(|check| check.seen == format!("through its interposer{end}"))
        };
        assert!(through(&proof, ", refused by the server's end"), "{proof:#?}");
        apply(&cluster, &kill.undo().expect("an inverse")).await;
        healthy(&cluster).await;

        let mut session = raw(&cluster);
        session.say(&raw::set(1, "/r", b"2")).expect("said");
        assert_eq!(session.rest().0, b"", "the reply is lost as before the restart");
        let told = [observed(&cluster).await, observed(&cluster).await];
        let concerning = told.map(|seen| seen.concerning);
        assert_eq!(concerning, [Concerning::Lookout(LookoutId(4)), Concerning::Fault(FAULT)]);
        let proof = apply(&cluster, &hold.undo().expect("an inverse")).await;
        assert!(through(&proof, " to the server"), "{proof:#?}");
        assert_eq!(proof.packets, Some(1));
        scratch.down(cluster).await;
    });
}

#[test]
fn garbage_reaches_the_server_and_its_answer_the_client() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = prepared(&scratch, 1).await;
        let mut setup = raw(&cluster);
        setup.ask(&raw::create(1, "/r", b"0")).expect("created");
        let drop = message("zookeeper set /r", Form::DropRequest);
        apply(&cluster, &drop).await;
        let mut word = Raw::connect(session_address(&cluster)).expect("connected");
        word.say(b"srvr").expect("said");
        let answer = String::from_utf8(word.rest().0).expect("text");
        assert!(answer.contains("Zookeeper version"), "{answer}");
        let garbage: [&[u8]; 4] = [
            &[0xff; 64],
            &[0, 0, 0, 45, 1, 2, 3],
            &i32::MAX.to_be_bytes(),
            b"GET / HTTP/1.1\r\n\r\n",
        ];
        for bytes in garbage {
            let mut session = Raw::connect(session_address(&cluster)).expect("connected");
            session.say(bytes).expect("said");
            session.stream.shutdown(std::net::Shutdown::Write).expect("half closed");
            assert_eq!(session.rest().0, b"", "the server ends what it cannot read: {bytes:?}");
        }
        // In the middle of a session, and the rule still meets the next one.
        let mut session = raw(&cluster);
        session.say(&[&i32::MAX.to_be_bytes()[..], &[7; 100]].concat()).expect("said");
        session.rest();
        let mut session = raw(&cluster);
        session.say(&[raw::set(1, "/r", b"x"), raw::exists(2, "/r")].concat()).expect("said");
        assert_eq!(session.hear().expect("an answer").number, 2);
        assert_eq!(withdraw(&cluster, &drop).await, Some(1));
        scratch.down(cluster).await;
    });
}
