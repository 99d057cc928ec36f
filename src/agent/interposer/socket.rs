//! The sockets of an interposer: marked so that they are not redirected again, and closed by reset.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4};
use std::time::Duration;

use anyhow::{Context, bail};
use socket2::{Domain, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// What an interposer's own connections carry.
pub const MARK: u32 = 0x5347;

/// Beside the probes' ports and above those that kernels hand out by themselves.
const PORTS: std::ops::RangeInclusive<u16> = 61985..=62000;
const BACKLOG: u32 = 1024;

/// Listens at the first free port, in the calling thread's namespace.
pub fn listen() -> anyhow::Result<TcpListener> {
    for port in PORTS {
        let socket = TcpSocket::new_v4().context("make a socket")?;
        // Connections of an agent before this one may still be dying.
        socket.set_reuseaddr(true).context("set up a socket")?;
        let bound = socket.bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)));
        match bound.and_then(|()| socket.listen(BACKLOG)) {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(error).context(format!("listen at port {port}")),
        }
    }
    bail!("TCP ports {PORTS:?} are all taken, expected a free one for an interposer")
}

/// Where a redirected connection was meant to go; `None` for one that was not redirected.
pub fn original_destination(stream: &TcpStream) -> Option<SocketAddrV4> {
    let original = SockRef::from(stream).original_dst_v4().ok()?.as_socket_ipv4()?;
    let own = stream.local_addr().ok()?;
    (own.port() != original.port()).then_some(original)
}

/// Connects on, past our own redirection.
pub async fn connect(to: SocketAddrV4) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    SockRef::from(&socket).set_mark(MARK)?;
    let stream = socket.connect(to.into()).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// A connection that was tried.
pub struct Opened {
    /// Its own address.
    pub client: SocketAddr,
    /// Kept so that it is not closed before it was looked at.
    pub connected: io::Result<Socket>,
}

/// Tries to connect from this address, as any process here would.
pub fn open_from(from: Ipv4Addr, to: SocketAddr, within: Duration) -> io::Result<Opened> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddrV4::new(from, 0).into())?;
    let client = socket.local_addr()?.as_socket().ok_or(io::ErrorKind::Unsupported)?;
    let connected = socket.connect_timeout(&to.into(), within);
    Ok(Opened { client, connected: connected.map(|()| socket) })
}

/// Says that no more comes in one direction.
pub fn shut(stream: &TcpStream, how: Shutdown) -> io::Result<()> {
    SockRef::from(stream).shutdown(how)
}

/// Closes with RST, so that the other end learns at once that nothing more comes.
pub fn reset(stream: TcpStream) {
    // Where the connection is gone already, there is nothing to reset.
    let _ = SockRef::from(&stream).set_linger(Some(Duration::ZERO));
    drop(stream);
}
