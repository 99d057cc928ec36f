//! The client's half of a session, with the habits of the wire client that the other world uses.
//!
//! It talks to one server. A connection that says nothing for two fifths of the session timeout is
//! given up; requests under way then end with connection loss, and it connects again by itself, at
//! once and then after 100 ms, 200 ms, 400 ms and so on. Requests made meanwhile wait. It declares the
//! session expired when the server says so, or after seven fifths of the timeout without a word.

use std::collections::VecDeque;

use tokio::sync::oneshot;

use super::host::Host;
use super::message::{Message, Operation, Read, Response, Write};
use super::{CLIENT_PORT, SessionId, Zxid};
use crate::cluster::{CoordinationError, SessionEvent, WatchEvent};
use crate::op::{MILLISECOND, Nanos};
use crate::sim::network::{ConnectionId, Signal};

mod requests;
mod watchers;

use watchers::Watchers;

pub(super) type Answer = Result<Response, CoordinationError>;

/// A watch that the server has taken: where its event will come.
pub(super) type WatchSet = Result<oneshot::Receiver<WatchEvent>, CoordinationError>;

/// Who waits for an answer.
#[derive(Debug)]
enum Asker {
    Nobody,
    Answer(oneshot::Sender<Answer>),
    WatchSet(oneshot::Sender<WatchSet>),
}

/// How a session came to be, or why not.
pub(super) type Established = Result<(SessionId, Nanos), CoordinationError>;

/// A timer of a client. It is void once the client has begun another connection.
#[derive(Clone, Copy, Debug)]
pub struct ClientTimer {
    generation: u32,
    kind: TimerKind,
}

#[derive(Clone, Copy, Debug)]
enum TimerKind {
    Tick,
    Dial,
    Deadline,
}

#[derive(Debug)]
struct Request {
    operation: Operation,
    asker: Asker,
}

#[derive(Debug)]
struct Sent {
    cxid: u32,
    request: Request,
}

/// How far the connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Waiting to dial again.
    Resting,
    Dialing,
    /// The session has been asked for.
    Greeting,
    /// Admitted; one ping proves that the server answers.
    Proving,
    Ready,
}

/// Waits for a state other than this one.
struct StateWaiter {
    than: SessionEvent,
    waiting: oneshot::Sender<SessionEvent>,
}

pub struct Client {
    node: u8,
    session: SessionId,
    timeout: Nanos,
    state: SessionEvent,
    /// Its owner has closed it; the server may not have answered yet.
    closing: bool,
    /// Nobody holds the session any more.
    released: bool,
    /// It has taken over a session of somebody else, just to close it.
    usurps: bool,
    progress: Progress,
    connection: Option<ConnectionId>,
    generation: u32,
    attempt: u32,
    deadline: Nanos,
    last_received: Nanos,
    last_sent: Nanos,
    pinging: bool,
    last_zxid: Zxid,
    next_cxid: u32,
    waiting: VecDeque<Request>,
    under_way: VecDeque<Sent>,
    watchers: Watchers,
    established: Option<oneshot::Sender<Established>>,
    state_waiters: Vec<StateWaiter>,
}

impl Client {
    /// A client that is about to open a session; the receiver learns how that went.
    pub(super) fn new(node: u8, timeout: Nanos) -> (Client, oneshot::Receiver<Established>) {
        let (established, receiver) = oneshot::channel();
        let client = Client {
            node,
            session: 0,
            timeout,
            state: SessionEvent::Disconnected,
            closing: false,
            released: false,
            usurps: false,
            progress: Progress::Resting,
            connection: None,
            generation: 0,
            attempt: 0,
            deadline: 0,
            last_received: 0,
            last_sent: 0,
            pinging: false,
            last_zxid: 0,
            next_cxid: 1,
            waiting: VecDeque::new(),
            under_way: VecDeque::new(),
            watchers: Watchers::default(),
            established: Some(established),
            state_waiters: Vec::new(),
        };
        (client, receiver)
    }

    /// Takes over a session that somebody else holds, just to close it.
    pub fn usurper(node: u8, session: SessionId, timeout: Nanos) -> Client {
        let (mut client, _) = Client::new(node, timeout);
        client.session = session;
        client.established = None;
        client.usurps = true;
        client.closing = true;
        client.released = true;
        client
    }

    pub fn state(&self) -> SessionEvent {
        self.state
    }

