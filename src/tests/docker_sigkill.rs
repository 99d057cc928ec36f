//! The orchestrator is killed at ten points of a run; `down` removes all that it left, and nothing of
//! a run that goes on beside it. Killed at random under random faults, it leaves the host as it was.

mod host;

use std::time::Duration;

use stormglass::docker::RunId;
use stormglass::rng::Rng;

use crate::binary::{Folder, Said};
use crate::docker_runs::driver::{Run, alone, assert_nothing_left, everything_of};
use crate::gate::{engine_to_itself, wanted};

/// Decides when exactly after its mark each run is killed.
const SEED: u64 = 20;

/// A point of a run: what breaks, the line that marks the point, and by how much later to kill at most.
struct Point {
    nemesis: &'static str,
    mark: &'static str,
    spread_ms: u64,
    /// Asked to stop first, so that it heals early.
    interrupted: bool,
}

const fn point(nemesis: &'static str, mark: &'static str, spread_ms: u64) -> Point {
    Point { nemesis, mark, spread_ms, interrupted: false }
}

const POINTS: [Point; 10] = [
    point("none", "preparing images", 300),
    point("none", "starting containers", 500),
    point("none", "starting containers", 2_500),
    point("none", "main", 2_000),
    point("partition-one", "main", 900),
    point("partition-one", "partition-one (", 1_500),
    point("partition-halves", "partition-halves (", 300),
    point("pause-majority", "pause-majority (", 1_000),
    Point { interrupted: true, ..point("partition-leader", "heal", 60) },
    Point { interrupted: true, ..point("kill", "drain", 20) },
];

impl Point {
    fn start(&self, seed: u64) -> Run {
        let set = match self.nemesis {
            "none" => "",
            _ => "--set nemesis.faults.0.after=1s",
        };
        Run::start(&format!(
            "run zookeeper/register --nemesis {} --world docker --seed {seed} --time 100s {set}",
            self.nemesis
        ))
    }

    /// Kills the run at this point.
    fn kill(&self, run: &mut Run, rng: &mut Rng) {
        if self.interrupted {
            run.await_line(&format!("{} (", self.nemesis));
            run.signal(libc::SIGINT);
        }
        run.await_line(self.mark);
        let after = rng.below(self.spread_ms);
        println!("{}: killed {after} ms after `{}`", self.nemesis, self.mark);
        std::thread::sleep(Duration::from_millis(after));
        run.kill();
    }
}

#[test]
fn what_a_killed_run_leaves_is_removed_and_a_live_run_is_not_touched() {
    if !wanted("docker") {
        return;
    }
    let _alone = alone();
    let live = "run zookeeper/register --world docker --nodes zookeeper=1 --rate 20 --time 1h";
    let mut live = Run::start(live);
    live.await_line("main");
    let whole = everything_of(&live.id());
    let mut rng = Rng::from_seed(SEED);
    for (number, pair) in POINTS.chunks(2).enumerate() {
        let mut victims: Vec<Run> = pair.iter().map(|point| point.start(number as u64)).collect();
        for (point, victim) in pair.iter().zip(&mut victims) {
            point.kill(victim, &mut rng);
        }
        swept(&mut victims, &live.id());
        victims.iter().for_each(history_is_readable);
        assert_eq!(everything_of(&live.id()), whole, "the live run is whole");
    }
    live_run_ends_well(live);
}

fn swept(victims: &mut [Run], live: &RunId) {
    let down = Folder::new().run("down");
    assert_eq!((down.code, down.err.as_str()), (Some(0), ""), "{down:?}");
    let spared = format!("left run {live}: ");
    assert!(down.out.lines().any(|line| line.starts_with(&spared)), "{down:?}");
    for victim in victims {
        assert_nothing_left(&victim.id());
    }
}

/// As far as the run got: before its main phase there is no history.
fn history_is_readable(run: &Run) {
    let results = run.folder.results();
    if !run.folder.path(&results).join("history.jsonl.zst").exists() {
        return;
    }
    let said = run.folder.run(&format!("check {results} --tolerate-tail"));
    // A fault that was in force was never healed, as far as the history knows; a calm run proves too little.
    let expected = match said.code {
        Some(3) => said.out.starts_with("Infrastructure failure") && said.out.contains("heal of"),
        Some(2 | 130) => said.out.starts_with("Unknown") || said.out.starts_with("Infrastructure"),
        _ => false,
    };
    assert!(expected, "{said:?}");
}

fn live_run_ends_well(mut live: Run) {
    let refused = Folder::new().run(&format!("down --run {}", live.id()));
    assert_eq!(refused.code, Some(64), "{refused:?}");
    assert!(refused.out.contains("--force removes it too"), "{refused:?}");
    live.signal(libc::SIGINT);
    let said = live.wait();
    assert_eq!(said.code, Some(130), "{said:?}");
    let results = live.folder.results_json(&live.folder.results());
    assert_eq!(
        (&results["interrupted"], &results["harness"]),
        (&true.into(), &serde_json::json!([]))
    );
    assert_nothing_left(&live.id());
}

/// How many runs are killed at random; `STORMGLASS_KILLS` says otherwise.
const KILLS: u64 = 6;

/// What is drawn from: several at once, so that faults overlap.
const NEMESES: [&str; 14] = [
    "kill",
    "pause",
    "stop",
    "crash",
    "partition-one",
    "partition-halves",
    "partition-one-way",
    "partition-reset",
    "partition-port",
    "throttle",
    "sever",
    "skew-bump",
    "skew-monotonic",
    "slicer",
];

const AT_ONCE: u64 = 3;

/// From the beginning of the main phase; faults begin after half a second.
const LATEST_KILL_MS: u64 = 6_000;

#[test]
fn the_host_is_as_before_after_runs_killed_at_random_under_random_faults() {
    if !wanted("docker") {
        return;
    }
    let _alone = engine_to_itself();
    let kills = std::env::var("STORMGLASS_KILLS").ok().and_then(|text| text.parse().ok());
    let before = host::State::now();
    let mut rng = Rng::from_seed(SEED).fork("random kills");
    for number in 0..kills.unwrap_or(KILLS) {
        kill_one(number, &mut rng);
        before.await_again();
    }
}

/// All was well, or the run was killed before it had made anything.
fn is_done(said: &Said) -> bool {
    match said.code {
        Some(0) => said.err.is_empty(),
        code => code == Some(64) && said.err.contains("there is no run"),
    }
}

fn kill_one(number: u64, rng: &mut Rng) {
    let mut drawn: Vec<&str> =
        (0..AT_ONCE).map(|_| NEMESES[rng.below(NEMESES.len() as u64) as usize]).collect();
    drawn.sort_unstable();
    drawn.dedup();
    let mut run = Run::start(&format!(
        "run zookeeper/register --nemesis {} --world docker --seed {number} --time 100s \
         --set nemesis.faults.0.after=500ms",
        drawn.join(",")
    ));
    run.await_line("main");
    let after = rng.below(LATEST_KILL_MS);
    std::thread::sleep(Duration::from_millis(after));
    run.kill();
    let id = run.id();
    println!("{number}: {} killed after {after} ms", drawn.join(","));
    if rng.below(2) == 0 {
        let healed = run.folder.run(&format!("heal --run {id}"));
        println!("{}", healed.out);
        assert!(is_done(&healed), "{healed:?}");
        let again = run.folder.run(&format!("heal --run {id}"));
        assert!(!again.out.contains(": healed"), "healing twice does nothing: {again:?}");
    }
    let down = run.folder.run(&format!("down --run {id}"));
    assert!(is_done(&down), "{down:?}");
    assert_nothing_left(&id);
}
