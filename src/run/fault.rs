//! Nemesis steps: look, plan, write ahead, act, record with proof; and the exact way back.

use futures::FutureExt;
use futures::future::join_all;

use super::znode::owner_of;
use super::{Done, InForce, Loop};
use crate::cluster::{Ability, Action, Applied, Client, Cluster, FaultId, View};
use crate::generator::Step;
use crate::nemesis::{
    Cause, Deed, Due, FaultRecord, Moment, Order, Phase, Plan, Roster, Turns, with_held,
};
use crate::op::Nanos;

impl<'a, C: Cluster, K: Client + 'a> Loop<'a, C, K> {
    pub(super) fn dispatch_nemesis(&mut self) -> Option<Nanos> {
        if self.phase != Phase::Main {
            return None;
        }
        loop {
            match self.schedule.next(self.now()) {
                Due::Do(step) => self.begin_step(step),
                Due::Wait(until) => return until,
            }
        }
    }

    pub(super) fn begin_step(&mut self, step: Step) {
        match step {
            Step::Begin { fault: position } => {
                self.acting += 1;
                let (cluster, office) = (self.cluster, self.office(position));
                let look = async move {
                    let view = cluster.view().await;
                    let session = match office {
                        Some(office) => owner_of(cluster, &office).await,
                        None => None,
                    };
                    Done::Viewed { position, view, session }
                };
                self.running.push(look.boxed_local());
            }
            Step::End { fault: position } => {
                let fault = self.in_force.iter().find(|(_, force)| force.position == position);
                match fault {
                    Some((fault, _)) => self.undo(*fault),
                    // One that was skipped has nothing to end.
                    None => self.schedule.carried_out(self.now(), position),
                }
            }
        }
    }

    /// Faults drawn at random do without what this world lacks, and the history says so.
    pub(super) fn leave_out_lacking(&mut self) {
        for position in 0..self.settings.faults.len() {
            let named = &self.settings.faults[position];
            let random = |turns: &Turns| turns.order == Order::Random;
            if !self.settings.turns.get(&named.nemesis).is_some_and(random) {
                continue;
            }
            let needed = named.fault.mechanisms(self.settings.leader);
            let lacking =
                self.cluster.lacks().iter().find(|one| needed.contains(&one.mechanism)).cloned();
            if let Some(Ability { mechanism, how, .. }) = lacking {
                let fault = FaultId(self.next_fault);
                self.next_fault += 1;
                let why = format!("never drawn: {mechanism} does not act here: {how}");
                let name = named.nemesis.clone();
                self.record_nemesis(&name, &FaultRecord::Skipped { fault, why });
                self.schedule.exclude(position);
            }
        }
    }

    /// The znode of the office that the fault takes away, if it does.
    fn office(&self, position: usize) -> Option<String> {
        let named =
            self.settings.faults.get(position).filter(|_| self.settings.script.is_none())?;
        named.fault.office(self.settings.leader).map(str::to_owned)
    }

    /// The view has come: resolve the target, write the plan ahead, act.
    pub(super) fn plan(&mut self, position: usize, view: View, session: Option<i64>) {
        let fault = FaultId(self.next_fault);
        self.next_fault += 1;
        let name = self.nemesis_of(position);
        let plan = match self.phase {
            Phase::Main => self.plan_of(fault, position, &view, session),
            _ => Err("the main phase ended before it could begin".into()),
        };
        if let Ok(plan) = &plan {
            self.fallen.note(&plan.actions, &view);
        }
        self.record_view(view);
        self.record_cause(&name, fault, position);
        match plan {
            Err(why) => {
                self.record_nemesis(&name, &FaultRecord::Skipped { fault, why });
                self.acting -= 1;
                self.schedule.skipped(self.now(), position);
            }
            Ok(plan) => {
                let actions = plan.actions.clone();
                self.record_ahead(
                    &name,
                    &FaultRecord::Begin { fault, targets: plan.targets, actions },
                );
                // From here on the fault may be in force, whatever happens to us.
                self.positions.insert(fault, position);
                self.in_force.insert(fault, InForce { position, actions: plan.actions.clone() });
                self.act(fault, position, Step::Begin { fault: position }, plan.actions);
            }
        }
    }

    /// What a fault does now; a schedule that is given says so itself.
    fn plan_of(
        &mut self,
        id: FaultId,
        position: usize,
        view: &View,
        session: Option<i64>,
    ) -> Result<Plan, String> {
        match &self.settings.script {
            Some(script) => {
                let entry = &script.entries[position];
                Ok(Plan { targets: entry.targets(), actions: entry.actions_of(id) })
            }
            None => {
                let intent = &self.settings.faults[position].fault;
                let cause = self.schedule.cause(position);
                let same_event = |cause: &Cause| self.viewed_at >= cause.learned;
                let before = cause.is_some_and(same_event).then_some(&self.last_view);
                let actions = self.in_force.values().flat_map(|force| &force.actions);
                let view = with_held(view, before, actions);
                let (topology, leader) = (self.cluster.topology(), self.settings.leader);
                let roster = Roster { topology, leader };
                intent.plan(id, &Moment { roster, view: &view, cause, session }, &mut self.rng)
            }
        }
    }

    pub(super) fn nemesis_of(&self, position: usize) -> String {
        match &self.settings.script {
            Some(script) => script.entries[position].nemesis.clone(),
            None => self.settings.faults[position].nemesis.clone(),
        }
    }

    fn record_cause(&mut self, name: &str, fault: FaultId, position: usize) {
        if let Some(Cause { by, happened, learned, .. }) = self.schedule.take_cause(position) {
            self.record_nemesis(name, &FaultRecord::Triggered { fault, by, happened, learned });
        }
    }

    /// Takes a fault back, action by action, all at once.
    pub(super) fn undo(&mut self, fault: FaultId) {
        self.acting += 1;
        let force = &self.in_force[&fault];
        let position = force.position;
        let actions: Vec<Action> = force.actions.iter().rev().filter_map(Action::undo).collect();
        let name = self.nemesis_of(position);
        self.record_ahead(&name, &FaultRecord::End { fault, actions: actions.clone() });
        self.act(fault, position, Step::End { fault: position }, actions);
    }

    fn act(&mut self, fault: FaultId, position: usize, step: Step, actions: Vec<Action>) {
        let cluster = self.cluster;
        let act = async move {
            let outcomes = join_all(actions.iter().map(|action| cluster.apply(action))).await;
            let mut errors = Vec::new();
            let mut deeds = Vec::new();
            for (action, outcome) in actions.into_iter().zip(outcomes) {
                let outcome = outcome.unwrap_or_else(|error| {
                    let why = format!("{error:#}");
                    errors.push(format!("{} of {fault}: {why}", action.name()));
                    Applied::Indeterminate { why, proof: None }
                });
                deeds.push(Deed { action, outcome });
            }
            Done::Acted { fault, position, step, deeds, errors }
        };
        self.running.push(act.boxed_local());
    }

    pub(super) fn acted(
        &mut self,
        fault: FaultId,
        position: usize,
        step: Step,
        deeds: Vec<Deed>,
        errors: Vec<String>,
    ) {
        let name = self.nemesis_of(position);
        let done = |deed: &&Deed| !matches!(deed.outcome, Applied::Skipped { .. });
        match step {
            Step::Begin { .. } => {
                let actions: Vec<Action> =
                    deeds.iter().filter(done).map(|deed| deed.action.clone()).collect();
                let nothing_done = actions.is_empty();
                if actions.iter().any(|action| action.undo().is_some()) {
                    self.in_force.insert(fault, InForce { position, actions });
                } else {
                    self.in_force.remove(&fault);
                }
                self.record_nemesis(&name, &FaultRecord::Began { fault, deeds });
                match nothing_done {
                    true => self.schedule.skipped(self.now(), position),
                    false => self.schedule.carried_out(self.now(), position),
                }
            }
            Step::End { .. } => {
                self.in_force.remove(&fault);
                self.record_nemesis(&name, &FaultRecord::Ended { fault, deeds });
                self.schedule.carried_out(self.now(), position);
            }
        }
        self.sink.flush();
        for error in errors {
            self.fail_harness(error);
        }
        self.acting -= 1;
    }

    fn record_ahead(&mut self, name: &str, record: &FaultRecord) {
        self.record_nemesis(name, record);
        if let Some(event) = self.ran.history.events().last() {
            self.sink.write_ahead(event);
        }
    }

    /// Records a view if it tells anything new.
    pub(super) fn record_view(&mut self, view: View) {
        let outline = |view: &View| -> Vec<_> {
            let nodes = view.nodes.iter();
            nodes.map(|(name, node)| (*name, node.state, node.leads, node.epoch)).collect()
        };
        self.viewed_at = self.now();
        if outline(&view) != outline(&self.last_view) {
            self.last_view = view.clone();
            self.record_nemesis("view", &FaultRecord::View { view });
        }
    }
}
