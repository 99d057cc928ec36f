//! A client's requests: sent in order, answered in order, each answer to whoever asked.

use tokio::sync::oneshot;

use super::watchers::WatchedThing;
use super::{Answer, Asker, Client, Progress, Request, Sent, WatchSet};
use crate::cluster::{CoordinationError, SessionEvent};
use crate::sim::zookeeper::Host;
use crate::sim::zookeeper::message::{Message, Operation, Read, Refusal, Reply, Write};

impl Client {
    /// Hands an answer to whoever still waits for it.
    pub(super) fn answer(&mut self, request: Request, answer: Answer) {
        match request.asker {
            Asker::Nobody => {}
            Asker::Answer(sender) => drop(sender.send(answer)),
            Asker::WatchSet(sender) => {
                drop(sender.send(self.set_watch(request.operation, answer)));
            }
        }
    }

    /// Remembers the watch here and now: its event may follow the answer at once.
    pub(super) fn set_watch(&mut self, operation: Operation, answer: Answer) -> WatchSet {
        let (path, thing) = match (operation, answer) {
            (Operation::Read(Read::Exists { path, .. }), Ok(_)) => (path, WatchedThing::Present),
            (Operation::Read(Read::Exists { path, .. }), Err(CoordinationError::NoNode)) => {
                (path, WatchedThing::Missing)
            }
            (Operation::Read(Read::Children { path, .. }), Ok(_)) => (path, WatchedThing::Children),
            (_, Err(error)) => return Err(error),
            (operation, Ok(_)) => {
                let why = format!("{operation:?} sets no watch");
                return Err(CoordinationError::BadArguments(why));
            }
        };
        Ok(self.watchers.add(path, thing))
    }

    pub(in crate::sim::zookeeper) fn ask(
        &mut self,
        host: &mut Host,
        operation: Operation,
    ) -> oneshot::Receiver<Answer> {
        let (sender, receiver) = oneshot::channel();
        self.submit(host, Request { operation, asker: Asker::Answer(sender) });
        receiver
    }

    pub(in crate::sim::zookeeper) fn watch(
        &mut self,
        host: &mut Host,
        read: Read,
    ) -> oneshot::Receiver<WatchSet> {
        let (sender, receiver) = oneshot::channel();
        let operation = Operation::Read(read);
        self.submit(host, Request { operation, asker: Asker::WatchSet(sender) });
        receiver
    }

    /// Takes a request; it is sent at once or when there is a connection.
    pub(super) fn submit(&mut self, host: &mut Host, request: Request) {
        if self.is_over() {
            self.answer(request, Err(CoordinationError::SessionExpired { sent: false }));
        } else if self.progress == Progress::Ready {
            self.transmit(host, request);
        } else {
            self.waiting.push_back(request);
        }
    }

    pub(super) fn transmit(&mut self, host: &mut Host, request: Request) {
        let Some(connection) = self.connection else { return };
        let cxid = self.next_cxid;
        self.next_cxid += 1;
        self.last_sent = host.monotonic();
        host.send(connection, Message::Request { cxid, operation: request.operation.clone() });
        self.under_way.push_back(Sent { cxid, request });
    }

    pub(super) fn on_reply(&mut self, host: &mut Host, reply: Reply) {
        let answered = self.under_way.front().is_some_and(|sent| sent.cxid == reply.cxid);
        if !answered {
            // Answers come in the order of requests: a request or an answer has been lost.
            self.lose_connection(host);
            return;
        }
        let Some(sent) = self.under_way.pop_front() else { return };
        if reply.result == Err(Refusal::SessionExpired) {
            let error = CoordinationError::SessionExpired { sent: true };
            self.answer(sent.request, Err(error));
            self.finish(SessionEvent::Expired);
            self.hang_up(host);
            return;
        }
        if matches!(sent.request.operation, Operation::Read(Read::Ping)) {
            self.pinging = false;
        } else {
            self.last_zxid = self.last_zxid.max(reply.zxid);
        }
        let closed = matches!(sent.request.operation, Operation::Write(Write::CloseSession));
        self.answer(sent.request, reply.result.map_err(CoordinationError::from));
        if closed {
            self.finish(SessionEvent::Closed);
            self.hang_up(host);
        } else if self.progress == Progress::Proving && self.under_way.is_empty() {
            self.become_ready(host);
        }
    }

    pub(super) fn fail_under_way(&mut self, error: &CoordinationError) {
        for sent in std::mem::take(&mut self.under_way) {
            self.answer(sent.request, Err(error.clone()));
        }
    }
}