    /// The world has ended: nothing will be answered any more.
    pub fn abandon(&mut self) {
        self.fail_to_establish(CoordinationError::NotConnected("the simulation has ended".into()));
        self.finish(SessionEvent::Closed);
    }

    /// Its owner has gone.
    pub fn release(&mut self) {
        self.released = true;
    }

    /// Neither owner nor server knows it any more.
    pub fn is_done(&self) -> bool {
        self.released && self.is_over()
    }

    /// Nothing will happen to the session any more.
    pub fn is_over(&self) -> bool {
        matches!(self.state, SessionEvent::Expired | SessionEvent::Closed)
    }

    fn tick(&self) -> Nanos {
        (self.timeout / 20).max(MILLISECOND)
    }

    /// Begins to look for the server, until a deadline.
    pub fn start(&mut self, host: &mut Host) {
        if self.last_received == 0 {
            self.last_received = host.monotonic();
        }
        let patience = if self.session == 0 { self.timeout } else { self.timeout * 7 / 5 };
        self.deadline = self.last_received + patience;
        self.attempt = 0;
        self.dial(host);
    }

    fn wake(&self, host: &mut Host, after: Nanos, kind: TimerKind) {
        host.wake_client(after, ClientTimer { generation: self.generation, kind });
    }

    fn dial(&mut self, host: &mut Host) {
        self.generation += 1;
        self.progress = Progress::Dialing;
        self.connection = Some(host.connect(self.node, CLIENT_PORT));
        let left = self.deadline.saturating_sub(host.monotonic());
        self.wake(host, left, TimerKind::Deadline);
    }

    /// Dials again after a while that doubles, unless the deadline has passed.
    fn rest(&mut self, host: &mut Host) {
        self.hang_up(host);
        if host.monotonic() >= self.deadline {
            self.give_up();
            return;
        }
        self.progress = Progress::Resting;
        // Whoever takes a session over must be quicker than its owner.
        self.attempt = if self.usurps { 1 } else { self.attempt + 1 };
        let backoff = (100 * MILLISECOND).saturating_mul(1 << (self.attempt - 1).min(16));
        let jitter = host.rng.below(100) * MILLISECOND;
        self.wake(host, (backoff + jitter).min(self.deadline - host.monotonic()), TimerKind::Dial);
    }

    fn give_up(&mut self) {
        if self.session == 0 {
            let why = format!("no session within {} ms", self.timeout / MILLISECOND);
            self.fail_to_establish(CoordinationError::NotConnected(why));
        }
        self.finish(SessionEvent::Expired);
    }

    fn fail_to_establish(&mut self, error: CoordinationError) {
        if let Some(established) = self.established.take() {
            // Whoever asked may have gone away meanwhile.
            let _ = established.send(Err(error));
        }
    }

    fn hang_up(&mut self, host: &mut Host) {
        self.generation += 1;
        if let Some(connection) = self.connection.take() {
            host.close(connection);
        }
    }

    pub fn timer(&mut self, host: &mut Host, timer: ClientTimer) {
        if timer.generation != self.generation || self.is_over() {
            return;
        }
        match timer.kind {
            TimerKind::Dial => self.dial(host),
            TimerKind::Deadline => {
                if self.progress == Progress::Dialing {
                    self.rest(host);
                }
            }
            TimerKind::Tick => self.on_tick(host),
        }
    }

    fn on_tick(&mut self, host: &mut Host) {
        let tick = self.tick();
        if host.monotonic() >= self.last_received + 8 * tick {
            self.lose_connection(host);
            return;
        }
        let idle = host.monotonic() >= self.last_sent + 3 * tick;
        if self.progress == Progress::Ready && !self.pinging && idle {
            self.ping(host);
        }
        self.wake(host, tick, TimerKind::Tick);
    }

    fn ping(&mut self, host: &mut Host) {
        self.pinging = true;
        let request = Request { operation: Operation::Read(Read::Ping), asker: Asker::Nobody };
        self.transmit(host, request);
    }

    pub fn signal(&mut self, host: &mut Host, connection: ConnectionId, signal: Signal<Message>) {
        if self.connection != Some(connection) {
            return;
        }
        match signal {
            Signal::Opened => self.greet(host, connection),
            Signal::Refused | Signal::Closed => self.lose_connection(host),
            Signal::Message(message) => {
                self.last_received = host.monotonic();
                self.receive(host, message);
            }
            Signal::Accepted { .. } | Signal::Shut | Signal::Reset => {
                debug_assert!(false, "a client is never told so");
            }
        }
    }

