//! Histories that come through a pipe, and verdicts that cannot be written down.

use std::fs::{File, OpenOptions};
use std::process::{Command, Stdio};

use super::STALE;
use crate::binary::{EXECUTABLE, Folder};

#[test]
fn a_pipe_is_judged_as_the_file_would_be() {
    let folder = Folder::new();
    folder.write("stale.jsonl", STALE);
    for named in ["-", "/dev/stdin"] {
        let input = File::open(folder.path("stale.jsonl")).expect("a file");
        let mut cat = Command::new("cat").stdin(input).stdout(Stdio::piped()).spawn().expect("cat");
        let mut command = folder.command(&format!("check {named} --model register"));
        let output = command.stdin(cat.stdout.take().expect("piped")).output().expect("a process");
        assert!(cat.wait().expect("an end").success());
        let said = folder.said(output);
        assert_eq!(said.code, Some(1), "{named}: {said:?}");
        assert!(said.out.contains("stale-read"), "{named}: {said:?}");
    }
}

#[test]
fn a_named_pipe_is_read_once() {
    let folder = Folder::new();
    folder.write("stale.jsonl", STALE);
    let script = format!(
        "mkfifo pipe && (cat stale.jsonl > pipe &) && exec {EXECUTABLE} check pipe --model register"
    );
    let mut command = Command::new("sh");
    let output = command.current_dir(folder.path("")).args(["-c", &script]).output().expect("sh");
    let said = folder.said(output);
    assert_eq!(said.code, Some(1), "{said:?}");
}

#[test]
fn a_verdict_that_is_not_written_down_is_none() {
    let folder = Folder::new();

    folder.write("stale.jsonl", STALE);
    folder.write("sound.jsonl", STALE.lines().take(2).collect::<Vec<_>>().join("\n") + "\n");
    for (name, expected) in [("sound", 3), ("stale", 1)] {
        for form in ["", "--json"] {
            let full = OpenOptions::new().write(true).open("/dev/full").expect("a device");
            let mut command =
                folder.command(&format!("check {name}.jsonl --model register {form}"));
            let output = command.stdout(full).output().expect("a process");
            let said = folder.said(output);
            assert_eq!(said.code, Some(expected), "{name} {form}: {said:?}");
            assert_eq!(said.err.contains("cannot be written"), expected == 3, "{said:?}");
        }
    }
}

#[test]
fn where_nothing_was_done_nothing_was_shown() {
    let folder = Folder::new();
    let nothing = "{\"type\":\"invoke\",\"process\":0,\"f\":\"write\",\"value\":1}\n\
                   {\"type\":\"info\",\"process\":0,\"f\":\"write\",\"value\":1}\n";
    folder.write("nothing.jsonl", nothing);
    let said = folder.run("check nothing.jsonl --model register");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.err.contains("no operation was ok"), "{said:?}");
    let phase = "{\"type\":\"info\",\"process\":\"nemesis\",\"f\":\"start\"}\n";
    folder.write("nobody.jsonl", phase);
    let said = folder.run("check nobody.jsonl --model register");
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.out.contains("no client did anything"), "{said:?}");
}
