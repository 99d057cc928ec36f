//! The interposer of one node: a thread in the node's namespace with a small runtime of its own.
//!
//! Sockets stay in the namespace where they are made, so all of them are made on that thread. A runtime
//! of one thread for each node serves all its connections without a lock; the agent's other threads, and
//! with them its deadlines, do not depend on it.

use std::collections::BTreeMap;
use std::net::{SocketAddr, SocketAddrV4};
use std::rc::Rc;
use std::sync::mpsc::{self, SyncSender};
use std::time::Duration;

use anyhow::Context;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinSet, LocalSet};

use super::armory::{Armory, End, ResolvedTap, Sighting};
use super::redirect::{Ports, Redirect};
use super::relay::Relay;
use super::shared::{Arrival, Shared};
use super::socket;
use crate::agent::namespace;
use crate::agent::netlink::Socket;
use crate::agent::protocol::Spent;
use crate::cluster::{Concerning, Effect, Side};
use crate::op::NodeName;

/// A station that does not answer in this time is given up.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// How long connections may take to be reset when all is taken back.
const CLOSE_WITHIN: Duration = Duration::from_millis(300);
/// After a failed accept, as when descriptors run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);
/// How often a client is looked at while its server does not answer.
const LOOK: Duration = Duration::from_millis(50);

type Reply<T> = mpsc::Sender<T>;

enum Order {
    Arm { concerning: Concerning, taps: Vec<ResolvedTap>, effect: Effect, done: Reply<()> },
    Disarm { concerning: Concerning, done: Reply<Option<Spent>> },
    Arrival { client: SocketAddr, done: Reply<Option<Arrival>> },
    Guests { done: Reply<BTreeMap<SocketAddrV4, u16>> },
    Close { done: Reply<Vec<(Concerning, Spent)>> },
}

/// Connections of others that a station has taken in.
#[derive(Clone, Debug, Default)]
pub struct Guests {
    /// Where they came in.
    pub port: u16,
    /// By who opened them: the port to which they were meant to go.
    pub meant_for: BTreeMap<SocketAddrV4, u16>,
}

/// The hand on a station.
pub struct Station {
    orders: UnboundedSender<Order>,
    pub redirect: Redirect,
    pub taps: Vec<ResolvedTap>,
}

impl Station {
    /// Starts one in the namespace of the process with this pid. Nothing is redirected to it yet.
    pub fn open(
        node: NodeName,
        pid: u32,
        run: &str,
        sightings: SyncSender<Sighting>,
    ) -> anyhow::Result<Station> {
        let (orders, given) = unbounded_channel();
        let prepare = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let guard = runtime.enter();
            let (inbound, outbound) = (socket::listen()?, socket::listen()?);
            let port = |listener: &TcpListener| anyhow::Ok(listener.local_addr()?.port());
            let ports = Ports { inbound: port(&inbound)?, outbound: port(&outbound)? };
            drop(guard);
            let netlink = Socket::open()?;
            Ok(((runtime, inbound, outbound), (netlink, ports)))
        };
        let work = move |(runtime, inbound, outbound): (Runtime, TcpListener, TcpListener)| {
            let shared = Rc::new(Shared::new(Armory::new(node, sightings)));
            let desk = Desk { shared, inbound, outbound, relays: JoinSet::new() };
            LocalSet::new().block_on(&runtime, desk.serve(given));
        };
        let (netlink, ports) = namespace::settle(pid, format!("tap-{node}"), prepare, work)?;
        Ok(Station { orders, redirect: Redirect::new(netlink, run, ports), taps: Vec::new() })
    }

    /// Redirects to it what these taps name, beside what is redirected already.
    pub fn tap(&mut self, taps: Vec<ResolvedTap>) -> anyhow::Result<()> {
        let mut all = self.taps.clone();
        all.extend(taps.into_iter().filter(|tap| !self.taps.contains(tap)));
        if all.len() > self.taps.len() {
            self.redirect.install(&all.iter().collect::<Vec<_>>())?;
            self.taps = all;
        }
        Ok(())
    }

    fn ask<T>(&self, order: impl FnOnce(Reply<T>) -> Order) -> anyhow::Result<T> {
        let (done, answer) = mpsc::channel();
        self.orders.send(order(done)).ok().context("the interposer is gone")?;
        answer.recv_timeout(ANSWER_WITHIN).context("the interposer does not answer")
    }

    pub fn arm(
        &self,
        concerning: Concerning,
        taps: Vec<ResolvedTap>,
        effect: Effect,
    ) -> anyhow::Result<()> {
        self.ask(|done| Order::Arm { concerning, taps, effect, done })
    }

    pub fn disarm(&self, concerning: Concerning) -> anyhow::Result<Option<Spent>> {
        self.ask(|done| Order::Disarm { concerning, done })
    }

    pub fn arrival(&self, client: SocketAddr) -> anyhow::Result<Option<Arrival>> {
        self.ask(|done| Order::Arrival { client, done })
    }

    /// What is redirected to it now.
    pub fn guests(&self) -> anyhow::Result<Guests> {
        let meant_for = self.ask(|done| Order::Guests { done })?;
        Ok(Guests { port: self.redirect.ports.inbound, meant_for })
    }

    /// Where it listens itself.
    pub fn ports(&self) -> [u16; 2] {
        [self.redirect.ports.inbound, self.redirect.ports.outbound]
    }

    /// Takes everything back: no rule redirects any more, all connections through it are reset.
    pub fn close(mut self) -> (Vec<(Concerning, Spent)>, Option<String>) {
        let left =
            self.redirect.remove().err().map(|error| format!("{}: {error:#}", self.redirect.table));
        // Where the thread does not answer, its connections go with the process.
        let spent = self.ask(|done| Order::Close { done }).unwrap_or_default();
        (spent, left)
    }
}

