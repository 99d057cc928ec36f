//! One server of the ensemble: its durable and its committed state, its role, and who is told what.
//!
//! A pure state machine: signals and timers in, calls of [`Host`] out.

use std::rc::Rc;

use super::apply::Noted;
use super::desk::Desk;
use super::election::{Election, Peer};
use super::follower::Following;
use super::host::Host;
use super::leader::Leading;
use super::message::{Forwarded, Message, PeerState, Vote};
use super::storage::Storage;
use super::tree::Tree;
use super::txn::{Change, Txn};
use super::{
    CLIENT_PORT, ELECTION_PORT, QUORUM_PORT, SESSION_TIMEOUT_MAX, SESSION_TIMEOUT_MIN, ServerId,
    SessionId, TICK, Variant, Zxid,
};
use crate::op::{MILLISECOND, Nanos};
use crate::sim::network::{ConnectionId, Signal};

/// A timer of a server. It is void once the server has changed its role.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    pub(super) phase: u32,
    pub(super) alarm: Alarm,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Alarm {
    Boot,
    /// A server that knows its role has set itself up for it.
    Settle,
    Resend,
    Decide {
        ballot: u32,
    },
    Dial,
    /// Void if the follower has caught up since it was set.
    Silence {
        up_to_date: bool,
    },
    InitLimit,
    HalfTick,
    /// Of the variant that acknowledges before it proposes.
    Flush,
    /// Of the variant whose reads lag.
    CatchUp,
}

pub(super) enum Role {
    Booting,
    Looking(Election),
    /// Elected or following, and not yet ready for it.
    Settling,
    Following(Following),
    Leading(Leading),
}

pub struct Server {
    pub(super) id: ServerId,
    pub(super) servers: u8,
    pub(super) variant: Variant,
    pub(super) storage: Storage,
    /// Committed state, up to `tree.zxid`.
    pub(super) tree: Tree,
    /// The copy that reads see where it is not `tree`.
    pub(super) visible: Option<Tree>,
    /// What is known to be committed.
    pub(super) committed: Zxid,
    pub(super) round: u64,
    pub(super) vote: Vote,
    pub(super) role: Role,
    pub(super) phase: u32,
    pub(super) peers: Vec<Peer>,
    /// When it last began to look for a leader, by its own clock.
    pub(super) looking_since: Nanos,
    pub(super) desk: Desk,
    /// Whether clients are served.
    pub(super) serving: bool,
    noted: Vec<Noted>,
}

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub mode: &'static str,
    pub serving: bool,
    pub leads: bool,
    pub epoch: u32,
    pub zxid: Zxid,
}

impl Server {
    pub fn new(id: ServerId, servers: u8, variant: Variant) -> Server {
        Server {
            id,
            servers,
            variant,
            storage: Storage::default(),
            tree: Tree::default(),
            visible: None,
            committed: 0,
            round: 0,
            vote: Vote { leader: id, zxid: 0, peer_epoch: 0, round: 0 },
            role: Role::Booting,
            phase: 0,
            peers: (0..servers).map(|_| Peer::default()).collect(),
            looking_since: 0,
            desk: Desk::default(),
            serving: false,
            noted: Vec::new(),
        }
    }

    /// Starts the process: it takes this long until it takes part.
    pub fn boot(&mut self, host: &mut Host, after: Nanos) {
        self.desk.seed_sessions(self.id, host.wall_ms());
        host.log(created);
        self.wake(host, after, Alarm::Boot);
    }

    /// Asked to end: it says goodbye, and all it has logged reaches the disk.
    pub fn stop(&mut self, host: &mut Host) {
        self.storage.flush();
        self.leave_role(host);
        for peer in std::mem::take(&mut self.peers) {
            peer.close(host);
        }
    }

    /// Sessions of clients that are connected here, in order.
    pub fn sessions_held(&self) -> Vec<SessionId> {
        self.desk.admitted()
    }

    /// The process is gone, and with it all but the disk.
    pub fn crash(&mut self) {
        let mut storage = std::mem::take(&mut self.storage);
        if self.variant == Variant::AcksUnflushed {
            storage.lose_unflushed();
        }
        let phase = self.phase + 1;
        *self = Server::new(self.id, self.servers, self.variant);
        self.tree = Tree::clone(storage.snapshot());
        self.committed = self.tree.zxid;
        self.storage = storage;
        self.phase = phase;
    }

