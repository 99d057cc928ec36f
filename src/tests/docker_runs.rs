//! Whole runs of the binary against a real engine: verdicts, results, and nothing left.

pub mod driver;

use std::net::TcpStream;
use std::time::Duration;

use crate::binary::Folder;
use crate::gate::wanted;
use driver::{Run, alone, assert_nothing_left, everything_of};

const FILES: [&str; 11] = [
    "history.jsonl.zst",
    "junit.xml",
    "ledger.jsonl",
    "nodes/zookeeper1/service.log",
    "nodes/zookeeper2/service.log",
    "nodes/zookeeper3/service.log",
    "report.html",
    "repro.txt",
    "results.json",
    "run.log",
    "scenario.yaml",
];

/// Several clusters share the machine, so they are asked for less than a cluster alone would be.
const MODEST: &str = "--rate 100 --set register.keys=20 --set register.mix.cas=40";

fn register(nemesis: &str, more: &str) -> String {
    format!("run zookeeper/register --nemesis {nemesis} --world docker --seed 5 {MODEST} {more}")
}

/// Ends well, with everything written down and nothing left on the engine.
fn assert_done(mut run: Run, verdict: &str) {
    let said = run.wait();
    assert_eq!(said.code, Some(0), "{}: {said:?}", run.folder.read("results/latest/run.log"));
    let results = run.folder.results();
    for name in FILES {
        let length = std::fs::metadata(run.folder.path(&results).join(name)).map(|file| file.len());
        assert!(length.is_ok_and(|length| length > 0), "{name}");
    }
    let json = run.folder.results_json(&results);
    assert_eq!(json["verdict"], verdict, "{json:#}");
    let log = run.folder.read(&format!("{results}/run.log"));
    for told in ["image zookeeper: ", "zookeeper3 serves at ", " proven", "the cluster is removed"]
    {
        assert!(log.contains(told), "{told}: {log}");
    }
    let checked = run.folder.run(&format!("check {results}"));
    assert_eq!(checked.code, Some(0), "offline as in the run: {checked:?}");
    assert_nothing_left(&run.id());
}

/// The subnet that a run has, from its log.
fn subnet(run: &Run) -> String {
    let log = run.folder.read("results/latest/run.log");
    let address = log.split("zookeeper1 serves at ").nth(1).expect("an address");
    let (network, _) = address.lines().next().expect("a line").rsplit_once('.').expect("IPv4");
    format!("{network}.0/24")
}

#[test]
fn partitions_are_survived_by_two_runs_at_once_that_do_not_meet() {
    if !wanted("docker") {
        return;
    }
    let _alone = alone();
    let mut halves = Run::start(&register("partition-halves", "--time 25s"));
    let mut one_way = Run::start(&register("partition-one-way", "--time 25s"));
    halves.await_line("main");
    one_way.await_line("main");
    assert_ne!(halves.id(), one_way.id());
    assert_ne!(subnet(&halves), subnet(&one_way));
    assert_done(halves, "valid");
    assert_done(one_way, "valid");
}

#[test]
fn a_killed_and_a_frozen_leader_are_survived() {
    if !wanted("docker") {
        return;
    }
    let _alone = alone();
    let kill = Run::start(&register("kill-leader", "--time 25s"));
    let pause = Run::start(&register("pause-leader", "--time 25s"));
    assert_done(kill, "valid");
    assert_done(pause, "valid");
}

#[test]
fn stale_reads_are_found_and_what_cannot_start_beside_leaves_nothing() {
    if !wanted("docker") {
        return;
    }
    let _alone = alone();
    let local =
        "run zookeeper/register-local-reads --nemesis partition-halves --world docker --seed 5";
    let mut stale = Run::start(&format!("{local} --time 45s"));
    stale.await_line("main");
    a_taken_subnet_is_refused(&subnet(&stale), &stale.id().to_string());
    an_image_that_cannot_be_had_is_refused();
    an_interrupt_during_the_start_leaves_nothing();
    assert_done(stale, "invalid");
}

