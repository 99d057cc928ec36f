//! TCP in memory: connections whose directions can be held back.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::{Notify, mpsc};
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt};

use crate::reference::host::Listener;

pub type MemoryStream = Compat<DuplexStream>;

/// So many bytes wait in a direction before the writer does.
const BUFFER: usize = 64 << 10;

/// Bytes that hold back what follows them.
pub struct Tap {
    pub from: Ipv4Addr,
    pub to: Ipv4Addr,
    /// Each must be in one piece of what is sent.
    pub words: Vec<Vec<u8>>,
    /// The direction that is held from then on.
    pub hold: (Ipv4Addr, Ipv4Addr),
}

#[derive(Default)]
struct State {
    listeners: BTreeMap<SocketAddrV4, mpsc::UnboundedSender<(DuplexStream, SocketAddrV4)>>,
    held: Vec<(Ipv4Addr, Ipv4Addr)>,
    /// Directions in which connections as old as this carry nothing any more.
    lost: Vec<((Ipv4Addr, Ipv4Addr), u16)>,
    taps: Vec<Tap>,
    next_port: u16,
}

/// Everybody reaches everybody, but for directions that are held.
#[derive(Clone, Default)]
pub struct Network {
    state: Rc<RefCell<State>>,
    changed: Rc<Notify>,
}

impl Network {
    /// What goes from one address to another waits from now on, new connections too.
    pub fn hold(&self, from: Ipv4Addr, to: Ipv4Addr) {
        self.state.borrow_mut().held.push((from, to));
    }

    /// Lets pass again what waited.
    pub fn release(&self, from: Ipv4Addr, to: Ipv4Addr) {
        self.state.borrow_mut().held.retain(|held| *held != (from, to));
        self.changed.notify_waiters();
    }

    /// Nothing passes any more from one address to another on the connections that there are, not even
    /// their end; new ones are as ever.
    pub fn lose(&self, from: Ipv4Addr, to: Ipv4Addr) {
        let mut state = self.state.borrow_mut();
        let newest = state.next_port;
        state.lost.push(((from, to), newest));
    }

    /// Holds a direction once these bytes have passed; they themselves arrive.
    pub fn tap(&self, tap: Tap) {
        self.state.borrow_mut().taps.push(tap);
    }

    pub fn listen(&self, at: SocketAddrV4) -> io::Result<MemoryListener> {
        let (sender, connections) = mpsc::unbounded_channel();
        let mut state = self.state.borrow_mut();
        match state.listeners.get(&at) {
            Some(taken) if !taken.is_closed() => Err(io::ErrorKind::AddrInUse.into()),
            _ => {
                state.listeners.insert(at, sender);
                Ok(MemoryListener(connections))
            }
        }
    }

    pub async fn connect(&self, from: Ipv4Addr, to: SocketAddrV4) -> io::Result<MemoryStream> {
        self.open(from, *to.ip()).await;
        self.open(*to.ip(), from).await;
        let mut state = self.state.borrow_mut();
        state.next_port = state.next_port.max(40_000) + 1;
        let peer = SocketAddrV4::new(from, state.next_port);
        let (near, near_wire) = tokio::io::duplex(BUFFER);
        let (far, far_wire) = tokio::io::duplex(BUFFER);
        let listener = state.listeners.get(&to).filter(|listener| !listener.is_closed());
        let listener = listener.ok_or(io::ErrorKind::ConnectionRefused)?;
        listener.send((far, peer)).map_err(|_| io::ErrorKind::ConnectionRefused)?;
        let (near_in, near_out) = tokio::io::split(near_wire);
        let (far_in, far_out) = tokio::io::split(far_wire);
        let there = self.clone().pass(near_in, far_out, (from, *to.ip()), peer.port());
        let back = self.clone().pass(far_in, near_out, (*to.ip(), from), peer.port());
        tokio::task::spawn_local(there);
        tokio::task::spawn_local(back);
        Ok(near.compat())
    }

    /// Waits until a direction is not held.
    async fn open(&self, from: Ipv4Addr, to: Ipv4Addr) {
        loop {
            let changed = self.changed.notified();
            if !self.state.borrow().held.contains(&(from, to)) {
                return;
            }
            changed.await;
        }
    }

    async fn pass(
        self,
        mut from: ReadHalf<DuplexStream>,
        mut to: WriteHalf<DuplexStream>,
        (source, target): (Ipv4Addr, Ipv4Addr),
        connection: u16,
    ) {
        let mut piece = vec![0; BUFFER];
        loop {
            let length = from.read(&mut piece).await.unwrap_or(0);
            self.open(source, target).await;
            let lost = |(way, newest): &(_, u16)| *way == (source, target) && connection <= *newest;
            if self.state.borrow().lost.iter().any(lost) {
                std::future::pending::<()>().await;
            }
            if length == 0 {
                // The reader learns that no more will come; it may be gone itself.
                let _ = to.shutdown().await;
                return;
            }
            self.notice(&piece[..length], source, target);
            if to.write_all(&piece[..length]).await.is_err() {
                return;
            }
        }
    }

    fn notice(&self, piece: &[u8], source: Ipv4Addr, target: Ipv4Addr) {
        let mut state = self.state.borrow_mut();
        let has = |word: &Vec<u8>| piece.windows(word.len()).any(|window| window == word);
        let passes =
            |tap: &Tap| (tap.from, tap.to) == (source, target) && tap.words.iter().all(has);
        let (sprung, rest) = std::mem::take(&mut state.taps).into_iter().partition(passes);
        state.taps = rest;
        state.held.extend(sprung.iter().map(|tap: &Tap| tap.hold));
    }
}

/// A port that is listened on.
pub struct MemoryListener(mpsc::UnboundedReceiver<(DuplexStream, SocketAddrV4)>);

impl Listener for MemoryListener {
    type Stream = MemoryStream;

    async fn accept(&mut self) -> io::Result<(MemoryStream, SocketAddrV4)> {
        let (stream, peer) = self.0.recv().await.ok_or(io::ErrorKind::NotConnected)?;
        Ok((stream.compat(), peer))
    }
}
