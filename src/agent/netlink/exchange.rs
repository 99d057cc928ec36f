//! One request at a time and what the kernel answers to it: interfaces, queueing, sockets.

use std::io;

use super::wire::{RECEIVE_BYTES, Subsystem, Wire};
use crate::agent::frame::{self, DONE, ERROR, frames};

/// Others change interfaces and sockets now and then, which interrupts dumps.
const DUMP_TRIES: usize = 20;

pub struct Exchange {
    wire: Wire,
    sequence: u32,
}

impl Exchange {
    /// Opens the socket in the calling thread's network namespace.
    pub fn open(subsystem: Subsystem) -> anyhow::Result<Exchange> {
        Ok(Exchange { wire: Wire::open(subsystem)?, sequence: 1 })
    }

    /// Asks for a change, and waits until the kernel has made or refused it.
    pub fn change(&mut self, kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
        self.ask(kind, frame::ACK | flags, body).map(|_| ())
    }

    /// The one object that is asked for.
    pub fn get(&mut self, kind: u16, body: &[u8]) -> io::Result<Vec<u8>> {
        let found = self.ask(kind, 0, body)?.and_then(|found| found.into_iter().next());
        found.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// All objects of a kind, each as its whole body, from one consistent look.
    pub fn dump(&mut self, kind: u16, body: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        for _ in 0..DUMP_TRIES {
            if let Some(found) = self.ask(kind, frame::DUMP, body)? {
                return Ok(found);
            }
        }
        Err(io::Error::other(format!("what was read changed under each of {DUMP_TRIES} attempts")))
    }

    /// `None` where the answer was interrupted by a change.
    fn ask(&mut self, kind: u16, flags: u16, body: &[u8]) -> io::Result<Option<Vec<Vec<u8>>>> {
        let sequence = self.sequence;
        self.sequence = self.sequence.wrapping_add(1);
        self.wire.send(&frame::plain(kind, flags, sequence, body))?;
        let mut found = Vec::new();
        let mut consistent = true;
        let mut buffer = vec![0; RECEIVE_BYTES];
        loop {
            let length = self.wire.receive(&mut buffer)?;
            for frame in frames(&buffer[..length]).filter(|frame| frame.sequence == sequence) {
                consistent &= !frame.is_interrupted();
                if !matches!(frame.kind, DONE | ERROR) {
                    found.push(frame.body.to_vec());
                    if flags & (frame::DUMP | frame::ACK) == 0 {
                        return Ok(Some(found));
                    }
                    continue;
                }
                return match frame.errno() {
                    0 => Ok(consistent.then_some(found)),
                    libc::EINTR => Ok(None),
                    errno => Err(io::Error::from_raw_os_error(errno)),
                };
            }
        }
    }
}
