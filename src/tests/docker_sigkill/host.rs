//! What a run could leave changed on the host itself, outside of all containers.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The engine takes away rules and interfaces of a network some time after it said so; and on a busy
/// host, others come and go.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Where the kernel keeps its settings of IPv4.
const SETTINGS: &str = "/proc/sys/net/ipv4";

/// Corrections of the clock by the host itself stay far below this.
const CLOCK_TOLERANCE: Duration = Duration::from_millis(500);

/// Rules, interfaces, queues and settings, a line each, and how far the time of day is from the uptime.
pub struct State {
    lines: BTreeSet<String>,
    clock_ns: i128,
}

impl State {
    pub fn now() -> State {
        let mut lines = BTreeSet::new();
        // Without counters, which count the host's own traffic.
        let rules = said("nft", &["--stateless", "list", "ruleset"]);
        lines.extend(rules.lines().map(|line| format!("rule {}", line.trim())));
        let links = said("ip", &["-brief", "link"]);
        let name = |line: &str| line.split([' ', '@']).next().map(str::to_owned);
        lines.extend(links.lines().filter_map(name).map(|name| format!("interface {name}")));
        let queues = said("tc", &["qdisc", "show"]);
        lines.extend(queues.lines().map(|line| format!("queue {line}")));
        settings(Path::new(SETTINGS), &mut lines);
        State { lines, clock_ns: now_ns(libc::CLOCK_REALTIME) - now_ns(libc::CLOCK_MONOTONIC) }
    }

    /// Waits until the host is as it was; says what differs where it does not become so.
    pub fn await_again(&self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let now = State::now();
            let moved = (now.clock_ns - self.clock_ns).unsigned_abs();
            assert!(moved < CLOCK_TOLERANCE.as_nanos(), "the host's clock moved by {moved} ns");
            if now.lines == self.lines {
                return;
            }
            let more: Vec<_> = now.lines.difference(&self.lines).collect();
            let less: Vec<_> = self.lines.difference(&now.lines).collect();
            assert!(Instant::now() < deadline, "more than before: {more:#?}, less: {less:#?}");
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

/// What a tool says; nothing where it is not installed.
fn said(tool: &str, arguments: &[&str]) -> String {
    let output = Command::new(tool).args(arguments).output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn settings(folder: &Path, lines: &mut BTreeSet<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            settings(&path, lines);
        } else if let Ok(value) = std::fs::read_to_string(&path) {
            lines.insert(format!("setting {} {}", path.display(), value.trim()));
        }
    }
}

fn now_ns(clock: libc::clockid_t) -> i128 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is a live value of the right type.
    let failed = unsafe { libc::clock_gettime(clock, &mut time) };
    assert_eq!(failed, 0, "this clock can be read");
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}
