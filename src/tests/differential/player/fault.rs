//! Faults: a server killed under load and started again, a session left to expire.

use std::cell::Cell;
use std::time::Duration;

use futures::future::join_all;
use stormglass::cluster::{
    Action, Applied, Cluster, Coordination, CoordinationError, CreateMode, FaultId, Link, Role,
    SessionEvent,
};
use stormglass::op::NodeName;

use super::{Halt, Played, Player, Seat, broken, disturbed, fired, resolve};
use crate::differential::script::{Change, Place, RESIDENTS, Request, Slot, TREE, Victim};
use crate::differential::trace::{Fired, Reaction, Record, Reply, Risked};

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Of each session, while a server is killed.
const RISKED_MAX: usize = 150;
const RISKED_EVERY: Duration = Duration::from_millis(10);
/// Asked and answered, of all sessions together, before the server is killed.
const RISKED_BEFORE: u64 = 40;

impl<C: Cluster> Player<'_, C> {
    async fn act(&self, action: Action) -> Played<()> {
        match self.cluster.apply(&action).await {
            Ok(Applied::Installed { .. }) => Ok(()),
            Ok(other) => Err(broken(format!("{}: {other:?}", action.name()))),
            Err(error) => Err(broken(format!("{}: {error:#}", action.name()))),
        }
    }

    pub(super) async fn kill(&mut self, victim: Victim, change: &Change) -> Played<Record> {
        let node = match victim {
            Victim::Leader => self.leader,
            Victim::Follower => self.followers()[0],
        };
        let at_node = self.seats.iter().filter(|(_, seat)| seat.node == node);
        let struck = at_node.map(|(slot, _)| *slot).collect();
        let round = self.records.len();
        let (count, over) = (Cell::new(0), Cell::new(false));
        let load = self.seats.iter().map(|(slot, seat)| {
            let risk = Risk { count: &count, over: &over, round, slot: *slot };
            risk.write(&seat.session, &self.labels)
        });
        let fault = async {
            while count.get() < RISKED_BEFORE {
                tokio::time::sleep(RISKED_EVERY).await;
            }
            let done = self.kill_and_start(&node, change).await;
            over.set(true);
            done
        };
        let (done, risked) = futures::join!(fault, join_all(load));
        let meanwhile = done?;
        let mut risked = risked.concat();
        let fired = self.settle().await?;
        self.decide(&mut risked).await?;
        let tree = Some(self.look_everywhere().await?);
        Ok(Record { reaction: Reaction::Killed { victim, meanwhile, struck, risked }, fired, tree })
    }

    async fn kill_and_start(&self, node: &NodeName, change: &Change) -> Played<Reply> {
        self.act(Action::Kill { node: *node }).await?;
        while self.cluster.view().await.leaders(Role::Zookeeper).all(|leader| leader == node) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let reply = self.meanwhile(node, change).await?;
        self.act(Action::Start { node: *node }).await?;
        while !self.cluster.view().await.is_healthy() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(reply)
    }

    /// Changes a znode through a server that works, as soon as one does.
    async fn meanwhile(&self, broken_node: &NodeName, change: &Change) -> Played<Reply> {
        let writer = RESIDENTS.iter().find(|slot| self.seats[slot].node != *broken_node);
        let writer = *writer.ok_or_else(|| broken("nobody can write"))?;
        while let Err(Halt::Disturbed(_)) = self.barrier(writer).await {
            self.all_alive()?;
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let reply = self.submit(writer, &Request::Change(change.clone()))?.await;
        self.calm(reply)
    }

    /// Waits until all serve and every session is connected and up to date again.
    async fn settle(&mut self) -> Played<Vec<Fired>> {
        loop {
            let view = self.cluster.view().await;
            let leader =
                view.leaders(Role::Zookeeper).next().filter(|_| view.is_healthy()).cloned();
            if let Some(leader) = leader {
                self.leader = leader;
                match self.barrier_for_all().await {
                    // A connection was lost so late that nobody knew it yet.
                    Err(Halt::Disturbed(_)) => self.all_alive()?,
                    done => return done,
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn all_alive(&self) -> Played<()> {
        let over = |seat: &&Seat<C::Session>| seat.session.state() == SessionEvent::Expired;
        match self.seats.values().find(over) {
            Some(seat) => Err(Halt::Disturbed(format!("session {} expired", seat.serial))),
            None => Ok(()),
        }
    }

    /// Whether the risked writes happened, as an up-to-date session sees.
    async fn decide(&mut self, risked: &mut [Risked]) -> Played<()> {
        let session = &self.seat(RESIDENTS[0])?.session;
        let asked: Vec<_> = risked.iter().map(|risked| session.exists(&risked.path)).collect();
        for (risked, stat) in risked.iter_mut().zip(join_all(asked).await) {
            let stat = stat.map_err(|error| disturbed(&risked.path, &error))?;
            risked.created_by = stat.map(|stat| stat.czxid);
        }
        Ok(())
    }

    /// Ends before the leader gives the follower up, unless this machine is slow.
    pub(super) async fn lag(&mut self, request: &Request, reads: &[Request]) -> Played<Record> {
        let behind = self.followers()[0];
        let at = |node: &NodeName| {
            let seated = RESIDENTS.iter().find(|slot| self.seats[slot].node == *node);
            seated.copied().ok_or_else(|| broken("a server without a session"))
        };
        let (writer, reader) = (at(&self.leader)?, at(&behind)?);
        self.barrier(reader).await?;
        let link = |from: &NodeName, to: &NodeName| Link { from: *from, to: *to };
        let links = [link(&self.leader, &behind), link(&behind, &self.leader)].into();
        let cut = Action::Cut {
            fault: FaultId(self.records.len() as u32 + 1),
            links,
            manner: Default::default(),
        };
        self.act(cut.clone()).await?;
        let reply = self.submit(writer, request)?.await;
        let asked: Played<Vec<_>> = reads.iter().map(|read| self.submit(reader, read)).collect();
        let read = join_all(asked?).await;
        self.act(cut.undo().unwrap()).await?;
        let reply = self.calm(reply)?;
        let reads = read.into_iter().map(|reply| self.labels.reply(reply)).collect();
        let fired = self.settle().await?;
        let tree = Some(self.look_everywhere().await?);
        Ok(Record { reaction: Reaction::Lagged { reply, reader, reads }, fired, tree })
    }

    /// Freezes the session's server until the ensemble has forgotten the session, and its client too.
    pub(super) async fn expire(&mut self, slot: Slot, change: &Change) -> Played<Record> {
        let marker = format!("{}/{}", resolve::MARKERS, self.records.len());
        let marker = self.labels.absolute(&marker);
        let seat = self.seat(slot)?;
        let node = seat.node;
        let created = seat.session.create(&marker, b"", CreateMode::Ephemeral).await;
        created.map_err(|error| disturbed("marker", &error))?;
        self.act(Action::Pause { node }).await?;
        let meanwhile = self.meanwhile(&node, change).await?;
        self.forgotten(slot, &marker).await?;
        self.act(Action::Resume { node }).await?;
        let get = Request::Get(Place::Named(TREE.to_owned()));
        let reply = self.submit(slot, &get)?.await;
        let mut seat = self.seats.remove(&slot).ok_or_else(|| broken("the seat is empty"))?;
        let mut all = fired(slot, &mut seat.watches, &self.labels);
        let closed = seat.session.close().await;
        all.extend(self.settle().await?);
        let tree = Some(self.look_everywhere().await?);
        Ok(Record { reaction: Reaction::Expired { meanwhile, reply, closed }, fired: all, tree })
    }

    async fn forgotten(&self, slot: Slot, marker: &str) -> Played<()> {
        let seat = self.seats.get(&slot).ok_or_else(|| broken("the seat is empty"))?;
        let observer = self.seats.values().find(|other| other.node != seat.node);
        let observer = observer.ok_or_else(|| broken("nobody can watch the expiry"))?;
        while !matches!(observer.session.exists(marker).await, Ok(None)) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        let mut state = seat.session.state();
        while state != SessionEvent::Expired {
            state = seat.session.changed(state).await;
        }
        Ok(())
    }
}

/// The load of one session while a server is killed.
struct Risk<'a> {
    /// Moments of asking and answering, of all sessions.
    count: &'a Cell<u64>,
    over: &'a Cell<bool>,
    round: usize,
    slot: Slot,
}

impl Risk<'_> {
    fn moment(&self) -> u64 {
        self.count.set(self.count.get() + 1);
        self.count.get()
    }

    async fn write(self, session: &impl Coordination, labels: &resolve::Labels) -> Vec<Risked> {
        let mut all = Vec::new();
        while !self.over.get() && all.len() < RISKED_MAX {
            let Risk { round, slot, .. } = self;
            let name = format!("{}/{round}-{slot}-{}", resolve::RISK, all.len());
            let path = labels.absolute(&name);
            let asked = self.moment();
            let outcome = session.create(&path, b"", CreateMode::Persistent).await;
            let answered = self.moment();
            let shown = session.exists(&path).await.ok().map(|stat| stat.is_some());
            let over = matches!(outcome, Err(CoordinationError::SessionExpired { .. }));
            let risked = Risked { slot, path, asked, answered, outcome, shown, created_by: None };
            all.push(risked);
            if over {
                break;
            }
            tokio::time::sleep(RISKED_EVERY).await;
        }
        all
    }
}
