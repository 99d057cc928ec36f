//! Where a server receives its clients: their sessions, their requests in order, their watches.
//!
//! A session's requests are answered in the order they came: a read behind a write waits until the
//! write has been applied here. Other sessions' reads do not wait.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;

use super::apply::Noted;
use super::host::Host;
use super::message::{Forwarded, Message, Operation, Read, Refusal, Reply, Response, Write};
use super::server::{Role, Server};
use super::watches::Watches;
use super::{SESSION_TIMEOUT_MAX, SESSION_TIMEOUT_MIN, ServerId, SessionId, Zxid};
use crate::op::Nanos;
use crate::sim::network::ConnectionId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Arrived,
    /// Its session awaits a quorum, or the leader's word that it still exists.
    Asked,
    Admitted,
}

#[derive(Debug)]
enum Pending {
    /// Answered when the leader's stream brings the result.
    Awaited {
        cxid: u32,
    },
    Read {
        cxid: u32,
        read: Read,
    },
}

#[derive(Debug)]
pub(super) struct Guest {
    session: SessionId,
    timeout: Nanos,
    standing: Standing,
    pending: VecDeque<Pending>,
    /// What it asked before it was admitted.
    early: Vec<(u32, Operation)>,
}

#[derive(Debug, Default)]
pub(super) struct Desk {
    guests: BTreeMap<ConnectionId, Guest>,
    by_session: FxHashMap<SessionId, ConnectionId>,
    pub(super) watches: Watches,
    last_session: SessionId,
}

impl Desk {
    /// Session ids carry the server's number and the time at which its process started.
    pub(super) fn seed_sessions(&mut self, server: ServerId, wall_ms: i64) {
        let time = ((wall_ms as u64) << 24) >> 8;
        self.last_session = (((server as u64) << 56) | time) as SessionId;
    }

    /// Sessions that a client holds here and now, in order.
    pub(super) fn admitted(&self) -> Vec<SessionId> {
        let admitted = self.guests.values().filter(|guest| guest.standing == Standing::Admitted);
        let mut sessions: Vec<SessionId> = admitted.map(|guest| guest.session).collect();
        sessions.sort_unstable();
        sessions
    }

    pub(super) fn accept(&mut self, connection: ConnectionId) {
        let (pending, early) = (VecDeque::new(), Vec::new());
        let guest = Guest { session: 0, timeout: 0, standing: Standing::Arrived, pending, early };
        self.guests.insert(connection, guest);
    }

    pub(super) fn leave(&mut self, connection: ConnectionId) {
        let Some(guest) = self.guests.remove(&connection) else { return };
        if self.by_session.get(&guest.session) == Some(&connection) {
            self.by_session.remove(&guest.session);
        }
        self.watches.forget(connection);
    }

    fn dismiss(&mut self, host: &mut Host, connection: ConnectionId) {
        self.leave(connection);
        host.close(connection);
    }

    pub(super) fn close_all(&mut self, host: &mut Host) {
        for connection in std::mem::take(&mut self.guests).into_keys() {
            host.close(connection);
        }
        self.by_session.clear();
        self.watches.clear();
    }

    /// Tells those who watched for it. They hear of it before they can read it.
    pub(super) fn fire(&mut self, host: &mut Host, zxid: Zxid, noted: &[Noted]) {
        if self.watches.is_empty() {
            return;
        }
        for event in noted {
            for connection in self.watches.fire(event) {
                let Noted { kind, path } = event.clone();
                host.send(connection, Message::Fired { zxid, kind, path });
            }
        }
    }

    /// The end of a session has been applied: its client, if it is here, is answered and closed.
    pub(super) fn session_closed(
        &mut self,
        host: &mut Host,
        (session, cxid): (SessionId, u32),
        zxid: Zxid,
    ) {
        let Some(connection) = self.by_session.get(&session).copied() else { return };
        let asked = self.guests.get(&connection).and_then(|guest| guest.pending.front());
        if matches!(asked, Some(Pending::Awaited { cxid: first }) if *first == cxid) {
            let reply = Reply { cxid, zxid, result: Ok(Response::Done) };
            host.send(connection, Message::Reply(Box::new(reply)));
        }
        self.dismiss(host, connection);
    }
}