fn refusal(mut run: Run, code: i32) -> String {
    let said = run.wait();
    assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{said:?}");
    assert!(!run.folder.path("results").exists(), "{:?}", run.folder.files().keys());
    assert_nothing_left(&run.id());
    let last = said.err.lines().last().unwrap_or_default().to_owned();
    assert!(last.starts_with("stormglass: "), "{said:?}");
    last
}

fn a_taken_subnet_is_refused(subnet: &str, whose: &str) {
    let said = refusal(Run::start(&register("none", &format!("--subnet {subnet}"))), 3);
    assert!(
        said.contains(&format!("subnet {subnet} is taken: Docker network `sg-{whose}`")),
        "{said}"
    );
    assert!(said.contains("Name another one"), "{said}");
}

fn an_image_that_cannot_be_had_is_refused() {
    let image = "127.0.0.1:1/nobody/nothing:1";
    let said = refusal(Run::start(&register("none", &format!("--image zookeeper={image}"))), 3);
    assert!(said.contains(image), "{said}");
}

fn an_interrupt_during_the_start_leaves_nothing() {
    let mut run = Run::start(&register("none", ""));
    run.await_line("starting containers");
    // Requests are under way now: whatever the engine still makes of them must go as well.
    std::thread::sleep(Duration::from_millis(150));
    run.signal(libc::SIGINT);
    let said = refusal(run, 130);
    assert!(said.contains("interrupted while the cluster was starting"), "{said}");
}

#[test]
fn an_interrupt_heals_and_checks_and_two_heal_and_leave() {
    if !wanted("docker") {
        return;
    }
    let _alone = alone();
    let soon = "--time 100s --set nemesis.faults.0.after=1s";
    let mut once = Run::start(&register("partition-one", soon));
    let mut twice = Run::start(&register("pause", soon));
    once.await_line("partition-one (");
    twice.await_line("pause (");
    once.signal(libc::SIGINT);
    twice.signal(libc::SIGINT);
    twice.await_line("heal");
    twice.signal(libc::SIGINT);
    for (mut run, drained) in [(once, true), (twice, false)] {
        let said = run.wait();
        assert_eq!(said.code, Some(130), "{said:?}");
        let results = run.folder.results();
        assert_eq!(run.folder.results_json(&results)["interrupted"], true);
        let log = run.folder.read(&format!("{results}/run.log"));
        let healed = ["join proven", "resume proven"].iter().any(|heal| log.contains(heal));
        assert!(healed && log.contains("asked to stop"), "{log}");
        assert!(!drained || log.contains("phase drain"), "{log}");
        assert_eq!(run.folder.run(&format!("check {results}")).code, Some(130));
        assert_nothing_left(&run.id());
    }
}

#[test]
fn a_cluster_that_is_kept_can_be_reached_and_removed() {
    if !wanted("docker") {
        return;
    }
    let _alone = alone();
    let mut run = Run::start(&register("none", "--keep --time 8s --set min_ok=1"));
    let said = run.wait();
    assert_eq!(said.code, Some(0), "{said:?}");
    for node in ["zookeeper1: ", "zookeeper2: ", "zookeeper3: "] {
        let line = said.out.lines().find_map(|line| line.strip_prefix(node)).expect(node);
        let (address, _) = line.split_once(';').expect("an address first");
        TcpStream::connect(address).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    let down = format!("down --run {}", run.id());
    assert!(said.out.contains(&format!("stormglass {down} removes it")), "{said:?}");
    assert!(!everything_of(&run.id()).is_empty());
    let removed = Folder::new().run(&down);
    let line = format!("removed run {}: 6 containers, 1 networks, 0 volumes\n", run.id());
    assert_eq!((removed.code, removed.out), (Some(0), line), "{}", removed.err);
    assert_nothing_left(&run.id());
    let again = Folder::new().run(&down);
    assert_eq!((again.code, again.err.contains("there is no run")), (Some(64), true), "{again:?}");
}
