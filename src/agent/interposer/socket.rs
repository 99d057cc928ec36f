//! The sockets of an interposer: marked so that they are not redirected again, and closed by reset.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4};
use std::os::fd::AsRawFd;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// What an interposer's own connections carry.
pub const MARK: u32 = 0x5347;

/// Beside the probes' ports and above those that kernels hand out by themselves.
const PORTS: std::ops::RangeInclusive<u16> = 61985..=62000;
const BACKLOG: u32 = 1024;
/// `SO_ORIGINAL_DST` of `linux/netfilter_ipv4.h`.
const ORIGINAL_DESTINATION: i32 = 80;

/// Listens at the first free port, in the calling thread's namespace.
pub fn listen() -> anyhow::Result<TcpListener> {
    for port in PORTS {
        let socket = TcpSocket::new_v4().context("make a socket")?;
        // Connections of an agent before this one may still be dying.
        socket.set_reuseaddr(true).context("set up a socket")?;
        match socket.bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))) {
            Ok(()) => match socket.listen(BACKLOG) {
                Ok(listener) => return Ok(listener),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(error) => return Err(error).context("listen"),
            },
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(error).context(format!("bind to port {port}")),
        }
    }
    bail!("TCP ports {PORTS:?} are all taken, expected a free one for an interposer")
}

/// Where a redirected connection was meant to go; `None` for one that was not redirected.
pub fn original_destination(stream: &TcpStream) -> Option<SocketAddrV4> {
    // SAFETY: an all-zero address is valid, and the pointers describe live memory of its size.
    let address = unsafe {
        let mut address: libc::sockaddr_in = std::mem::zeroed();
        let mut length = size_of_val(&address) as libc::socklen_t;
        let result = libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_IP,
            ORIGINAL_DESTINATION,
            std::ptr::from_mut(&mut address).cast(),
            &mut length,
        );
        if result != 0 {
            return None;
        }
        address
    };
    let ip = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
    let original = SocketAddrV4::new(ip, u16::from_be(address.sin_port));
    let own = stream.local_addr().ok()?;
    (own.port() != original.port()).then_some(original)
}

/// Connects on, past our own redirection.
pub async fn connect(to: SocketAddrV4) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    let mark = MARK;
    // SAFETY: the pointer and length describe `mark`, which outlives the call.
    let result = unsafe {
        let value = std::ptr::from_ref(&mark).cast();
        let length = size_of_val(&mark) as libc::socklen_t;
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MARK, value, length)
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    let stream = socket.connect(to.into()).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Says that no more comes in one direction.
pub fn shut(stream: &TcpStream, how: Shutdown) -> io::Result<()> {
    let how = match how {
        Shutdown::Read => libc::SHUT_RD,
        Shutdown::Write => libc::SHUT_WR,
        Shutdown::Both => libc::SHUT_RDWR,
    };
    // SAFETY: a plain system call on an open descriptor.
    match unsafe { libc::shutdown(stream.as_raw_fd(), how) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Closes with RST, so that the other end learns at once that nothing more comes.
pub fn reset(stream: TcpStream) {
    // Where the connection is gone already, there is nothing to reset.
    #[expect(deprecated, reason = "a linger of 0 never blocks")]
    let _ = stream.set_linger(Some(Duration::ZERO));
    drop(stream);
}
