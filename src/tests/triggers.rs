//! Triggers in both worlds: each one fires for what it waits for, and for nothing else.

use crate::binary::Folder;
use crate::docker_runs::driver::{Run, alone};
use crate::gate::wanted;

/// Nemeses that wait: their names, what for, and whether that happens in the run below.
const WAITING: [(&str, &str, bool); 15] = [
    ("log", "log: 'LEADING - LEADER ELECTION TOOK'", true),
    ("log-at-role", "log: 'LEADER ELECTION TOOK', node: zookeeper", true),
    ("no-such-line", "log: 'nobody ever writes this'", false),
    ("znode", "znode: '/stormglass-register/*', change: created", true),
    ("znode-changed", "znode: /stormglass-register/r1, change: changed", true),
    ("no-such-znode", "znode: /elsewhere", false),
    ("znode-kept", "znode: /stormglass-register, change: deleted", false),
    ("message", "message: 'zookeeper set /stormglass-register/*'", true),
    ("no-such-message", "message: 'zookeeper delete /stormglass-register/*'", false),
    ("leader", "view: leader", true),
    ("state", "view: state", true),
    ("outcome", "outcome: ok, f: write", true),
    ("no-such-outcome", "outcome: ok, f: enqueue", false),
    ("phase", "phase: main", true),
    ("twice", "outcome: ok, f: read, times: 2x, then: 300ms", true),
];

/// The leader is killed once, so that there is an election to wait for.
const KILL: &str = "# The leader, once.
faults:
  - { fault: kill, target: leader, after: 4s, for: 3s }
";

fn folder() -> Folder {
    let folder = Folder::new();
    write(&folder);
    folder
}

fn write(folder: &Folder) {
    folder.write("nemesis/killed.yaml", KILL);
    for (name, when, _) in WAITING {
        let fault = "fault: throttle, link: zookeeper1->zookeeper2, bytes_per_second: 10000000";
        let yaml =
            format!("# Waits.\nfaults:\n  - {{ {fault}, for: 500ms, when: {{ {when} }} }}\n");
        folder.write(&format!("nemesis/{name}.yaml"), yaml);
    }
}

fn arguments(world: &str) -> String {
    let names: Vec<&str> = WAITING.iter().map(|(name, ..)| *name).collect();
    let nemeses = format!("killed,{}", names.join(","));
    format!("run zookeeper/register --nemesis {nemeses} --time 20s --seed 4 -q --world {world}")
}

fn assert_triggers(results: &serde_json::Value) {
    let told = results["triggers"].as_array().expect("triggers");
    for (name, when, happens) in WAITING {
        let found = told.iter().find(|told| told["fault"] == name);
        let fired = found.and_then(|told| told["fired"].as_u64()).unwrap_or(0);
        let expected = if name == "twice" { 2 } else { u64::from(happens) };
        assert_eq!(fired, expected, "{name} waits for {when}: {told:#?}");
    }
    let latency = |name: &str| {
        let found = told.iter().find(|told| told["fault"] == name).expect("told");
        found["latency_ms"]["median"].as_f64().expect("a latency")
    };
    assert!(latency("twice") >= 300.0, "its delay is kept");
    for name in ["log", "znode", "message"] {
        println!("latency of {name}, from the event to the fault proven: {} ms", latency(name));
    }
}

#[test]
fn each_trigger_of_the_simulation_fires_for_its_event_only() {
    let folder = folder();
    let said = folder.run(&arguments("sim"));
    // Those that never fire make it unknown.
    assert_eq!(said.code, Some(2), "{said:?}");
    assert_triggers(&folder.results_json(&folder.results()));
}

#[test]
fn each_trigger_of_real_servers_fires_for_its_event_only() {
    if !wanted("docker") {
        return;
    }
    let _alone = alone();
    let mut run = Run::start_in(folder(), &arguments("docker"));
    let said = run.wait();
    assert_eq!(said.code, Some(2), "{said:?}");
    let results = run.folder.results();
    assert_triggers(&run.folder.results_json(&results));
}