    fn greet(&mut self, host: &mut Host, connection: ConnectionId) {
        self.progress = Progress::Greeting;
        self.last_received = host.monotonic();
        self.last_sent = host.monotonic();
        self.pinging = false;
        let (session, timeout, last_zxid) = (self.session, self.timeout, self.last_zxid);
        host.send(connection, Message::Connect { session, timeout, last_zxid });
        if self.usurps {
            // At once, for its owner will want the session back.
            self.send_close(host);
        }
        self.wake(host, self.tick(), TimerKind::Tick);
    }

    /// The connection is gone or useless: what was under way may or may not have been done.
    fn lose_connection(&mut self, host: &mut Host) {
        let served = self.progress == Progress::Ready;
        self.fail_under_way(&CoordinationError::ConnectionLoss);
        if self.is_over() {
            return;
        }
        self.change_state(SessionEvent::Disconnected);
        if served {
            self.hang_up(host);
            self.start(host);
        } else {
            self.rest(host);
        }
    }

    fn receive(&mut self, host: &mut Host, message: Message) {
        match message {
            Message::Connected { session: 0, .. } => {
                self.fail_to_establish(CoordinationError::SessionExpired { sent: false });
                self.finish(SessionEvent::Expired);
                self.hang_up(host);
            }
            Message::Connected { session, timeout } => {
                self.session = session;
                self.timeout = timeout;
                self.progress = Progress::Proving;
                self.change_state(SessionEvent::Connected);
                if self.usurps {
                    return;
                }
                self.renew_watches(host);
                self.ping(host);
            }
            Message::Reply(reply) => self.on_reply(host, *reply),
            Message::Fired { kind, path, .. } => self.watchers.fire(kind, &path),
            other => debug_assert!(false, "a client never gets {other:?}"),
        }
    }

    fn renew_watches(&mut self, host: &mut Host) {
        if let Some(list) = self.watchers.list(self.last_zxid) {
            let operation = Operation::Read(Read::SetWatches(list.into()));
            self.transmit(host, Request { operation, asker: Asker::Nobody });
        }
    }

    fn become_ready(&mut self, host: &mut Host) {
        self.progress = Progress::Ready;
        if let Some(established) = self.established.take()
            && established.send(Ok((self.session, self.timeout))).is_err()
        {
            // Whoever wanted the session has gone away: it must not linger on the server.
            self.close(host);
        }
        while let Some(request) = self.waiting.pop_front() {
            self.transmit(host, request);
        }
        let pending =
            |sent: &Sent| matches!(sent.request.operation, Operation::Write(Write::CloseSession));
        if self.closing && !self.under_way.iter().any(pending) {
            self.send_close(host);
        }
    }

    /// Ends the session once all earlier requests have been sent.
    pub(super) fn close(&mut self, host: &mut Host) {
        if self.closing {
            return;
        }
        self.closing = true;
        if !self.is_over() && self.progress == Progress::Ready {
            self.send_close(host);
        }
    }

    fn send_close(&mut self, host: &mut Host) {
        let operation = Operation::Write(Write::CloseSession);
        self.transmit(host, Request { operation, asker: Asker::Nobody });
    }

    /// The session is over: nothing that waits will be done.
    fn finish(&mut self, state: SessionEvent) {
        self.change_state(state);
        self.fail_under_way(&CoordinationError::SessionExpired { sent: true });
        for request in std::mem::take(&mut self.waiting) {
            self.answer(request, Err(CoordinationError::SessionExpired { sent: false }));
        }
        self.watchers.lose_all();
    }

    fn change_state(&mut self, state: SessionEvent) {
        if state == self.state || self.is_over() {
            return;
        }
        self.state = state;
        for waiter in std::mem::take(&mut self.state_waiters) {
            if waiter.than == state {
                self.state_waiters.push(waiter);
            } else {
                // Whoever waited may have gone away.
                let _ = waiter.waiting.send(state);
            }
        }
    }

    /// The first state other than this one.
    pub(super) fn changed(&mut self, than: SessionEvent) -> oneshot::Receiver<SessionEvent> {
        let (waiting, receiver) = oneshot::channel();
        if self.state != than {
            // The receiver is at hand.
            let _ = waiting.send(self.state);
        } else {
            self.state_waiters.push(StateWaiter { than, waiting });
        }
        receiver
    }
}
