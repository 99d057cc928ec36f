//! What operators do: look at the topology regularly, and ask for changes of it now and then while the main
//! phase lasts. Each in its own time, whatever the others do.

use super::{OperatorOptions, OperatorsAt};
use crate::generator::{Context, Generator, Next, To, What};
use crate::nemesis::{FaultRecord, Phase};
use crate::op::{Call, ClusterTopology, Event, Kind, Manage, Nanos, Process};
use crate::rng::Rng;

/// Of so many turns of an operator the first is a change, the others are looks.
const TURNS_PER_CHANGE: u32 = 3;

pub struct Operators {
    options: OperatorOptions,
    /// Slots that may be migrated.
    slots: Vec<u16>,
    shards: usize,
    rng: Rng,
    /// The newest topology that anybody was told.
    known: Option<ClusterTopology>,
    /// Changes are asked for in the main phase only: afterwards the cluster is to come to rest.
    is_main: bool,
    next_slot: usize,
    next_namespace: u32,
    operators: Vec<Operator>,
}

#[derive(Clone, Debug, Default)]
struct Operator {
    due: Nanos,
    turn: u32,
    /// Its controller has answered its last look, as the leader does.
    leads: bool,
    /// A namespace of its own that it has asked for and not removed yet.
    namespace: Option<String>,
}

impl Operators {
    pub fn new(options: OperatorOptions, slots: Vec<u16>, shards: usize, rng: Rng) -> Operators {
        Operators {
            options,
            slots,
            shards,
            rng,
            known: None,
            is_main: true,
            next_slot: 0,
            next_namespace: 1,
            operators: Vec::new(),
        }
    }

    /// Turns of the operators are spread over the time between two turns of one.
    fn begin(&mut self, ctx: &Context) {
        let count = ctx.operators().len();
        let gap = self.gap();
        let begins = |position: usize| ctx.time + gap * (position as u64 + 1) / count as u64;
        self.operators = (0..count)
            .map(|position| Operator { due: begins(position), ..Operator::default() })
            .collect();
    }

    fn gap(&self) -> Nanos {
        (self.options.every.nanos() / u64::from(TURNS_PER_CHANGE)).max(1)
    }

    fn turn(&mut self, position: usize, now: Nanos) -> Call {
        // A little chance, so that no two operators keep step with each other, or with a fault.
        let gap = self.gap();
        let next = now + gap * 3 / 4 + self.rng.below(gap / 2);
        let operator = &mut self.operators[position];
        operator.due = next.max(now + 1);
        operator.turn += 1;
        // The first turn of all is a look, so that the operator knows whom it manages.
        let may_change = operator.leads || self.options.at == OperatorsAt::Any;
        let is_change = self.is_main && may_change && operator.turn % TURNS_PER_CHANGE == 2;
        let change = if is_change { self.change(position) } else { None };
        Call::Manage(change.unwrap_or(Manage::Topology))
    }

    fn change(&mut self, position: usize) -> Option<Manage> {
        let OperatorOptions { migrate, failover, namespace, .. } = self.options;
        let total = u64::from(migrate) + u64::from(failover) + u64::from(namespace);
        if total == 0 {
            return None;
        }
        let point = self.rng.below(total);
        if point < u64::from(migrate) {
            self.migrate()
        } else if point < u64::from(migrate) + u64::from(failover) {
            Some(Manage::Failover { shard: self.rng.below(self.shards as u64) as usize })
        } else {
            Some(self.namespace(position))
        }
    }

    /// The next slot in turn goes from the shard that has it to another one.
    fn migrate(&mut self) -> Option<Manage> {
        let known = self.known.as_ref().filter(|known| !known.is_migrating())?;
        let slot = *self.slots.get(self.next_slot % self.slots.len().max(1))?;
        let others = known.shards.len().checked_sub(1).filter(|others| *others > 0)?;
        let owner = known.owner(slot)?;
        self.next_slot += 1;
        let target = (owner + 1 + self.rng.below(others as u64) as usize) % known.shards.len();
        Some(Manage::Migrate { slot, target })
    }

    fn namespace(&mut self, position: usize) -> Manage {
        let operator = &mut self.operators[position];
        match operator.namespace.take() {
            Some(name) => Manage::DeleteNamespace { name },
            None => {
                let name = format!("extra{}", self.next_namespace);
                self.next_namespace += 1;
                operator.namespace = Some(name.clone());
                Manage::CreateNamespace { name }
            }
        }
    }
}

impl Generator for Operators {
    fn next(&mut self, ctx: &Context) -> Next {
        if ctx.operators().is_empty() {
            return Next::Done;
        }
        if self.operators.is_empty() {
            self.begin(ctx);
        }
        let mut soonest: Option<Nanos> = None;
        for (position, thread) in ctx.operators().enumerate() {
            if !ctx.threads.is_free(thread) {
                continue;
            }
            let due = self.operators[position].due;
            if due <= ctx.time {
                let what = What::Call(self.turn(position, ctx.time));
                return Next::Do { what, to: To::Thread(thread) };
            }
            soonest = Some(soonest.map_or(due, |soonest| soonest.min(due)));
        }
        Next::Wait { until: soonest }
    }

