//! What a history costs: bytes an operation on disk, and events a second written and read.

use std::time::Instant;

use stormglass::generator::{Asked, Rate, Reply, Threads, What, arrivals, limit, simulate};
use stormglass::history::{FrameEncoder, read, write_line};
use stormglass::op::{Call, Event, MILLISECOND, Nanos, Outcome, Value};
use stormglass::rng::Rng;
use stormglass::workload::register::{Register, RegisterOptions};

const TARGET_BYTES: f64 = 64.0;

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

fn main() {
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
