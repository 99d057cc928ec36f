//! What the host's kernel says of one process: alive, stopped, frozen, and since when. Reads only.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::protocol::ProcessFacts;

/// Where the agent's container has the host's `/sys/fs/cgroup`: its own shows only its own part.
pub const HOST_CGROUPS: &str = "/host-cgroups";

/// The facts about a pid of the host; `None` where there is no such process.
pub fn facts(pid: u32) -> anyhow::Result<Option<ProcessFacts>> {
    let path = format!("/proc/{pid}/stat");
    let stat = match std::fs::read(&path) {
        Ok(stat) => String::from_utf8_lossy(&stat).into_owned(),
        Err(error) if is_gone(&error) => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("read {path}")),
    };
    let facts = parse_stat(&stat).with_context(|| format!("{path} is not as expected: {stat}"))?;
    Ok(Some(ProcessFacts { frozen: frozen(pid), ..facts }))
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// `pid (comm) state …`: the name may hold blanks and brackets, so it ends at the last one.
fn parse_stat(stat: &str) -> Option<ProcessFacts> {
    let (before, after) = stat.rsplit_once(") ")?;
    let (_, comm) = before.split_once(" (")?;
    let mut fields = after.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    // The start time is the 22nd field of the line, the state its third.
    let start_ticks = fields.nth(18)?.parse().ok()?;
    Some(ProcessFacts { state, start_ticks, comm: comm.to_owned(), frozen: None })
}

fn frozen(pid: u32) -> Option<bool> {
    let cgroups = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let files = freezer_files(&cgroups);
    let mounted = Path::new(HOST_CGROUPS);
    let state = files.iter().find_map(|file| std::fs::read_to_string(mounted.join(file)).ok());
    parse_freezer(&state?)
}

/// Where a process's freezer may show its state, by the lines of its `/proc/<pid>/cgroup`.
fn freezer_files(cgroups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in cgroups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let path = path.trim_start_matches('/');
        if controllers.split(',').any(|controller| controller == "freezer") {
            files.insert(0, Path::new("freezer").join(path).join("freezer.state"));
        } else if controllers.is_empty() {
            files.push(Path::new(path).join("cgroup.events"));
            files.push(Path::new("unified").join(path).join("cgroup.events"));
        }
    }
    files
}

/// Version 1 says `FROZEN`, `FREEZING` or `THAWED`; version 2 has a line `frozen 1` or `frozen 0`.
fn parse_freezer(state: &str) -> Option<bool> {
    state.lines().find_map(|line| match line.trim() {
        "FROZEN" | "frozen 1" => Some(true),
        "THAWED" | "FREEZING" | "frozen 0" => Some(false),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_is_read_whole() {
        let stat = "17 (a) b (c)) T 1 17 17 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 98765 0 0";
        let facts = parse_stat(stat).expect("a stat line");
        assert_eq!((facts.state, facts.start_ticks, &*facts.comm), ('T', 98765, "a) b (c)"));
    }

    #[test]
    fn a_line_cut_short_is_no_stat() {
        for stat in ["", "17", "17 (a", "17 (a) ", "17 (a) S 1 2 3"] {
            assert_eq!(parse_stat(stat), None, "{stat:?}");
        }
    }

    #[test]
    fn both_versions_of_freezers_are_found() {
        let one = "5:freezer:/docker/abc\n0::/system.slice\n";
        let found = freezer_files(one);
        assert_eq!(found[0], Path::new("freezer/docker/abc/freezer.state"));
        let two = freezer_files("0::/system.slice/docker-abc.scope\n");
        assert_eq!(two[0], Path::new("system.slice/docker-abc.scope/cgroup.events"));
        assert_eq!(freezer_files("nonsense\n"), Vec::<PathBuf>::new());
    }

    #[test]
    fn freezer_states() {
        let cases = [
            ("FROZEN\n", Some(true)),
            ("FREEZING\n", Some(false)),
            ("THAWED\n", Some(false)),
            ("populated 1\nfrozen 1\n", Some(true)),
            ("populated 1\nfrozen 0\n", Some(false)),
            ("", None),
        ];
        for (state, frozen) in cases {
            assert_eq!(parse_freezer(state), frozen, "{state:?}");
        }
    }

    #[test]
    fn we_are_alive_and_nobody_has_the_highest_pid() {
        let ours = facts(std::process::id()).expect("readable").expect("there");
        assert!(ours.is_alive());
        assert_eq!(facts(u32::MAX).expect("readable"), None);
    }
}
