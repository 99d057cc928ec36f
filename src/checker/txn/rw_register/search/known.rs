//! What is known before any choice: who read from whom, the orders to keep, and versions in order.

use super::precedence::{Edge, Precedence, Why};
use super::{Asked, Goal, Keep, Scene};
use crate::checker::txn::rw_register::versions::Writer;
use crate::checker::txn::table::{NONE, Outcome, Step};
use crate::checker::txn::weak::committed::{Committed, INITIAL};

/// The moment at which a transaction reads.
pub(crate) fn begin(goal: Goal, node: u32) -> u32 {
    match goal {
        Goal::Serial => node,
        Goal::Snapshot => node * 2,
    }
}

/// The moment at which it writes.
pub(crate) fn commit(goal: Goal, node: u32) -> u32 {
    match goal {
        Goal::Serial => node,
        Goal::Snapshot => node * 2 + 1,
    }
}

/// The transaction of a moment; beyond the last one for moments of real time.
pub(crate) fn node_of(goal: Goal, moment: u32) -> u32 {
    match goal {
        Goal::Serial => moment,
        Goal::Snapshot => moment / 2,
    }
}

fn own(committed: &Committed, goal: Goal) -> usize {
    match goal {
        Goal::Serial => committed.len(),
        Goal::Snapshot => committed.len() * 2,
    }
}

/// How many nodes there are: those of transactions, and one for each moment of real time.
pub(crate) fn nodes(committed: &Committed, asked: Asked) -> usize {
    let moments = match asked.keep {
        Keep::RealTime => moments(committed).1,
        Keep::Nothing | Keep::Process => 0,
    };
    own(committed, asked.goal) + moments as usize
}

pub(crate) fn known(scene: &Scene, asked: Asked) -> Precedence {
    let (committed, goal) = (scene.committed, asked.goal);
    let mut edges = Vec::new();
    for node in 0..committed.len() as u32 {
        add_node(committed, asked, node, &mut edges);
    }
    versions(scene, goal, &mut edges);
    if asked.keep == Keep::RealTime {
        real_time(committed, goal, &mut edges);
    }
    Precedence::new(nodes(committed, asked), edges)
}

fn add_node(committed: &Committed, asked: Asked, node: u32, edges: &mut Vec<Edge>) {
    let goal = asked.goal;
    let mut add = |from: u32, to: u32, why: Why| edges.push(Edge { from, to, why });
    if goal == Goal::Snapshot {
        add(begin(goal, node), commit(goal, node), Why::Begin);
    }
    if node == INITIAL {
        return;
    }
    add(commit(goal, INITIAL), begin(goal, node), Why::Initial);
    let before = committed.session_predecessor(node).filter(|before| *before != INITIAL);
    if let (Some(before), Keep::Process) = (before, asked.keep) {
        add(commit(goal, before), begin(goal, node), Why::Process);
    }
    for read in committed.reads(node) {
        let why = Why::Read { version: read.version };
        add(commit(goal, read.writer), begin(goal, node), why);
    }
}

fn versions(scene: &Scene, goal: Goal, edges: &mut Vec<Edge>) {
    let committed = scene.committed;
    let registers = committed.registers;
    let mut node_of = vec![NONE; registers.table.len()];
    for node in 1..committed.len() as u32 {
        node_of[committed.txns[node as usize] as usize] = node;
    }
    for node in 1..committed.len() as u32 {
        let txn = committed.txns[node as usize];
        for edge in scene.prints.writes.of(txn).iter().flat_map(|v| scene.order.after(*v)) {
            let Writer::One(later) = registers.versions[edge.to as usize].writer else { continue };
            let later = node_of[later as usize];
            if later != NONE && later != node {
                let why = Why::Version { key: registers.key(edge.from) };
                edges.push(Edge { from: commit(goal, node), to: begin(goal, later), why });
            }
        }
    }
}

/// Of each step of the table the node of its transaction and the moment that it belongs to, and how many
/// moments there are: one for all completions between two invocations.
fn moments(committed: &Committed) -> (Vec<(Step, u32)>, u32) {
    let table = committed.registers.table;
    let (mut steps, mut count, mut asked_since) = (Vec::new(), 0_u32, true);
    for step in table.steps() {
        match step {
            Step::Invoke(txn) if table.txn(txn).outcome != Outcome::Fail => {
                if count > 0 {
                    steps.push((step, count - 1));
                    asked_since = true;
                }
            }
            Step::Complete(txn) if table.txn(txn).is_ok() => {
                count += u32::from(asked_since);
                asked_since = false;
                steps.push((step, count - 1));
            }
            Step::Invoke(_) | Step::Complete(_) => {}
        }
    }
    (steps, count)
}

fn real_time(committed: &Committed, goal: Goal, edges: &mut Vec<Edge>) {
    let first = own(committed, goal) as u32;
    let mut node_of = vec![NONE; committed.registers.table.len()];
    for node in 1..committed.len() as u32 {
        node_of[committed.txns[node as usize] as usize] = node;
    }
    let (steps, count) = moments(committed);
    let why = Why::RealTime;
    for moment in 1..count {
        edges.push(Edge { from: first + moment - 1, to: first + moment, why });
    }
    for (step, moment) in steps {
        let moment = first + moment;
        match step {
            Step::Invoke(txn) if node_of[txn as usize] != NONE => {
                edges.push(Edge { from: moment, to: begin(goal, node_of[txn as usize]), why });
            }
            Step::Complete(txn) if node_of[txn as usize] != NONE => {
                edges.push(Edge { from: commit(goal, node_of[txn as usize]), to: moment, why });
            }
            Step::Invoke(_) | Step::Complete(_) => {}
        }
    }
}
