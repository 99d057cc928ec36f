//! Synthetic runs for the reports' tests: seeded, so that the same call gives the same run.
//!
//! They are no simulation: latencies and losses are drawn, and values follow one order per key.

mod kvrocks;
mod nemesis;
mod storm;
mod workload;

use std::collections::BTreeMap;

use stormglass::checker::{Anomaly, Finding, Verdict};
use stormglass::history::History;
use stormglass::nemesis::{Coverage, NamedNemesis, coverage, failovers};
use stormglass::op::{Kind, Nanos, SECOND};
use stormglass::report::{FaultSummary, OpCounts, ReportInput, Results, clocks, hits, triggers};

pub const NODES: [&str; 3] = ["zookeeper1", "zookeeper2", "zookeeper3"];

/// What kind of run is made.
#[derive(Clone, Copy)]
pub struct Plan {
    pub seed: u64,
    pub seconds: u64,
    pub rate: u64,
    /// Nodes are cut off in these stretches of time, in seconds, in turn.
    pub cuts: &'static [(u64, u64)],
    /// Reads at a node that is cut off are answered from its old state.
    pub stale_reads: bool,
    /// Operations still running at this second were never completed, and faults never healed.
    pub interrupted_at: Option<u64>,
    /// Faults of every other kind, too.
    pub storm: bool,
    /// Error texts and values that would break out of a careless page.
    pub hostile: bool,
}

const PLAIN: Plan = Plan {
    seed: 7,
    seconds: 60,
    rate: 200,
    cuts: &[(10, 20), (35, 45)],
    stale_reads: false,
    interrupted_at: None,
    storm: false,
    hostile: false,
};

pub const HOSTILE_TEXT: &str =
    "</script><b>boo</b><img src=x onerror=alert(1)>\u{1b}[31m & \"quoted\"";

/// A run as the reports see it.
pub struct Run {
    pub results: Results,
    pub history: History,
    pub scenario: String,
    pub environment: Vec<(String, String)>,
}

impl Run {
    pub fn html(&self) -> String {
        let input = ReportInput {
            scenario_yaml: &self.scenario,
            started_at: "2026-09-14 02:31:07 UTC",
            folder: "results/zookeeper/register-local-reads/20260914T023107-s7",
            schedule: "schedule.yaml",
            environment: &self.environment,
        };
        stormglass::report::html(&self.results, &self.history, &input)
    }
}

pub fn valid() -> Run {
    run(PLAIN)
}

pub fn invalid() -> Run {
    run(Plan { stale_reads: true, ..PLAIN })
}

pub fn large() -> Run {
    run(Plan { seconds: 600, rate: 550, stale_reads: true, ..PLAIN })
}

pub fn interrupted() -> Run {
    run(Plan { interrupted_at: Some(40), ..PLAIN })
}

/// Two minutes under faults of every kind, some of which did not act.
pub fn storm() -> Run {
    let mut run = run(Plan { seconds: 120, rate: 120, cuts: &[(10, 20)], storm: true, ..PLAIN });
    let results = &mut run.results;
    let named = storm::named();
    let Coverage { summaries, cells, skipped } = coverage(&run.history, &named);
    results.faults = summaries;
    results.coverage = cells;
    results.skipped = skipped;
    results.triggers = triggers(&run.history, &named);
    (results.hits, results.hits_total) = hits(&run.history);
    results.clocks = clocks(&run.history);
    results.failovers = failovers(&run.history, &named);
    let names: Vec<&str> = named.iter().map(|nemesis| &*nemesis.fault).collect();
    results.repro = results.repro.replace("partition-one", &names.join(","));
    results.nemesis = names.join(",");
    (results.verdict, results.exit_code) = ("unknown".into(), 2);
    results.why = "late-reply did not act: no message of the workload matched; mix did not act: \
                   cut is indeterminate; pause-on-log did not act: it was never begun"
        .into();
    run
}

