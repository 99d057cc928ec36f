//! What a node remembers of the one at the other end of a connection.

use std::net::SocketAddrV4;
use std::time::Duration;

use bytes::Bytes;

use super::store::Watch;

/// The other end of a connection.
#[derive(Debug)]
pub struct Peer {
    pub id: u64,
    pub address: SocketAddrV4,
    pub name: Option<Bytes>,
    /// It said READONLY: a replica may answer it.
    pub is_reader: bool,
    /// It said ASKING right before.
    pub asks: bool,
    /// It sends the data of a slot.
    pub is_importing: bool,
    /// A slave's own port.
    pub listens: Option<u16>,
    /// Commands since MULTI.
    pub queue: Option<Queue>,
    pub watches: Vec<Watch>,
    /// When the last reply was sent.
    pub replied: Option<Duration>,
    /// When the last reply was sent that a later request of its has proven to have arrived. Whoever sends
    /// several requests at once proves nothing; controllers do not.
    pub proven: Option<Duration>,
}

/// Commands since MULTI.
#[derive(Debug, Default)]
pub struct Queue {
    pub commands: Vec<Vec<Bytes>>,
    pub bytes: usize,
    /// One was refused: EXEC will be, too.
    pub is_broken: bool,
}

impl Peer {
    pub fn new(id: u64, address: SocketAddrV4) -> Peer {
        Peer {
            id,
            address,
            name: None,
            is_reader: false,
            asks: false,
            is_importing: false,
            listens: None,
            queue: None,
            watches: Vec::new(),
            replied: None,
            proven: None,
        }
    }

    /// A request was refused before it was executed or queued.
    pub fn break_queue(&mut self) {
        if let Some(queue) = &mut self.queue {
            queue.is_broken = true;
        }
    }
}
