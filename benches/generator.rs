//! How many operations a second the pure generator makes on one core: register mix, open-loop
//! arrivals, every event observed. Prints operations a second and the ratio to the target.

use std::hint::black_box;
use std::time::Instant;

use stormglass::generator::{
    Asked, Context, Generator, Next, Rate, Reply, Threads, To, What, arrivals, clients, limit,
    simulate,
};
use stormglass::op::{Event, Kind, MILLISECOND, Outcome, SECOND};
use stormglass::rng::Rng;
use stormglass::workload::register::{Register, RegisterOptions};

const OPERATIONS: u64 = 1_000_000;
const TARGET: f64 = 500_000.0;

fn source() -> impl Generator {
    let rng = Rng::from_seed(42);
    let register = Register::new(RegisterOptions::default()).expect("the defaults are sound");
    let rate = Rate::try_from(1e6).expect("a rate");
    let operations = register.source(rng.fork("operations"));
    limit(OPERATIONS, clients(arrivals(rate, rng.fork("arrivals"), operations)))
}

/// The generator and nothing else: every operation completes at once.
fn generator_alone() -> f64 {
    let mut source = source();
    let mut threads = Threads::new(30, 5);
    let mut time = 0;
    let mut done = 0;
    let mut event = Event::new(Kind::Invoke, threads.process(0), "write");
    let start = Instant::now();
    loop {
        match source.next(&Context::new(time, &threads)) {
            Next::Do { what: What::Call(call), to } => {
                let thread = threads.pick(to).expect("what is offered can be done");
                threads.take(thread);
                event.process = threads.process(thread);
                (event.key, event.value) = (call.key(), call.value());
                for kind in [Kind::Invoke, Kind::Ok] {
                    event.kind = kind;
                    source.observe(&Context::new(time, &threads), &event);
                }
                threads.release(thread);
                done += 1;
            }
            Next::Do { .. } | Next::Dropped { .. } => {}
            Next::Wait { until } => time = until.expect("arrivals know when"),
            Next::Done => break,
        }
    }
    black_box(&event);
    done as f64 / start.elapsed().as_secs_f64()
}

/// With the simulated clock, latencies and all events kept, as tests use it.
fn simulated() -> f64 {
    let mut source = source();
    let start = Instant::now();
    let run = simulate(&mut source, Threads::new(3000, 5), |asked: &Asked| {
        let What::Call(call) = asked.what else { return None };
        Some(Reply { after: MILLISECOND, outcome: Outcome::Ok(call.value()) })
    });
    let seconds = start.elapsed().as_secs_f64();
    let operations: u64 = run.invocations.iter().sum();
    assert_eq!(operations, OPERATIONS);
    assert!(run.end < 3 * SECOND, "a million arrivals at 1000000/s");
    black_box(run.events.len());
    operations as f64 / seconds
}

/// One question to the threads, the part that every operation pays.
fn picks() -> f64 {
    let mut threads = Threads::new(30, 5);
    let start = Instant::now();
    for _ in 0..OPERATIONS {
        let thread = threads.pick(black_box(To::Any)).expect("all are free");
        threads.take(thread);
        threads.release(thread);
    }
    OPERATIONS as f64 / start.elapsed().as_secs_f64()
}

fn best(measure: fn() -> f64) -> f64 {
    (0..3).map(|_| measure()).fold(0.0, f64::max)
}

fn main() {
    let alone = best(generator_alone);
    println!(
        "register mix, arrivals, every event observed: {alone:.0} ops/s, \
         {:.1} times the target of {TARGET}",
        alone / TARGET
    );
    for (name, measure) in [
        ("the same in the simulator, events kept", simulated as fn() -> f64),
        ("pick, take and release a thread", picks),
    ] {
        let rate = best(measure);
        println!("{name}: {rate:.0} ops/s, {:.2} times the generator alone", rate / alone);
    }
}
