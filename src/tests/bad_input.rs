//! Bad input is told in one paragraph that names the place, what was expected and what to do; nothing
//! half-made is left behind.

mod check;
mod engine;
mod history;
mod nemesis;
mod schedule;

use expect_test::{Expect, expect};
use stormglass::checker::{ANOMALIES, MODELS};

use crate::binary::{Folder, Said};

/// A refusal: this code, one paragraph, no word of a crash, and not a file more or less than before.
fn refused(folder: &Folder, arguments: &str, code: i32) -> String {
    let before = folder.files();
    let said = folder.run(arguments);
    assert_paragraph(&said, arguments, code);
    assert!(before == folder.files(), "{arguments}: something was left behind");
    said.err
}

/// With the lists that grow whenever a checker is added left out.
fn without_lists(text: &str) -> String {
    let models: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
    let anomalies: Vec<&str> = ANOMALIES.iter().map(|kind| kind.name).collect();
    text.replace(&models.join(", "), "[models]").replace(&anomalies.join(", "), "[anomalies]")
}

fn assert_paragraph(said: &Said, arguments: &str, code: i32) {
    assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{arguments}: {said:?}");
    let is_paragraph = said.err.starts_with("stormglass: ") && said.err.lines().count() == 1;
    assert!(is_paragraph && !said.err.contains("panicked"), "{arguments}: {}", said.err);
}

/// What is said to each of these arguments of `run`, without the name in front.
fn check(folder: &Folder, cases: &[&str], expected: Expect) {
    let said = |case: &&str| {
        let err = refused(folder, &format!("run {case}"), 64);
        format!("{case}\n  {}", err.trim_start_matches("stormglass: "))
    };
    expected.assert_eq(&without_lists(&cases.iter().map(said).collect::<String>()));
}

const SOUND: &str = "\
# A workload.
services: { zookeeper: 3 }
leader: zookeeper
register:
  reads: barrier
  keys: 5
rate: 200
concurrency: 5n
time: 60s
";

