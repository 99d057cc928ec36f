//! A kvrocks cluster of seven services, our reference servers: how soon its first operation is done, and
//! how many its clients get done, in containers and in the simulation.

use std::path::Path;

use stormglass::op::{Kind, SECOND};

use super::{Ran, is_client, median};

const STARTS: usize = 3;

/// What a cluster should be up in.
const WANTED_SECONDS: f64 = 8.0;

const WORKLOAD: &str = "kvrocks/register --nemesis none --expect none --set min_ok=1";
const REFERENCE: &str = "--world docker --image kvrocks=reference --image controller=reference";

/// More than can be done, by more clients than there is work for.
const FLAT_OUT: &str = "--rate 20000 --concurrency 10n --time 10s";

pub fn measure(root: &Path) {
    let start = |_| Ran::of(root, &format!("{WORKLOAD} {REFERENCE} --time 2s")).first_ok();
    // The first one makes what is missing of the images.
    let seconds: Vec<f64> = (0..=STARTS).map(start).skip(1).collect();
    let all: Vec<String> = seconds.iter().map(|one| format!("{one:.1}")).collect();
    let up = median(seconds);
    println!(
        "kvrocks cluster of seven: command to first ok operation {up:.1} s (median of {}), {:.1} times \
         faster than wanted",
        all.join(", "),
        WANTED_SECONDS / up
    );
    let real = ok_per_second(&Ran::of(root, &format!("{WORKLOAD} {REFERENCE} {FLAT_OUT}")));
    let simulated = Ran::of(root, &format!("{WORKLOAD} {FLAT_OUT}"));
    println!("kvrocks cluster in docker: {real:.0} ok operations/s, as many as it takes");
    println!(
        "kvrocks cluster in the simulation: {:.0} ok operations a simulated second",
        ok_per_second(&simulated)
    );
    let usual = Ran::of(root, &format!("{WORKLOAD} --time 60s"));
    println!(
        "kvrocks cluster in the simulation, 200 operations/s, judged and reported: {:.1} simulated \
         seconds a second, {:.0} operations a second",
        length(&usual) / usual.wall,
        ok_per_second(&usual) * length(&usual) / usual.wall
    );
}

/// How long a run's history is.
fn length(ran: &Ran) -> f64 {
    let run = ran.results();
    run.history.events().last().map_or(0.0, |event| event.time as f64 / SECOND as f64)
}

fn ok_per_second(ran: &Ran) -> f64 {
    let run = ran.results();
    let done = run.history.events().iter();
    let done = done.filter(|event| is_client(event.process) && event.kind == Kind::Ok).count();
    done as f64 / length(ran)
}
