//! From a scenario and a history to results: runs the checkers, judges, counts. Used by a run at its
//! end and by `check` on a folder, with the same answer.

mod stopped;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::checker::{
    Availability, Budget, Case, Checker, Exhausted, Finding, Judgement, KvrocksBounds,
    KvrocksChecks, KvrocksObject, Linearizability, Recovery, RegisterModel, Stats, WantedChanges,
    compose, count_operations, judge, kvrocks_checkers,
};
use crate::cluster::Role;
use crate::history::History;
use crate::nemesis::{Fault, FaultRecord, NamedNemesis, coverage, failovers};
use crate::op::SECOND;
use crate::report::{Results, clocks, hits, triggers};
use crate::run::Interrupt;
use crate::scenario::{NamedFault, Scenario};
use crate::workload::kvrocks::{DataKind, Kvrocks, OperatorOptions, OperatorsAt};
use crate::workload::{AnyWorkload, OptionError};
use stopped::Stopped;

/// How long and how big checking may get.
#[derive(Clone)]
pub struct Limits {
    pub time: Duration,
    pub memory_bytes: usize,
    /// Raised twice, it ends checking at once, with what has been settled.
    pub interrupt: Interrupt,
}

impl Default for Limits {
    fn default() -> Limits {
        let (time, memory_bytes) = (Duration::from_secs(60), 4 << 30);
        Limits { time, memory_bytes, interrupt: Interrupt::default() }
    }
}

impl Limits {
    /// Starts a clock that tells when the time is up.
    pub fn start(&self) -> Exhausted<'static> {
        // A budget beyond what a clock can hold never ends.
        let end = Instant::now().checked_add(self.time);
        let interrupt = self.interrupt.clone();
        Box::new(move || end.is_some_and(|end| Instant::now() >= end) || interrupt.count() > 1)
    }
}

/// Runs these checkers, all under the same limits.
pub fn check(
    history: &History,
    checkers: &mut [Box<dyn Checker>],
    limits: &Limits,
) -> Vec<Finding> {
    let exhausted = limits.start();
    let budget =
        Budget { exhausted: &*exhausted, memory: limits.memory_bytes, ..Budget::UNBOUNDED };
    compose(history, checkers, &budget).findings
}

/// The checkers of this scenario.
pub fn checkers(scenario: &Scenario) -> Result<Vec<Box<dyn Checker>>, OptionError> {
    let spec = &scenario.workload;
    let workload = AnyWorkload::of(spec)?;
    let crew = workload.get().crew(&scenario.topology(), spec.concurrency);
    let kinds = workload.get().kinds().into_iter().map(Into::into).collect();
    let recover_within = spec.recover_within.nanos();
    let mut checkers: Vec<Box<dyn Checker>> = Vec::new();
    let (changes, first_change) = match &workload {
        AnyWorkload::Register(_) => (WantedChanges::None, 0),
        AnyWorkload::Kvrocks(kvrocks) => {
            let operators = &kvrocks.options().operators;
            // An operator's second turn of three is its first change.
            let first = if operators.each == 0 { 0 } else { operators.every.nanos() };
            (wanted(operators), first)
        }
    };
    match workload {
        AnyWorkload::Register(_) => {
            checkers.push(Box::new(Linearizability::new(RegisterModel::CAS_REGISTER)));
        }
        AnyWorkload::Kvrocks(kvrocks) => {
            checkers.extend(kvrocks_checkers(&kvrocks_checks(scenario, &kvrocks)));
        }
    }
    let (crew_of_stats, min_ok) = (crew.clone(), spec.min_ok);
    checkers.push(Box::new(Stats { kinds, crew: crew_of_stats, min_ok, changes, first_change }));
    checkers.push(Box::new(Recovery { recover_within, crew }));
    checkers.push(Box::new(Availability));
    Ok(checkers)
}

