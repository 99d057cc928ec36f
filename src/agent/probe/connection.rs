//! One TCP connection tried from a node's namespace, and what becomes of it.
//!
//! Its source port tells our tables that it is a probe. It is closed with RST, so nothing of it stays.

use std::io;
use std::mem::size_of_val;
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::agent::fault_table::PROBE_PORTS;
use crate::agent::interposer::MARK;
use crate::agent::protocol::PortPassage;

const WAIT_MS: i32 = 1;

/// How many probes our tables have counted so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    pub dropped: u64,
    pub refused: u64,
}

/// A connection under way.
pub struct Attempt {
    stream: TcpStream,
}

enum Answer {
    None,
    Accepted,
    Reset,
}

impl Attempt {
    /// In the calling thread's namespace. `turn` spreads attempts over the ports that probes may use.
    pub fn start(from: Ipv4Addr, to: SocketAddrV4, turn: usize) -> anyhow::Result<Attempt> {
        let ports: Vec<u16> = PROBE_PORTS.collect();
        let mut refusal = None;
        for offset in 0..ports.len() {
            let port = ports[(turn + offset) % ports.len()];
            match Attempt::bound(SocketAddrV4::new(from, port), to) {
                Ok(attempt) => return Ok(attempt),
                Err(error) if is_taken(&error) => refusal = Some(error),
                Err(error) => return Err(error).with_context(|| format!("connect to {to}")),
            }
        }
        bail!("TCP ports {PROBE_PORTS:?} of {from} are all taken: {refusal:?}")
    }

    fn bound(from: SocketAddrV4, to: SocketAddrV4) -> io::Result<Attempt> {
        // SAFETY: plain system calls; the descriptor is owned from here on.
        let stream = unsafe {
            let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
            let raw = libc::socket(libc::AF_INET, kind, 0);
            if raw < 0 {
                return Err(io::Error::last_os_error());
            }
            TcpStream::from(OwnedFd::from_raw_fd(raw))
        };
        let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
        set_option(&stream, libc::SO_LINGER, &at_once)?;
        set_option(&stream, libc::SO_REUSEADDR, &1i32)?;
        // An interposer in the node's own namespace would accept what is to be tried beyond it.
        set_option(&stream, libc::SO_MARK, &MARK)?;
        checked(with_address(from, |address, length| {
            // SAFETY: the pointer and length describe a live address.
            unsafe { libc::bind(stream.as_raw_fd(), address, length) }
        }))?;
        let connected = checked(with_address(to, |address, length| {
            // SAFETY: the pointer and length describe a live address.
            unsafe { libc::connect(stream.as_raw_fd(), address, length) }
        }));
        match connected {
            // An answer that came at once is found by asking for it.
            Err(error) if error.raw_os_error() == Some(libc::ECONNREFUSED) => {}
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => {}
        }
        Ok(Attempt { stream })
    }

    /// Waits for an answer, or until our tables have counted what will not be answered.
    pub fn outcome(
        &self,
        bound: Duration,
        mut counted: impl FnMut() -> anyhow::Result<Counted>,
        before: Counted,
    ) -> anyhow::Result<PortPassage> {
        let deadline = Instant::now() + bound;
        loop {
            let answer = self.answer()?;
            if let Answer::Accepted = answer {
                return Ok(PortPassage::Accepted);
            }
            let now = counted()?;
            let refused = now.refused > before.refused;
            match answer {
                Answer::Reset if refused => return Ok(PortPassage::Refused),
                Answer::Reset => return Ok(PortPassage::Closed),
                Answer::None if now.dropped > before.dropped => return Ok(PortPassage::Dropped),
                Answer::None | Answer::Accepted => {}
            }
            if Instant::now() >= deadline {
                // Refused, but the refusal was lost on its way back.
                return Ok(if refused { PortPassage::Dropped } else { PortPassage::Silent });
            }
        }
    }

    fn answer(&self) -> anyhow::Result<Answer> {
        let wanted = libc::POLLOUT;
        let mut waited = libc::pollfd { fd: self.stream.as_raw_fd(), events: wanted, revents: 0 };
        // SAFETY: the pointer is to one live value.
        let ready = unsafe { libc::poll(&mut waited, 1, WAIT_MS) };
        if ready <= 0 {
            return Ok(Answer::None);
        }
        match self.stream.take_error().context("ask what became of a connection")? {
            None if self.stream.peer_addr().is_ok() => Ok(Answer::Accepted),
            // The error was already told when the connection was started.
            None => Ok(Answer::Reset),
            Some(error) => match error.kind() {
                io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset => {
                    Ok(Answer::Reset)
                }
                _ => Err(error).context("try a connection"),
            },
        }
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable)
}

fn set_option<T>(stream: &TcpStream, name: i32, value: &T) -> io::Result<()> {
    // SAFETY: the pointer and length describe `value`, which outlives the call.
    checked(unsafe {
        let length = size_of_val(value) as libc::socklen_t;
        let value = std::ptr::from_ref(value).cast();
        libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, name, value, length)
    })
}

fn with_address(
    address: SocketAddrV4,
    call: impl FnOnce(*const libc::sockaddr, libc::socklen_t) -> i32,
) -> i32 {
    let raw = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.ip().octets()) },
        sin_zero: [0; 8],
    };
    call(std::ptr::from_ref(&raw).cast(), size_of_val(&raw) as libc::socklen_t)
}

fn checked(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
