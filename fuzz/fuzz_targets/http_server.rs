//! A server's connection fed with anything: no panic, no hang, and what it says is HTTP.

#![no_main]

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::executor::block_on;
use futures::io::{AsyncRead, AsyncWrite};
use libfuzzer_sys::fuzz_target;
use stormglass::http::{Received, Response, serve_connection};

/// Bytes to be read, and what was written.
struct Peer<'a> {
    says: &'a [u8],
    heard: &'a mut Vec<u8>,
}

impl AsyncRead for Peer<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        piece: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(io::Read::read(&mut self.says, piece))
    }
}

impl AsyncWrite for Peer<'_> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.heard.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fuzz_target!(|data: &[u8]| {
    let mut heard = Vec::new();
    let echo = |request: Received| async move { Response::new(200, "text/plain", request.path) };
    let served = block_on(serve_connection(Peer { says: data, heard: &mut heard }, echo));
    drop(served);
    assert!(heard.is_empty() || heard.starts_with(b"HTTP/1."), "{}", heard.escape_ascii());
});