/// Slots of a kvrocks cluster that migrate, and one that two nodes write for a while.
pub fn split_brain() -> Run {
    let (history, ops) = kvrocks::history();
    let anomaly = Anomaly {
        kind: "split-brain".into(),
        summary: "slot 130 was written at kvrocks1 and kvrocks3 at the same time from 24.500 s to \
                  27.000 s: 41 writes and 44 writes were acknowledged, 44 of them lost, both under \
                  topology version 6"
            .into(),
        details: vec!["the destination had applied SUCCESS, and its reply was lost".into()],
        key: Some("3".into()),
        nodes: vec!["kvrocks1".into(), "kvrocks3".into()],
        ops,
        from: kvrocks::SPLIT.0,
        to: kvrocks::SPLIT.1,
        faults: None,
        cycle: None,
    };
    let mut results = results(&PLAIN, &history, &[]);
    (results.verdict, results.exit_code) = ("invalid".into(), 1);
    results.why = anomaly.summary.clone();
    results.workload = "kvrocks/migration".into();
    results.nemesis = "reply-loss".into();
    results.variant.insert("controller".into(), "as-shipped".into());
    results.checkers.push(Finding {
        name: "single-writer".into(),
        verdict: Verdict::Invalid,
        why: "1,204 acknowledged writes in 3 slots: one slot had two writers".into(),
        anomalies: vec![anomaly],
        figures: BTreeMap::from([("slots".into(), 3.0), ("lost".into(), 44.0)]),
        consistency: None,
        keys: None,
    });
    Run { results, history, scenario: scenario(&PLAIN), environment: environment() }
}

pub fn hostile() -> Run {
    run(Plan { hostile: true, stale_reads: true, seconds: 25, rate: 80, ..PLAIN })
}

pub fn empty() -> Run {
    let history = History::default();
    let mut results = results(&PLAIN, &history, &[]);
    results.verdict = "infrastructure".into();
    results.why = "The image zookeeper:3.9 could not be had, so nothing was started.".into();
    results.exit_code = 3;
    results.harness = vec!["image zookeeper:3.9: no such image, and building it failed".into()];
    results.dropped = 0;
    results.checkers.clear();
    results.faults.clear();
    results.coverage.clear();
    Run { results, history, scenario: String::new(), environment: Vec::new() }
}

fn run(plan: Plan) -> Run {
    let made = workload::make(&plan);
    let results = results(&plan, &made.history, &made.stale);
    Run { results, history: made.history, scenario: scenario(&plan), environment: environment() }
}

fn results(plan: &Plan, history: &History, stale: &[workload::StaleRead]) -> Results {
    let anomalies: Vec<Anomaly> = stale.iter().map(|read| anomaly(plan, read)).collect();
    let is_invalid = !anomalies.is_empty();
    let (verdict, exit_code) = if is_invalid { ("invalid", 1) } else { ("valid", 0) };
    let interrupted = plan.interrupted_at.is_some();
    Results {
        verdict: verdict.into(),
        why: match stale.first() {
            Some(read) => format!(
                "Reads at {} returned values that acknowledged writes had replaced, while it was cut \
                 off from the other nodes.",
                read.node
            ),
            None => "All checkers passed; both partitions were felt and healed.".into(),
        },
        expected: None,
        exit_code: if interrupted { 130 } else { exit_code },
        interrupted,
        seed: plan.seed,
        world: "docker".into(),
        workload: "zookeeper/register-local-reads".into(),
        nemesis: "partition-one".into(),
        variant: BTreeMap::from([("kvrocks".into(), "as-shipped".into())]),
        images: BTreeMap::new(),
        ops: counts(history),
        dropped: 17,
        checkers: checkers(anomalies, history),
        faults: vec![fault(plan)],
        coverage: coverage(history, &[partition_one()]).cells,
        skipped: Vec::new(),
        triggers: Vec::new(),
        hits: Vec::new(),
        hits_total: 0,
        clocks: Vec::new(),
        failovers: None,
        harness: Vec::new(),
        repro: format!(
            "stormglass run zookeeper/register-local-reads --nemesis partition-one --world docker \
             --time {}s --rate {} --concurrency 10n --seed {}",
            plan.seconds, plan.rate, plan.seed
        ),
        version: "stormglass 0.1.0".into(),
    }
}

