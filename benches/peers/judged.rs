//! Our side of a comparison, in a process of its own so that its peak memory is its own.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use stormglass::checker::{Budget, Checker, ModelKind, ModelOptions, Verdict};
use stormglass::history::{History, ReadOptions, Sink};
use stormglass::results_folder::{read_history, stream_history};

/// The argument that makes this program judge one history and print what it took.
pub const MODE: &str = "judge-one";

const TIME: Duration = Duration::from_secs(60);
const MEMORY: usize = 512 << 20;

/// Prints verdict, milliseconds of CPU for parsing and for checking, and peak megabytes.
pub fn judge(file: &Path, model: &str, options: &str, explained: &str) {
    let options: ModelOptions = serde_json::from_str(options).expect("options in JSON");
    let model = ModelKind::by_name(model).expect("a model");
    let mut checkers = (model.checkers)(&options).expect("checkers of the model");
    let began = Instant::now();
    let exhausted = || began.elapsed() > TIME;
    let explained = explained.parse().expect("a number of violations");
    let budget = Budget { exhausted: &exhausted, memory: MEMORY, explained };
    let (parse, check, verdict) = if checkers.iter().all(|checker| checker.streams()) {
        streamed(file, &mut checkers, &budget)
    } else {
        kept(file, &mut checkers, &budget)
    };
    println!("{} {parse:.3} {check:.3} {:.0}", verdict.name(), peak_mb());
}

/// Checkers that take in events as they are read: parsing is what reading takes without them.
fn streamed(
    file: &Path,
    checkers: &mut [Box<dyn Checker>],
    budget: &Budget,
) -> (f64, f64, Verdict) {
    let start = cpu_ms();
    stream(file, &mut |_, _| ControlFlow::Continue(()));
    let parsed = cpu_ms();
    stream(file, &mut |head, value| {
        checkers.iter_mut().for_each(|checker| drop(checker.observe_raw(head, value)));
        ControlFlow::Continue(())
    });
    let verdict = verdict(checkers, &History::default(), budget);
    let parse = parsed - start;
    (parse, cpu_ms() - parsed - parse, verdict)
}

/// Checkers that need the whole history, in memory.
fn kept(file: &Path, checkers: &mut [Box<dyn Checker>], budget: &Budget) -> (f64, f64, Verdict) {
    let start = cpu_ms();
    let history = read_history(file).expect("a history").history;
    let parsed = cpu_ms();
    for checker in checkers.iter_mut().filter(|checker| checker.streams()) {
        history.events().iter().for_each(|event| drop(checker.observe(event)));
    }
    let verdict = verdict(checkers, &history, budget);
    (parsed - start, cpu_ms() - parsed, verdict)
}

fn stream(file: &Path, sink: &mut Sink) {
    stream_history(file, &ReadOptions::default(), sink).expect("a history");
}

fn verdict(checkers: &mut [Box<dyn Checker>], history: &History, budget: &Budget) -> Verdict {
    let verdicts = checkers.iter_mut().map(|checker| checker.finish(history, budget).verdict);
    verdicts.max().unwrap_or(Verdict::Unknown)
}

/// CPU time of all threads of this process, since wall time says little on a shared machine.
fn cpu_ms() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call only writes the time it is given.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0, "the process has a CPU clock");
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|peak| peak.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.map_or(f64::NAN, |kilobytes| kilobytes * 1_024.0 / 1e6)
}
