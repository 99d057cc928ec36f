//! A client of the data nodes: one process's connections, its slot map, and the way of each operation.
//!
//! It hides nothing: every server asked is a hop of the operation's route. A further request follows only a
//! redirection, which is a definite refusal; whatever else goes wrong ends the operation.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use futures::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::command::{self, Answer, request};
use super::connection::{Connection, Trouble};
use super::exchange::Asking;
use super::fate::outcome_of;
use super::kind::{CasMode, ClientKind};
use super::slot_map::{Addresses, Redirection, SlotMap};
use crate::cluster::Client;
use crate::key_space::KeySpace;
use crate::op::{Call, Completion, Hop, NodeName, Outcome, Route};
use crate::resp::Value as Reply;

/// Redirections that one operation follows.
const MOST_REDIRECTIONS: usize = 5;

/// What all clients of a run share.
pub struct Common {
    pub keys: KeySpace,
    pub addresses: Addresses,
    /// Where a slot map can be learnt, in topology order.
    pub seeds: Vec<NodeName>,
    pub cas: CasMode,
    /// A server has so long to answer one exchange.
    pub request_timeout: Duration,
    /// All servers together have so long to answer one operation.
    pub budget: Duration,
    /// The maps that `stale` clients keep, by thread: they outlive the thread's processes.
    pub kept: RefCell<BTreeMap<usize, SlotMap>>,
}

/// Who a client is.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    pub thread: usize,
    pub home: NodeName,
    pub kind: ClientKind,
}

/// One logical client. `dial` opens a connection to a node.
pub struct KvrocksClient<S, F> {
    dial: F,
    common: Rc<Common>,
    identity: Identity,
    map: Option<SlotMap>,
    /// The map may be wrong: a node that it names does not answer.
    is_doubtful: bool,
    /// Where the map is asked for next, as a position among the seeds.
    seed: usize,
    /// Idle connections, by node and whether `READONLY` was said.
    idle: BTreeMap<(NodeName, bool), Connection<S>>,
}

/// One operation under way.
struct Trip {
    began: Instant,
    hops: Vec<Hop>,
}

impl Trip {
    fn note(&mut self, node: NodeName, said: String) {
        let after_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.hops.push(Hop { node, said, after_us });
    }
}

