//! Plays a script in one world, whichever it is, and records what that world replied.

mod fault;
mod request;
mod resolve;

use std::collections::BTreeMap;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, join_all};
use stormglass::cluster::{
    Cluster, Coordination, CoordinationError, CreateMode, Role, SessionEvent, Watch, WatchEvent,
    Watched,
};
use stormglass::op::NodeName;

use self::resolve::Labels;
use super::script::{Place, RESIDENTS, Script, Server, Slot, Step, TREE};
use super::trace::{Fired, Reaction, Record, Serial, Trace, Tree, Znode};

/// No step takes longer, in any world.
const STEP_LIMIT: Duration = Duration::from_secs(90);

/// Why a script was not played to its end.
#[derive(Debug)]
pub enum Halt {
    /// A session lost its connection though nothing was done to its server: try again.
    Disturbed(String),
    /// Servers that are up to date show different znodes: such a world is no truth.
    Divided(String),
    /// The world contradicts a session, or the harness failed.
    Broken(String),
}

type Played<T> = Result<T, Halt>;

/// Watches that have not fired, by number.
type Watches = BTreeMap<usize, LocalBoxFuture<'static, WatchEvent>>;

struct Seat<S> {
    session: S,
    serial: Serial,
    node: NodeName,
    watches: Watches,
}

struct Player<'a, C: Cluster> {
    cluster: &'a C,
    labels: Labels,
    seats: BTreeMap<Slot, Seat<C::Session>>,
    leader: NodeName,
    tree: Tree,
    next_watch: usize,
    records: Vec<Record>,
}

/// Plays the script below a root of its own. The cluster must be healthy.
pub async fn play<C: Cluster>(cluster: &C, script: &Script) -> Played<Trace> {
    let view = cluster.view().await;
    let leader = *view.leaders(Role::Zookeeper).next().ok_or_else(|| broken("nobody leads"))?;
    let mut player = Player {
        cluster,
        labels: Labels::new(format!("/seed-{}", script.seed)),
        seats: BTreeMap::new(),
        leader,
        tree: Tree::new(),
        next_watch: 0,
        records: Vec::new(),
    };
    player.prepare().await?;
    for (index, step) in script.steps.iter().enumerate() {
        let played = tokio::time::timeout(STEP_LIMIT, player.step(step)).await;
        let played = played.unwrap_or_else(|_| Err(broken("it takes too long")));
        player.records.push(played.map_err(|halt| halt.at(index, step))?);
    }
    player.leave().await?;
    Ok(Trace { records: player.records })
}

fn broken(why: impl Into<String>) -> Halt {
    Halt::Broken(why.into())
}

/// An error where none can be, unless the connection broke.
fn disturbed(what: &str, error: &CoordinationError) -> Halt {
    let why = format!("{what}: {error}");
    match error {
        CoordinationError::ConnectionLoss
        | CoordinationError::NotConnected(_)
        | CoordinationError::SessionExpired { .. } => Halt::Disturbed(why),
        _ => Halt::Broken(why),
    }
}

impl Halt {
    fn at(self, index: usize, step: &Step) -> Halt {
        let add = |why: String| format!("step {index}, {step:?}: {why}");
        match self {
            Halt::Disturbed(why) => Halt::Disturbed(add(why)),
            Halt::Divided(why) => Halt::Divided(add(why)),
            Halt::Broken(why) => Halt::Broken(add(why)),
        }
    }
}

