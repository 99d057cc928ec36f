//! The same seed gives the same history to the byte: in other processes, and in other builds.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::binary::{EXECUTABLE, Folder};
use crate::gate::wanted;

const RUN: &str = "run zookeeper/register --nemesis partition-halves,kill-leader,pause --time 30s \
                   --quiet --seed";

fn history(folder: &Folder, results: &str) -> Vec<u8> {
    let path = folder.path(results).join("latest/history.jsonl.zst");
    std::fs::read(path).expect("a history")
}

/// The histories of one run for each seed, each in a process of its own, all at once.
fn histories(executable: &Path, seeds: &[u64]) -> Vec<Vec<u8>> {
    let folder = Folder::new();
    let processes = seeds.iter().enumerate().map(|(number, seed)| {
        let mut command = Command::new(executable);
        command.args(RUN.split_whitespace()).arg(seed.to_string());
        command.args(["--results", &number.to_string()]).current_dir(folder.path(""));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("a process")
    });
    for process in processes.collect::<Vec<_>>() {
        let said = folder.wait(process);
        assert_ne!(said.code, Some(3), "{said:?}");
    }
    (0..seeds.len()).map(|number| history(&folder, &number.to_string())).collect()
}

#[test]
fn one_seed_one_history_in_three_processes() {
    let histories = histories(Path::new(EXECUTABLE), &[7, 7, 7, 8]);
    assert!(histories[0].len() > 20_000, "a run worth comparing: {} bytes", histories[0].len());
    assert!(histories[0] == histories[1], "two processes differ");
    assert!(histories[0] == histories[2], "two processes differ");
    assert!(histories[0] != histories[3], "the seed decides nothing");
    if wanted("release") {
        let release = self::histories(&release_build(), &[7]);
        assert!(histories[0] == release[0], "debug and release differ");
    }
}

/// The release build of the same sources, made if need be.
fn release_build() -> PathBuf {
    let target = Path::new(EXECUTABLE).ancestors().nth(2).expect("target/debug/stormglass");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--bin", "stormglass", "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    assert!(status.expect("cargo").success(), "the release build failed");
    target.join("release/stormglass")
}