/// What the operators were to ask for; where anybody may ask anything, one change of any kind will do.
fn wanted(operators: &OperatorOptions) -> WantedChanges {
    let OperatorOptions { migrate, failover, namespace, at, .. } = *operators;
    let (migration, failover) = (migrate > 0, failover > 0);
    match (at, migration || failover || namespace > 0) {
        (_, false) => WantedChanges::None,
        (OperatorsAt::Any, true) => WantedChanges::Any,
        (OperatorsAt::Leader, true) if !migration && !failover => WantedChanges::Any,
        (OperatorsAt::Leader, true) => WantedChanges::Each { migration, failover },
    }
}

fn kvrocks_checks(scenario: &Scenario, kvrocks: &Kvrocks) -> KvrocksChecks {
    let object = match kvrocks.options().data {
        DataKind::Register => KvrocksObject::Register(RegisterModel::CAS_REGISTER),
        DataKind::Append => KvrocksObject::List,
        DataKind::Set => KvrocksObject::Set,
        DataKind::Counter => KvrocksObject::Counter,
        DataKind::Lock => KvrocksObject::Lock { ttl: kvrocks.options().lock.ttl.nanos() },
    };
    KvrocksChecks {
        shards: kvrocks.shards(&scenario.topology()),
        object: Some(object),
        bounds: kvrocks_bounds(scenario),
    }
}

/// From the controllers' own settings, where the scenario has them; else from those they come with.
fn kvrocks_bounds(scenario: &Scenario) -> KvrocksBounds {
    let settings = scenario.workload.config.get(&Role::Controller);
    let number = |name: &str, usual: u64| {
        let set = settings.and_then(|all| all.get(&format!("controller.failover.{name}")));
        set.and_then(|set| set.trim().parse().ok()).unwrap_or(usual)
    };
    let interval = number("ping_interval_seconds", 1).saturating_mul(SECOND);
    let recover_within = scenario.workload.recover_within.nanos();
    KvrocksBounds::new(recover_within, interval, number("max_ping_count", 3))
}

/// Each nemesis once: all that those of one name did is one summary.
fn nemeses(scenario: &Scenario) -> Vec<NamedNemesis> {
    if let Some(script) = &scenario.script {
        let named = |(fault, target)| NamedNemesis { fault, target, ..NamedNemesis::default() };
        return script.nemeses().into_iter().map(named).collect();
    }
    let mut seen = BTreeSet::new();
    let first = scenario.faults.iter().filter(|named| seen.insert(&named.nemesis));
    let leader = scenario.workload.leader;
    first.map(|named| nemesis(&named.nemesis, &scenario.faults, leader)).collect()
}

fn nemesis(name: &str, faults: &[NamedFault], leader: Role) -> NamedNemesis {
    let own = || faults.iter().filter(|named| named.nemesis == name).map(|named| &named.fault);
    let mut aims: Vec<String> = Vec::new();
    for aim in own().map(Fault::aim) {
        if !aims.contains(&aim) {
            aims.push(aim);
        }
    }
    NamedNemesis {
        fault: name.to_owned(),
        target: aims.join(" | "),
        pace: own().find_map(|fault| fault.pace),
        leads: own().find(|fault| fault.pace.is_some()).map(|fault| fault.led_role(leader)),
        when: own().filter_map(|fault| fault.when.clone()).collect(),
        first: own().filter(|fault| fault.when.is_none()).map(|fault| fault.after).min(),
        stopped: None,
    }
}