    pub fn status(&self) -> Status {
        let mode = match &self.role {
            Role::Booting => "booting",
            Role::Looking(_) | Role::Settling => "looking",
            Role::Following(_) => "follower",
            Role::Leading(_) => "leader",
        };
        Status {
            mode,
            serving: self.serving,
            leads: self.serving && matches!(self.role, Role::Leading(_)),
            epoch: self.storage.current_epoch,
            zxid: self.tree.zxid,
        }
    }

    /// The committed state, for tests and reports.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    #[cfg(test)]
    pub fn log_start(&self) -> Zxid {
        self.storage.log_start()
    }

    /// What has been applied after this zxid, in order.
    #[cfg(test)]
    pub fn applied_after(&self, zxid: Zxid) -> Vec<Rc<Txn>> {
        let applied = self.storage.after(zxid).take_while(|txn| txn.zxid <= self.tree.zxid);
        applied.cloned().collect()
    }

    pub fn signal(&mut self, host: &mut Host, connection: ConnectionId, signal: Signal<Message>) {
        match signal {
            Signal::Message(message) => self.receive(host, connection, message),
            Signal::Accepted { port: CLIENT_PORT, .. } => self.desk.accept(connection),
            Signal::Accepted { port: QUORUM_PORT, .. } => self.accept_learner(host, connection),
            Signal::Accepted { port, .. } => debug_assert_eq!(port, ELECTION_PORT),
            Signal::Opened => {
                self.peer_opened(host, connection);
                self.leader_opened(host, connection);
            }
            Signal::Shut | Signal::Reset => debug_assert!(false, "a server is never told so"),
            Signal::Refused | Signal::Closed => {
                self.peer_closed(connection);
                self.learner_closed(connection);
                self.desk.leave(connection);
                self.leader_closed(host, connection);
            }
        }
    }

    pub fn timer(&mut self, host: &mut Host, timer: Timer) {
        if timer.phase != self.phase {
            return;
        }
        match timer.alarm {
            Alarm::Boot => self.look_for_leader(host),
            Alarm::Settle => self.settle(host),
            Alarm::Resend => self.resend_votes(host),
            Alarm::Decide { ballot } => self.decide(host, ballot),
            Alarm::Dial => self.dial(host),
            Alarm::Silence { up_to_date } => self.check_silence(host, up_to_date),
            Alarm::InitLimit => self.check_established(host),
            Alarm::HalfTick => self.half_tick(host),
            Alarm::Flush => self.flush_proposals(host),
            Alarm::CatchUp => self.catch_up(),
        }
    }

    fn receive(&mut self, host: &mut Host, connection: ConnectionId, message: Message) {
        match message {
            Message::Notification { from, state, vote } => {
                self.on_notification(host, from, state, vote);
            }
            Message::FollowerInfo { .. }
            | Message::AckEpoch { .. }
            | Message::AckNewLeader
            | Message::Ack { .. }
            | Message::Pong { .. }
            | Message::Forward(_)
            | Message::SyncRequest { .. }
            | Message::Revalidate { .. } => self.hear_learner(host, connection, message),
            Message::LeaderInfo { .. }
            | Message::Sync(_)
            | Message::UpToDate { .. }
            | Message::Proposal(_)
            | Message::Commit { .. }
            | Message::Ping
            | Message::SyncReply { .. }
            | Message::Revalidated { .. } => self.hear_leader(host, connection, message),
            Message::Connect { session, timeout, last_zxid } => {
                self.on_connect(host, connection, session, (timeout, last_zxid));
            }
            Message::Request { cxid, operation } => {
                self.on_request(host, connection, cxid, operation);
            }
            Message::Connected { .. } | Message::Reply(_) | Message::Fired { .. } => {
                debug_assert!(false, "a server never gets {message:?}");
            }
        }
    }

    pub(super) fn wake(&self, host: &mut Host, after: Nanos, alarm: Alarm) {
        host.wake_server(after, Timer { phase: self.phase, alarm });
    }