struct Desk {
    shared: Rc<Shared>,
    inbound: TcpListener,
    outbound: TcpListener,
    relays: JoinSet<()>,
}

impl Desk {
    /// Serves until it is closed, or nobody can give orders any more.
    async fn serve(mut self, mut given: UnboundedReceiver<Order>) {
        loop {
            tokio::select! {
                order = given.recv() => match order {
                    Some(Order::Close { done }) => return self.close(&done).await,
                    Some(order) => self.obey(order),
                    None => return,
                },
                accepted = self.inbound.accept() => self.accept(accepted, Side::Inbound).await,
                accepted = self.outbound.accept() => self.accept(accepted, Side::Outbound).await,
                // A task that panicked has closed its connection.
                Some(_) = self.relays.join_next(), if !self.relays.is_empty() => {}
            }
        }
    }

    /// Those who asked and wait no longer are not told.
    fn obey(&mut self, order: Order) {
        let shared = &self.shared;
        match order {
            Order::Arm { concerning, taps, effect, done } => {
                shared.armory.borrow_mut().arm(concerning, taps, effect);
                shared.announce();
                let _ = done.send(());
            }
            Order::Disarm { concerning, done } => {
                let spent = shared.armory.borrow_mut().disarm(concerning);
                shared.announce();
                let _ = done.send(spent);
            }
            Order::Arrival { client, done } => {
                let _ = done.send(shared.arrival(client));
            }
            Order::Guests { done } => {
                let _ = done.send(shared.guests());
            }
            Order::Close { .. } => {}
        }
    }

    async fn accept(&mut self, accepted: std::io::Result<(TcpStream, SocketAddr)>, side: Side) {
        match accepted {
            Ok((client, _)) => {
                let shared = Rc::clone(&self.shared);
                self.relays.spawn_local(pass_on(client, side, shared));
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }

    async fn close(mut self, done: &Reply<Vec<(Concerning, Spent)>>) {
        let spent = self.shared.armory.borrow_mut().close();
        self.shared.announce();
        let closed = async { while self.relays.join_next().await.is_some() {} };
        // What is not reset by then is closed with the runtime.
        let _ = tokio::time::timeout(CLOSE_WITHIN, closed).await;
        let _ = done.send(spent);
    }
}

/// Serves one connection. One that was not redirected is closed: it would only come back to us.
async fn pass_on(client: TcpStream, side: Side, shared: Rc<Shared>) {
    let (Ok(address), Some(original)) = (client.peer_addr(), socket::original_destination(&client))
    else {
        return;
    };
    shared.arrived(address, Arrival::Waiting);
    let _guest = shared.admit(address, original.port());
    let connected = tokio::select! {
        connected = socket::connect(original) => connected.ok(),
        () = until_closed(&client) => None,
    };
    let Some(server) = connected.filter(|_| client.set_nodelay(true).is_ok()) else {
        // The kernel accepted it before we knew: this is as near to a refusal as it gets.
        shared.arrived(address, Arrival::Refused);
        return socket::reset(client);
    };
    shared.arrived(address, Arrival::Connected);
    Relay::new(client, server, end(side, address, original), Rc::clone(&shared)).run().await;
}

fn end(side: Side, client: SocketAddr, original: SocketAddrV4) -> End {
    let peer = match (side, client) {
        (Side::Inbound, SocketAddr::V4(client)) => *client.ip(),
        _ => *original.ip(),
    };
    End { side, port: original.port(), peer, connection: format!("{client}→{original}") }
}

/// Waits until a client that nobody reads from has closed or reset its connection.
async fn until_closed(client: &TcpStream) {
    loop {
        let ready = client.ready(tokio::io::Interest::READABLE).await;
        if ready.is_ok_and(|ready| ready.is_read_closed()) {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}
