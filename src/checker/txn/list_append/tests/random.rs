//! Small random histories.

use serde_json::{Value as Json, json};

use crate::op::{Event, Kind, Process, Value};
use crate::rng::Rng;

#[derive(Clone, Debug)]
pub enum Op {
    Append { key: usize, value: u32 },
    Read { key: usize, list: Vec<u32> },
}

#[derive(Clone, Debug)]
pub struct Txn {
    pub process: u32,
    pub kind: Kind,
    pub ops: Vec<Op>,
    /// Positions in the history.
    pub invoked: usize,
    pub completed: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct Case {
    pub txns: Vec<Txn>,
    events: usize,
}

const KEYS: usize = 2;

/// How the reads of a random history come about.
#[derive(Clone, Copy, Debug)]
pub enum Store {
    /// All at one moment within the transaction.
    Serial,
    /// All at one moment, whenever that was.
    Shuffled,
    /// Each read and each append at a moment of its own.
    Torn,
    /// Any beginning of the list that there was in the end.
    Prefixes,
}

/// A history of so many transactions; with `end`, one more reads all there is.
pub fn case(rng: &mut Rng, txns: usize, end: bool) -> Case {
    let mut case = skeleton(rng, txns);
    let stores = [Store::Serial, Store::Shuffled, Store::Torn, Store::Prefixes];
    let store = *rng.pick(&stores).expect("four of them");
    let lists = fill(rng, &mut case, store);
    if rng.chance(0.3) {
        disturb(rng, &mut case);
    }
    if end {
        let ops = (0..KEYS).map(|key| Op::Read { key, list: lists[key].clone() }).collect();
        let invoked = case.events;
        let completed = Some(invoked + 1);
        case.txns.push(Txn { process: 99, kind: Kind::Ok, ops, invoked, completed });
        case.events += 2;
    }
    case
}

/// Transactions of two or three processes, overlapping anyhow.
fn skeleton(rng: &mut Rng, txns: usize) -> Case {
    let processes = 1 + rng.below(3) as usize;
    let mut case = Case { txns: Vec::new(), events: 0 };
    let mut open: Vec<Option<usize>> = vec![None; processes];
    let mut next = [1u32; KEYS];
    let mut retired = 0;
    while case.txns.len() < txns || open.iter().any(Option::is_some) {
        let process = rng.below(processes as u64) as usize;
        match open[process].take() {
            Some(txn) => {
                case.txns[txn].completed = Some(case.events);
                case.txns[txn].kind = match rng.below(10) {
                    0 => Kind::Fail,
                    1 | 2 => Kind::Info,
                    _ => Kind::Ok,
                };
                retired += (case.txns[txn].kind == Kind::Info) as u32;
            }
            None if case.txns.len() < txns => {
                let ops = (0..1 + rng.below(3)).map(|_| op(rng, &mut next)).collect();
                let process = process as u32 + 10 * retired;
                let (kind, invoked) = (Kind::Info, case.events);
                open[process as usize % 10] = Some(case.txns.len());
                case.txns.push(Txn { process, kind, ops, invoked, completed: None });
            }
            None => continue,
        }
        case.events += 1;
    }
    case
}

fn op(rng: &mut Rng, next: &mut [u32; KEYS]) -> Op {
    let key = rng.below(KEYS as u64) as usize;
    if rng.chance(0.5) {
        return Op::Read { key, list: Vec::new() };
    }
    let value = next[key];
    next[key] += 1;
    Op::Append { key, value }
}

/// Lets the transactions act on lists, and returns what these are in the end.
fn fill(rng: &mut Rng, case: &mut Case, store: Store) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); KEYS];
    for (txn, op) in schedule(rng, case, store) {
        let acts =
            case.txns[txn].kind == Kind::Ok || (case.txns[txn].kind == Kind::Info && txn % 2 == 0);
        match &mut case.txns[txn].ops[op] {
            Op::Append { key, value } if acts => lists[*key].push(*value),
            Op::Read { key, list } => list.clone_from(&lists[*key]),
            Op::Append { .. } => {}
        }
    }
    if let Store::Prefixes = store {
        for op in case.txns.iter_mut().flat_map(|txn| &mut txn.ops) {
            if let Op::Read { key, list } = op {
                let length = rng.below(lists[*key].len() as u64 + 1) as usize;
                *list = lists[*key][..length].to_vec();
            }
        }
    }
    lists
}

/// In which order the micro-operations act.
fn schedule(rng: &mut Rng, case: &Case, store: Store) -> Vec<(usize, usize)> {
    let mut moments: Vec<(u64, usize, usize)> = Vec::new();
    for (number, txn) in case.txns.iter().enumerate() {
        let (from, to) = (txn.invoked as u64, txn.completed.unwrap_or(case.events) as u64);
        let mut moment = rng.between(from * 10 + 1, to * 10);
        for op in 0..txn.ops.len() {
            match store {
                Store::Serial => {}
                Store::Shuffled if op == 0 => moment = rng.below(case.events as u64 * 10),
                Store::Shuffled => {}
                Store::Torn | Store::Prefixes => moment = rng.between(moment.min(to * 10), to * 10),
            }
            moments.push((moment, number, op));
        }
    }
    moments.sort_unstable();
    moments.into_iter().map(|(_, txn, op)| (txn, op)).collect()
}

/// Makes one read see something else.
fn disturb(rng: &mut Rng, case: &mut Case) {
    let ops = case.txns.iter_mut().flat_map(|txn| &mut txn.ops);
    let mut lists: Vec<&mut Vec<u32>> = ops
        .filter_map(|op| match op {
            Op::Read { list, .. } => Some(list),
            Op::Append { .. } => None,
        })
        .collect();
    if lists.is_empty() {
        return;
    }
    let at = rng.below(lists.len() as u64) as usize;
    let list = &mut lists[at];
    match rng.below(3) {
        0 => {
            list.pop();
        }
        1 => list.push(1 + rng.below(4) as u32),
        _ => list.reverse(),
    }
}

impl Case {
    pub fn events(&self) -> Vec<Event> {
        let mut events: Vec<(usize, Event)> = Vec::new();
        for txn in &self.txns {
            events.push((txn.invoked, event(txn, Kind::Invoke)));
            if let Some(completed) = txn.completed {
                events.push((completed, event(txn, txn.kind)));
            }
        }
        events.sort_by_key(|(position, _)| *position);
        let numbered = events.into_iter().enumerate();
        numbered
            .map(|(index, (_, event))| Event {
                index: index as u64,
                time: index as u64 * 1_000,
                ..event
            })
            .collect()
    }
}

fn event(txn: &Txn, kind: Kind) -> Event {
    let ops = txn.ops.iter().map(|op| match op {
        Op::Append { key, value } => json!(["append", key, value]),
        Op::Read { key, list } if kind == Kind::Ok => json!(["r", key, list]),
        Op::Read { key, .. } => json!(["r", key, null]),
    });
    let value = Value::Json(Box::new(Json::Array(ops.collect())));
    Event { value, ..Event::new(kind, Process::Client(txn.process), "txn") }
}