    pub(super) fn quorum(&self) -> usize {
        self.servers as usize / 2 + 1
    }

    pub(super) fn peer_state(&self) -> PeerState {
        match self.role {
            Role::Booting | Role::Looking(_) => PeerState::Looking,
            _ if self.vote.leader == self.id => PeerState::Leading,
            _ => PeerState::Following,
        }
    }

    /// Gives up what it is, closes its clients, and begins a new phase.
    pub(super) fn leave_role(&mut self, host: &mut Host) {
        match std::mem::replace(&mut self.role, Role::Booting) {
            Role::Following(following) => {
                host.log(|| "shutdown Follower".to_owned());
                following.close(host);
            }
            Role::Leading(leading) => {
                host.log(|| "Shutting down".to_owned());
                leading.close(host);
            }
            Role::Booting | Role::Looking(_) | Role::Settling => {}
        }
        self.desk.close_all(host);
        self.serving = false;
        self.visible = None;
        self.phase += 1;
    }

    pub(super) fn begin_serving(&mut self) {
        self.serving = true;
        if self.variant == Variant::StaleBarrier {
            self.visible = Some(self.tree.clone());
        }
    }

    /// Hands a write to the leader, which may be this server.
    pub(super) fn submit(&mut self, host: &mut Host, forwarded: Forwarded) {
        match &self.role {
            Role::Leading(_) => self.propose(host, &forwarded),
            Role::Following(following) => {
                if let Some(leader) = following.connection {
                    host.send(leader, Message::Forward(Rc::new(forwarded)));
                }
            }
            Role::Booting | Role::Looking(_) | Role::Settling => {}
        }
    }

    /// Applies what is committed and logged, and answers the clients that wait for it.
    pub(super) fn apply_committed(&mut self, host: &mut Host) {
        while self.tree.zxid < self.committed {
            let Some(txn) = self.storage.next(self.tree.zxid) else { break };
            if txn.zxid > self.committed {
                break;
            }
            let txn = Rc::clone(txn);
            self.apply(host, &txn);
        }
        self.storage.compact(&self.tree);
    }

    fn apply(&mut self, host: &mut Host, txn: &Rc<Txn>) {
        let mut noted = std::mem::take(&mut self.noted);
        let result = self.tree.apply(txn, &mut noted);
        self.desk.fire(host, txn.zxid, &noted);
        noted.clear();
        self.noted = noted;
        if let Role::Leading(leading) = &mut self.role {
            leading.applied(txn);
        }
        if self.visible.is_some() {
            self.wake(host, 10 * MILLISECOND, Alarm::CatchUp);
        }
        match txn.change {
            Change::CreateSession { .. } => self.session_created(host, txn.session),
            Change::CloseSession { .. } => {
                self.desk.session_closed(host, (txn.session, txn.cxid), txn.zxid);
            }
            _ => self.complete(host, (txn.session, txn.cxid), txn.zxid, result),
        }
    }

    /// One more transaction becomes visible to reads of the variant whose reads lag.
    fn catch_up(&mut self) {
        if let Some(visible) = &mut self.visible
            && let Some(txn) = self.storage.next(visible.zxid)
        {
            // Its client was answered when the transaction was applied for good.
            let _ = visible.apply(txn, &mut Vec::new());
        }
    }

    /// Notes that a client of this server was heard.
    pub(super) fn touch(&mut self, now: Nanos, session: SessionId) {
        match &mut self.role {
            Role::Leading(leading) => {
                leading.sessions.touch(now, session);
            }
            Role::Following(following) => {
                following.touched.insert(session);
            }
            Role::Booting | Role::Looking(_) | Role::Settling => {}
        }
    }
}

/// What a server says first, as set in our containers.
fn created() -> String {
    let [tick, least, most] =
        [TICK, SESSION_TIMEOUT_MIN, SESSION_TIMEOUT_MAX].map(|span| span / MILLISECOND);
    format!(
        "Created server with tickTime {tick} ms minSessionTimeout {least} ms maxSessionTimeout \
         {most} ms clientPortListenBacklog -1 datadir /datalog/version-2 snapdir /data/version-2"
    )
}
