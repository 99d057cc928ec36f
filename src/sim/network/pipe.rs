//! One direction of a connection: what is under way, and what TCP holds back while a cut lasts.

use std::collections::VecDeque;

use super::link::RETRANSMIT_FIRST;
use crate::op::{Nanos, SECOND};

/// Segments that TCP sends before it must see an acknowledgement (its initial window).
pub const WINDOW: u8 = 10;
const RETRANSMIT_LONGEST: Nanos = 120 * SECOND;

/// What travels on a connection, in order.
#[derive(Debug)]
pub enum Segment<M> {
    /// To the callee: somebody connected.
    Accept,
    /// To the caller: the handshake is done.
    Open,
    /// To the caller: nothing listens there.
    Refuse,
    Data(M),
    /// No more data come, but the other way stays open.
    Shut,
    Close,
    /// The end that gets it has lost the connection, whatever was under way.
    Reset,
}

#[derive(Debug)]
pub struct Pipe<M> {
    /// Scheduled to arrive, each when it is due.
    pub transit: VecDeque<(Nanos, Segment<M>)>,
    /// In the sender's buffer, waiting for a retransmission to pass.
    pub held: VecDeque<Segment<M>>,
    /// No segment overtakes another.
    pub last_arrival: Nanos,
    /// Delivered while the way back was cut, so that no acknowledgement came.
    pub unacknowledged: u8,
    /// When what toxics have let in will all be out.
    pub busy_until: Nanos,
    attempt: u32,
}

impl<M> Default for Pipe<M> {
    fn default() -> Self {
        Pipe {
            transit: VecDeque::new(),
            held: VecDeque::new(),
            last_arrival: 0,
            unacknowledged: 0,
            busy_until: 0,
            attempt: 0,
        }
    }
}

impl<M> Pipe<M> {
    /// How long until the next retransmission; doubles each time.
    pub fn next_timeout(&mut self) -> Nanos {
        let timeout = RETRANSMIT_FIRST.saturating_mul(1 << self.attempt.min(16));
        self.attempt += 1;
        timeout.min(RETRANSMIT_LONGEST)
    }

    pub fn passed(&mut self) {
        self.attempt = 0;
    }

    /// Forgets all that is under way.
    pub fn clear(&mut self) {
        self.transit.clear();
        self.held.clear();
    }
}
