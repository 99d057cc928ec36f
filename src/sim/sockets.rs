//! Ends of byte streams, as the kernels of the simulated hosts hold them.
//!
//! What has arrived waits here until it is read, however long a process is frozen. A sender that is too
//! far ahead of its reader waits. Reads and writes end as those of TCP do: the end of the stream behind
//! all data, an error behind a reset, and a first write after the other end has gone that seems to
//! succeed.

use std::collections::VecDeque;
use std::io;
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes};

use super::network::{ConnectionId, Endpoint, Side};

/// So much may be on its way to a reader, or wait for it.
const WINDOW_BYTES: usize = 256 << 10;
/// What one segment carries at most.
const SEGMENT_BYTES: usize = 64 << 10;

/// Which end of which connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SocketId {
    pub connection: ConnectionId,
    pub side: Side,
}

impl SocketId {
    pub fn other(self) -> SocketId {
        SocketId { side: self.side.other(), ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Dialing,
    Refused,
    Open,
}

/// Why nothing more comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The other end has said all; it still listens.
    Shut,
    Closed,
    Reset,
}

#[derive(Debug)]
pub struct Socket {
    pub endpoint: Endpoint,
    progress: Progress,
    received: VecDeque<Bytes>,
    unread: usize,
    /// Sent and not yet read at the other end.
    outstanding: usize,
    is_shut: bool,
    ending: Option<Ending>,
    /// Something was sent to an end that was gone.
    is_broken: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Socket {
    fn new(endpoint: Endpoint, progress: Progress) -> Socket {
        Socket {
            endpoint,
            progress,
            received: VecDeque::new(),
            unread: 0,
            outstanding: 0,
            is_shut: false,
            ending: None,
            is_broken: false,
            reader: None,
            writer: None,
        }
    }

    /// One whose handshake has just begun.
    pub fn dialing(endpoint: Endpoint) -> Socket {
        Socket::new(endpoint, Progress::Dialing)
    }

    pub fn accepted(endpoint: Endpoint) -> Socket {
        Socket::new(endpoint, Progress::Open)
    }

    pub fn opened(&mut self) {
        self.progress = Progress::Open;
        self.wake();
    }

    pub fn refused(&mut self) {
        self.progress = Progress::Refused;
        self.wake();
    }

    pub fn receive(&mut self, bytes: Bytes) {
        self.unread += bytes.len();
        self.received.push_back(bytes);
        wake(&mut self.reader);
    }

    pub fn end(&mut self, ending: Ending) {
        // Who has said all may still close or reset.
        self.ending = Some(ending);
        self.wake();
    }

    pub fn wake(&mut self) {
        wake(&mut self.reader);
        wake(&mut self.writer);
    }

    /// Something has arrived that nobody has read.
    pub fn has_unread(&self) -> bool {
        self.unread > 0
    }

    pub fn is_over(&self) -> bool {
        matches!(self.ending, Some(Ending::Closed | Ending::Reset))
    }

    /// The other end has read so much.
    pub fn credit(&mut self, bytes: usize) {
        self.outstanding = self.outstanding.saturating_sub(bytes);
        wake(&mut self.writer);
    }

    /// So much of what was written goes out.
    pub fn charge(&mut self, bytes: usize) {
        self.outstanding += bytes;
    }

    /// How the handshake went.
    pub fn poll_open(&mut self, context: &Context) -> Poll<io::Result<()>> {
        match (self.progress, self.ending) {
            (_, Some(Ending::Reset)) => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
            (Progress::Refused, _) => Poll::Ready(Err(io::ErrorKind::ConnectionRefused.into())),
            (Progress::Open, _) => Poll::Ready(Ok(())),
            (Progress::Dialing, _) => wait(&mut self.writer, context),
        }
    }

    /// Takes what is there, in as large a piece as fits.
    pub fn poll_read(&mut self, context: &Context, mut into: &mut [u8]) -> Poll<io::Result<usize>> {
        if self.unread == 0 && !into.is_empty() {
            return match self.ending {
                None => wait(&mut self.reader, context),
                Some(Ending::Reset) => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
                Some(Ending::Closed) if self.is_broken => {
                    Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
                }
                Some(Ending::Closed | Ending::Shut) => Poll::Ready(Ok(0)),
            };
        }
        let mut read = 0;
        while let Some(first) = self.received.front_mut()
            && !into.is_empty()
        {
            let taken = first.len().min(into.len());
            let (now, later) = into.split_at_mut(taken);
            first.copy_to_slice(now);
            into = later;
            read += taken;
            if first.is_empty() {
                self.received.pop_front();
            }
        }
        self.unread -= read;
        Poll::Ready(Ok(read))
    }

    /// How much may be written now.
    pub fn poll_room(&mut self, context: &Context, wanted: usize) -> Poll<io::Result<usize>> {
        match self.ending {
            _ if self.is_shut => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            Some(Ending::Reset) => {
                return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
            }
            Some(Ending::Closed) if self.is_broken => {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
            Some(Ending::Closed) => {
                // It is sent; that there is nobody to take it shows later.
                self.is_broken = true;
                wake(&mut self.reader);
                return Poll::Ready(Ok(wanted));
            }
            Some(Ending::Shut) | None => {}
        }
        let room = WINDOW_BYTES.saturating_sub(self.outstanding).min(SEGMENT_BYTES).min(wanted);
        if room == 0 && wanted > 0 {
            return wait(&mut self.writer, context);
        }
        Poll::Ready(Ok(room))
    }

    /// Nothing more will be written; false where that was so before.
    pub fn shut(&mut self) -> bool {
        !std::mem::replace(&mut self.is_shut, true)
    }
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}

fn wait<T>(place: &mut Option<Waker>, context: &Context) -> Poll<T> {
    *place = Some(context.waker().clone());
    Poll::Pending
}
