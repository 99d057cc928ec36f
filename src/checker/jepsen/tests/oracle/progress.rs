//! `progress`: every wait of every process, between every two changes.

use super::*;
use crate::checker::jepsen::PROGRESS;
use crate::nemesis::{FaultRecord, Phase};
use crate::op::{MILLISECOND, Nanos};
use crate::rng::Rng;

const BOUND: Nanos = 100 * MILLISECOND;

/// Clients of two nodes that are answered sooner or later, and faults that come and go.
fn random_history(rng: &mut Rng) -> Vec<Event> {
    let (clients, mut time) = (rng.between(1, 4), 1);
    let mut open: Vec<(u64, bool)> = (0..clients).map(|client| (client, false)).collect();
    let (mut fault, mut in_force, mut lines) = (0, false, Vec::new());
    for _ in 0..rng.between(2, 24) {
        time += rng.between(1, 60);
        let seconds = format!("{}.{:03}", time / 1000, time % 1000);
        if rng.chance(0.1) {
            fault += u32::from(!in_force);
            let what = if in_force { "heal" } else { "strike" };
            lines.push(format!("{seconds} nemesis {what} f{fault} kill n1"));
            in_force = !in_force;
            continue;
        }
        let client = rng.below(clients);
        let (process, is_open) = &mut open[client as usize];
        let who = format!("{process}@n{}", client % 2);
        let kind = match (*is_open, rng.below(10)) {
            (false, _) => "invoke",
            (true, 0..=1) => "info",
            (true, 2..=4) => "fail",
            (true, _) => "ok",
        };
        *is_open = !*is_open;
        if kind == "info" {
            *process += clients;
        }
        lines.push(format!("{seconds} {who} {kind} read nil"));
    }
    crate::checker::text::history(&lines.join("\n")).events().to_vec()
}

/// The stretches between two changes, from the event that begins them to the one that ends them, in
/// which no fault is in force.
fn calm(events: &[Event]) -> Vec<(usize, usize)> {
    let (mut in_force, mut from, mut found) = (false, Some(0), Vec::new());
    for (position, event) in
        events.iter().enumerate().filter(|(_, e)| e.process == Process::Nemesis)
    {
        match FaultRecord::of(event).expect("a record") {
            FaultRecord::Begin { .. } => in_force = true,
            FaultRecord::Ended { .. } => in_force = false,
            FaultRecord::Phase { phase } if phase != Phase::Heal => continue,
            _ => {}
        }
        found.extend(from.map(|from| (from, position)));
        from = (!in_force).then_some(position);
    }
    found.extend(from.map(|from| (from, events.len() - 1)));
    found
}

/// Whether somebody waits too long from one event to another.
fn is_slow(events: &[Event], (from, to): (usize, usize)) -> bool {
    let time = |at: usize| events[at].time;
    let all: Vec<Op> = ops(events)
        .into_iter()
        .filter(|op| events[op.invoke].process != Process::Nemesis)
        .filter(|op| op.invoke < to && op.done() > from)
        .collect();
    let mut left: Vec<(usize, usize)> = Vec::new();
    let mut slow = false;
    for process in all.iter().map(|op| events[op.invoke].process) {
        // Since when it waits, and when it last stopped asking.
        let mut waits: Option<(usize, usize)> = None;
        for op in all.iter().filter(|op| events[op.invoke].process == process) {
            let (begin, end) = (op.invoke.max(from), op.done().min(to));
            let goes_on = waits.filter(|(_, until)| time(begin) - time(*until) <= BOUND);
            let since = goes_on.map_or(begin, |(since, _)| since);
            slow |= time(end) - time(since) > BOUND;
            let kind = if op.done() > to { Kind::Fail } else { op.kind };
            waits = (kind == Kind::Fail).then_some((since, end));
            if kind == Kind::Info && op.complete.is_some() {
                left.push((since, end));
            }
        }
    }
    slow || left.iter().any(|left| is_left_alone(events, &all, *left, to))
}

/// Whether the clients of a node wait too long since one of them ended unanswered.
fn is_left_alone(events: &[Event], all: &[Op], (since, ended): (usize, usize), to: usize) -> bool {
    let time = |at: usize| events[at].time;
    let node = events[ended].node;
    let is_answer = |at: &usize| events[*at].kind == Kind::Ok && events[*at].node == node;
    let since = (0..ended).rev().find(is_answer).map_or(since, |last| last.max(since));
    let mut until = ended;
    for at in ended + 1..=to {
        let asks = all
            .iter()
            .any(|op| events[op.invoke].node == node && op.invoke < at && op.done() >= at);
        let asked = all
            .iter()
            .any(|op| events[op.invoke].node == node && op.invoke < until && op.done() > until);
        if asks && time(at) - time(since) > BOUND {
            return true;
        }
        let gives_up = !asks && !asked && time(at) - time(until) > BOUND;
        if is_answer(&at) || (gives_up && events[at].node == node) {
            return false;
        }
        if asks {
            until = at;
        }
    }
    false
}

#[test]
fn no_wait_is_too_long_if_none_is_between_any_two_changes() {
    let history = |seed| random_history(&mut Rng::from_seed(seed));
    let oracle = |events: &[Event], _: &Finding| {
        let stretches = calm(events);
        let slow = stretches.iter().any(|stretch| is_slow(events, *stretch));
        let disturbed = stretches.last().is_none_or(|(_, to)| *to + 1 < events.len());
        verdict(slow, disturbed)
    };
    let consistency_models = vec!["progress-within:100".to_owned()];
    let options = ModelOptions { consistency_models, ..ModelOptions::default() };
    let wanted = [Verdict::Valid, Verdict::Unknown, Verdict::Invalid];
    compare(&PROGRESS, &options, 2_000, &wanted, history, oracle);
}
