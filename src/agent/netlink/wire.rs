//! A netlink socket's bytes: opened in the calling thread's network namespace, where it stays.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use anyhow::Context;

/// The kernel puts no more than this into one message of a dump, and acknowledgements are small.
pub const RECEIVE_BYTES: usize = 32 * 1024;
const REPLY_TIMEOUT: Duration = Duration::from_secs(2);

/// Which part of the kernel is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subsystem {
    Netfilter = libc::NETLINK_NETFILTER as isize,
    /// Interfaces, addresses, queueing.
    Route = libc::NETLINK_ROUTE as isize,
    /// Sockets.
    SocketDiagnosis = libc::NETLINK_SOCK_DIAG as isize,
}

pub struct Wire {
    descriptor: OwnedFd,
}

impl Wire {
    pub fn open(subsystem: Subsystem) -> anyhow::Result<Wire> {
        // SAFETY: plain system calls; the descriptor is owned from here on.
        let descriptor = unsafe {
            let flags = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
            let raw = libc::socket(libc::AF_NETLINK, flags, subsystem as i32);
            if raw < 0 {
                return Err(io::Error::last_os_error())
                    .with_context(|| format!("open a netlink socket ({subsystem:?})"));
            }
            OwnedFd::from_raw_fd(raw)
        };
        let wire = Wire { descriptor };
        let timeout = libc::timeval { tv_sec: REPLY_TIMEOUT.as_secs() as _, tv_usec: 0 };
        wire.set_option(libc::SOL_SOCKET, libc::SO_RCVTIMEO, &timeout)?;
        // Acknowledgements without a copy of what they acknowledge.
        wire.set_option(libc::SOL_NETLINK, libc::NETLINK_CAP_ACK, &1i32)?;
        Ok(wire)
    }

    fn set_option<T>(&self, level: i32, name: i32, value: &T) -> anyhow::Result<()> {
        let length = size_of::<T>() as libc::socklen_t;
        // SAFETY: the pointer and length describe `value`, which outlives the call.
        let result = unsafe {
            let value = std::ptr::from_ref(value).cast();
            libc::setsockopt(self.descriptor.as_raw_fd(), level, name, value, length)
        };
        if result < 0 {
            return Err(io::Error::last_os_error()).context("set up a netlink socket");
        }
        Ok(())
    }

    pub fn send(&self, bytes: &[u8]) -> io::Result<()> {
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
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
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
                return Err(error);
            }
        }
    }
}