impl<C: Cluster> Player<'_, C> {
    /// Makes the znodes that every script stands on.
    async fn prepare(&mut self) -> Played<()> {
        let node = self.leader;
        let opened = self.cluster.connect(&node, Duration::from_secs(30)).await;
        let session = opened.map_err(|error| disturbed("the first session", &error))?;
        let root = self.labels.root().to_owned();
        for below in ["", TREE, resolve::BARRIER, resolve::RISK, resolve::MARKERS] {
            let path = format!("{root}{below}");
            let created = session.create(&path, b"", CreateMode::Persistent).await;
            created.map_err(|error| disturbed(&path, &error))?;
        }
        session.close().await.map_err(|error| disturbed("the first session's end", &error))
    }

    async fn step(&mut self, step: &Step) -> Played<Record> {
        match step {
            Step::Open { slot, server, timeout } => self.open(*slot, *server, *timeout).await,
            Step::Close { slot } => self.close(*slot).await,
            Step::Certain { slot, request } => self.certain(*slot, request).await,
            Step::Local { slot, request } => self.local(*slot, request).await,
            Step::Chased { slot, request, reader, read } => {
                self.chased((*slot, request), (*reader, read)).await
            }
            Step::Lag { request, reads } => self.lag(request, reads).await,
            Step::Burst { slot, requests } => self.burst(*slot, requests).await,
            Step::Watch { slot, place, watch } => self.watch(*slot, place, *watch).await,
            Step::Expire { slot, meanwhile } => self.expire(*slot, meanwhile).await,
            Step::Kill { victim, meanwhile } => self.kill(*victim, meanwhile).await,
        }
    }

    fn seat(&self, slot: Slot) -> Played<&Seat<C::Session>> {
        self.seats.get(&slot).ok_or_else(|| broken(format!("seat {slot} is empty")))
    }

    async fn open(&mut self, slot: Slot, server: Server, timeout: Duration) -> Played<Record> {
        let node = match server {
            Server::Numbered(number) => self.cluster.topology().nodes[number].name,
            Server::Follower => self.followers()[0],
        };
        let opened = self.cluster.connect(&node, timeout).await;
        let session = opened.map_err(|error| disturbed("open", &error))?;
        if session.state() != SessionEvent::Connected {
            return Err(Halt::Disturbed("open: it is not connected".to_owned()));
        }
        let serial = self.labels.add(session.id()).ok_or_else(|| broken("an id was used twice"))?;
        let timeout_ms = session.timeout().as_millis();
        self.seats.insert(slot, Seat { session, serial, node, watches: BTreeMap::new() });
        Ok(Record { reaction: Reaction::Opened { serial, timeout_ms }, fired: vec![], tree: None })
    }

    async fn close(&mut self, slot: Slot) -> Played<Record> {
        let mut seat = self.seats.remove(&slot).ok_or_else(|| broken("the seat is empty"))?;
        let closed = seat.session.close().await;
        let fired = fired(slot, &mut seat.watches, &self.labels);
        self.barrier(RESIDENTS[0]).await?;
        let tree = Some(self.look(RESIDENTS[0]).await?);
        Ok(Record { reaction: Reaction::Closed(closed), fired, tree })
    }

    async fn watch(&mut self, slot: Slot, place: &Place, watch: Watch) -> Played<Record> {
        self.barrier(slot).await?;
        let path = self.labels.absolute(&self.path(place));
        let number = self.next_watch;
        self.next_watch += 1;
        let seat = self.seats.get_mut(&slot).ok_or_else(|| broken("the seat is empty"))?;
        let set = match seat.session.watch(&path, watch).await {
            Ok(watched) => {
                seat.watches.insert(number, Box::pin(watched.fired()));
                Ok(())
            }
            Err(error) => Err(self.labels.error(error)),
        };
        let fired = self.fired(slot)?;
        Ok(Record { reaction: Reaction::WatchSet(set), fired, tree: None })
    }

    /// After this, reads of the session show all that was written before.
    async fn barrier(&self, slot: Slot) -> Played<()> {
        let path = self.labels.absolute(resolve::BARRIER);
        let set = self.seat(slot)?.session.set(&path, b"", None).await;
        set.map(drop).map_err(|error| disturbed("barrier", &error))
    }

    /// Events of a session that have come. Certain only behind a write of that session.
    fn fired(&mut self, slot: Slot) -> Played<Vec<Fired>> {
        let seat = self.seats.get_mut(&slot).ok_or_else(|| broken("the seat is empty"))?;
        Ok(fired(slot, &mut seat.watches, &self.labels))
    }

    /// Brings every session up to date: none can be behind what is recorded next.
    async fn barrier_for_all(&mut self) -> Played<Vec<Fired>> {
        let slots: Vec<Slot> = self.seats.keys().copied().collect();
        for slot in &slots {
            self.barrier(*slot).await?;
        }
        let all: Played<Vec<_>> = slots.into_iter().map(|slot| self.fired(slot)).collect();
        Ok(all?.concat())
    }

    /// The whole tree as this session reads it, which must be up to date.
    async fn look(&mut self, slot: Slot) -> Played<Tree> {
        let mut tree = Tree::new();
        let mut level = vec![TREE.to_owned()];
        while !level.is_empty() {
            let paths: Vec<_> = level.iter().map(|path| self.labels.absolute(path)).collect();
            let session = &self.seat(slot)?.session;
            let asked = paths.iter().map(|path| (session.get(path), session.children(path)));
            let (data, children): (Vec<_>, Vec<_>) = asked.unzip();
            let (data, children) = (join_all(data).await, join_all(children).await);
            let read = level.into_iter().zip(data).zip(children).collect::<Vec<_>>();
            level = Vec::new();
            for ((path, data), children) in read {
                let (data, stat) = data.map_err(|error| disturbed(&path, &error))?;
                let children = children.map_err(|error| disturbed(&path, &error))?;
                level.extend(children.iter().map(|name| format!("{path}/{name}")));
                let stat = self.labels.stat(stat);
                tree.insert(path, Znode { data, stat, children });
            }
        }
        self.tree = tree.clone();
        Ok(tree)
    }

    /// The whole tree as each server shows it. All must be up to date.
    async fn look_everywhere(&mut self) -> Played<Tree> {
        let [first, others @ ..] = RESIDENTS;
        let tree = self.look(first).await?;
        for slot in others {
            let other = self.look(slot).await?;
            if other != tree {
                return Err(Halt::Divided(self.division((first, &tree), (slot, &other))?));
            }
        }
        Ok(tree)
    }

    fn division(&self, one: (Slot, &Tree), other: (Slot, &Tree)) -> Played<String> {
        let only = |(slot, tree): (Slot, &Tree), than: &Tree| {
            let differs = |(path, znode): &(&String, &Znode)| than.get(*path) != Some(*znode);
            let znodes: Vec<_> = tree.iter().filter(differs).collect();
            Ok(format!("{} alone has {znodes:?}", self.seat(slot)?.node))
        };
        Ok(format!("{}; {}", only(one, other.1)?, only(other, one.1)?))
    }

    fn followers(&self) -> Vec<NodeName> {
        let names = self.cluster.topology().names();
        names.filter(|name| **name != self.leader).cloned().collect()
    }

    async fn leave(&mut self) -> Played<()> {
        for (_, seat) in std::mem::take(&mut self.seats) {
            seat.session.close().await.map_err(|error| disturbed("the end", &error))?;
        }
        Ok(())
    }
}

fn fired(slot: Slot, watches: &mut Watches, labels: &Labels) -> Vec<Fired> {
    let mut fired = Vec::new();
    watches.retain(|watch, waiting| match waiting.now_or_never() {
        Some(event) => {
            fired.push(Fired { slot, watch: *watch, event: labels.event(event) });
            false
        }
        None => true,
    });
    fired
}
