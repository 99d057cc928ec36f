//! A netfilter netlink socket: transactions that happen as a whole, and dumps of what is there.
//!
//! It knows frames and acknowledgements, not tables. The kernel ties owned tables to the socket that
//! made them, so one socket lives as long as the agent.

mod exchange;
mod wire;

use std::io;

use anyhow::{Context, bail};

use super::attribute::Attributes;
use super::frame::{self, Change, DONE, ERROR, frames};
pub use exchange::Exchange;
pub use wire::Subsystem;
use wire::{RECEIVE_BYTES, Wire};

/// Docker changes its own rules now and then, which interrupts dumps.
const DUMP_TRIES: usize = 20;

pub struct Socket {
    wire: Wire,
    sequence: u32,
}

impl Socket {
    /// Opens the socket in the calling thread's network namespace.
    pub fn open() -> anyhow::Result<Socket> {
        Ok(Socket { wire: Wire::open(Subsystem::Netfilter)?, sequence: 1 })
    }

    /// Does all of it in one transaction, or none.
    pub fn transact(&mut self, changes: &[Change]) -> anyhow::Result<()> {
        let first = self.sequence;
        let bytes = frame::batch(changes, first);
        self.sequence += changes.len() as u32 + 2;
        self.send(&bytes)?;
        self.await_acknowledgements(changes, first)
    }

    fn await_acknowledgements(&self, changes: &[Change], first: u32) -> anyhow::Result<()> {
        let last = first + changes.len() as u32;
        let mut refused = None;
        let mut buffer = vec![0; RECEIVE_BYTES];
        loop {
            let length = self.receive(&mut buffer)?;
            for frame in frames(&buffer[..length]) {
                if frame.kind != ERROR || !(first..=last).contains(&frame.sequence) {
                    continue;
                }
                let errno = frame.errno();
                if errno != 0 && refused.is_none() {
                    let change = (frame.sequence - first).checked_sub(1);
                    let purpose = change.and_then(|index| changes.get(index as usize));
                    let purpose = purpose.map_or("change nftables", |change| &change.purpose);
                    refused = Some((purpose.to_owned(), io::Error::from_raw_os_error(errno)));
                }
                // The kernel refuses a whole batch in the name of its first frame.
                if frame.sequence == last || (errno != 0 && frame.sequence == first) {
                    return match refused {
                        None => Ok(()),
                        Some((purpose, error)) => Err(error).context(purpose),
                    };
                }
            }
        }
    }

    /// All objects of a kind, each as its attributes, from one consistent look.
    pub fn dump(
        &mut self,
        kind: u16,
        family: u8,
        attributes: &Attributes,
    ) -> anyhow::Result<Vec<Vec<u8>>> {
        for _ in 0..DUMP_TRIES {
            if let Some(found) = self.try_dump(kind, family, attributes)? {
                return Ok(found);
            }
        }
        bail!("nftables changed under each of {DUMP_TRIES} attempts to read it")
    }

    fn try_dump(
        &mut self,
        kind: u16,
        family: u8,
        attributes: &Attributes,
    ) -> anyhow::Result<Option<Vec<Vec<u8>>>> {
        let sequence = self.sequence;
        self.sequence += 1;
        self.send(&frame::dump(kind, sequence, family, attributes))?;
        let mut found = Vec::new();
        let mut consistent = true;
        let mut buffer = vec![0; RECEIVE_BYTES];
        loop {
            let length = self.receive(&mut buffer)?;
            for frame in frames(&buffer[..length]).filter(|frame| frame.sequence == sequence) {
                consistent &= !frame.is_interrupted();
                match frame.kind {
                    DONE | ERROR => {
                        return match frame.errno() {
                            0 => Ok(consistent.then_some(found)),
                            libc::EINTR => Ok(None),
                            errno => Err(io::Error::from_raw_os_error(errno))
                                .context("read nftables back"),
                        };
                    }
                    _ => found.push(frame.attributes().to_vec()),
                }
            }
        }
    }

    fn send(&self, bytes: &[u8]) -> anyhow::Result<()> {
        self.wire.send(bytes).context("send to netfilter")
    }

    fn receive(&self, buffer: &mut [u8]) -> anyhow::Result<usize> {
        self.wire.receive(buffer).context("hear from netfilter")
    }
}
