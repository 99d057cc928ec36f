//! A TCP connection in the simulated world, and who takes them, as tasks hold them.

use std::io;
use std::net::SocketAddrV4;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::io::{AsyncRead, AsyncWrite};

use super::sockets::SocketId;
use super::world::{Handle, Home};
use crate::reference::host::Listener;

/// One end of a connection. Dropping it closes it; with something unread it is reset.
pub struct SimStream {
    world: Handle,
    socket: SocketId,
}

impl SimStream {
    pub(super) fn new(world: &Handle, socket: SocketId) -> SimStream {
        SimStream { world: world.clone(), socket }
    }

    /// Waits until the connection is open.
    pub(super) async fn opened(self) -> io::Result<SimStream> {
        std::future::poll_fn(|context| {
            self.world.with(|world| world.poll_open(self.socket, context))
        })
        .await?;
        Ok(self)
    }
}

impl Drop for SimStream {
    fn drop(&mut self) {
        self.world.with(|world| world.drop_socket(self.socket));
    }
}

impl AsyncRead for SimStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.world.with(|world| world.poll_read(self.socket, context, into))
    }
}

impl AsyncWrite for SimStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.world.with(|world| world.poll_write(self.socket, context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.world.with(|world| world.shut_socket(self.socket));
        Poll::Ready(Ok(()))
    }
}

/// A port of a node on which a program listens. Dropping it closes the port.
pub struct SimListener {
    world: Handle,
    home: Home,
    port: u16,
}

impl SimListener {
    pub(super) fn open(world: &Handle, home: Home, port: u16) -> io::Result<SimListener> {
        world.with(|world| world.listen(home, port))?;
        Ok(SimListener { world: world.clone(), home, port })
    }
}

impl Drop for SimListener {
    fn drop(&mut self) {
        self.world.with(|world| world.close_port(self.home, self.port));
    }
}

impl Listener for SimListener {
    type Stream = SimStream;

    async fn accept(&mut self) -> io::Result<(SimStream, SocketAddrV4)> {
        let (socket, from) = std::future::poll_fn(|context| {
            self.world.with(|world| world.poll_accept(self.home, self.port, context))
        })
        .await?;
        Ok((SimStream::new(&self.world, socket), from))
    }
}
