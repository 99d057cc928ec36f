//! A connection: two ends, two pipes, who has closed, and who has lost it.

use super::pipe::Pipe;

/// Who holds one end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Endpoint {
    /// What listens on a node, and what a server opens by itself.
    Node(u8),
    /// Who only opens connections: on one of the nodes, or in the clients' place.
    Caller { host: u8, number: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId {
    pub(super) index: u32,
    pub(super) generation: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    Caller,
    Callee,
}

impl Side {
    pub fn other(self) -> Side {
        match self {
            Side::Caller => Side::Callee,
            Side::Callee => Side::Caller,
        }
    }
}

pub(super) struct Connection<M> {
    pub(super) generation: u32,
    pub(super) caller: Endpoint,
    pub(super) callee: Endpoint,
    pub(super) port: u16,
    pub(super) established: bool,
    pub(super) caller_closed: bool,
    pub(super) callee_closed: bool,
    /// An end whose kernel has been told by a reset that there is no connection.
    pub(super) caller_gone: bool,
    pub(super) callee_gone: bool,
    /// Nothing goes to the caller any more, and it is not told.
    pub(super) muted: bool,
    /// It belongs to somebody who just looks on: no fault counts what it does to it.
    pub(super) uncounted: bool,
    pub(super) to_caller: Pipe<M>,
    pub(super) to_callee: Pipe<M>,
}

impl<M> Connection<M> {
    pub(super) fn new(generation: u32, caller: Endpoint, callee: Endpoint, port: u16) -> Self {
        Connection {
            generation,
            caller,
            callee,
            port,
            established: false,
            caller_closed: false,
            callee_closed: false,
            caller_gone: false,
            callee_gone: false,
            muted: false,
            uncounted: false,
            to_caller: Pipe::default(),
            to_callee: Pipe::default(),
        }
    }

    pub(super) fn endpoint(&self, side: Side) -> Endpoint {
        match side {
            Side::Caller => self.caller,
            Side::Callee => self.callee,
        }
    }

    pub(super) fn side_of(&self, endpoint: Endpoint) -> Side {
        if self.caller == endpoint { Side::Caller } else { Side::Callee }
    }

    pub(super) fn is_closed(&self, side: Side) -> bool {
        match side {
            Side::Caller => self.caller_closed,
            Side::Callee => self.callee_closed,
        }
    }

    pub(super) fn close(&mut self, side: Side) {
        match side {
            Side::Caller => self.caller_closed = true,
            Side::Callee => self.callee_closed = true,
        }
    }

    pub(super) fn is_gone(&self, side: Side) -> bool {
        match side {
            Side::Caller => self.caller_gone,
            Side::Callee => self.callee_gone,
        }
    }

    pub(super) fn lose(&mut self, side: Side) {
        match side {
            Side::Caller => self.caller_gone = true,
            Side::Callee => self.callee_gone = true,
        }
    }

    pub(super) fn pipe(&mut self, to: Side) -> &mut Pipe<M> {
        match to {
            Side::Caller => &mut self.to_caller,
            Side::Callee => &mut self.to_callee,
        }
    }
}
