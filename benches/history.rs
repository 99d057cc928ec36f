//! What a history costs: bytes an operation on disk, events a second written and read, and megabytes a
//! second of one core, of each form, when every value is looked at and nothing is kept.

use std::ops::ControlFlow;
use std::time::Instant;

use stormglass::generator::{Asked, Rate, Reply, Threads, What, arrivals, limit, simulate};
use stormglass::history::{
    Datum, FrameEncoder, Keys, ReadOptions, read, stream, write_edn, write_line,
};
use stormglass::op::{Call, Event, Kind, MILLISECOND, Nanos, Outcome, Process, Value};
use stormglass::rng::Rng;
use stormglass::workload::register::{Register, RegisterOptions};

const TARGET_BYTES: f64 = 64.0;

/// Megabytes a second of one core.
const TARGET_SPEED: f64 = 200.0;

/// Register operations on five nodes with latencies of a few milliseconds and some failures.
fn events(per_second: f64, operations: u64) -> Vec<Event> {
    let rng = Rng::from_seed(1);
    let register = Register::new(RegisterOptions::default()).expect("the defaults are sound");
    let rate = Rate::try_from(per_second).expect("a rate");
    let source = arrivals(rate, rng.fork("arrivals"), register.source(rng.fork("operations")));
    let mut latency = rng.fork("latency");
    let mut last = 0;
    let world = |asked: &Asked| {
        let What::Call(call) = asked.what else { return None };
        let outcome = match (call, latency.below(40)) {
            (_, 0) => Outcome::Fail("get: connection loss".into()),
            (Call::Read { .. }, _) => Outcome::Ok(Value::Int(last)),
            (Call::Write { value, .. } | Call::Cas { to: value, .. }, _) => {
                last = *value;
                Outcome::Ok(call.value())
            }
            _ => return None,
        };
        let after = 200_000 + latency.exponential(3.0 * MILLISECOND as f64) as Nanos;
        Some(Reply { after, outcome })
    };
    simulate(&mut limit(operations, source), Threads::new(1000, 5), world).events
}

/// Packs frames of 64 KiB or 250 ms, as runs do.
fn pack(events: &[Event]) -> Vec<u8> {
    let mut encoder = FrameEncoder::new().expect("an encoder");
    let (mut file, mut lines, mut oldest) = (Vec::new(), Vec::new(), 0);
    for event in events {
        let is_stale = event.time - oldest >= 250 * MILLISECOND;
        if !lines.is_empty() && (lines.len() >= 64 * 1024 || is_stale) {
            file.extend(encoder.encode(&lines).expect("in memory"));
            lines.clear();
        }
        if lines.is_empty() {
            oldest = event.time;
        }
        write_line(&mut lines, event);
    }
    file.extend(encoder.encode(&lines).expect("in memory"));
    file
}

/// Transactions on lists: a few appends and reads each, whose lists grow to a few dozen elements.
fn transactions(count: u64) -> Vec<Event> {
    let mut rng = Rng::from_seed(2);
    let mut lists: Vec<Vec<u64>> = vec![Vec::new(); 10];
    let mut events = Vec::new();
    for number in 0..count {
        let (mut asked, mut done) = (Vec::new(), Vec::new());
        for _ in 0..rng.between(1, 4) {
            let key = rng.below(10) as usize;
            if rng.chance(0.5) {
                if lists[key].len() == 32 {
                    lists[key].clear();
                }
                lists[key].push(number);
                asked.push(serde_json::json!(["append", key, number]));
                done.push(serde_json::json!(["append", key, number]));
            } else {
                asked.push(serde_json::json!(["r", key, null]));
                done.push(serde_json::json!(["r", key, lists[key]]));
            }
        }
        let process = Process::Client((number % 30) as u32);
        for (kind, value) in [(Kind::Invoke, asked), (Kind::Ok, done)] {
            let (index, time) = (events.len() as u64, number * 100_000);
            let value = Value::Json(Box::new(value.into()));
            events.push(Event { index, time, value, ..Event::new(kind, process, "txn") });
        }
    }
    events
}

/// Looks at every part of a value.
fn look(value: Datum, sum: &mut u64) {
    if let Some(number) = value.as_i64() {
        *sum = sum.wrapping_add(number as u64);
    } else if let Some(items) = value.items() {
        items.for_each(|item| look(item, sum));
    } else {
        *sum += value.as_str().map_or(1, str::len) as u64;
    }
}

/// Of the processor's time, so that others on the same core do not count.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes into the struct that it is given, and nothing else.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0, "a process has a clock of its own");
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The best of some readings.
fn speed(name: &str, bytes: &[u8], unpacked: usize) {
    let mut best = f64::MAX;
    for _ in 0..5 {
        let (mut sum, start) = (0, cpu_seconds());
        let summary = stream(bytes, "bench", &ReadOptions::default(), &mut |_, value| {
            look(value, &mut sum);
            ControlFlow::Continue(())
        });
        assert!(summary.is_ok_and(|summary| summary.events > 0 && sum > 0));
        best = best.min(cpu_seconds() - start);
    }
    let speed = unpacked as f64 / 1e6 / best;
    println!("{name}: {speed:.0} MB/s, {:.2} of the {TARGET_SPEED} wanted", speed / TARGET_SPEED);
}

fn speeds(name: &str, events: &[Event]) {
    let (mut lines, mut edn) = (Vec::new(), Vec::new());
    for event in events {
        write_line(&mut lines, event);
        write_edn(&mut edn, event, Keys::Plain);
    }
    speed(&format!("{name}, JSON lines"), &lines, lines.len());
    speed(&format!("{name}, EDN"), &edn, edn.len());
    speed(&format!("{name}, packed"), &pack(events), lines.len());
}

fn main() {
    speeds("registers", &events(2_000.0, 200_000));
    speeds("transactions", &transactions(100_000));
    for per_second in [200.0, 2_000.0, 100_000.0] {
        let events = events(per_second, 200_000);
        let operations = events.len() as f64 / 2.0;
        let start = Instant::now();
        let file = pack(&events);
        let written = events.len() as f64 / start.elapsed().as_secs_f64();
        let start = Instant::now();
        let recording = read(&file, "bench").expect("just written");
        let read = events.len() as f64 / start.elapsed().as_secs_f64();
        assert_eq!(recording.history.events(), events);
        let bytes = file.len() as f64 / operations;
        println!(
            "{per_second} ops/s: {bytes:.1} bytes an operation, {:.2} of the {TARGET_BYTES} allowed; \
             {written:.0} events/s written, {read:.0} events/s read",
            bytes / TARGET_BYTES
        );
    }
}
