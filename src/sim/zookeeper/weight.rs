//! About how many bytes messages are on the wire: what bandwidth caps need, and no more.
//!
//! Client messages are counted as jute lays them out; a transaction as its paths and data.

use super::message::{Message, Operation, Part, Read, Response, Write};
use super::txn::{Change, Step, Txn};
use crate::sim::network::Wire;

/// Length, request number, operation.
const REQUEST_HEADER: usize = 12;
/// Length, request number, zxid, error.
const REPLY_HEADER: usize = 20;
const STAT: usize = 68;
/// Type, zxid and lengths of a packet between servers, and a transaction's header.
const QUORUM_HEADER: usize = 24;
const TXN_HEADER: usize = 32;

impl Wire for Message {
    fn bytes(&self) -> u64 {
        let bytes = match self {
            Message::Notification { .. } => 40,
            Message::Connect { .. } => 49,
            Message::Connected { .. } => 41,
            Message::Request { operation, .. } => REQUEST_HEADER + operation_bytes(operation),
            Message::Reply(reply) => REPLY_HEADER + reply.result.as_ref().map_or(0, response_bytes),
            Message::Fired { path, .. } => REPLY_HEADER + 12 + path.len(),
            Message::Proposal(txn) => QUORUM_HEADER + txn_bytes(txn),
            Message::Sync(plan) => {
                let entries = plan.entries.iter().map(|txn| QUORUM_HEADER + txn_bytes(txn));
                QUORUM_HEADER + entries.sum::<usize>()
            }
            Message::Forward(forwarded) => QUORUM_HEADER + 16 + write_bytes(&forwarded.write),
            Message::Pong { touched } => QUORUM_HEADER + 12 * touched.len(),
            _ => QUORUM_HEADER + 16,
        };
        bytes as u64
    }
}

fn operation_bytes(operation: &Operation) -> usize {
    match operation {
        Operation::Write(write) => write_bytes(write),
        Operation::Sync { path } => 4 + path.len(),
        Operation::Read(Read::Ping) => 0,
        Operation::Read(Read::Get { path } | Read::Exists { path, .. }) => 5 + path.len(),
        Operation::Read(Read::Children { path, .. }) => 5 + path.len(),
        Operation::Read(Read::SetWatches(list)) => {
            let paths = list.data.iter().chain(&list.missing).chain(&list.children);
            20 + paths.map(|path| 4 + path.len()).sum::<usize>()
        }
    }
}

fn write_bytes(write: &Write) -> usize {
    match write {
        Write::CreateSession { .. } | Write::CloseSession => 8,
        Write::Single(part) => part_bytes(part),
        Write::Multi(parts) => parts.iter().map(|part| 9 + part_bytes(part)).sum::<usize>() + 9,
    }
}

fn part_bytes(part: &Part) -> usize {
    match part {
        // Its list of rights is that of an open znode.
        Part::Create { path, data, .. } => 43 + path.len() + data.len(),
        Part::Set { path, data, .. } => 12 + path.len() + data.len(),
        Part::Delete { path, .. } | Part::Check { path, .. } => 8 + path.len(),
    }
}

fn response_bytes(response: &Response) -> usize {
    match response {
        Response::Done => 0,
        Response::Path(path) => 4 + path.len(),
        Response::Data(data, _) => 4 + data.len() + STAT,
        Response::Stat(_) => STAT,
        Response::Children(names) => names.iter().map(|name| 4 + name.len()).sum::<usize>() + 4,
        Response::Multi(responses) => {
            responses.iter().map(|response| 9 + response_bytes(response)).sum::<usize>() + 9
        }
        Response::MultiFailed { .. } => 22,
    }
}

fn txn_bytes(txn: &Txn) -> usize {
    let steps = match &txn.change {
        Change::Single(step) => step_bytes(step),
        Change::Multi(steps) => steps.iter().map(step_bytes).sum(),
        Change::CloseSession { ephemerals } => ephemerals.iter().map(|path| 4 + path.len()).sum(),
        Change::CreateSession { .. } | Change::MultiFailed { .. } | Change::Refused(_) => 8,
    };
    TXN_HEADER + steps
}

fn step_bytes(step: &Step) -> usize {
    match step {
        Step::Create { path, data, .. } => 43 + path.len() + data.len(),
        Step::Set { path, data, .. } => 12 + path.len() + data.len(),
        Step::Delete { path } => 4 + path.len(),
        Step::Check => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_weighs_as_much_as_its_data() {
        let set = |length: usize| Message::Request {
            cxid: 1,
            operation: Operation::Write(Write::Single(Part::Set {
                path: "/a".into(),
                data: vec![0; length].into(),
                version: -1,
            })),
        };
        // Length, xid, type; path and data with their lengths; version.
        assert_eq!(set(0).bytes(), 4 + 4 + 4 + (4 + 2) + 4 + 4);
        assert_eq!(set(1_000).bytes() - set(0).bytes(), 1_000);
    }
}
