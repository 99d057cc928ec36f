//! What checking costs: CPU time of the linearizability checker, from events to finding.
//!
//! `STORMGLASS_HISTORIES` names a folder of recorded histories with a `manifest.json`; without it
//! the recorded ones are left out.

use std::path::Path;

use stormglass::checker::{Budget, Checker, Finding, Linearizability, RegisterModel};
use stormglass::history::{History, parse_line};
use stormglass::op::{Event, Key, Kind, MILLISECOND, Process, Value};
use stormglass::rng::Rng;

/// A simulated workload on registers.
struct Workload {
    name: &'static str,
    operations: usize,
    operations_per_key: usize,
    clients: usize,
    /// Values to draw from; 0 for values that are all different.
    domain: u64,
    cas_percent: u64,
    info_percent: u64,
}

const WORKLOADS: [Workload; 5] = [
    Workload {
        name: "one key, 100 k, 30 clients, 5 % info, values all different",
        operations: 100_000,
        operations_per_key: 100_000,
        clients: 30,
        domain: 0,
        cas_percent: 0,
        info_percent: 5,
    },
    Workload {
        name: "keys of 200, 1 M, 10 clients, 5 % info, values all different",
        operations: 1_000_000,
        operations_per_key: 200,
        clients: 10,
        domain: 0,
        cas_percent: 0,
        info_percent: 5,
    },
    Workload {
        name: "keys of 200, 1 M, 10 clients, 5 % info, compare-and-set, all different",
        operations: 1_000_000,
        operations_per_key: 200,
        clients: 10,
        domain: 0,
        cas_percent: 30,
        info_percent: 5,
    },
    Workload {
        name: "keys of 200, 1 M, 10 clients, 5 % info, compare-and-set on 100 values",
        operations: 1_000_000,
        operations_per_key: 200,
        clients: 10,
        domain: 100,
        cas_percent: 30,
        info_percent: 5,
    },
    Workload {
        name: "one key, 100 k, 5 clients, no info, 100 values",
        operations: 100_000,
        operations_per_key: 100_000,
        clients: 5,
        domain: 100,
        cas_percent: 0,
        info_percent: 0,
    },
];

fn main() {
    recorded();
    for workload in &WORKLOADS {
        let history = workload.history();
        let (finding, milliseconds) = timed(|| check(&history, RegisterModel::CAS_REGISTER));
        let rate = workload.operations as f64 / milliseconds / 1_000.0;
        let by = match finding.figures["keys-by-search"] > finding.figures["keys-by-zones"] {
            true => "search",
            false => "zones",
        };
        println!(
            "{}: {milliseconds:.1} CPU ms, {rate:.1} M operations a CPU second, {} by {by}",
            workload.name,
            finding.verdict.name()
        );
    }
}

fn check(history: &History, model: RegisterModel) -> Finding {
    Linearizability::new(model).finish(history, &Budget::UNBOUNDED)
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let before = cpu_milliseconds();
    let result = work();
    (result, cpu_milliseconds() - before)
}

/// CPU time of all threads of this process, since wall time says little on a shared machine.
fn cpu_milliseconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call only writes the time it is given.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0, "the process has a CPU clock");
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Porcupine's logs of etcd, whose failed compare-and-sets are evidence.
fn recorded() {
    let Some(folder) = std::env::var_os("STORMGLASS_HISTORIES") else {
        println!("recorded histories: not run, STORMGLASS_HISTORIES names no folder");
        return;
    };
    let folder = Path::new(&folder);
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    let entries: Vec<serde_json::Value> = serde_json::from_str(&manifest).expect("a list");
    let model = RegisterModel { failed_cas_is_evidence: true, ..RegisterModel::CAS_REGISTER };
    let mut milliseconds: Vec<f64> = entries
        .iter()
        .filter(|entry| entry["family"] == "etcd")
        .map(|entry| {
            let history = read(&folder.join(entry["path"].as_str().expect("a path")));
            timed(|| check(&history, model.clone())).1
        })
        .collect();
    milliseconds.sort_by(f64::total_cmp);
    let middle = milliseconds.get(milliseconds.len() / 2);
    let (Some(most), Some(median)) = (milliseconds.last(), middle) else {
        return;
    };
    let (count, sum) = (milliseconds.len(), milliseconds.iter().sum::<f64>());
    println!(
        "{count} recorded etcd histories, with explanations: {sum:.1} CPU ms in all, \
         median {median:.3}, most {most:.3}"
    );
}

