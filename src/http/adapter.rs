//! A futures-io stream as hyper wants one, and whether anything was handed to it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use futures::io::{AsyncRead, AsyncWrite};
use hyper::rt::{Read, ReadBufCursor, Write};

/// So much is read at once.
const PIECE: usize = 8 << 10;

pub struct Adapter<S> {
    stream: S,
    piece: Vec<u8>,
    wrote: Wrote,
}

/// Tells, after the stream is gone, too, whether it took any byte.
#[derive(Clone, Debug, Default)]
pub struct Wrote(Arc<AtomicBool>);

impl Wrote {
    pub fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl<S> Adapter<S> {
    pub fn new(stream: S) -> Adapter<S> {
        Adapter { stream, piece: vec![0; PIECE], wrote: Wrote::default() }
    }

    pub fn wrote(&self) -> Wrote {
        self.wrote.clone()
    }

    fn note(&self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(1..)) = written {
            self.wrote.0.store(true, Ordering::Relaxed);
        }
    }
}

impl<S: AsyncRead + Unpin> Read for Adapter<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let Adapter { stream, piece, .. } = self.get_mut();
        let room = cursor.remaining().min(piece.len());
        let read = ready!(Pin::new(stream).poll_read(context, &mut piece[..room]))?;
        cursor.put_slice(&piece[..read]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> Write for Adapter<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(&written);
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_close(context)
    }
}