    fn observe(&mut self, ctx: &Context, event: &Event) {
        if let Process::Client(process) = event.process
            && event.kind != Kind::Invoke
            && &*event.f == "topology"
        {
            let thread = ctx.threads.thread_of(process);
            let position = ctx.operators().position(|operator| operator == thread);
            if let Some(operator) = position.and_then(|position| self.operators.get_mut(position)) {
                operator.leads = event.kind == Kind::Ok;
            }
        }
        match event.process {
            Process::Nemesis if &*event.f == "phase" => {
                if let Some(FaultRecord::Phase { phase }) = FaultRecord::of(event) {
                    self.is_main = phase == Phase::Main;
                }
            }
            Process::Client(_)
                if event.kind == Kind::Ok && ["topology", "migrate"].contains(&&*event.f) =>
            {
                let told = ClusterTopology::of(&event.value);
                let newer = |told: &ClusterTopology| {
                    self.known.as_ref().is_none_or(|known| known.version <= told.version)
                };
                if let Some(told) = told.filter(newer) {
                    self.known = Some(told);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use serde_json::json;

    use super::*;
    use crate::generator::{Asked, Reply, Simulated, Threads, simulate, time_limit};
    use crate::op::{MILLISECOND, Outcome, SECOND, Value};

    fn document(version: u64, owner: usize, migrating: bool) -> Value {
        let shard = |index: usize| {
            let ranges = match (index, owner) {
                (0, 0) => vec!["0-8191"],
                (0, _) => vec!["0-99", "101-8191"],
                (_, 0) => vec!["8192-16383"],
                _ => vec!["100", "8192-16383"],
            };
            let is_source = migrating && index == owner;
            json!({
                "nodes": [{ "addr": "kvrocks1:6666", "role": "master" }],
                "slot_ranges": ranges,
                "target_shard_index": if is_source { 1 - owner as i64 } else { -1 },
                "migrating_slot": if is_source { json!("100") } else { json!(null) },
            })
        };
        let shards = [shard(0), shard(1)];
        Value::Json(Box::new(json!({ "version": version, "shards": shards })))
    }

    /// A controller that finishes each migration at the next look.
    fn run(yaml: &str, operators: usize) -> Simulated {
        let options: OperatorOptions = serde_yaml::from_str(yaml).expect("yaml");
        let state = RefCell::new((1, 0, None));
        let world = |asked: &Asked| {
            let What::Call(Call::Manage(manage)) = asked.what else { panic!("{:?}", asked.what) };
            let (version, owner, coming) = &mut *state.borrow_mut();
            let outcome = match manage {
                Manage::Migrate { target, .. } => {
                    assert_ne!(target, owner, "a slot goes elsewhere");
                    assert_eq!(coming.replace(*target), None, "one at a time");
                    *version += 1;
                    Outcome::Ok(Value::Json(Box::new(json!({ "slot": 100 }))))
                }
                _ => {
                    if let Some(target) = coming.take() {
                        (*version, *owner) = (*version + 1, target);
                    }
                    Outcome::Ok(document(*version, *owner, coming.is_some()))
                }
            };
            Some(Reply { after: MILLISECOND, outcome })
        };
        let source = Operators::new(options, vec![100], 2, Rng::from_seed(1));
        let mut source = time_limit(std::time::Duration::from_secs(60), source);
        simulate(&mut source, Threads::with_operators(4, 4, operators), world)
    }

    fn count(run: &Simulated, f: &str) -> usize {
        run.events.iter().filter(|event| event.kind == Kind::Invoke && &*event.f == f).count()
    }

    #[test]
    fn slots_go_back_and_forth_and_the_topology_is_watched() {
        let run = run("{every: 3s, migrate: 1}", 1);
        let (migrations, looks) = (count(&run, "migrate"), count(&run, "topology"));
        assert!((17..=21).contains(&migrations), "{migrations} in a minute, one in 3 s");
        assert!((36..=44).contains(&looks), "{looks}");
        assert!(run.events.iter().all(|event| event.process == Process::Client(4)));
    }

    #[test]
    fn operators_act_each_in_its_own_time() {
        let run = run("{every: 3s, failover: 1, namespace: 2}", 2);
        let changes = ["failover", "create-namespace", "delete-namespace"].map(|f| count(&run, f));
        assert!((34..=42).contains(&changes.iter().sum::<usize>()), "{changes:?}");
        assert!(changes[0] > 5 && changes[1] >= changes[2] && changes[2] > 5, "{changes:?}");
        let first = run.events.first().expect("something happens");
        assert_eq!((&*first.f, first.time), ("topology", SECOND / 2));
        let processes: std::collections::BTreeSet<_> =
            run.events.iter().map(|event| event.process).collect();
        assert_eq!(processes.len(), 2);
    }

    #[test]
    fn after_the_main_phase_they_only_look() {
        let options: OperatorOptions = serde_yaml::from_str("{failover: 1}").expect("yaml");
        let mut operators = Operators::new(options, vec![], 2, Rng::from_seed(1));
        let threads = Threads::with_operators(1, 1, 1);
        let record = FaultRecord::Phase { phase: Phase::Recover };
        let event =
            Event { value: record.to_value(), ..Event::new(Kind::Info, Process::Nemesis, "phase") };
        operators.observe(&Context::new(0, &threads), &event);
        let mut time = 0;
        for _ in 0..100 {
            match operators.next(&Context::new(time, &threads)) {
                Next::Do { what, .. } => {
                    assert_eq!(what, What::Call(Call::Manage(Manage::Topology)))
                }
                Next::Wait { until: Some(until) } => time = until,
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn nobody_waits_for_operators_that_are_not_there() {
        let mut operators =
            Operators::new(OperatorOptions::default(), vec![], 2, Rng::from_seed(1));
        let threads = Threads::new(1, 1);
        assert_eq!(operators.next(&Context::new(0, &threads)), Next::Done);
    }
}
