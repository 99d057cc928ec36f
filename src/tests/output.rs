//! Nobody has to read what the command says: a reader that went away and a full disk behind a redirection
//! change neither what is done nor the exit code.

use std::fs::{File, OpenOptions};
use std::process::{Child, Stdio};

use crate::binary::Folder;

fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").expect("a device that is always full")
}

/// A pipe that nobody reads from.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

fn code(mut child: Child) -> Option<i32> {
    child.wait().expect("an end").code()
}

#[test]
fn a_run_that_nobody_reads_ends_as_any_other() {
    let runs = [
        ("zookeeper/register --time 8s", 0),
        ("zookeeper/register --time 8s --quiet", 0),
        ("zookeeper/register-local-reads --nemesis partition-halves --time 30s --expect none", 1),
    ];
    let outputs: [fn() -> Stdio; 2] = [|| full().into(), closed];
    for (run, expected) in runs {
        for output in outputs {
            let folder = Folder::new();
            let mut command = folder.command(&format!("run --seed 7 {run}"));
            let child = command.stdout(output()).stderr(output()).spawn().expect("a process");
            assert_eq!(code(child), Some(expected), "{run}");
            let results = folder.results_json(&folder.results());
            assert_eq!(results["exit_code"], expected, "{run}");
            assert!(folder.path(&folder.results()).join("report.html").exists(), "{run}");
        }
    }
}

#[test]
fn what_only_tells_something_ends_in_peace() {
    let folder = Folder::new();
    for (arguments, expected) in [
        ("list", 0),
        ("list --json", 0),
        ("describe kill", 0),
        ("completions bash", 0),
        ("--help", 0),
        ("run nowhere", 64),
        ("check nowhere", 64),
    ] {
        for output in [|| full().into(), closed] as [fn() -> Stdio; 2] {
            let mut command = folder.command(arguments);
            let child = command.stdout(output()).stderr(output()).spawn().expect("a process");
            assert_eq!(code(child), Some(expected), "{arguments}");
        }
    }
}
