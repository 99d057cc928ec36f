//! What worlds tell while the run goes on: triggers that fire, messages that faults hit, and whether
//! the system itself shows what a hit request did.

use std::time::Duration;

use futures::FutureExt;

use super::{Done, Loop};
use crate::cluster::{
    Check, Client, Cluster, Coordination, CoordinationError, FaultId, Form, LookoutId, MessageSeen,
    Observed, Stat,
};
use crate::nemesis::{Cause, FaultRecord};
use crate::op::{Nanos, NodeName};

/// How long a look at what a hit request did may take.
const VERIFY_WITHIN: Duration = Duration::from_secs(5);

const SESSION_TIMEOUT: Duration = Duration::from_secs(6);

/// Lookouts are numbered by the fault that waits for them, from 1.
fn position(lookout: LookoutId) -> usize {
    (lookout.0 as usize).saturating_sub(1)
}

impl<'a, C: Cluster, K: Client + 'a> Loop<'a, C, K> {
    pub(super) fn lookout_saw(&mut self, lookout: LookoutId, observed: &Observed) {
        let sender = observed.message.as_ref().and_then(|message| self.sender(message));
        let from = sender.map_or(String::new(), |sender| format!(" from {sender}"));
        let cause = Cause {
            by: format!("{} at {}{from}", observed.what, observed.node),
            happened: self.happened(observed),
            learned: self.now(),
            node: Some(observed.node),
            sender,
        };
        self.schedule.fire(position(lookout), cause);
    }

    /// The node that sent a message; clients are at no node's address.
    fn sender(&self, message: &MessageSeen) -> Option<NodeName> {
        let address = message.sender()?;
        self.cluster.topology().at(address).map(|node| node.name)
    }

    fn happened(&self, observed: &Observed) -> Nanos {
        self.now().saturating_sub(observed.age_us.saturating_mul(1_000))
    }

    pub(super) fn hit(&mut self, fault: FaultId, observed: Observed) {
        let happened = self.happened(&observed);
        let Observed { node, message: Some(message), .. } = observed else { return };
        let verify = verification(self.cluster, fault, node, &message);
        if let Some(verify) = verify {
            self.running.push(verify);
        }
        let (name, sender) = (self.name_of(fault), self.sender(&message));
        self.record_nemesis(&name, &FaultRecord::Hit { fault, node, sender, message, happened });
        self.sink.flush();
    }

    pub(super) fn verified(&mut self, fault: FaultId, check: Check) {
        let name = self.name_of(fault);
        self.record_nemesis(&name, &FaultRecord::Verified { fault, check });
    }

    fn name_of(&self, fault: FaultId) -> String {
        // A look at what it did may come back when it is over.
        self.positions.get(&fault).map_or("message".into(), |position| self.nemesis_of(*position))
    }
}

/// Reads back the znode of a write that was applied and whose reply was tampered with.
fn verification<'a, C: Cluster, K: 'a>(
    cluster: &'a C,
    fault: FaultId,
    node: NodeName,
    message: &MessageSeen,
) -> Option<futures::future::LocalBoxFuture<'a, Done<K>>> {
    let is_lost = !matches!(message.form, Form::Watch | Form::DropRequest);
    let path = message.subject.clone().filter(|path| path.starts_with('/'))?;
    let zxid = message.reply.as_deref().and_then(zxid_of)?;
    if !is_lost || !message.applied {
        return None;
    }
    let deletes = message.request.starts_with("delete ");
    let look = async move {
        let found = tokio::time::timeout(VERIFY_WITHIN, read_back(cluster, &node, &path));
        let found = found.await.unwrap_or(Err(CoordinationError::ConnectionLoss));
        let check = judge(&path, &node, zxid, deletes, found);
        Done::Verified { fault, check }
    };
    Some(look.boxed_local())
}

async fn read_back<C: Cluster>(
    cluster: &C,
    node: &NodeName,
    path: &str,
) -> Result<Option<(Vec<u8>, Stat)>, CoordinationError> {
    let session = cluster.connect(node, SESSION_TIMEOUT).await?;
    let found = match session.get(path).await {
        Ok(found) => Ok(Some(found)),
        Err(CoordinationError::NoNode) => Ok(None),
        Err(error) => Err(error),
    };
    // What was read counts, however the session ends.
    let _ = session.close().await;
    found
}

/// A later write may have replaced the value already: then its zxid is higher.
fn judge(
    path: &str,
    node: &NodeName,
    zxid: i64,
    deletes: bool,
    found: Result<Option<(Vec<u8>, Stat)>, CoordinationError>,
) -> Check {
    let (seen, holds) = match found {
        Ok(Some((data, stat))) => {
            let data = String::from_utf8_lossy(&data).chars().take(60).collect::<String>();
            let seen = format!("zxid 0x{:x}, value {data:?}", stat.mzxid);
            (seen, if deletes { stat.czxid > zxid } else { stat.mzxid >= zxid })
        }
        Ok(None) => ("no such znode".to_owned(), deletes),
        Err(error) => (format!("could not be read: {error}"), false),
    };
    Check {
        what: format!("{path} read back at {node}"),
        expected: match deletes {
            true => format!("deleted by zxid 0x{zxid:x}"),
            false => format!("written by zxid 0x{zxid:x} or a later one"),
        },
        seen,
        holds,
    }
}

/// The transaction that a reply names: `ok zxid=0x100000007 version=3`.
fn zxid_of(reply: &str) -> Option<i64> {
    let word = reply.split_whitespace().find_map(|word| word.strip_prefix("zxid=0x"))?;
    i64::from_str_radix(word, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(czxid: i64, mzxid: i64) -> Stat {
        Stat { czxid, mzxid, ..Stat::default() }
    }

    #[test]
    fn a_write_is_there_if_its_transaction_or_a_later_one_is() {
        let node: NodeName = "zookeeper1".into();
        let found = |mzxid| Ok(Some((b"17".to_vec(), stat(1, mzxid))));
        assert!(judge("/a", &node, 7, false, found(7)).holds);
        assert!(judge("/a", &node, 7, false, found(9)).holds);
        assert!(!judge("/a", &node, 7, false, found(6)).holds);
        assert!(!judge("/a", &node, 7, false, Ok(None)).holds);
        assert!(judge("/a", &node, 7, true, Ok(None)).holds);
        assert!(!judge("/a", &node, 7, true, found(9)).holds);
        let lost = judge("/a", &node, 7, false, Err(CoordinationError::ConnectionLoss));
        assert!(!lost.holds && lost.seen.contains("connection loss"));
    }

    #[test]
    fn a_reply_names_its_transaction() {
        assert_eq!(zxid_of("ok zxid=0x100000007 version=3"), Some(0x1_0000_0007));
        assert_eq!(zxid_of("error NoNode"), None);
    }
}