#[test]
fn a_flaw_in_a_workload_is_told_with_file_line_and_field() {
    let folder = Folder::new();
    let flaws = [
        ("unknown-field", "keys: 5", "kees: 5"),
        ("wrong-type", "keys: 5", "keys: many"),
        ("out-of-range", "keys: 5", "keys: 0"),
        ("bad-choice", "reads: barrier", "reads: barier"),
        ("bad-duration", "time: 60s", "time: 60 parsecs"),
        ("no-unit", "time: 60s", "time: 60"),
        ("no-time", "time: 60s", "time: 0s"),
        ("bad-rate", "rate: 200", "rate: -1"),
        ("bad-concurrency", "concurrency: 5n", "concurrency: n5"),
        ("missing-field", "rate: 200\n", ""),
        ("unknown-service", "zookeeper: 3", "zoekeeper: 3"),
        ("too-many-nodes", "zookeeper: 3", "zookeeper: 300"),
        ("bad-expectation", "time: 60s", "time: 60s\nexpect:\n  - { anomaly: stale-reed }"),
        ("twice", "rate: 200", "rate: 200\nrate: 300"),
        ("syntax", "concurrency: 5n", "concurrency: [5n"),
    ];
    for (name, sound, flawed) in flaws {
        assert!(SOUND.contains(sound), "{name}");
        folder.write(&format!("{name}.yaml"), SOUND.replace(sound, flawed));
    }
    folder.write("empty.yaml", "");
    folder.write("binary.yaml", b"\xff\xfe\x00");
    let mut cases: Vec<String> = flaws.map(|(name, ..)| format!("{name}.yaml")).to_vec();
    cases.extend(["empty.yaml", "binary.yaml", "nowhere.yaml"].map(str::to_owned));
    let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
    check(
        &folder,
        &cases,
        expect![[r#"
            unknown-field.yaml
              unknown-field.yaml:6: register: unknown field `kees`, expected one of `reads`, `keys`, `ops_per_key`, `mix`; did you mean `keys`?; correct it, `stormglass describe zookeeper/register` shows a sound workload
            wrong-type.yaml
              wrong-type.yaml:6: register.keys: invalid type: string "many", expected a whole number of 0 or more; correct it, `stormglass describe zookeeper/register` shows a sound workload
            out-of-range.yaml
              out-of-range.yaml:6: field `register.keys`: expected a number from 1 to 1000, found 0; correct it, `stormglass describe zookeeper/register` shows a sound workload
            bad-choice.yaml
              bad-choice.yaml:5: register.reads: unknown choice `barier`, expected one of `local`, `sync`, `barrier`; did you mean `barrier`?; correct it, `stormglass describe zookeeper/register` shows a sound workload
            bad-duration.yaml
              bad-duration.yaml:9: time: expected a duration such as 500ms, 10s or 1m 30s, found `60 parsecs`; correct it, `stormglass describe zookeeper/register` shows a sound workload
            no-unit.yaml
              no-unit.yaml:9: time: invalid type: integer `60`, expected a duration such as 500ms, 10s or 1m 30s; correct it, `stormglass describe zookeeper/register` shows a sound workload
            no-time.yaml
              no-time.yaml:9: field `time`: expected more than 0s; correct it, `stormglass describe zookeeper/register` shows a sound workload
            bad-rate.yaml
              bad-rate.yaml:7: rate: expected a rate in operations per second, above 0 and at most 1000000, found `-1`; correct it, `stormglass describe zookeeper/register` shows a sound workload
            bad-concurrency.yaml
              bad-concurrency.yaml:8: concurrency: expected a number of client processes from 1 to 100000 such as `30`, or a multiple of the nodes such as `3n`, found `n5`; correct it, `stormglass describe zookeeper/register` shows a sound workload
            missing-field.yaml
              missing-field.yaml:2: missing field `rate`; correct it, `stormglass describe zookeeper/register` shows a sound workload
            unknown-service.yaml
              unknown-service.yaml:2: services: unknown choice `zoekeeper`, expected one of `zookeeper`, `controller`, `kvrocks`; did you mean `zookeeper`?; correct it, `stormglass describe zookeeper/register` shows a sound workload
            too-many-nodes.yaml
              too-many-nodes.yaml:2: field `services`: zookeeper: 300 nodes; expected 1 to 15; correct it, `stormglass describe zookeeper/register` shows a sound workload
            bad-expectation.yaml
              bad-expectation.yaml:11: field `anomaly`: expected none or one of [anomalies], found `stale-reed`; did you mean `stale-read`?; correct it, `stormglass describe zookeeper/register` shows a sound workload
            twice.yaml
              twice.yaml:8: duplicate field `rate`; correct it, `stormglass describe zookeeper/register` shows a sound workload
            syntax.yaml
              syntax.yaml:8: concurrency: invalid type: sequence, expected a number such as `30`, or a multiple of the nodes such as `3n`; correct it, `stormglass describe zookeeper/register` shows a sound workload
            empty.yaml
              empty.yaml:1: missing field `services`; correct it, `stormglass describe zookeeper/register` shows a sound workload
            binary.yaml
              cannot read binary.yaml: stream did not contain valid UTF-8; expected a file of YAML text, check the path
            nowhere.yaml
              cannot read nowhere.yaml: No such file or directory (os error 2); expected a file of YAML text, check the path
        "#]],
    );
}

#[test]
fn a_flaw_in_a_nemesis_is_told_with_file_line_and_field() {
    let folder = Folder::new();
    let fault = "  - { fault: kill, target: one, after: 1s, for: 2s, every: 4s }\n";
    for (name, sound, flawed) in [
        ("unknown-field", "after", "afterwards"),
        ("unknown-fault", "kill", "kil"),
        ("bad-target", "target: one", "target: 'zoo keeper'"),
        ("no-target", "target: one, ", ""),
        ("bad-duration", "2s", "two seconds"),
        ("overlapping", "every: 4s", "every: 1s"),
        ("shapeless", "kill", "partition"),
    ] {
        let second = fault.replace(sound, flawed);
        folder.write(&format!("nemesis/{name}.yaml"), format!("# N.\nfaults:\n{fault}{second}"));
    }
    let cases = [
        "zookeeper/register --nemesis unknown-field",
        "zookeeper/register --nemesis unknown-fault",
        "zookeeper/register --nemesis bad-target",
        "zookeeper/register --nemesis no-target",
        "zookeeper/register --nemesis kill,bad-duration",
        "zookeeper/register --nemesis overlapping",
        "zookeeper/register --nemesis shapeless",
    ];
    check(
        &folder,
        &cases,
        expect![[r#"
            zookeeper/register --nemesis unknown-field
              nemesis/unknown-field.yaml:4: faults[1]: unknown field `afterwards`, expected one of `fault`, `shape`, `target`, `link`, `traffic`, `refusal`, `port`, `bytes_per_second`, `message`, `form`, `nth`, `times`, `delay`, `toxic`, `clock`, `by`, `session`, `weight`, `when`, `pace`, `after`, `for`, `every`, `jitter`; did you mean `after`?; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis unknown-fault
              nemesis/unknown-fault.yaml:4: faults[1].fault: unknown choice `kil`, expected one of `partition`, `kill`, `stop`, `pause`, `crash`, `sever`, `resign`, `throttle`, `message`, `toxic`, `clock`, `expire-session`; did you mean `kill`?; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis bad-target
              nemesis/bad-target.yaml:4: faults[1].target: expected a target: all, one, minority, majority, leader or follower (of one role: `one:kvrocks`), a role, a node, master, replica; or with `when` sender, receiver, bystander or seen; found `zoo keeper`; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis no-target
              nemesis/no-target.yaml:4: field `target`: expected a target: all, one, minority, majority, leader or follower (of one role: `one:kvrocks`), a role, a node, master, replica; or with `when` sender, receiver, bystander or seen; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis kill,bad-duration
              nemesis/bad-duration.yaml:4: faults[1].for: expected a duration such as 500ms, 10s or 1m 30s, found `two seconds`; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis overlapping
              nemesis/overlapping.yaml:4: field `every`: expected at least `for` (2s), since a fault cannot overlap itself; correct it, `stormglass describe kill` shows a sound nemesis
            zookeeper/register --nemesis shapeless
              nemesis/shapeless.yaml:4: field `shape`: a partition needs a shape: halves, isolate, majority-minority, one-way, majorities-ring, bridge, minority-third, random or link; correct it, `stormglass describe kill` shows a sound nemesis
        "#]],
    );
}

#[test]
fn names_and_targets_that_are_not_there_suggest_near_ones() {
    let cases = [
        "zookeper/register",
        "register",
        "xyz",
        "../secret",
        "zookeeper/register --nemesis partition-halfs",
        "zookeeper/register --nemesis kill,pause-leadr",
        "zookeeper/register --nemesis kill,,pause",
        "zookeeper/register --nemesis kill:zookeeper9",
        "zookeeper/register --nemesis partition-one,kill:zookeeper3 --nodes zookeeper=2",
        "zookeeper/register --nemesis kill:",
        "zookeeper/register --nemesis partition-halves:zookeeper1",
    ];
    check(
        &Folder::new(),
        &cases,
        expect![[r#"
            zookeper/register
              there is no workload `zookeper/register`; did you mean `zookeeper/register`?; `stormglass list workloads` shows all
            register
              there is no workload `register`; did you mean `zookeeper/register`?; `stormglass list workloads` shows all
            xyz
              there is no workload `xyz`; `stormglass list workloads` shows all
            ../secret
              there is no workload `../secret`; `stormglass list workloads` shows all
            zookeeper/register --nemesis partition-halfs
              there is no nemesis `partition-halfs`; did you mean `partition-halves`?; `stormglass list nemeses` shows all
            zookeeper/register --nemesis kill,pause-leadr
              there is no nemesis `pause-leadr`; did you mean `pause-leader`?; `stormglass list nemeses` shows all
            zookeeper/register --nemesis kill,,pause
              --nemesis 'kill,,pause': expected names with commas between, found an empty one; `none` is the nemesis that does nothing
            zookeeper/register --nemesis kill:zookeeper9
              --nemesis kill:zookeeper9: the topology of zookeeper/register has no `zookeeper9`; aim at one of its nodes, zookeeper1, zookeeper2, zookeeper3, or change their number with --nodes
            zookeeper/register --nemesis partition-one,kill:zookeeper3 --nodes zookeeper=2
              --nemesis kill:zookeeper3: the topology of zookeeper/register has no `zookeeper3`; aim at one of its nodes, zookeeper1, zookeeper2, or change their number with --nodes
            zookeeper/register --nemesis kill:
              --nemesis kill:: expected a target: all, one, minority, majority, leader or follower (of one role: `one:kvrocks`), a role, a node, master, replica; or with `when` sender, receiver, bystander or seen; found ``
            zookeeper/register --nemesis partition-halves:zookeeper1
              --nemesis partition-halves:zookeeper1: this nemesis picks its own nodes and cannot be aimed; leave the aim out
        "#]],
    );
}

#[test]
fn what_would_do_nothing_or_could_never_be_is_refused() {
    let folder = Folder::new();
    folder.write("nemesis/empty.yaml", "# Nothing.\nfaults:\n");
    folder.write("nemesis/still.yaml", "# Nothing at all.\nfaults: []\n");
    folder.write("file", "");
    let services = "{ zookeeper: 3, controller: 2, kvrocks: 4 }";
    let idle = SOUND.replace("{ zookeeper: 3 }", services);
    folder.write("idle.yaml", idle.replace("register:\n  reads: barrier\n  keys: 5\n", ""));
    let expects = |nemesis: &str| {
        format!("{SOUND}expect:\n  - {{ nemesis: {nemesis}, anomaly: stale-read }}\n")
    };
    folder.write("nope.yaml", expects("nope"));
    folder.write("aimed.yaml", expects("kill-leader"));
    let cases = [
        "zookeeper/register --nemesis empty",
        "zookeeper/register --set recover_within=0s",
        "idle.yaml",
        "nope.yaml",
        "kvrocks/register --set kvrocks.keys=99999999999",
        "kvrocks/register --world docker --image kvrocks=Bad-Name",
        "zookeeper/register --results file",
        "zookeeper/register --results file/results",
    ];
    check(
        &folder,
        &cases,
        expect![[r#"
        zookeeper/register --nemesis empty
          nemesis/empty.yaml:2: field `faults`: expected a list of faults, found nothing; `faults: []` is no fault at all; correct it, `stormglass describe kill` shows a sound nemesis
        zookeeper/register --set recover_within=0s
          workloads/zookeeper/register.yaml (built in) with --set recover_within=0s: field `recover_within`: expected more than 0s; correct it, `stormglass describe zookeeper/register` shows a sound workload
        idle.yaml
          idle.yaml:2: field `services`: expected a client of `kvrocks`, found none; add a block such as `kvrocks: { data: register }`, or `register: {}` to work on ZooKeeper alone; correct it, `stormglass describe kvrocks/register` shows a sound workload
        nope.yaml
          workload nope.yaml: field `expect`: there is no nemesis `nope`; did you mean `none`?; `stormglass list nemeses` shows all
        kvrocks/register --set kvrocks.keys=99999999999
          workloads/kvrocks/register.yaml (built in) with --set kvrocks.keys=99999999999: kvrocks.keys: invalid value: integer `99999999999`, expected a whole number from 0 to 4294967295; correct it, `stormglass describe kvrocks/register` shows a sound workload
        kvrocks/register --world docker --image kvrocks=Bad-Name
          invalid value 'kvrocks=Bad-Name' for '--image <SERVICE=IMAGE>': expected an image such as apache/kvrocks:2.10.1, its name in small letters and digits, found `Bad-Name`; `--help` shows what is expected
        zookeeper/register --results file
          --results file: expected a folder, found the file `file`; name another place
        zookeeper/register --results file/results
          --results file/results: expected a folder, found the file `file`; name another place
    "#]],
    );
    for sound in ["zookeeper/register --nemesis still", "aimed.yaml"] {
        let said = folder.run(&format!("run -q --seed 7 --time 8s {sound}"));
        assert_eq!(said.code, Some(0), "{said:?}");
    }
}

#[test]
fn flags_that_make_no_sense_are_named() {
    let cases = [
        "",
        "zookeeper/register --nodes zookeeper=0",
        "zookeeper/register --nodes kafka=3",
        "zookeeper/register --nodes 3",
        "zookeeper/register --concurrency 0",
        "zookeeper/register --rate -5",
        "zookeeper/register --seed -1",
        "zookeeper/register --seed dice",
        "zookeeper/register --time 0s",
        "zookeeper/register --time ten",
        "zookeeper/register --variant loses-acked-writes",
        "zookeeper/register --variant kafka=x",
        "zookeeper/register --image zookeeper",
        "zookeeper/register --expect all",
        "zookeeper/register --world mars",
        "zookeeper/register --node-cpus 0 --world docker",
        "zookeeper/register --subnet 10.0.0.1/24 --world docker",
        "zookeeper/register --variant votes-by-id --world docker",
        "zookeeper/register --image kafka=x --world docker",
        "zookeeper/register --image zookeeper=x",
        "zookeeper/register --subnet 10.0.0.0/24",
        "zookeeper/register --node-cpus 1",
        "zookeeper/register --keep",
        "zookeeper/register --sed 4",
    ];
    check(
        &Folder::new(),
        &cases,
        expect![[r#"

              the following required arguments were not provided: <WORKLOAD>; `--help` shows what is expected
            zookeeper/register --nodes zookeeper=0
              invalid value 'zookeeper=0' for '--nodes <SERVICE=COUNT>': expected 1 to 15 nodes of zookeeper, found `0`; `--help` shows what is expected
            zookeeper/register --nodes kafka=3
              invalid value 'kafka=3' for '--nodes <SERVICE=COUNT>': there is no service `kafka`; there is zookeeper, controller, kvrocks; `--help` shows what is expected
            zookeeper/register --nodes 3
              invalid value '3' for '--nodes <SERVICE=COUNT>': expected name=value, found `3`; `--help` shows what is expected
            zookeeper/register --concurrency 0
              invalid value '0' for '--concurrency <CONCURRENCY>': expected a number of client processes from 1 to 100000 such as `30`, or a multiple of the nodes such as `3n`, found `0`; `--help` shows what is expected
            zookeeper/register --rate -5
              invalid value '-5' for '--rate <RATE>': expected a rate in operations per second, above 0 and at most 1000000, found `-5`; `--help` shows what is expected
            zookeeper/register --seed -1
              invalid value '-1' for '--seed <SEED>': expected a whole number from 0 to 18446744073709551615; `--help` shows what is expected
            zookeeper/register --seed dice
              invalid value 'dice' for '--seed <SEED>': expected a whole number from 0 to 18446744073709551615; `--help` shows what is expected
            zookeeper/register --time 0s
              invalid value '0s' for '--time <TIME>': expected more than 0s; `--help` shows what is expected
            zookeeper/register --time ten
              invalid value 'ten' for '--time <TIME>': expected a duration such as 500ms, 10s or 1m 30s, found `ten`; `--help` shows what is expected
            zookeeper/register --variant loses-acked-writes
              --variant loses-acked-writes: zookeeper has no variant `loses-acked-writes`; did you mean `loses-acked-write`?; it has as-shipped, loses-acked-write, stale-barrier, acks-unflushed, votes-by-id, cas-races
            zookeeper/register --variant kafka=x
              invalid value 'kafka=x' for '--variant <[SERVICE=]NAME>': there is no service `kafka`; there is zookeeper, controller, kvrocks, and node for kvrocks; `--help` shows what is expected
            zookeeper/register --image zookeeper
              invalid value 'zookeeper' for '--image <SERVICE=IMAGE>': expected name=value, found `zookeeper`; `--help` shows what is expected
            zookeeper/register --expect all
              invalid value 'all' for '--expect <EXPECT>' [possible values: none]; `--help` shows what is expected
            zookeeper/register --world mars
              invalid value 'mars' for '--world <WORLD>' [possible values: sim, docker]; `--help` shows what is expected
            zookeeper/register --node-cpus 0 --world docker
              invalid value '0' for '--node-cpus <CORES>': expected a number of cores from 0.01 to 1024; `--help` shows what is expected
            zookeeper/register --subnet 10.0.0.1/24 --world docker
              invalid value '10.0.0.1/24' for '--subnet <CIDR>': `10.0.0.1/24` is no IPv4 subnet: expected one such as 10.9.8.0/24 (bits after /24 are set); `--help` shows what is expected
            zookeeper/register --variant votes-by-id --world docker
              --variant votes-by-id: planted bugs of ZooKeeper exist in the simulation only; add --world sim
            zookeeper/register --image kafka=x --world docker
              --image kafka: this workload runs no image of that name; it runs zookeeper
            zookeeper/register --image zookeeper=x
              --image: the simulation runs no images; add --world docker
            zookeeper/register --subnet 10.0.0.0/24
              --subnet: the simulation needs no network; add --world docker
            zookeeper/register --node-cpus 1
              --node-cpus: the simulation has no containers; add --world docker
            zookeeper/register --keep
              --keep: a simulation leaves nothing to keep; add --world docker
            zookeeper/register --sed 4
              unexpected argument '--sed' found; tip: a similar argument exists: '--seed'; `--help` shows what is expected
        "#]],
    );
}

#[test]
fn changes_by_path_are_told_as_they_were_typed() {
    let cases = [
        "zookeeper/register --set register.keys",
        "zookeeper/register --set register.kees=3",
        "zookeeper/register --set registr.keys=3",
        "zookeeper/register --set register.keys=many",
        "zookeeper/register --set register.keys=[",
        "zookeeper/register --set rate.x=3",
        "zookeeper/register --set time=5",
        "zookeeper/register --nemesis kill --set nemesis.faults.7.for=3s",
        "zookeeper/register --nemesis kill --set nemesis.faults.0.for=0s",
    ];
    check(
        &Folder::new(),
        &cases,
        expect![[r#"
            zookeeper/register --set register.keys
              --set register.keys: expected path=value
            zookeeper/register --set register.kees=3
              workloads/zookeeper/register.yaml (built in) with --set register.kees=3: register: unknown field `kees`, expected one of `reads`, `keys`, `ops_per_key`, `mix`; did you mean `keys`?; correct it, `stormglass describe zookeeper/register` shows a sound workload
            zookeeper/register --set registr.keys=3
              workloads/zookeeper/register.yaml (built in) with --set registr.keys=3: unknown field `registr`, expected one of `services`, `leader`, `register`, `kvrocks`, `config`, `message`, `rate`, `concurrency`, `time`, `operation_timeout`, `session_timeout`, `recover_within`, `min_ok`, `crash_pattern`, `expect`; did you mean `register`?; correct it, `stormglass describe zookeeper/register` shows a sound workload
            zookeeper/register --set register.keys=many
              workloads/zookeeper/register.yaml (built in) with --set register.keys=many: register.keys: invalid type: string "many", expected a whole number of 0 or more; correct it, `stormglass describe zookeeper/register` shows a sound workload
            zookeeper/register --set register.keys=[
              --set register.keys=[: expected a number, a word or another YAML value, found `[`
            zookeeper/register --set rate.x=3
              --set rate.x=3: `x` is looked for in something that has no parts
            zookeeper/register --set time=5
              workloads/zookeeper/register.yaml (built in) with --set time=5: time: invalid type: integer `5`, expected a duration such as 500ms, 10s or 1m 30s; correct it, `stormglass describe zookeeper/register` shows a sound workload
            zookeeper/register --nemesis kill --set nemesis.faults.7.for=3s
              --set nemesis.faults.7.for=3s: expected a position below 1, found `7`
            zookeeper/register --nemesis kill --set nemesis.faults.0.for=0s
              nemesis/kill.yaml (built in) with --set nemesis.faults.0.for=0s: field `for`: a fault of no duration cannot be felt; expected more than 0s; correct it, `stormglass describe kill` shows a sound nemesis
        "#]],
    );
}

#[test]
fn a_file_in_the_current_folder_is_blamed_by_its_own_name() {
    let folder = Folder::new();
    folder.write("workloads/zookeeper/register.yaml", SOUND.replace("keys: 5", "keys: lots"));
    let cases = ["zookeeper/register", "zookeeper/register --set rate=100"];
    check(
        &folder,
        &cases,
        expect![[r#"
        zookeeper/register
          workloads/zookeeper/register.yaml:6: register.keys: invalid type: string "lots", expected a whole number of 0 or more; correct it, `stormglass describe zookeeper/register` shows a sound workload
        zookeeper/register --set rate=100
          workloads/zookeeper/register.yaml with --set rate=100: register.keys: invalid type: string "lots", expected a whole number of 0 or more; correct it, `stormglass describe zookeeper/register` shows a sound workload
    "#]],
    );
}

#[test]
fn other_commands_refuse_as_well() {
    let folder = Folder::new();
    folder.write("history.txt", "no history\n");
    let cases = [
        "frobnicate",
        "list worklods",
        "describe partition-halfs",
        "completions tcsh",
        "check",
        "check nowhere",
        "check history.txt",
        "check history.txt --model regster",
        "check history.txt --model register",
        "report nowhere",
        "down --run BAD",
        "images build zookeper",
    ];
    let said = |case: &&str| {
        format!("{case}\n  {}", refused(&folder, case, 64).trim_start_matches("stormglass: "))
    };
    expect![[r#"
        frobnicate
          unrecognized subcommand 'frobnicate'; `--help` shows what is expected
        list worklods
          invalid value 'worklods' for '[WHAT]' [possible values: workloads, nemeses, checkers, models, anomalies, services, variants]; tip: a similar value exists: 'workloads'; `--help` shows what is expected
        describe partition-halfs
          there is nothing named `partition-halfs`; did you mean `partition-halves`?; `stormglass list` shows all
        completions tcsh
          invalid value 'tcsh' for '<SHELL>' [possible values: bash, elvish, fish, powershell, zsh]; tip: a similar value exists: 'zsh'; `--help` shows what is expected
        check
          the following required arguments were not provided: <PATH>; `--help` shows what is expected
        check nowhere
          cannot read nowhere: No such file or directory (os error 2); expected a results folder, such as results/latest, or a history file; check the path
        check history.txt
          history.txt: line 1, column 1: not an operation: expected process, type, f and value, separated by tabs, found no history; correct it or restore it from a copy
        check history.txt --model regster
          unknown model `regster`: expected one of [models]
        check history.txt --model register
          history.txt: line 1, column 1: not an operation: expected process, type, f and value, separated by tabs, found no history; correct it or restore it from a copy
        report nowhere
          nowhere is no results folder: cannot read nowhere/scenario.yaml: No such file or directory (os error 2); give a folder below results/, such as results/latest
        down --run BAD
          invalid value 'BAD' for '--run <ID>': `BAD` is no run id: expected 1 to 16 lower-case letters and digits; `--help` shows what is expected
        images build zookeper
          there is no image `zookeper`; did you mean `zookeeper`?; there is controller, kvrocks, zookeeper, and images/zookeper/Dockerfile in the current folder would add it
    "#]].assert_eq(&without_lists(&cases.iter().map(said).collect::<String>()));
}

#[test]
fn results_that_cannot_be_written_are_our_side_breaking() {
    let folder = Folder::new();
    let run = "run zookeeper/register --time 2s --quiet --results";
    folder.write("taken/latest/file", "in the way");
    folder.write("inner/zookeeper/register/latest/file", "in the way");
    let mut said = String::new();
    for results in ["taken", "inner", "/proc/results"] {
        said += &refused(&folder, &format!("{run} {results}"), 3);
    }
    expect![[r#"
        stormglass: cannot link taken/latest: Is a directory (os error 21); something else has that name: move it away, or run in another folder
        stormglass: cannot link inner/zookeeper/register/latest: Is a directory (os error 21); something else has that name: move it away, or run in another folder
        stormglass: cannot make the folder /proc/results/zookeeper/register: No such file or directory (os error 2); check the path
    "#]].assert_eq(&said);

    let before = folder.files();
    let Some(mut command) = folder.command_as_nobody(&format!("{run} results")) else { return };
    let refusal = folder.said(command.output().expect("a process"));
    assert_paragraph(&refusal, "as nobody", 3);
    expect![[r#"
        stormglass: cannot make the folder results/zookeeper/register: Permission denied (os error 13); make the folder writable for this user, or run in another folder
    "#]].assert_eq(&refusal.err);
    let left: Vec<String> =
        folder.files().into_keys().filter(|name| !before.contains_key(name)).collect();
    assert_eq!(left, ["stormglass"], "the executable for the other user alone");
}