fn read(path: &Path) -> History {
    let text = std::fs::read_to_string(path).expect("a history");
    let lines = text.lines().filter(|line| !line.is_empty()).zip(0..);
    History::new(lines.map(|(line, place)| parse_line(line, place).expect("an event")).collect())
}

/// What a client has under way, and its result once it has taken effect.
struct UnderWay {
    f: &'static str,
    argument: Value,
    result: Option<Value>,
}

impl Workload {
    fn history(&self) -> History {
        let mut events = Vec::with_capacity(2 * self.operations);
        let rng = Rng::from_seed(7);
        for key in 0..self.operations / self.operations_per_key {
            self.one_key(key as i64, rng.fork(&key.to_string()), &mut events);
        }
        History::new(events)
    }

    fn one_key(&self, key: i64, mut rng: Rng, events: &mut Vec<Event>) {
        let first = key as u32 * self.operations_per_key as u32;
        let mut processes: Vec<u32> = (first..first + self.clients as u32).collect();
        let mut next_process = first + self.clients as u32;
        let mut under_way: Vec<Option<UnderWay>> = (0..self.clients).map(|_| None).collect();
        let (mut state, mut next_value, mut invoked) = (Value::Nil, 0, 0);
        while invoked < self.operations_per_key || under_way.iter().any(Option::is_some) {
            let client = rng.below(self.clients as u64) as usize;
            let mut record = |kind, f: &str, value| {
                let index = events.len() as u64;
                events.push(Event {
                    index,
                    time: index * MILLISECOND,
                    kind,
                    process: Process::Client(processes[client]),
                    node: None,
                    f: f.into(),
                    key: Some(Key::Int(key)),
                    value,
                    error: None,
                    route: None,
                });
            };
            match under_way[client].take() {
                None if invoked == self.operations_per_key => {}
                None => {
                    invoked += 1;
                    let call = self.call(&mut rng, &state, &mut next_value);
                    record(Kind::Invoke, call.f, call.argument.clone());
                    under_way[client] = Some(call);
                }
                Some(mut call) if call.result.is_none() => {
                    call.result = take_effect(&call, &mut state);
                    if rng.below(100) < self.info_percent {
                        record(Kind::Info, call.f, call.argument);
                        processes[client] = next_process;
                        next_process += 1;
                    } else if call.result.is_none() {
                        record(Kind::Fail, call.f, call.argument);
                    } else {
                        under_way[client] = Some(call);
                    }
                }
                Some(call) => record(Kind::Ok, call.f, call.result.unwrap_or_default()),
            }
        }
    }

    fn call(&self, rng: &mut Rng, state: &Value, next_value: &mut i64) -> UnderWay {
        *next_value += 1;
        let value = if self.domain > 0 { rng.below(self.domain) as i64 } else { *next_value };
        let draw = rng.below(100);
        let (f, argument) = match state {
            Value::Int(from) if draw < self.cas_percent => ("cas", Value::Pair(*from, value)),
            _ if draw < (100 + self.cas_percent) / 2 => ("write", Value::Int(value)),
            _ => ("read", Value::Nil),
        };
        UnderWay { f, argument, result: None }
    }
}

/// The result, or `None` where a compare-and-set did not find what it wanted.
fn take_effect(call: &UnderWay, state: &mut Value) -> Option<Value> {
    match call.argument {
        Value::Pair(from, _) if *state != Value::Int(from) => return None,
        Value::Pair(_, to) => *state = Value::Int(to),
        Value::Int(value) => *state = Value::Int(value),
        _ => return Some(state.clone()),
    }
    Some(call.argument.clone())
}
