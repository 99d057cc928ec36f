//! What each command says, leaves and returns. The docker world has its own files.

use std::os::unix::process::CommandExt as _;
use std::process::Stdio;

use expect_test::expect;
use serde_json::Value as Json;

use crate::binary::{Folder, Said, signal};

const FILES: [&str; 9] = [
    "history.jsonl.zst",
    "junit.xml",
    "ledger.jsonl",
    "report.html",
    "repro.txt",
    "results.json",
    "run.log",
    "scenario.yaml",
    "schedule.yaml",
];

fn json(said: &Said) -> Json {
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}", said.out))
}

/// A short run, quiet; its results folder.
fn short_run(folder: &Folder, code: i32, arguments: &str) -> String {
    let said = folder.run(&format!("run --quiet --seed 7 {arguments}"));
    assert_eq!((said.code, said.err.as_str()), (Some(code), ""), "{said:?}");
    folder.results()
}

#[test]
fn lists_name_all_there_is_in_text_and_json() {
    let folder = Folder::new();
    let all = json(&folder.run("list --json"));
    for (kind, name) in [
        ("workloads", "zookeeper/register-local-reads"),
        ("nemeses", "partition-halves"),
        ("checkers", "linearizability"),
        ("anomalies", "stale-read"),
        ("services", "zookeeper"),
        ("variants", "zookeeper=loses-acked-write"),
    ] {
        let listed = json(&folder.run(&format!("list {kind} --json")));
        assert_eq!(listed[kind], all[kind]);
        let rows = listed[kind].as_array().expect("a list");
        assert!(rows.iter().any(|row| row["name"] == name), "{kind}: {rows:?}");
        assert!(rows.iter().all(|row| row["description"] != ""), "{kind}: {rows:?}");
        let text = folder.run(&format!("list {kind}"));
        assert_eq!(text.out.lines().count(), rows.len(), "{text:?}");
        for row in rows {
            let name = row["name"].as_str().expect("text");
            let described = json(&folder.run(&format!("describe {name} --json")));
            // A model may be named as the anomaly that it looks for.
            let others = described["others"].as_array().into_iter().flatten();
            let mut told = std::iter::once(&described).chain(others);
            assert!(told.any(|one| one["description"] == row["description"]), "{name}");
        }
    }
}

#[test]
fn a_variant_is_found_by_its_name_alone_of_whichever_service() {
    let folder = Folder::new();
    assert!(
        folder.run("describe lease").out.starts_with("variant kvrocks=lease\n  A master takes")
    );
    let shipped = folder.run("describe as-shipped").out;
    let services = shipped.lines().filter_map(|line| line.strip_prefix("variant "));
    let expected = ["zookeeper=as-shipped", "controller=as-shipped", "kvrocks=as-shipped"];
    assert_eq!(services.collect::<Vec<_>>(), expected);
}

