//! Histories with one fault each, and what is said of it.

use super::*;
use crate::cluster::{Check, Link, Proof};
use crate::op::{Process, SECOND, Value};

const NAME: &str = "some-fault";

fn check(holds: bool) -> Check {
    let [what, expected, seen] = ["a→b", "blocked", "passed"].map(str::to_owned);
    Check { what, expected, seen, holds }
}

fn installed(packets: Option<u64>) -> Applied {
    Applied::Installed { proof: Proof { checks: vec![check(true)], packets, took_us: 5 } }
}

fn indeterminate() -> Applied {
    Applied::Indeterminate { why: "the agent did not answer".into(), proof: None }
}

fn cut() -> Action {
    let links = [Link { from: "a".into(), to: "b".into() }].into();
    Action::Cut { fault: FaultId(1), links }
}

fn pause() -> Action {
    Action::Pause { node: "a".into() }
}

/// Collects events a second apart.
#[derive(Default)]
struct Story(Vec<Event>);

impl Story {
    fn push(mut self, process: Process, kind: Kind, f: &str, value: Value) -> Story {
        let node = (process != Process::Nemesis).then(|| "a".into());
        let index = self.0.len() as u64;
        let time = (index + 1) * SECOND;
        self.0.push(Event {
            index,
            time,
            kind,
            process,
            node,
            f: f.into(),
            key: None,
            value,
            error: None,
        });
        self
    }

    fn tell(self, record: &FaultRecord) -> Story {
        self.push(Process::Nemesis, Kind::Info, NAME, record.to_value())
    }

    fn client(self, kind: Kind) -> Story {
        self.push(Process::Client(0), kind, "read", Value::Nil)
    }

    fn begin(self, action: Action, outcome: Applied) -> Story {
        let (fault, targets) = (FaultId(1), vec!["a".into()]);
        self.tell(&FaultRecord::Begin { fault, targets, actions: vec![action.clone()] })
            .tell(&FaultRecord::Began { fault, deeds: vec![Deed { action, outcome }] })
    }

    fn end(self, action: Action, outcome: Applied) -> Story {
        let deeds = vec![Deed { action: action.undo(), outcome }];
        self.tell(&FaultRecord::Ended { fault: FaultId(1), deeds })
    }

    fn check(self, installed: bool, felt: bool, healed: bool, why: &str) {
        let found = coverage(&History::new(self.0), &[(NAME.into(), "one".into())]);
        let [one] = &found[..] else { panic!("one nemesis, one summary: {found:?}") };
        assert_eq!((one.installed, one.felt, one.healed), (installed, felt, healed), "{}", one.why);
        assert!(one.why.contains(why) && one.why.is_empty() == why.is_empty(), "{}", one.why);
    }
}

#[test]
fn a_cut_that_matched_packets_acted() {
    let story = Story::default().begin(cut(), installed(None));
    story.end(cut(), installed(Some(3))).check(true, true, true, "");
}

#[test]
fn a_cut_that_matched_nothing_was_not_felt() {
    let story = Story::default().begin(cut(), installed(None));
    story.end(cut(), installed(Some(0))).check(true, false, true, "no traffic");
}

#[test]
fn a_frozen_node_is_felt_by_an_operation_that_never_ends_and_not_by_one_before() {
    let before = Story::default().client(Kind::Invoke).client(Kind::Ok);
    let during = Story::default().begin(pause(), installed(None)).client(Kind::Invoke);
    during.client(Kind::Info).end(pause(), installed(None)).check(true, true, true, "");
    let story = before.begin(pause(), installed(None)).end(pause(), installed(None));
    story.check(true, false, true, "no traffic");
}

#[test]
fn a_proven_kill_was_felt() {
    let kill = Action::Kill { node: "a".into() };
    let story = Story::default().begin(kill.clone(), installed(None));
    story.end(kill, installed(None)).check(true, true, true, "");
}

#[test]
fn what_is_not_proven_is_not_installed_and_not_healed() {
    let proof = Proof { checks: vec![check(false)], packets: None, took_us: 0 };
    let refuted = || Applied::Installed { proof: proof.clone() };
    let story = Story::default().begin(cut(), refuted()).end(cut(), installed(Some(1)));
    story.check(false, false, true, "expected blocked, seen passed");
    let story = Story::default().begin(cut(), indeterminate()).end(cut(), installed(Some(1)));
    story.check(false, false, true, "the agent did not answer");
    let story = Story::default().begin(cut(), installed(None)).end(cut(), indeterminate());
    story.check(true, false, false, "the agent did not answer");
    let empty = Applied::Installed { proof: Proof::default() };
    let story = Story::default().begin(cut(), empty).end(cut(), installed(Some(1)));
    story.check(false, false, true, "no check was made");
}

#[test]
fn a_history_that_ends_with_the_fault_in_force_is_not_healed() {
    let story = Story::default().begin(cut(), installed(None));
    story.check(true, false, false, "ends with it in force");
}

#[test]
fn a_fault_that_was_skipped_or_never_came_did_not_act() {
    let why = "no node claims to lead now".to_owned();
    let story = Story::default().tell(&FaultRecord::Skipped { fault: FaultId(1), why });
    story.check(false, false, true, "skipped each time: no node claims to lead");
    Story::default().client(Kind::Invoke).check(false, false, true, "ended before it began");
}
