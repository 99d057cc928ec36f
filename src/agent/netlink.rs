//! A netfilter netlink socket: transactions that happen as a whole, and dumps of what is there.
//!
//! It knows frames and acknowledgements, not tables. The kernel ties owned tables to the socket that
//! made them, so one socket lives as long as the agent.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use anyhow::{Context, bail};

use super::attribute::Attributes;
use super::frame::{self, Change, DONE, ERROR, frames};

const RECEIVE_BYTES: usize = 128 * 1024;
const REPLY_TIMEOUT: Duration = Duration::from_secs(2);
/// Docker changes its own rules now and then, which interrupts dumps.
const DUMP_TRIES: usize = 20;

pub struct Socket {
    descriptor: OwnedFd,
    sequence: u32,
}

impl Socket {
    /// Opens the socket in the calling thread's network namespace.
    pub fn open() -> anyhow::Result<Socket> {
        // SAFETY: plain system calls; the descriptor is owned from here on.
        let descriptor = unsafe {
            let flags = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
            let raw = libc::socket(libc::AF_NETLINK, flags, libc::NETLINK_NETFILTER);
            if raw < 0 {
                return Err(io::Error::last_os_error()).context("open a netfilter socket");
            }
            OwnedFd::from_raw_fd(raw)
        };
        let socket = Socket { descriptor, sequence: 1 };
        let timeout = libc::timeval { tv_sec: REPLY_TIMEOUT.as_secs() as _, tv_usec: 0 };
        socket.set_option(libc::SOL_SOCKET, libc::SO_RCVTIMEO, &timeout)?;
        // Acknowledgements without a copy of what they acknowledge.
        socket.set_option(libc::SOL_NETLINK, libc::NETLINK_CAP_ACK, &1i32)?;
        Ok(socket)
    }

    fn set_option<T>(&self, level: i32, name: i32, value: &T) -> anyhow::Result<()> {
        let length = size_of::<T>() as libc::socklen_t;
        // SAFETY: the pointer and length describe `value`, which outlives the call.
        let result = unsafe {
            let value = std::ptr::from_ref(value).cast();
            libc::setsockopt(self.descriptor.as_raw_fd(), level, name, value, length)
        };
        if result < 0 {
            return Err(io::Error::last_os_error()).context("set up the netfilter socket");
        }
        Ok(())
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
        // SAFETY: an all-zero netlink address is valid; the pointers describe live memory.
        let sent = unsafe {
            let mut kernel: libc::sockaddr_nl = std::mem::zeroed();
            kernel.nl_family = libc::AF_NETLINK as _;
            libc::sendto(
                self.descriptor.as_raw_fd(),
                bytes.as_ptr().cast(),
                bytes.len(),
                0,
                std::ptr::from_ref(&kernel).cast(),
                size_of_val(&kernel) as libc::socklen_t,
            )
        };
        if sent < 0 {
            return Err(io::Error::last_os_error()).context("send to netfilter");
        }
        Ok(())
    }

    fn receive(&self, buffer: &mut [u8]) -> anyhow::Result<usize> {
        loop {
            // SAFETY: the pointer and length describe `buffer`.
            let received = unsafe {
                let (start, length) = (buffer.as_mut_ptr().cast(), buffer.len());
                libc::recv(self.descriptor.as_raw_fd(), start, length, 0)
            };
            if let Ok(received) = usize::try_from(received) {
                return Ok(received);
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error).context("hear from netfilter");
            }
        }
    }
}
