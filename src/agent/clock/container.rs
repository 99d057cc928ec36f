//! Which processes are a container's: those of its own process namespace. Looks only.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;

use anyhow::{Context, ensure};

use crate::agent::process;

/// One process, told from a later one with its pid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    pub start_ticks: u64,
    pub comm: String,
    /// Its container is paused: it cannot be asked anything.
    pub frozen: bool,
}

impl Process {
    /// The process that has this pid now; `None` where there is none, or only a dead one.
    pub fn of(pid: u32) -> anyhow::Result<Option<Process>> {
        let facts = process::facts(pid)?.filter(|facts| facts.is_alive());
        Ok(facts.map(|facts| Process {
            pid,
            start_ticks: facts.start_ticks,
            comm: facts.comm,
            frozen: facts.frozen == Some(true),
        }))
    }

    pub fn is_there(&self) -> anyhow::Result<bool> {
        Ok(Process::of(self.pid)?.is_some_and(|now| now.start_ticks == self.start_ticks))
    }
}

/// A container's process namespace. While it is held open, no other gets its number.
#[derive(Debug)]
pub struct Container {
    namespace: (u64, u64),
    _open: File,
}

impl Container {
    /// That of a container's main process.
    ///
    /// Refused where it shares the agent's own processes, which are the host's, and where it is not the
    /// first in its namespace: then it is not a container's main process, or no longer.
    pub fn of(pid: u32) -> anyhow::Result<Container> {
        let path = format!("/proc/{pid}/ns/pid");
        let open = File::open(&path).with_context(|| format!("open {path}"))?;
        let namespace = identity(&open.metadata().with_context(|| format!("look at {path}"))?);
        let ours = std::fs::metadata("/proc/self/ns/pid").context("look at our own namespace")?;
        ensure!(
            namespace != identity(&ours),
            "process {pid} is one of the host's own, expected the main process of a container with \
             processes of its own"
        );
        let path = format!("/proc/{pid}/status");
        let status = std::fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
        ensure!(
            pid_inside(&status) == Some(1),
            "process {pid} is not the first of its container, expected a container's main process"
        );
        Ok(Container { namespace, _open: open })
    }

    pub fn is_same(&self, other: &Container) -> bool {
        self.namespace == other.namespace
    }

    /// All its living processes, by pid. Those in namespaces that it made itself are not among them.
    pub fn processes(&self) -> anyhow::Result<Vec<Process>> {
        let entries = std::fs::read_dir("/proc").context("read /proc")?;
        let name =
            |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
        let pids = entries.filter_map(name).filter_map(|name| name.parse().ok());
        let mut pids: Vec<u32> = pids.filter(|pid| self.holds(*pid)).collect();
        pids.sort();
        let found = pids.into_iter().filter_map(|pid| Process::of(pid).transpose());
        found.collect()
    }

    /// Not so for a process that is gone.
    fn holds(&self, pid: u32) -> bool {
        let namespace = std::fs::metadata(format!("/proc/{pid}/ns/pid"));
        namespace.is_ok_and(|namespace| identity(&namespace) == self.namespace)
    }
}

fn identity(namespace: &Metadata) -> (u64, u64) {
    (namespace.dev(), namespace.ino())
}

/// A process's pid in its innermost namespace, by its `/proc/<pid>/status`.
fn pid_inside(status: &str) -> Option<u32> {
    let pids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    pids.split_ascii_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_pid_is_the_last() {
        let cases = [
            ("Name:\tjava\nNSpid:\t4711\t1\nThreads:\t1\n", Some(1)),
            ("NSpid:\t4711\t30\t7\n", Some(7)),
            ("NSpid:\t4711\n", Some(4711)),
            ("NSpid:\n", None),
            ("Name:\tjava\n", None),
        ];
        for (status, inside) in cases {
            assert_eq!(pid_inside(status), inside, "{status:?}");
        }
    }

    #[test]
    fn the_hosts_own_processes_are_no_container() {
        let error = Container::of(std::process::id()).expect_err("ours").to_string();
        assert!(error.contains("one of the host's own"), "{error}");
        assert!(Container::of(u32::MAX).is_err());
    }

    #[test]
    fn a_process_is_told_from_a_later_one_with_its_pid() {
        let ours = Process::of(std::process::id()).expect("readable").expect("there");
        assert!(ours.is_there().expect("readable"));
        let earlier = Process { start_ticks: ours.start_ticks + 1, ..ours };
        assert!(!earlier.is_there().expect("readable"));
        assert_eq!(Process::of(u32::MAX).expect("readable"), None);
    }
}
