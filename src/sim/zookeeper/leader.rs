//! A leader at work: proposals, acknowledgements, commits, pings, sessions.

use std::collections::VecDeque;
use std::rc::Rc;

use super::discovery::Summary;
use super::host::Host;
use super::message::{Forwarded, Message, Refusal, Write};
use super::prepare::Outstanding;
use super::server::{Alarm, Role, Server};
use super::sessions::Sessions;
use super::txn::{Change, Txn};
use super::{INIT_LIMIT, SYNC_LIMIT, ServerId, SessionId, TICK, Variant, Zxid, zxid as make_zxid};
use crate::op::{MILLISECOND, Nanos};
use crate::sim::network::ConnectionId;

/// How long the variant that acknowledges first keeps its proposals to itself.
const FLUSH_AFTER: Nanos = 50 * MILLISECOND;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Stage {
    /// Waiting for a quorum to connect.
    #[default]
    Election,
    /// Waiting for a quorum to accept the epoch.
    Discovery,
    /// Waiting for a quorum to have the history.
    Synchronization,
    Broadcast,
}

#[derive(Debug)]
pub(super) struct Learner {
    pub(super) connection: ConnectionId,
    pub(super) server: Option<ServerId>,
    pub(super) accepted_epoch: u32,
    pub(super) summary: Option<Summary>,
    /// It gets proposals and commits.
    pub(super) forwarding: bool,
    /// It has the history.
    pub(super) synchronized: bool,
    acked: Zxid,
    pub(super) last_heard: Nanos,
}

#[derive(Debug)]
struct WaitingSync {
    until: Zxid,
    connection: ConnectionId,
    session: SessionId,
    cxid: u32,
}

#[derive(Debug, Default)]
pub(super) struct Leading {
    pub(super) stage: Stage,
    pub(super) epoch: u32,
    pub(super) learners: Vec<Learner>,
    pub(super) sessions: Sessions,
    /// Proposed and not committed.
    proposals: VecDeque<Rc<Txn>>,
    /// Logged here and not yet sent, by the variant that acknowledges first.
    unsent: Vec<Rc<Txn>>,
    outstanding: Outstanding,
    waiting_syncs: VecDeque<WaitingSync>,
    counter: u32,
    half_ticks: u64,
}

impl Leading {
    pub(super) fn close(self, host: &mut Host) {
        for learner in self.learners {
            host.close(learner.connection);
        }
    }

    pub(super) fn accept(&mut self, now: Nanos, connection: ConnectionId) {
        self.learners.push(Learner {
            connection,
            server: None,
            accepted_epoch: 0,
            summary: None,
            forwarding: false,
            synchronized: false,
            acked: 0,
            last_heard: now,
        });
    }

    /// A server says who it is. An older connection of the same server is dead, if not yet closed.
    pub(super) fn register(
        &mut self,
        host: &mut Host,
        connection: ConnectionId,
        (server, accepted_epoch): (ServerId, u32),
    ) {
        self.learners.retain(|learner| {
            let old = learner.server == Some(server) && learner.connection != connection;
            if old {
                host.close(learner.connection);
            }
            !old
        });
        if let Some(learner) = self.learner(connection) {
            learner.server = Some(server);
            learner.accepted_epoch = accepted_epoch;
        }
    }

    pub(super) fn learner(&mut self, connection: ConnectionId) -> Option<&mut Learner> {
        self.learners.iter_mut().find(|learner| learner.connection == connection)
    }

    pub(super) fn synchronized(&self) -> impl Iterator<Item = ServerId> {
        self.learners.iter().filter(|learner| learner.synchronized).filter_map(|it| it.server)
    }

    /// What a learner that joins now must be sent after the committed history.
    pub(super) fn proposed(&self) -> impl Iterator<Item = &Rc<Txn>> {
        self.proposals.iter()
    }

    fn broadcast(&self, host: &mut Host, message: &Message) {
        for learner in self.learners.iter().filter(|learner| learner.forwarding) {
            host.send(learner.connection, message.clone());
        }
    }

    pub(super) fn applied(&mut self, txn: &Txn) {
        self.outstanding.applied(txn.zxid);
        if matches!(txn.change, Change::CloseSession { .. }) {
            self.sessions.remove(txn.session);
        }
    }
}

impl Server {
    pub(super) fn learner_closed(&mut self, connection: ConnectionId) {
        if let Role::Leading(leading) = &mut self.role {
            leading.learners.retain(|learner| learner.connection != connection);
        }
    }

    pub(super) fn hear_learner(
        &mut self,
        host: &mut Host,
        connection: ConnectionId,
        message: Message,
    ) {
        let Role::Leading(leading) = &mut self.role else { return };
        let Some(learner) = leading.learner(connection) else { return };
        learner.last_heard = host.monotonic();
        match message {
            Message::Ack { zxid } => {
                learner.acked = learner.acked.max(zxid);
                self.commit_acknowledged(host);
            }
            Message::Forward(forwarded) => self.propose(host, &forwarded),
            Message::Pong { touched } => {
                for session in touched {
                    leading.sessions.touch(host.monotonic(), session);
                }
            }
            Message::SyncRequest { session, cxid } => {
                self.on_sync_request(host, connection, (session, cxid));
            }
            Message::Revalidate { session } => {
                let valid = leading.sessions.touch(host.monotonic(), session);
                host.send(connection, Message::Revalidated { session, valid });
            }
            Message::FollowerInfo { server, accepted_epoch } => {
                self.on_follower_info(host, connection, (server, accepted_epoch));
            }
            Message::AckEpoch { current_epoch, last_zxid, snapshot_zxid } => {
                let summary = (current_epoch, last_zxid, snapshot_zxid);
                self.on_ack_epoch(host, connection, summary);
            }
            Message::AckNewLeader => self.on_ack_new_leader(host, connection),
            _ => debug_assert!(false, "a learner never sends {message:?}"),
        }
    }

