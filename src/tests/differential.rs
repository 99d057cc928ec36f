//! Holds the ensemble model and a real ensemble together: the same scripts, the same replies.
//!
//! The real ensemble is the truth: whatever differs beyond [`rules`] is a bug of the model, of the
//! wire client, or of a rule.

mod player;
mod rules;
mod script;
mod trace;

use std::time::Instant;

use stormglass::docker::DockerCluster;
use stormglass::rng::Rng;
use stormglass::sim::{SimCluster, SimSpec, Variant};

use self::player::{Halt, play};
use self::rules::allowed;
use self::script::{Script, generate};
use self::trace::Trace;
use crate::docker_cluster::harness::{Scratch, with_engine};

const SERVERS: usize = 3;

/// A script is played again where a real session lost its connection on a busy machine, or where the
/// real servers differ among themselves. 3.8.0 did so once: a server that had been killed showed a
/// sequential znode again that was gone before.
const TRIES: u64 = 3;

const REAL_SEEDS: u64 = 4;

fn in_the_model(script: &Script, latency_seed: u64) -> Trace {
    in_the_variant(script, latency_seed, Variant::AsShipped)
        .unwrap_or_else(|halt| panic!("seed {}: {halt:?}", script.seed))
}

fn in_the_variant(script: &Script, latency_seed: u64, variant: Variant) -> Result<Trace, Halt> {
    let simulation = async {
        let rng = Rng::from_seed(latency_seed);
        let spec = SimSpec::ensemble(SERVERS, variant, rng);
        let cluster = SimCluster::up(spec).await.expect("a simulated ensemble");
        play(&cluster, script).await
    };
    stormglass::sim::run(simulation).expect("a runtime")
}

#[test]
fn the_model_plays_a_script_the_same_way_each_time() {
    let script = generate(1, 80);
    assert!(in_the_model(&script, 1) == in_the_model(&script, 1));
}

#[test]
fn the_model_agrees_with_itself_whatever_the_latencies() {
    for seed in 1..=6 {
        let script = generate(seed, 150);
        let (one, other) = (in_the_model(&script, seed), in_the_model(&script, seed + 1000));
        let figures = allowed(&script, &one, &other);
        let [one, other] = figures.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        println!("seed {seed}: {one:?}\n        {other:?}");
    }
}

/// Each is caught by some script, or the comparison would be worth nothing.
#[test]
fn a_model_with_a_planted_bug_does_not_agree() {
    for variant in [Variant::StaleBarrier, Variant::LosesAckedWrite] {
        let caught = (1..=10).find_map(|seed| {
            let script = generate(seed, 60);
            let why = match in_the_variant(&script, seed, variant) {
                Ok(trace) => allowed(&script, &in_the_model(&script, seed), &trace).err()?,
                Err(Halt::Broken(why) | Halt::Divided(why)) => why,
                // A lost connection proves nothing.
                Err(Halt::Disturbed(_)) => return None,
            };
            Some((seed, why))
        });
        let (seed, why) = caught.unwrap_or_else(|| panic!("{variant} agrees"));
        println!("{variant}, seed {seed}: {}", why.lines().take(4).collect::<Vec<_>>().join("\n"));
    }
}

/// `STORMGLASS_ROUNDS=10` plays ten times as many scripts.
fn rounds() -> u64 {
    std::env::var("STORMGLASS_ROUNDS").map_or(1, |times| times.parse().expect("a number"))
}

#[test]
fn the_model_agrees_with_a_real_ensemble() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up(SERVERS).await;
        for seed in 1..=REAL_SEEDS * rounds() {
            let began = Instant::now();
            let (script, real) = in_the_real_world(&cluster, seed).await;
            let model = std::thread::spawn({
                let script = script.clone();
                move || in_the_model(&script, seed)
            });
            let model = model.join().expect("the model's trace");
            let figures = allowed(&script, &model, &real);
            let [model, real] = figures.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            println!("seed {seed}, {:.1} s:", began.elapsed().as_secs_f64());
            println!("  model {model:?}\n  real  {real:?}");
        }
        scratch.down(cluster).await;
    });
}

async fn in_the_real_world(cluster: &DockerCluster, seed: u64) -> (Script, Trace) {
    let mut script = generate(seed, 250);
    for attempt in 1..=TRIES {
        // A root of its own for each attempt.
        script.seed = seed + attempt * 1_000;
        match play(cluster, &script).await {
            Ok(trace) => return (script, trace),
            Err(Halt::Disturbed(why)) => println!("seed {seed}, attempt {attempt}: {why}"),
            Err(Halt::Divided(why)) => {
                println!("seed {seed}, attempt {attempt}: ZooKeeper's own servers differ: {why}");
            }
            Err(Halt::Broken(why)) => panic!("seed {seed}: {why}"),
        }
    }
    panic!("seed {seed}: disturbed {TRIES} times")
}
