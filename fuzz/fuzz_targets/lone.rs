//! A host for one server and nobody else: connections are bytes that come and bytes that were answered,
//! one connection after the other; nobody can be reached, and time passes only when all wait for it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn, ready};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::executor::{LocalPool, LocalSpawner};
use futures::io::{AsyncRead, AsyncWrite};
use futures::task::LocalSpawnExt;
use stormglass::client::zookeeper::WireSession;
use stormglass::cluster::CoordinationError;
use stormglass::reference::host::{Disk, Host, Listener};
use stormglass::rng::Rng;

/// So often time passes within one conversation: long enough for whatever has an end.
const MOST_STEPS: usize = 50;

/// What the server answers to each of these conversations; the next one begins when nothing more comes of
/// the last.
pub fn converse<F>(serve: impl FnOnce(Lone) -> F, conversations: Vec<Vec<u8>>) -> Vec<Vec<u8>>
where
    F: Future<Output = anyhow::Result<()>> + 'static,
{
    let mut pool = LocalPool::new();
    let lone = Lone { spawner: pool.spawner(), shared: Rc::default() };
    let serving = serve(lone.clone());
    lone.run(async move {
        serving.await.expect("it serves until its end");
    });
    pool.run_until_stalled();
    let mut replies = Vec::new();
    for bytes in conversations {
        let stream = Stream { bytes: Rc::new(RefCell::new(bytes.into())), answer: Rc::default() };
        let answer = stream.answer.clone();
        lone.shared.waiting.borrow_mut().push_back(stream);
        if let Some(waker) = lone.shared.listener.take() {
            waker.wake();
        }
        pool.run_until_stalled();
        for _ in 0..MOST_STEPS {
            if !lone.shared.step() {
                break;
            }
            pool.run_until_stalled();
        }
        replies.push(answer.take());
    }
    replies
}

#[derive(Default)]
struct Shared {
    waiting: RefCell<VecDeque<Stream>>,
    listener: Cell<Option<Waker>>,
    files: Rc<Files>,
    now: Cell<Duration>,
    sleeping: RefCell<Vec<(Duration, Waker)>>,
}

impl Shared {
    /// Moves on to when somebody wakes; false if nobody sleeps.
    fn step(&self) -> bool {
        let next = self.sleeping.borrow().iter().map(|(at, _)| *at).min();
        let Some(next) = next else { return false };
        self.now.set(self.now.get().max(next));
        let woken =
            self.sleeping.borrow_mut().extract_if(.., |(at, _)| *at <= next).collect::<Vec<_>>();
        woken.into_iter().for_each(|(_, waker)| waker.wake());
        true
    }
}

#[derive(Clone)]
pub struct Lone {
    spawner: LocalSpawner,
    shared: Rc<Shared>,
}

impl Host for Lone {
    type Stream = Stream;
    type Listener = Waiting;
    type Session = WireSession;

    async fn listen(&self, _port: u16) -> io::Result<Waiting> {
        Ok(Waiting(self.shared.clone()))
    }

    fn connect(&self, _to: SocketAddrV4) -> impl Future<Output = io::Result<Stream>> + 'static {
        ready(Err(io::ErrorKind::ConnectionRefused.into()))
    }

    fn coordinate(
        &self,
        _server: SocketAddrV4,
        _session_timeout: Duration,
    ) -> impl Future<Output = Result<WireSession, CoordinationError>> + 'static {
        ready(Err(CoordinationError::NotConnected("there is nobody else".to_owned())))
    }

    fn run(&self, task: impl Future<Output = ()> + 'static) {
        self.spawner.spawn_local(task).expect("the pool outlives its tasks");
    }

    fn wall_ms(&self) -> i64 {
        1_795_958_000_000
    }

    fn monotonic(&self) -> Duration {
        self.shared.now.get()
    }

    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + 'static {
        let (shared, at) = (self.shared.clone(), self.shared.now.get().saturating_add(time));
        poll_fn(move |cx| {
            if shared.now.get() >= at {
                return Poll::Ready(());
            }
            shared.sleeping.borrow_mut().push((at, cx.waker().clone()));
            Poll::Pending
        })
    }

    fn disk(&self) -> Rc<dyn Disk> {
        self.shared.files.clone()
    }

    fn log(&self, _line: &str) {}

    fn chance(&self, purpose: &str) -> Rng {
        Rng::from_seed(1).fork(purpose)
    }
}

pub struct Waiting(Rc<Shared>);

impl Listener for Waiting {
    type Stream = Stream;

    async fn accept(&mut self) -> io::Result<(Stream, SocketAddrV4)> {
        let stream = poll_fn(|cx| match self.0.waiting.borrow_mut().pop_front() {
            Some(stream) => Poll::Ready(stream),
            None => {
                self.0.listener.set(Some(cx.waker().clone()));
                Poll::Pending
            }
        });
        Ok((stream.await, SocketAddrV4::new(Ipv4Addr::LOCALHOST, 40_000)))
    }
}

/// One connection: it ends when all its bytes were read.
pub struct Stream {
    bytes: Rc<RefCell<VecDeque<u8>>>,
    answer: Rc<RefCell<Vec<u8>>>,
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        piece: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut bytes = self.bytes.borrow_mut();
        // In small pieces: requests come in halves.
        let length = piece.len().min(bytes.len()).min(100);
        for (to, from) in piece.iter_mut().zip(bytes.drain(..length)) {
            *to = from;
        }
        Poll::Ready(Ok(length))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        piece: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.answer.borrow_mut().extend_from_slice(piece);
        Poll::Ready(Ok(piece.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[derive(Default)]
struct Files(RefCell<BTreeMap<String, Vec<u8>>>);

impl Disk for Files {
    fn read(&self, file: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.borrow().get(file).cloned())
    }

    fn append(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().entry(file.to_owned()).or_default().extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&self, _file: &str) -> io::Result<()> {
        Ok(())
    }

    fn replace(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().insert(file.to_owned(), bytes.to_vec());
        Ok(())
    }
}