impl Server {
    pub(super) fn on_connect(
        &mut self,
        host: &mut Host,
        connection: ConnectionId,
        session: SessionId,
        (timeout, last_zxid): (Nanos, Zxid),
    ) {
        let arrived = self.desk.guests.get(&connection);
        // A second one on the same connection is no request that a server understands.
        let anew = arrived.is_none_or(|guest| guest.standing == Standing::Arrived);
        if !self.serving || last_zxid > self.tree.zxid || !anew {
            self.desk.dismiss(host, connection);
            return;
        }
        let new = session == 0;
        if new {
            self.desk.last_session += 1;
        }
        let session = if new { self.desk.last_session } else { session };
        let timeout = timeout.clamp(SESSION_TIMEOUT_MIN, SESSION_TIMEOUT_MAX);
        if let Some(old) = self.desk.by_session.get(&session).copied() {
            self.desk.dismiss(host, old);
        }
        let Some(guest) = self.desk.guests.get_mut(&connection) else { return };
        guest.session = session;
        guest.timeout = timeout;
        guest.standing = Standing::Asked;
        self.desk.by_session.insert(session, connection);
        if new {
            let write = Write::CreateSession { timeout };
            self.submit(host, Forwarded { session, cxid: 0, write });
            return;
        }
        match &mut self.role {
            Role::Leading(leading) => {
                let valid = leading.sessions.touch(host.monotonic(), session);
                self.revalidated(host, session, valid);
            }
            Role::Following(following) => {
                if let Some(leader) = following.connection {
                    host.send(leader, Message::Revalidate { session });
                }
            }
            Role::Booting | Role::Looking(_) | Role::Settling => {}
        }
    }

    pub(super) fn session_created(&mut self, host: &mut Host, session: SessionId) {
        self.revalidated(host, session, true);
    }

    /// The session's standing is known: admit its client, or tell it that the session is over.
    pub(super) fn revalidated(&mut self, host: &mut Host, session: SessionId, valid: bool) {
        let Some(connection) = self.desk.by_session.get(&session).copied() else { return };
        let Some(guest) = self.desk.guests.get_mut(&connection) else { return };
        if guest.standing != Standing::Asked {
            return;
        }
        guest.standing = Standing::Admitted;
        let timeout = guest.timeout;
        let early = std::mem::take(&mut guest.early);
        let session = if valid { session } else { 0 };
        host.send(connection, Message::Connected { session, timeout });
        if !valid {
            self.desk.dismiss(host, connection);
        }
        for (cxid, operation) in early {
            self.on_request(host, connection, cxid, operation);
        }
    }

    pub(super) fn on_request(
        &mut self,
        host: &mut Host,
        connection: ConnectionId,
        cxid: u32,
        operation: Operation,
    ) {
        let Some(guest) = self.desk.guests.get_mut(&connection) else { return };
        if guest.standing != Standing::Admitted {
            guest.early.push((cxid, operation));
            return;
        }
        let session = guest.session;
        match operation {
            Operation::Write(write) => {
                guest.pending.push_back(Pending::Awaited { cxid });
                self.submit(host, Forwarded { session, cxid, write });
            }
            Operation::Sync { .. } => match &self.role {
                Role::Following(following) => {
                    guest.pending.push_back(Pending::Awaited { cxid });
                    if let Some(leader) = following.connection {
                        host.send(leader, Message::SyncRequest { session, cxid });
                    }
                }
                // The leader asks nobody: it answers a sync in turn, like a read.
                _ => {
                    guest.pending.push_back(Pending::Read { cxid, read: Read::Ping });
                    self.answer_reads(host, connection);
                }
            },
            Operation::Read(read) => {
                guest.pending.push_back(Pending::Read { cxid, read });
                self.answer_reads(host, connection);
            }
        }
        self.touch(host.monotonic(), session);
    }

    /// A write or sync of a client of this server has its result.
    pub(super) fn complete(
        &mut self,
        host: &mut Host,
        (session, cxid): (SessionId, u32),
        zxid: Zxid,
        result: Result<Response, Refusal>,
    ) {
        let Some(connection) = self.desk.by_session.get(&session).copied() else { return };
        let Some(guest) = self.desk.guests.get_mut(&connection) else { return };
        match guest.pending.front() {
            Some(Pending::Awaited { cxid: first }) if *first == cxid => {}
            // The answer to a request of an earlier connection, which nobody waits for.
            _ => return,
        }
        guest.pending.pop_front();
        host.send(connection, Message::Reply(Box::new(Reply { cxid, zxid, result })));
        self.answer_reads(host, connection);
    }

    fn answer_reads(&mut self, host: &mut Host, connection: ConnectionId) {
        loop {
            let Some(guest) = self.desk.guests.get_mut(&connection) else { return };
            if !matches!(guest.pending.front(), Some(Pending::Read { .. })) {
                return;
            }
            let Some(Pending::Read { cxid, read }) = guest.pending.pop_front() else { return };
            let result = self.read(host, connection, read);
            let zxid = self.tree.zxid;
            host.send(connection, Message::Reply(Box::new(Reply { cxid, zxid, result })));
        }
    }
}