impl<S, F, Dialing> KvrocksClient<S, F>
where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Fn(NodeName) -> Dialing,
    Dialing: Future<Output = io::Result<S>>,
{
    pub fn new(dial: F, common: Rc<Common>, identity: Identity) -> KvrocksClient<S, F> {
        let seed = common.seeds.iter().position(|node| *node == identity.home).unwrap_or(0);
        let map = match identity.kind {
            ClientKind::Stale => common.kept.borrow().get(&identity.thread).cloned(),
            _ => None,
        };
        KvrocksClient {
            dial,
            common,
            identity,
            map,
            is_doubtful: false,
            seed,
            idle: BTreeMap::new(),
        }
    }

    async fn perform(&mut self, call: &Call, trip: &mut Trip) -> Outcome {
        let slot = command::key_of(call).map(|key| self.common.keys.slot(key));
        let is_dump = matches!(call, Call::Dump { .. });
        let is_readonly = is_dump || matches!(call, Call::Stale(_));
        let mut node = self.identity.home;
        if self.identity.kind != ClientKind::Pinned && !is_dump {
            if let Err(why) = self.ready_map(trip).await {
                return Outcome::Fail(why);
            }
            node = self.target(slot, is_readonly);
        }
        let (mut asking, mut redirections) = (false, 0);
        loop {
            let (answer, said) = self.ask(node, is_readonly, asking, call, trip).await;
            trip.note(node, said);
            let error = match answer {
                Answer::Settled(outcome) => return outcome,
                Answer::Broken { why, perhaps_done } => {
                    self.is_doubtful = true;
                    let why = format!("{node}: {why}");
                    return if perhaps_done { Outcome::Info(why) } else { Outcome::Fail(why) };
                }
                Answer::Refused(error) => error,
            };
            let told = self.common.addresses.named(&error);
            let refused = || outcome_of(&told, command::changes(call));
            let Some(redirection) = Redirection::of(&error) else {
                self.is_doubtful |= told.starts_with("CLUSTERDOWN");
                return refused();
            };
            if self.identity.kind == ClientKind::Pinned || is_dump {
                return refused();
            }
            let Some(next) = self.common.addresses.node(redirection.address) else {
                return Outcome::Fail(format!("{told}, which is nobody's address"));
            };
            if self.identity.kind != ClientKind::Stale
                && !redirection.is_ask
                && let Some(map) = &mut self.map
            {
                map.learn(redirection.slot, next);
                // A redirection does not tell who the replicas are.
                self.is_doubtful |= self.identity.kind == ClientKind::Replica;
            }
            if redirections == MOST_REDIRECTIONS {
                self.is_doubtful = true;
                return Outcome::Fail(format!(
                    "redirected {} times, last: {told}",
                    MOST_REDIRECTIONS + 1
                ));
            }
            redirections += 1;
            (node, asking) = (next, redirection.is_ask);
        }
    }

    /// Asks one node. Beside what that came to: what the node said, or became of the connection.
    async fn ask(
        &mut self,
        node: NodeName,
        is_readonly: bool,
        asking: bool,
        call: &Call,
        trip: &Trip,
    ) -> (Answer, String) {
        let not_done = |why: String| {
            let said = why.clone();
            (Answer::Broken { why, perhaps_done: false }, said)
        };
        let Some(limit) = self.limit(trip) else {
            return not_done("no time is left to ask it".to_owned());
        };
        let mut connection = match self.connection(node, is_readonly, limit).await {
            Ok(connection) => connection,
            Err(Trouble::NotSent { why } | Trouble::Sent { why, .. }) => return not_done(why),
        };
        let common = self.common.clone();
        let ask = Asking { keys: &common.keys, cas: common.cas, asking, limit };
        let (answer, is_sound) = ask.perform(&mut connection, call).await;
        if is_sound {
            self.idle.insert((node, is_readonly), connection);
        }
        let said = match &answer {
            Answer::Settled(_) => "ok".to_owned(),
            Answer::Refused(error) => common.addresses.named(error),
            Answer::Broken { why, .. } => why.clone(),
        };
        (answer, said)
    }

    /// How long the next exchange may take.
    fn limit(&self, trip: &Trip) -> Option<Duration> {
        let left = self.common.budget.checked_sub(trip.began.elapsed())?;
        (!left.is_zero()).then(|| left.min(self.common.request_timeout))
    }

    /// The idle connection, if its server has not closed it, else a fresh one.
    async fn connection(
        &mut self,
        node: NodeName,
        is_readonly: bool,
        limit: Duration,
    ) -> Result<Connection<S>, Trouble> {
        if let Some(mut idle) = self.idle.remove(&(node, is_readonly))
            && idle.is_quiet()
        {
            return Ok(idle);
        }
        let mut fresh = Connection::open((self.dial)(node), limit).await?;
        if is_readonly {
            let replies = fresh.ask(&[request(&["READONLY"])], limit).await?;
            if replies != [Reply::ok()] {
                let why = "it does not take READONLY".to_owned();
                return Err(Trouble::NotSent { why });
            }
        }
        Ok(fresh)
    }

    /// Where an operation goes first.
    fn target(&self, slot: Option<u16>, is_readonly: bool) -> NodeName {
        let home = self.identity.home;
        let (Some(map), Some(slot)) = (&self.map, slot) else { return home };
        let replicas = map.replicas(slot);
        match (is_readonly, replicas.first()) {
            (true, Some(_)) if replicas.contains(&home) => home,
            (true, Some(replica)) => *replica,
            _ => map.master(slot).unwrap_or(home),
        }
    }

    /// Makes sure that there is a map, asking one node for it if need be.
    async fn ready_map(&mut self, trip: &mut Trip) -> Result<(), String> {
        let wants = match (&self.map, self.identity.kind) {
            (None, _) => true,
            (Some(_), ClientKind::Stale) => false,
            (Some(_), _) => self.is_doubtful,
        };
        if !wants {
            return Ok(());
        }
        let seed = self.common.seeds.get(self.seed).copied().unwrap_or(self.identity.home);
        match self.learn_map(seed, trip).await {
            Ok(map) => {
                if self.identity.kind == ClientKind::Stale {
                    self.common.kept.borrow_mut().insert(self.identity.thread, map.clone());
                }
                self.map = Some(map);
                self.is_doubtful = false;
                Ok(())
            }
            Err(why) => {
                // Another node may know.
                self.seed = (self.seed + 1) % self.common.seeds.len().max(1);
                let said = format!("no slot map: {why}");
                let told = format!("{seed}: {said}");
                trip.note(seed, said);
                if self.map.is_some() { Ok(()) } else { Err(told) }
            }
        }
    }

    async fn learn_map(&mut self, seed: NodeName, trip: &Trip) -> Result<SlotMap, String> {
        let limit = self.limit(trip).ok_or("no time is left to ask for it")?;
        let why = |trouble: Trouble| match trouble {
            Trouble::NotSent { why } | Trouble::Sent { why, .. } => why,
        };
        let mut connection = self.connection(seed, false, limit).await.map_err(why)?;
        let replies =
            connection.ask(&[request(&["CLUSTER", "SLOTS"])], limit).await.map_err(why)?;
        self.idle.insert((seed, false), connection);
        SlotMap::read(replies.first().unwrap_or(&Reply::Null), &self.common.addresses)
    }
}

impl<S, F, Dialing> Client for KvrocksClient<S, F>
where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Fn(NodeName) -> Dialing,
    Dialing: Future<Output = io::Result<S>>,
{
    async fn invoke(&mut self, call: &Call) -> Completion {
        let mut trip = Trip { began: Instant::now(), hops: Vec::new() };
        let outcome = self.perform(call, &mut trip).await;
        let slot = command::key_of(call).map(|key| self.common.keys.slot(key));
        Completion { outcome, route: Some(Box::new(Route { hops: trip.hops, slot })) }
    }
}