fn anomaly(plan: &Plan, read: &workload::StaleRead) -> Anomaly {
    let mut details = vec![
        format!("The last state both nodes agreed on is {}.", read.seen),
        format!("{} was acknowledged {:.0} ms before the read began.", read.newer, read.late_ms),
        "No order of these operations gives this read, whatever becomes of the unknown ones."
            .into(),
    ];
    if plan.hostile {
        details.push(HOSTILE_TEXT.into());
    }
    Anomaly {
        kind: "nonlinearizable".into(),
        summary: read.summary.clone(),
        details,
        key: Some(read.key.to_string()),
        nodes: vec![read.node.to_string()],
        ops: read.ops.clone(),
        from: read.from,
        to: read.to,
        faults: None,
        cycle: None,
    }
}

fn checkers(anomalies: Vec<Anomaly>, history: &History) -> Vec<Finding> {
    let operations = history.operations().len() as f64;
    let verdict = if anomalies.is_empty() { Verdict::Valid } else { Verdict::Invalid };
    let figures = |figures: &[(&str, f64)]| {
        figures.iter().map(|(name, value)| (name.to_string(), *value)).collect()
    };
    vec![
        Finding {
            name: "linearizable".into(),
            verdict,
            why: "8 keys searched to the end, decided by zones and a search.".into(),
            anomalies,
            figures: figures(&[("keys", 8.0), ("operations", operations), ("searched", 52_318.0)]),
            consistency: None,
            keys: None,
        },
        Finding {
            name: "recovery".into(),
            verdict: Verdict::Valid,
            why: "Every client had an ok within 60 s of the heal.".into(),
            anomalies: Vec::new(),
            figures: figures(&[("slowest-recovery-ms", 412.0), ("clients", 30.0)]),
            consistency: None,
            keys: None,
        },
    ]
}

fn fault(plan: &Plan) -> FaultSummary {
    let healed = plan.interrupted_at.is_none();
    FaultSummary {
        fault: "partition-one".into(),
        target: "one".into(),
        installed: true,
        felt: true,
        healed,
        momentary: false,
        times: plan.cuts.len() as u64,
        skipped: 0,
        why: if healed { String::new() } else { "interrupted before the second heal".into() },
    }
}

fn partition_one() -> NamedNemesis {
    NamedNemesis { fault: "partition-one".into(), target: "one".into(), ..NamedNemesis::default() }
}

fn counts(history: &History) -> BTreeMap<String, OpCounts> {
    let mut counts: BTreeMap<String, OpCounts> = BTreeMap::new();
    for (invoke, completion) in history.operations() {
        let of_kind = counts.entry(invoke.f.to_string()).or_default();
        match completion.map(|event| event.kind) {
            Some(Kind::Ok) => of_kind.ok += 1,
            Some(Kind::Fail) => of_kind.fail += 1,
            _ => of_kind.info += 1,
        }
    }
    counts
}

fn scenario(plan: &Plan) -> String {
    let note = if plan.hostile { format!("note: '{HOSTILE_TEXT}'\n") } else { String::new() };
    format!(
        "workload: zookeeper/register-local-reads\nnemesis: partition-one\nworld: docker\n\
         time: {}s\nrate: {}\nconcurrency: 10n\nseed: {}\nnodes:\n  zookeeper: 3\nmix:\n  \
         read: 5\n  write: 4\n  cas: 1\nkeys: 8\nrecover_within: 60s\n{note}",
        plan.seconds, plan.rate, plan.seed
    )
}

fn environment() -> Vec<(String, String)> {
    [
        ("engine", "Docker 20.10.24, API 1.41"),
        ("kernel", "6.1.0-28-amd64"),
        ("zookeeper", "zookeeper:3.9@sha256:5b0e2d4f7a93"),
    ]
    .map(|(name, value)| (name.to_string(), value.to_string()))
    .into()
}

/// Which node is cut off from the others now, if any.
pub fn cut_off(plan: &Plan, time: Nanos) -> Option<(usize, Nanos)> {
    let cut = |(number, (from, to)): (usize, &(u64, u64))| {
        (from * SECOND..to * SECOND)
            .contains(&time)
            .then_some((number % NODES.len(), from * SECOND))
    };
    plan.cuts.iter().enumerate().find_map(cut)
}
