//! A follower: finds the leader, takes over its history, logs what it proposes, applies what it commits.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::host::Host;
use super::message::{Message, Response, SyncPlan};
use super::server::{Alarm, Role, Server};
use super::tree::Tree;
use super::{INIT_LIMIT, QUORUM_PORT, SYNC_LIMIT, ServerId, SessionId, TICK, Zxid};
use crate::op::{MILLISECOND, Nanos};
use crate::sim::network::ConnectionId;

const DIAL_AGAIN_AFTER: Nanos = 100 * MILLISECOND;
const DIAL_ATTEMPTS: u32 = 5;
/// A log's flush to disk takes between these, in nanoseconds.
const FLUSH: (u64, u64) = (150_000, 600_000);

#[derive(Debug)]
pub(super) struct Following {
    leader: ServerId,
    pub(super) connection: Option<ConnectionId>,
    attempts: u32,
    /// Whether the leader has answered on this connection.
    answered: bool,
    up_to_date: bool,
    last_heard: Nanos,
    /// Sessions of this server's clients that were heard since the last ping.
    pub(super) touched: BTreeSet<SessionId>,
}

impl Following {
    pub(super) fn close(self, host: &mut Host) {
        if let Some(connection) = self.connection {
            host.close(connection);
        }
    }

    /// How long the leader may be silent.
    fn patience(&self) -> Nanos {
        if self.up_to_date { SYNC_LIMIT * TICK } else { INIT_LIMIT * TICK }
    }
}

impl Server {
    pub(super) fn follow(&mut self, host: &mut Host, leader: ServerId) {
        let following = Following {
            leader,
            connection: None,
            attempts: 0,
            answered: false,
            up_to_date: false,
            last_heard: host.monotonic(),
            touched: BTreeSet::new(),
        };
        self.wake(host, following.patience(), Alarm::Silence { up_to_date: false });
        self.role = Role::Following(following);
        host.log(|| "Peer state changed: following - discovery".to_owned());
        self.dial(host);
    }

    pub(super) fn dial(&mut self, host: &mut Host) {
        let Role::Following(following) = &mut self.role else { return };
        following.attempts += 1;
        following.connection = Some(host.connect(following.leader - 1, QUORUM_PORT));
    }

    pub(super) fn leader_opened(&mut self, host: &mut Host, connection: ConnectionId) {
        let Role::Following(following) = &mut self.role else { return };
        if following.connection == Some(connection) {
            following.last_heard = host.monotonic();
            let accepted_epoch = self.storage.accepted_epoch;
            host.send(connection, Message::FollowerInfo { server: self.id, accepted_epoch });
        }
    }

    /// The connection is gone: dial again if the leader may just not lead yet, else look for another.
    pub(super) fn leader_closed(&mut self, host: &mut Host, connection: ConnectionId) {
        let Role::Following(following) = &mut self.role else { return };
        if following.connection != Some(connection) {
            return;
        }
        following.connection = None;
        if following.answered || following.attempts >= DIAL_ATTEMPTS {
            self.look_for_leader(host);
        } else {
            self.wake(host, DIAL_AGAIN_AFTER, Alarm::Dial);
        }
    }

    pub(super) fn check_silence(&mut self, host: &mut Host, up_to_date: bool) {
        let Role::Following(following) = &self.role else { return };
        if following.up_to_date != up_to_date {
            return;
        }
        let deadline = following.last_heard + following.patience();
        if deadline <= host.monotonic() {
            self.look_for_leader(host);
        } else {
            self.wake(host, deadline - host.monotonic(), Alarm::Silence { up_to_date });
        }
    }

    pub(super) fn hear_leader(
        &mut self,
        host: &mut Host,
        connection: ConnectionId,
        message: Message,
    ) {
        let Role::Following(following) = &mut self.role else { return };
        if following.connection != Some(connection) {
            return;
        }
        following.last_heard = host.monotonic();
        following.answered = true;
        match message {
            Message::Proposal(txn) => {
                let zxid = txn.zxid;
                if zxid > self.storage.last_zxid() {
                    self.storage.append(host.now, txn);
                }
                let flush = host.rng.between(FLUSH.0, FLUSH.1);
                host.send_after(flush, connection, Message::Ack { zxid });
            }
            Message::Commit { zxid } => self.on_commit(host, zxid),
            Message::Ping => {
                let touched = std::mem::take(&mut following.touched).into_iter().collect();
                host.send(connection, Message::Pong { touched });
            }
            Message::LeaderInfo { epoch } => self.on_leader_info(host, connection, epoch),
            Message::Sync(plan) => {
                let how = if plan.snapshot.is_some() { "snap" } else { "diff" };
                host.log(|| format!("Peer state changed: following - synchronization - {how}"));
                self.take_over(host.now, &plan);
                let zxid = self.tree.zxid;
                host.log(|| {
                    format!("Snapshotting: 0x{zxid:x} to /data/version-2/snapshot.{zxid:x}")
                });
                host.send(connection, Message::AckNewLeader);
            }
            Message::UpToDate { committed } => self.on_up_to_date(host, committed),
            Message::SyncReply { session, cxid } => {
                let zxid = self.tree.zxid;
                self.complete(host, (session, cxid), zxid, Ok(Response::Done));
            }
            Message::Revalidated { session, valid } => self.revalidated(host, session, valid),
            _ => debug_assert!(false, "a leader never sends {message:?}"),
        }
    }

    fn on_commit(&mut self, host: &mut Host, zxid: Zxid) {
        self.committed = self.committed.max(zxid);
        if self.serving {
            self.apply_committed(host);
        }
    }

    fn on_leader_info(&mut self, host: &mut Host, connection: ConnectionId, epoch: u32) {
        if epoch < self.storage.accepted_epoch {
            self.look_for_leader(host);
            return;
        }
        let anew = epoch > self.storage.accepted_epoch;
        self.storage.accepted_epoch = epoch;
        let message = Message::AckEpoch {
            current_epoch: anew.then_some(self.storage.current_epoch),
            last_zxid: self.storage.last_zxid(),
            snapshot_zxid: self.storage.snapshot().zxid,
        };
        host.send(connection, message);
    }

    /// Makes the log a prefix of the leader's. From here on the epoch is this server's own.
    fn take_over(&mut self, now: Nanos, plan: &SyncPlan) {
        if let Some(snapshot) = &plan.snapshot {
            self.storage.replace(Rc::clone(snapshot));
            self.tree = Tree::clone(snapshot);
            self.committed = self.tree.zxid;
        }
        if let Some(zxid) = plan.truncate_after {
            self.storage.truncate_after(zxid);
            self.committed = self.committed.min(zxid);
            if self.tree.zxid > zxid {
                self.tree = self.storage.rebuild(zxid);
            }
        }
        for txn in &plan.entries {
            if txn.zxid > self.storage.last_zxid() {
                self.storage.append(now, Rc::clone(txn));
            }
        }
        self.storage.flush();
        self.storage.current_epoch = plan.epoch;
    }

    fn on_up_to_date(&mut self, host: &mut Host, committed: Zxid) {
        let Role::Following(following) = &mut self.role else { return };
        following.up_to_date = true;
        host.log(|| "Peer state changed: following - broadcast".to_owned());
        self.vote.peer_epoch = self.storage.current_epoch;
        self.committed = self.committed.max(committed);
        self.apply_committed(host);
        self.begin_serving();
        self.wake(host, SYNC_LIMIT * TICK, Alarm::Silence { up_to_date: true });
    }
}