#[test]
fn describing_a_workload_shows_services_and_what_is_expected() {
    let said = Folder::new().run("describe zookeeper/register-local-reads");
    expect![[r#"
        workload zookeeper/register-local-reads
          Known bad: reads are answered by the session's own server, which may lag; stale reads must be found.

        services:
          zookeeper  3  zookeeper on port 2181; as targets, `leader` and `follower` are of these

        message:
          zookeeper set /stormglass-register/r*
          what message faults hit, and triggers of `workload`

        expected:
          under partition-halves nonlinearizable is found
          under partition-majority nonlinearizable is found
          under partition-leader nonlinearizable is found

        example:
          stormglass run zookeeper/register-local-reads --nemesis partition-halves

        workloads/zookeeper/register-local-reads.yaml (built in):
        services: { zookeeper: 3 }
        leader: zookeeper
        register:
          reads: local
          mix: { read: 70, write: 20, cas: 10 }
          keys: 5
          ops_per_key: 200
        message: zookeeper set /stormglass-register/r*
        rate: 200
        concurrency: 40n
        time: 60s
        expect:
          - { nemesis: partition-halves, anomaly: nonlinearizable }
          - { nemesis: partition-majority, anomaly: nonlinearizable }
          - { nemesis: partition-leader, anomaly: nonlinearizable }
    "#]].assert_eq(&said.out);
}

#[test]
fn describing_a_nemesis_shows_its_file() {
    let folder = Folder::new();
    let said = folder.run("describe partition-leader");
    expect![[r#"
        nemesis partition-leader
          Cut whoever leads off from all others, both ways.

        parameters, each changed by --set nemesis.PARAMETER=VALUE:
          faults.0.fault   partition  links are cut
          faults.0.after   8s         quiet time before it first begins
          faults.0.every   20s        from one beginning to the next; once where absent
          faults.0.for     10s        how long it stays in force
          faults.0.shape   isolate    the target's nodes against all others
          faults.0.target  leader     every node that claims to lead when the fault begins, of the workload's `leader`

        needs:
          bridge-tables  nftables of the bridge family, to drop the packets of a link

        can break:
          agreement: two sides that both go on, stale reads, lost writes of a deposed leader

        example:
          stormglass run zookeeper/register --nemesis partition-leader --world docker

        nemesis/partition-leader.yaml (built in):
        faults:
          - { fault: partition, shape: isolate, target: leader, after: 8s, for: 10s, every: 20s }
    "#]]
    .assert_eq(&said.out);
    let aimed = json(&folder.run("describe skew-bump:zookeeper2 --json"));
    assert_eq!(aimed["needs"][0]["name"], "trace");
    let parameters = aimed["parameters"].as_array().expect("a list");
    let target = parameters.iter().find(|row| row["path"] == "faults.0.target");
    assert_eq!(target.expect("a target")["value"], "zookeeper2");
    assert!(aimed["can_break"][0].as_str().is_some_and(|text| text.contains("time of day")));
}

#[test]
fn a_schedule_is_kept_with_its_run_and_given_back_does_the_same_again() {
    let folder = Folder::new();
    let run = "zookeeper/register --time 20s";
    let first = short_run(&folder, 0, &format!("{run} --nemesis kill:zookeeper2,reply-loss"));
    let schedule = folder.read(&format!("{first}/schedule.yaml"));
    for told in ["nemesis: kill:zookeeper2", "action: kill", "node: zookeeper2", "form: hold"] {
        assert!(schedule.contains(told), "{told}: {schedule}");
    }
    let again = format!("{run} --schedule results/latest/schedule.yaml");
    let second = short_run(&folder, 0, &again);
    assert_ne!(first, second);
    assert_eq!(folder.read(&format!("{second}/schedule.yaml")), schedule);
    let history = |results: &str| std::fs::read(folder.path(results).join("history.jsonl.zst"));
    assert_eq!(history(&first).expect("a history"), history(&second).expect("a history"));
    let repro = folder.read(&format!("{second}/repro.txt"));
    assert!(repro.contains(&format!("--schedule {first}/schedule.yaml")), "{repro}");
    assert!(!repro.contains("--nemesis"), "{repro}");
    let scenario = folder.read(&format!("{second}/scenario.yaml"));
    assert!(scenario.contains("nemesis: kill:zookeeper2,reply-loss\n"), "{scenario}");
    assert_eq!(folder.run(&format!("check {second}")).code, Some(0));
}

#[test]
fn help_names_every_command_and_completions_are_scripts() {
    let folder = Folder::new();
    let help = folder.run("--help");
    assert_eq!((help.code, help.err.as_str()), (Some(0), ""));
    let commands = "run list describe check report down images doctor completions";
    for command in commands.split(' ') {
        assert!(help.out.contains(&format!("\n  {command} ")), "{command}: {}", help.out);
        let said = folder.run(&format!("{command} --help"));
        assert!(said.code == Some(0) && said.out.contains("Usage: stormglass"), "{said:?}");
    }
    assert!(help.out.contains("Exit codes: 0 valid, 1 invalid"), "{}", help.out);
    assert!(!help.out.contains("agent"), "what runs start is no user's business");
    let bare = folder.run("");
    assert_eq!((bare.code, bare.out.as_str()), (Some(64), ""));
    for shell in ["bash", "zsh", "fish"] {
        let said = folder.run(&format!("completions {shell}"));
        assert!(said.code == Some(0) && said.out.contains("stormglass"), "{shell}: {said:?}");
    }
}

#[test]
fn a_run_leaves_every_file_and_its_links_and_can_be_checked_and_reported_again() {
    let folder = Folder::new();
    let arguments = "zookeeper/register --nemesis kill:zookeeper2 --time 20s";
    let said = folder.run(&format!("run --seed 7 {arguments}"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.starts_with("Valid  (exit code 0)\n"), "{}", said.out);
    let phases = ["seed 7", "main", "heal", "recover", "drain", "down"];
    for phase in phases {
        assert!(said.err.lines().any(|line| line.starts_with(phase)), "{phase}: {}", said.err);
    }
    assert!(said.err.contains("kill:zookeeper2 (zookeeper2)"), "a fault in force: {}", said.err);
    assert!(!said.err.contains(['\r', '\u{1b}']), "plain where stderr is no terminal");

    let results = folder.results();
    assert!(results.starts_with("results/zookeeper/register/") && results.ends_with("Z-s7"));
    let inner = std::fs::read_link(folder.path("results/zookeeper/register/latest"));
    assert_eq!(inner.expect("a link").to_str(), results.rsplit('/').next());
    let before = folder.files();
    let prefix = format!("{results}/");
    let names = before.keys().filter_map(|name| name.strip_prefix(&prefix));
    assert_eq!(names.filter(|name| !name.is_empty()).collect::<Vec<_>>(), FILES);

    let checked = folder.run(&format!("check {results}"));
    let without_report = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with("  report "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(checked.code, said.code);
    assert_eq!(without_report(&checked.out), without_report(&said.out));
    let as_json = json(&folder.run(&format!("check {results} --json")));
    assert_eq!(as_json, folder.results_json(&results));

    for again in [&results, "results/latest"] {
        let reported = folder.run(&format!("report {again}"));
        let said = (reported.code, reported.out.trim(), reported.err.as_str());
        assert_eq!(said, (Some(0), format!("{again}/report.html").as_str(), ""));
        let after = folder.files();
        for name in FILES {
            let name = format!("{prefix}{name}");
            assert!(before[&name] == after[&name], "{name} is written again as it was");
        }
    }
    log_tells_what_was_done(&folder.read(&format!("{results}/run.log")));
}

fn log_tells_what_was_done(log: &str) {
    let timed = |line: &str| line.split(' ').next().is_some_and(|time| time.ends_with('Z'));
    assert!(log.lines().all(timed), "{log}");
    let mut rest = log;
    for told in [
        "--nemesis kill:zookeeper2 --world sim --seed 7 --time 20s",
        "seed 7",
        "0.000 s: phase main",
        "f1 kill:zookeeper2 begins on zookeeper2",
        "f1 kill:zookeeper2 began: kill proven",
        "f1 kill:zookeeper2 ended: start proven",
        "phase heal",
        "phase drain",
        "valid, exit code 0: ",
    ] {
        let (_, after) = rest.split_once(told).unwrap_or_else(|| panic!("{told}: {log}"));
        rest = after;
    }
}

#[test]
fn the_command_that_a_run_names_repeats_it() {
    let folder = Folder::new();
    folder.write("workloads/my own.yaml", MINE);
    let arguments = ["run", "-q", "my own", "--nemesis", "kill, pause", "--time", "12s"];
    let said = folder.command("").args(arguments).output().map(|output| folder.said(output));
    assert!(said.as_ref().is_ok_and(|said| said.code == Some(0)), "{said:?}");
    let first = folder.results();
    let repro = folder.read(&format!("{first}/repro.txt"));
    let shell = format!("{} -q", repro.trim().replacen("stormglass", crate::binary::EXECUTABLE, 1));
    let mut again = std::process::Command::new("sh");
    again.args(["-c", &shell]).current_dir(folder.path(""));
    let output = again.output().expect("a shell");
    assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
    let second = folder.results();
    assert_ne!(first, second);
    let history = |results: &str| std::fs::read(folder.path(results).join("history.jsonl.zst"));
    assert_eq!(history(&first).expect("a history"), history(&second).expect("a history"));
}

/// A workload of one's own, with barrier reads.
const MINE: &str = "# Mine.\nservices: { zookeeper: 3 }\nleader: zookeeper\nregister: { reads: barrier }\n\
                    rate: 200\nconcurrency: 5n\ntime: 6s\n";

#[test]
fn exit_codes_tell_the_verdict() {
    let folder = Folder::new();
    let local = "zookeeper/register-local-reads --nemesis partition-halves --time 30s";
    let expected = short_run(&folder, 0, local);
    let results = folder.results_json(&expected);
    assert_eq!(
        (&results["verdict"], &results["expected"]["found"]),
        (&"invalid".into(), &true.into())
    );

    let ignored = short_run(&folder, 1, &format!("{local} --expect none"));
    assert_eq!(folder.results_json(&ignored)["expected"], Json::Null);
    assert_eq!(folder.run(&format!("check {ignored}")).code, Some(1));

    let unknown = short_run(&folder, 2, "zookeeper/register --time 5s --set min_ok=100000");
    let why = folder.results_json(&unknown)["why"].to_string();
    assert!(why.contains("of 100000 write operations were ok"), "{why}");

    folder.write("workloads/missed.yaml", format!("{MINE}expect: [{{ anomaly: stale-read }}]\n"));
    let missed = short_run(&folder, 1, "missed");
    let results = folder.results_json(&missed);
    assert_eq!(results["expected"]["found"], false);
    let why = results["why"].as_str().expect("text");
    assert!(why.starts_with("the expected stale-read was not found"), "{why}");
}

#[test]
fn the_catalogue_of_the_current_folder_wins() {
    let folder = Folder::new();
    folder.write("workloads/zookeeper/register.yaml", MINE.replace("Mine.", "Shadowed."));
    folder.write(
        "nemesis/nap.yaml",
        "# A nap.\nfaults:\n  - { fault: pause, target: one, after: 1s, for: 2s, every: 4s }\n",
    );
    let listed = folder.run("list workloads").out;
    let shadowed =
        |line: &str| line.starts_with("zookeeper/register ") && line.ends_with(" Shadowed.");
    assert!(listed.lines().any(shadowed), "{listed}");
    assert!(folder.run("list nemeses").out.contains("nap "), "a new one");
    let described = folder.run("describe zookeeper/register").out;
    assert!(described.contains("workloads/zookeeper/register.yaml:\n"), "{described}");
    let results = short_run(&folder, 0, "zookeeper/register --nemesis nap");
    let scenario = folder.read(&format!("{results}/scenario.yaml"));
    assert!(scenario.contains("time: 6s") && scenario.contains("nemesis: nap"), "{scenario}");

    folder.write("elsewhere/mine.yaml", MINE);
    let by_path = short_run(&folder, 0, "elsewhere/mine.yaml");
    assert!(by_path.starts_with("results/mine/"), "{by_path}");
}

#[test]
fn histories_are_judged_in_every_form() {
    let folder = Folder::new();
    let lines = [
        r#"{"index":0,"time":1,"type":"invoke","process":0,"f":"write","value":1}"#,
        r#"{"index":1,"time":2,"type":"ok","process":0,"f":"write","value":1}"#,
        r#"{"index":2,"time":3,"type":"invoke","process":1,"f":"read","value":null}"#,
        r#"{"index":3,"time":4,"type":"ok","process":1,"f":"read","value":1}"#,
    ];
    let good = lines.join("\n") + "\n";
    let bad = good.replace(r#""read","value":1"#, r#""read","value":null"#);
    let frame = |text: &str| {
        let encoder = stormglass::history::FrameEncoder::new();
        encoder.expect("an encoder").encode(text.as_bytes()).expect("in memory")
    };
    let edn = "{:index 0, :type :invoke, :process 0, :f :write, :value 1}\n\
               {:index 1, :type :ok, :process 0, :f :write, :value 1}\n\
               {:index 2, :type :invoke, :process 1, :f :read, :value nil}\n\
               {:index 3, :type :ok, :process 1, :f :read, :value READ}\n";
    folder.write("good.jsonl", &good);
    folder.write("bad.jsonl", &bad);
    folder.write("good.jsonl.zst", frame(&good));
    folder.write("bad.jsonl.zst", frame(&bad));
    folder.write("good.edn", edn.replace("READ", "1"));
    folder.write("bad.edn", edn.replace("READ", "nil"));
    for ending in ["jsonl", "jsonl.zst", "edn"] {
        for (name, code) in [("good", 0), ("bad", 1)] {
            let said = folder.run(&format!("check {name}.{ending} --model register"));
            assert_eq!((said.code, said.err.as_str()), (Some(code), ""), "{said:?}");
            let word = if code == 0 { "valid  " } else { "invalid" };
            let line = format!("{word}  linearizability: ");
            assert!(said.out.contains(&line), "{name}.{ending}: {}", said.out);
        }
    }
    let said = folder.run("check bad.jsonl --model cas-register --json");
    let whole: Json = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(
        (whole["verdict"].as_str(), whole["exit_code"].as_i64()),
        (Some("invalid"), Some(1))
    );
    let findings = whole["findings"].as_array().expect("a list");
    let anomalies = findings.iter().filter_map(|finding| finding["anomalies"][0]["kind"].as_str());
    assert_eq!((said.code, anomalies.collect::<Vec<_>>()), (Some(1), vec!["stale-read"]));
}

/// Starts an endless run and waits until its history has something in it.
fn endless(folder: &Folder) -> std::process::Child {
    let mut command = folder.command("run zookeeper/register --time 100h --seed 7");
    // Whoever started these tests may ignore SIGHUP, as `nohup` does, and so would what they start.
    // SAFETY: one call that is allowed between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_DFL);
            Ok(())
        });
    }
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process");
    let history = folder.path("results/latest/history.jsonl.zst");
    while !std::fs::metadata(&history).is_ok_and(|metadata| metadata.len() > 10_000) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child
}

#[test]
fn an_interrupt_ends_a_run_with_its_results_and_two_end_it_at_once() {
    for (number, times) in [(libc::SIGINT, 1), (libc::SIGHUP, 1), (libc::SIGTERM, 2)] {
        let folder = Folder::new();
        let child = endless(&folder);
        for _ in 0..times {
            signal(&child, number);
        }
        let said = folder.wait(child);
        assert_eq!(said.code, Some(130), "{said:?}");
        let results = folder.results();
        for name in FILES {
            assert!(folder.path(&results).join(name).exists(), "{name}");
        }
        assert_eq!(folder.results_json(&results)["interrupted"], true);
        let checked = folder.run(&format!("check {results}"));
        assert_eq!(checked.code, Some(130), "{checked:?}");
        assert!(folder.read(&format!("{results}/run.log")).contains("asked to stop"));
    }
}
