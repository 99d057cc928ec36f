//! Histories that were cut short or changed, and results folders that are none.

use expect_test::expect;

use super::{assert_paragraph, refused};
use crate::binary::Folder;

const PACKED: &str = "run/history.jsonl.zst";

/// A folder with one short run in `run/`, and the run's history as packed bytes.
fn recorded() -> (Folder, Vec<u8>) {
    let folder = Folder::new();
    let said = folder.run("run zookeeper/register --time 8s --seed 7 --quiet");
    assert_eq!(said.code, Some(0), "{said:?}");
    std::fs::rename(folder.path(&folder.results()), folder.path("run")).expect("moved");
    std::fs::remove_dir_all(folder.path("results")).expect("removed");
    let bytes = std::fs::read(folder.path(PACKED)).expect("a history");
    (folder, bytes)
}

fn pack(lines: &[String]) -> Vec<u8> {
    let mut encoder = stormglass::history::FrameEncoder::new().expect("an encoder");
    let frames = lines
        .chunks(100)
        .map(|lines| encoder.encode((lines.join("\n") + "\n").as_bytes()).expect("in memory"));
    frames.collect::<Vec<_>>().concat()
}

fn unpack(bytes: &[u8]) -> Vec<String> {
    let text = zstd::decode_all(bytes).expect("a zstd file");
    String::from_utf8(text).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn a_history_cut_short_is_refused_and_can_be_judged_as_far_as_it_goes() {
    let (folder, bytes) = recorded();
    for missing in [1, 5, 300, bytes.len() / 2] {
        let kept = bytes.len() - missing;
        folder.write(PACKED, &bytes[..kept]);
        let said = refused(&folder, "check run", 64);
        let offset = said.split("from byte ").nth(1).and_then(|rest| rest.split(':').next());
        let offset: usize = offset.and_then(|text| text.parse().ok()).expect("a byte");
        assert!(said.contains("run/history.jsonl.zst: frame ") && offset < kept, "{said}");
        assert!(said.contains("`--tolerate-tail` judges what is readable"), "{said}");
        let file = refused(&folder, &format!("check {PACKED} --model cas-register"), 64);
        assert_eq!(file, said);
        let tolerated = folder.run("check run --tolerate-tail");
        // What is there holds, but the run's end is not among it.
        let is_stopped = tolerated.out.contains("  the record stops at ");
        assert!(is_stopped || missing <= 300, "{tolerated:?}");
        assert_eq!(tolerated.code, Some(if is_stopped { 2 } else { 0 }), "{tolerated:?}");
        let model = format!("check {PACKED} --model cas-register --tolerate-tail");
        assert_eq!(folder.run(&model).code, Some(0));
    }
    for kept in [0, 3] {
        folder.write(PACKED, &bytes[..kept]);
        for arguments in ["check run", "check run --tolerate-tail", "report run"] {
            let said = refused(&folder, arguments, 64);
            assert!(said.contains("run/history.jsonl.zst: "), "{said}");
        }
    }
}

/// The events before the first that this holds for, packed.
fn before(lines: &[String], is_end: impl Fn(&str) -> bool) -> Vec<u8> {
    let end = lines.iter().position(|line| is_end(line)).expect("such an event");
    pack(&lines[..end])
}

#[test]
fn a_record_that_stops_before_its_run_claims_nothing_of_what_came_later() {
    let folder = Folder::new();
    let run =
        "run zookeeper/register-local-reads --nemesis partition-halves --time 30s --seed 7 -q";
    assert_eq!(folder.run(run).code, Some(0));
    std::fs::rename(folder.path(&folder.results()), folder.path("run")).expect("moved");
    let lines = unpack(&std::fs::read(folder.path(PACKED)).expect("a history"));
    let is_down = |line: &str| line.contains(r#""phase":"down""#);
    let is_begin = |line: &str| line.contains(r#""step":"begin""#);

    folder.write(PACKED, before(&lines, is_begin));
    let early = folder.run("check run");
    assert_eq!((early.code, early.err.as_str()), (Some(2), ""), "{early:?}");
    let told: Vec<&str> = early.out.lines().take(2).collect();
    assert_eq!(told[0], "Unknown  (exit code 2)");
    assert!(
        told[1].contains("s in phase main: the run did not end; nothing was found"),
        "{told:?}"
    );
    for claim in ["expected", "the run was over"] {
        assert!(!early.out.contains(claim), "{claim}: {}", early.out);
    }
    assert!(early.out.contains("Never began: the record stops at "), "{}", early.out);

    folder.write(PACKED, before(&lines, is_down));
    let found = folder.run("check run");
    assert!(
        found.out.starts_with("Invalid (expected)  (exit code 0)\n  the record stops at "),
        "{found:?}"
    );
    assert_eq!(found.code, Some(0));
}

#[test]
fn a_report_is_written_again_alone_and_an_old_one_outlives_a_lost_history() {
    let (folder, _) = recorded();
    for name in ["results.json", "schedule.yaml", "repro.txt"] {
        folder.write(&format!("run/{name}"), "edited");
    }
    folder.write("run/report.html", "");
    assert_eq!(folder.run("report run").code, Some(0));
    assert!(folder.read("run/report.html").len() > 1000, "written again");
    for name in ["results.json", "schedule.yaml", "repro.txt"] {
        assert_eq!(folder.read(&format!("run/{name}")), "edited", "{name}");
    }
    folder.write(PACKED, b"");
    refused(&folder, "report run", 64);
}

#[test]
fn an_edited_history_is_refused_with_its_line() {
    let (folder, bytes) = recorded();
    let lines = unpack(&bytes);
    let at = lines.iter().position(|line| line.contains(r#""type":"ok""#)).expect("a completion");
    let process = lines[at].split(r#""process":"#).nth(1).expect("a process");
    let process = format!(r#""process":{},"#, process.split(',').next().expect("a number"));
    let invoked = lines[..at].iter().rposition(|line| line.contains(&process)).expect("invoked");
    type Edit = fn(&mut Vec<String>, usize, usize);
    let edits: [(&str, Edit); 5] = [
        ("index", |lines, _, at| {
            lines[at] = lines[at].replace(&format!(r#""index":{at},"#), r#""index":999999,"#)
        }),
        ("invocation", |lines, invoked, _| drop(lines.remove(invoked))),
        ("time", |lines, _, at| {
            let (head, rest) = lines[at].split_once(r#""time":"#).expect("a time");
            let (_, tail) = rest.split_once(',').expect("more fields");
            lines[at] = format!(r#"{head}"time":1,{tail}"#)
        }),
        ("type", |lines, _, at| lines[at] = lines[at].replace(r#""ok""#, r#""okay""#)),
        ("json", |lines, _, at| lines[at].truncate(9)),
    ];
    let mut told = String::new();
    for (name, edit) in edits {
        let mut edited = lines.clone();
        edit(&mut edited, invoked, at);
        assert!(edited != lines, "{name}");
        folder.write(PACKED, pack(&edited));
        told += &format!("{name}: {}", refused(&folder, "check run", 64));
        assert_eq!(refused(&folder, "report run", 64), refused(&folder, "check run", 64));
    }
    expect![[r#"
        index: stormglass: run/history.jsonl.zst: line 5 (index 999999): expected index 4; no run records that, so the file was edited; correct it or restore it from a copy
        invocation: stormglass: run/history.jsonl.zst: line 3 (index 3): expected index 2; no run records that, so the file was edited; correct it or restore it from a copy
        time: stormglass: run/history.jsonl.zst: line 5 (index 4): time 1 is before 6000000, the time of the event before it; no run records that, so the file was edited; correct it or restore it from a copy
        type: stormglass: run/history.jsonl.zst: line 5, column 28: field `type`: expected invoke, ok, fail or info, found "okay"; correct it or restore it from a copy
        json: stormglass: run/history.jsonl.zst: line 5, column 10: not JSON: the line ends within a map; correct it or restore it from a copy
    "#]].assert_eq(&told);
}

#[test]
fn a_flipped_byte_is_refused_with_its_frame() {
    let (folder, mut bytes) = recorded();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    folder.write(PACKED, &bytes);
    for arguments in ["check run", "report run", "check run --tolerate-tail"] {
        let said = refused(&folder, arguments, 64);
        let place = said.split("history.jsonl.zst: frame ").nth(1).unwrap_or_default();
        assert!(place.contains(" at byte ") && place.contains("is corrupted"), "{said}");
        assert!(said.contains("restore the file from a copy"), "{said}");
    }
}

#[test]
fn what_is_no_history_or_no_results_folder_is_named() {
    let (folder, bytes) = recorded();
    folder.write("noise.zst", [b"\x28\xb5\x2f\xfd".as_slice(), &[0x55; 200]].concat());
    folder.write("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    folder.write("empty", "");
    folder.write("empty-folder/file", "");
    folder.write("no-history/scenario.yaml", folder.read("run/scenario.yaml"));
    folder.write("no-scenario/history.jsonl.zst", &bytes);
    let flawed = folder.read("run/scenario.yaml").replace("seed: 7", "seed: seven");
    folder.write("flawed/scenario.yaml", flawed);
    let cases = [
        "check noise.zst --model register",
        "check picture.png --model register",
        "check empty --model register",
        "check empty-folder",
        "check no-history",
        "check no-scenario",
        "check flawed",
        "report no-scenario",
    ];
    let said = |case: &&str| {
        format!("{case}\n  {}", refused(&folder, case, 64).trim_start_matches("stormglass: "))
    };
    expect![[r#"
        check noise.zst --model register
          noise.zst: frame 1, the last 204 bytes from byte 0: Dictionary mismatch; events at the end are missing; `--tolerate-tail` judges what is readable
        check picture.png --model register
          picture.png: not a history: expected `history.jsonl.zst`, JSON lines, Jepsen's `history.edn` or `history.txt`, or lines of sessions, found a picture; give the history that it was drawn from
        check empty --model register
          empty: not a history: expected `history.jsonl.zst`, JSON lines, Jepsen's `history.edn` or `history.txt`, or lines of sessions, found an empty file
        check empty-folder
          empty-folder is no results folder: cannot read empty-folder/scenario.yaml: No such file or directory (os error 2); give a folder below results/, such as results/latest
        check no-history
          cannot read no-history/history.jsonl.zst: No such file or directory (os error 2); expected a history, check the path
        check no-scenario
          no-scenario is no results folder: cannot read no-scenario/scenario.yaml: No such file or directory (os error 2); give a folder below results/, such as results/latest
        check flawed
          flawed/scenario.yaml:3: seed: invalid type: string "seven", expected a whole number of 0 or more; correct it or restore it from a copy
        report no-scenario
          no-scenario is no results folder: cannot read no-scenario/scenario.yaml: No such file or directory (os error 2); give a folder below results/, such as results/latest
    "#]].assert_eq(&cases.iter().map(said).collect::<String>());
}

#[test]
fn a_report_that_cannot_be_written_is_our_side_breaking() {
    let (folder, _) = recorded();
    let Some(mut command) = folder.command_as_nobody("report run") else { return };
    let said = folder.said(command.output().expect("a process"));
    assert_paragraph(&said, "report run", 3);
    assert!(said.err.contains("cannot write run/"), "{}", said.err);
}
