//! Who made a container, network or volume: the run, and the process that drives it.
//!
//! The labels are all that `down` and `heal` go by, so they must tell a live run from a left-over one.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

/// The run that a thing belongs to.
pub const RUN: &str = "stormglass.run";
/// The node of the topology that a container serves.
pub const NODE: &str = "stormglass.node";
/// `hold`, `agent`, `network` or the role of the service.
pub const ROLE: &str = "stormglass.role";
/// The run's results folder, where its ledger is.
pub const RESULTS: &str = "stormglass.results";
/// The orchestrator's pid.
pub const PID: &str = "stormglass.pid";
/// When it started, on which boot, and in which pid namespace.
pub const STARTED: &str = "stormglass.started";

const LONGEST_RUN: usize = 16;

/// Names one run on its engine: lower-case letters and digits, so that it fits every name made of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

impl RunId {
    /// A name that no other run has: from the time and this process.
    pub fn fresh() -> RunId {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let nanos = now.map_or(0, |since| since.as_nanos());
        let mixed = nanos.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u128::from(std::process::id());
        let digits = (mixed >> 8) as u64 ^ (mixed as u64).rotate_left(17);
        RunId(format!("{:08x}", digits as u32))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RunId {
    type Err = String;

    fn from_str(text: &str) -> Result<RunId, String> {
        let fits = (1..=LONGEST_RUN).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if fits {
            return Ok(RunId(text.to_owned()));
        }
        Err(format!(
            "`{text}` is no run id: expected 1 to {LONGEST_RUN} lower-case letters and digits"
        ))
    }
}

/// Whether the process that drives a run is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Alive,
    Gone,
    /// It runs, or ran, where its process cannot be seen from here.
    Unknown,
}

impl Life {
    pub fn name(self) -> &'static str {
        match self {
            Life::Alive => "alive",
            Life::Gone => "gone",
            Life::Unknown => "unknown",
        }
    }
}

/// The process that drives a run, told apart from any later one with its pid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pid: u32,
    start_ticks: u64,
    boot: String,
    namespace: String,
}

impl Owner {
    /// This process.
    pub fn current() -> Owner {
        let pid = std::process::id();
        let (boot, namespace) = here();
        Owner { pid, start_ticks: start_ticks(pid).unwrap_or_default(), boot, namespace }
    }

    /// Reads the owner back from labels; `None` where they are incomplete.
    pub fn of(labels: &HashMap<String, String>) -> Option<Owner> {
        let started: Vec<&str> = labels.get(STARTED)?.split('/').collect();
        let [ticks, boot, namespace] = started[..] else { return None };
        Some(Owner {
            pid: labels.get(PID)?.parse().ok()?,
            start_ticks: ticks.parse().ok()?,
            boot: boot.to_owned(),
            namespace: namespace.to_owned(),
        })
    }

    /// `local`: the engine is on this machine, so another boot id means an earlier boot.
    pub fn life(&self, local: bool) -> Life {
        let (boot, namespace) = here();
        if self.boot != boot {
            return if local { Life::Gone } else { Life::Unknown };
        }
        if self.namespace != namespace {
            return Life::Unknown;
        }
        if start_ticks(self.pid) == Some(self.start_ticks) { Life::Alive } else { Life::Gone }
    }

    /// The labels of a thing that this process makes for a run.
    pub fn labels(&self, run: &RunId, node: Option<&str>, role: &str) -> HashMap<String, String> {
        let started = format!("{}/{}/{}", self.start_ticks, self.boot, self.namespace);
        let mut labels = HashMap::from([
            (RUN.to_owned(), run.to_string()),
            (ROLE.to_owned(), role.to_owned()),
            (PID.to_owned(), self.pid.to_string()),
            (STARTED.to_owned(), started),
        ]);
        labels.extend(node.map(|node| (NODE.to_owned(), node.to_owned())));
        labels
    }
}

/// This boot and this pid namespace.
fn here() -> (String, String) {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    (boot.trim().to_owned(), namespace.display().to_string())
}

/// The start time of a process in clock ticks since boot; `None` where there is none, or a zombie.
fn start_ticks(pid: u32) -> Option<u64> {
    parse_stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn parse_stat(stat: &str) -> Option<u64> {
    // The name stands in parentheses and may itself hold any character.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunId {
        "r1".parse().expect("a run id")
    }

    #[test]
    fn this_process_is_alive_by_its_own_labels() {
        let labels = Owner::current().labels(&run(), Some("zookeeper1"), "zookeeper");
        let owner = Owner::of(&labels).expect("whole labels");
        assert_eq!(owner, Owner::current());
        assert_eq!(owner.life(true), Life::Alive);
        assert_eq!(labels[NODE], "zookeeper1");
    }

    #[test]
    fn a_later_process_with_the_same_pid_is_another() {
        let later = Owner { start_ticks: 1, ..Owner::current() };
        assert_eq!(later.life(true), Life::Gone);
    }

    #[test]
    fn an_earlier_boot_is_gone_but_another_machine_is_unknown() {
        let other = Owner { boot: "another".to_owned(), ..Owner::current() };
        assert_eq!(other.life(true), Life::Gone);
        assert_eq!(other.life(false), Life::Unknown);
    }

    #[test]
    fn another_pid_namespace_cannot_be_judged() {
        let other = Owner { namespace: "pid:[1]".to_owned(), ..Owner::current() };
        assert_eq!(other.life(true), Life::Unknown);
    }

    #[test]
    fn labels_of_others_are_no_owner() {
        let mut labels = Owner::current().labels(&run(), None, "network");
        labels.insert(STARTED.to_owned(), "yesterday".to_owned());
        assert_eq!(Owner::of(&labels), None);
    }

    #[test]
    fn stat_is_read_past_odd_names_and_zombies_are_gone() {
        let tail = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        assert_eq!(parse_stat(&format!("7 (a) b) S {tail}")), Some(4711));
        assert_eq!(parse_stat(&format!("7 (a) Z {tail}")), None);
    }

    #[test]
    fn run_ids_fit_every_name_made_of_them() {
        assert!("ab12".parse::<RunId>().is_ok());
        for text in ["", "A", "a-b", "a_b", "abcdefghijklmnopq"] {
            assert!(text.parse::<RunId>().is_err(), "{text}");
        }
        assert!(RunId::fresh().as_str().parse::<RunId>().is_ok());
    }
}