    /// Makes a transaction of a write, logs it and sends it to all who follow.
    pub(super) fn propose(&mut self, host: &mut Host, request: &Forwarded) {
        let Role::Leading(leading) = &mut self.role else { return };
        if leading.stage != Stage::Broadcast {
            return;
        }
        leading.counter += 1;
        let zxid = make_zxid(leading.epoch, leading.counter);
        let refused = match &request.write {
            Write::CreateSession { timeout } => {
                leading.sessions.track(host.monotonic(), request.session, *timeout);
                false
            }
            Write::CloseSession => {
                leading.sessions.set_closing(request.session);
                false
            }
            Write::Single(_) | Write::Multi(_) => !leading.sessions.is_open(request.session),
        };
        let change = if refused {
            Change::Refused(Refusal::SessionExpired)
        } else {
            let key = (zxid, request.session, self.variant);
            leading.outstanding.prepare(&self.tree, key, &request.write)
        };
        let Forwarded { session, cxid, .. } = *request;
        let txn = Rc::new(Txn { zxid, session, cxid, time_ms: host.wall_ms(), change });
        self.storage.append(host.now, Rc::clone(&txn));
        if self.variant == Variant::LosesAckedWrite {
            self.acknowledge_first(host, txn);
            return;
        }
        leading.proposals.push_back(Rc::clone(&txn));
        leading.broadcast(host, &Message::Proposal(txn));
        self.commit_acknowledged(host);
    }

    /// Commits, in order, what a quorum has logged.
    fn commit_acknowledged(&mut self, host: &mut Host) {
        let quorum = self.quorum();
        let Role::Leading(leading) = &mut self.role else { return };
        let before = self.committed;
        while let Some(txn) = leading.proposals.front() {
            let zxid = txn.zxid;
            let acked = leading.learners.iter().filter(|learner| learner.acked >= zxid).count();
            if acked + 1 < quorum {
                break;
            }
            leading.proposals.pop_front();
            leading.broadcast(host, &Message::Commit { zxid });
            self.committed = zxid;
        }
        if self.committed > before {
            self.apply_committed(host);
            self.answer_syncs(host);
        }
    }

    /// A follower's sync is answered behind the commit of all that was proposed before it.
    fn on_sync_request(
        &mut self,
        host: &mut Host,
        connection: ConnectionId,
        (session, cxid): (SessionId, u32),
    ) {
        let Role::Leading(leading) = &mut self.role else { return };
        match leading.proposals.back() {
            Some(last) => {
                let until = last.zxid;
                leading.waiting_syncs.push_back(WaitingSync { until, connection, session, cxid });
            }
            None => host.send(connection, Message::SyncReply { session, cxid }),
        }
    }

    fn answer_syncs(&mut self, host: &mut Host) {
        let committed = self.committed;
        let Role::Leading(leading) = &mut self.role else { return };
        while leading.waiting_syncs.front().is_some_and(|sync| sync.until <= committed) {
            let Some(sync) = leading.waiting_syncs.pop_front() else { return };
            let WaitingSync { connection, session, cxid, .. } = sync;
            host.send(connection, Message::SyncReply { session, cxid });
        }
    }

    /// Twice a tick: drop silent learners, expire sessions, ping; once a tick: look for a quorum.
    pub(super) fn half_tick(&mut self, host: &mut Host) {
        let quorum = self.quorum();
        let Role::Leading(leading) = &mut self.role else { return };
        leading.half_ticks += 1;
        let now = host.monotonic();
        leading.learners.retain(|learner| {
            let limit = if learner.synchronized { SYNC_LIMIT } else { INIT_LIMIT };
            let silent = now.saturating_sub(learner.last_heard) > limit * TICK;
            if silent {
                host.close(learner.connection);
            }
            !silent
        });
        let heard = leading.learners.iter().filter(|learner| learner.synchronized).count();
        if leading.half_ticks.is_multiple_of(2) && heard + 1 < quorum {
            host.log(|| "Shutdown called. For the reason Not sufficient followers synced".into());
            self.look_for_leader(host);
            return;
        }
        leading.broadcast(host, &Message::Ping);
        for session in leading.sessions.expired(now) {
            host.log(|| format!("Expiring session 0x{session:x}, timeout exceeded"));
            let write = Write::CloseSession;
            self.propose(host, &Forwarded { session, cxid: 0, write });
        }
        self.wake(host, TICK / 2, Alarm::HalfTick);
    }

    /// Planted: what has only been logged here counts as committed.
    fn acknowledge_first(&mut self, host: &mut Host, txn: Rc<Txn>) {
        let Role::Leading(leading) = &mut self.role else { return };
        self.committed = txn.zxid;
        leading.unsent.push(txn);
        if leading.unsent.len() == 1 {
            self.wake(host, FLUSH_AFTER, Alarm::Flush);
        }
        self.apply_committed(host);
    }

    pub(super) fn flush_proposals(&mut self, host: &mut Host) {
        let Role::Leading(leading) = &mut self.role else { return };
        for txn in std::mem::take(&mut leading.unsent) {
            let zxid = txn.zxid;
            leading.broadcast(host, &Message::Proposal(txn));
            leading.broadcast(host, &Message::Commit { zxid });
        }
    }
}