/// Judges a run from what it left behind. `broken` are failures that the history does not tell.
pub fn conclude(
    scenario: &Scenario,
    history: &History,
    broken: &[String],
    limits: &Limits,
) -> Results {
    let (mut checkers, unsound) = match checkers(scenario) {
        Ok(checkers) => (checkers, None),
        Err(error) => (Vec::new(), Some(format!("the saved workload makes no sense: {error}"))),
    };
    let findings = check(history, &mut checkers, limits);
    let stopped = Stopped::of(history);
    let mut named = nemeses(scenario);
    for nemesis in &mut named {
        nemesis.stopped = stopped.map(|stopped| stopped.at);
    }
    let coverage = coverage(history, &named);
    let failovers = failovers(history, &named);
    let (hits, hits_total) = hits(history);
    let told = Told::of(history);
    let identity = scenario.identity();
    let harness: Vec<String> = told.harness.iter().chain(broken).chain(&unsound).cloned().collect();
    let case = Case {
        findings: &findings,
        faults: &coverage.summaries,
        failovers: failovers.as_ref(),
        harness: &harness,
        interrupted: told.interrupted,
        expectations: &scenario.workload.expect,
        identity: &identity,
    };
    let judgement = match stopped {
        Some(stopped) => stopped.judgement(judge_part(&case), !harness.is_empty()),
        None => judge(&case),
    };
    Results {
        verdict: judgement.verdict.to_owned(),
        why: judgement.why,
        expected: judgement.expected,
        exit_code: judgement.exit_code,
        interrupted: told.interrupted,
        seed: scenario.seed,
        world: scenario.world.name().to_owned(),
        workload: scenario.name.clone(),
        nemesis: scenario.nemesis.clone(),
        variant: scenario.variants(),
        images: scenario.images.clone(),
        ops: count_operations(history),
        dropped: told.dropped,
        checkers: findings,
        faults: coverage.summaries,
        coverage: coverage.cells,
        skipped: coverage.skipped,
        triggers: triggers(history, &named),
        hits,
        hits_total,
        clocks: clocks(history),
        failovers,
        harness,
        repro: scenario.repro(),
        version: scenario.version.clone(),
    }
}

/// Of a part of a run: an anomaly that is expected and was not found there may have come later.
fn judge_part(case: &Case) -> Judgement {
    let judgement = judge(case);
    match &judgement.expected {
        Some(expected) if !expected.found => judge(&Case { expectations: &[], ..*case }),
        _ => judgement,
    }
}

/// What the history says of the run itself.
#[derive(Default)]
struct Told {
    harness: Vec<String>,
    dropped: u64,
    interrupted: bool,
}

impl Told {
    fn of(history: &History) -> Told {
        let mut told = Told::default();
        for event in history.events() {
            match FaultRecord::of(event) {
                Some(FaultRecord::Harness { error }) => told.harness.push(error),
                Some(FaultRecord::Dropped { count, .. }) => told.dropped += count,
                Some(FaultRecord::Interrupted { .. }) => told.interrupted = true,
                _ => {}
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::World;
    use crate::scenario::Overrides;

    #[test]
    fn a_workload_without_what_it_is_about_is_no_verdict() {
        let operators = |yaml: &str| serde_yaml::from_str(yaml).expect(yaml);
        for (yaml, expected) in [
            ("{}", WantedChanges::None),
            ("{migrate: 1, each: 0}", WantedChanges::Each { migration: true, failover: false }),
            ("{migrate: 2, failover: 1}", WantedChanges::Each { migration: true, failover: true }),
            ("{namespace: 1}", WantedChanges::Any),
            ("{at: any, migrate: 4, failover: 1, namespace: 3}", WantedChanges::Any),
        ] {
            assert_eq!(wanted(&operators(yaml)), expected, "{yaml}");
        }
    }

    #[test]
    fn a_nemesis_named_twice_is_summed_up_once() {
        let names = "kill,pause-leader,kill";
        let scenario =
            Scenario::load("zookeeper/register", names, World::Sim, 1, &Overrides::default());
        let nemeses = nemeses(&scenario.expect("built-in names"));
        let told: Vec<(&str, &str)> =
            nemeses.iter().map(|one| (one.fault.as_str(), one.target.as_str())).collect();
        assert_eq!(told, [("kill", "one"), ("pause-leader", "leader")]);
    }
}
