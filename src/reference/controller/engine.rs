//! ZooKeeper as the controller uses it: a session that is opened again whenever it is lost, and the few
//! things done to znodes.
//!
//! A session stays with its server; only a new one tries the next server. A request made while there is no
//! connection fails at once, one that is under way when it breaks may have been done.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use futures::channel::oneshot;

use super::config::Config;
use super::log::Log;
use crate::cluster::{Coordination, CoordinationError, CreateMode, MultiOp, SessionEvent, Stat};
use crate::reference::host::{Host, within};

/// Fixed in the real one, too.
const SESSION_TIMEOUT: Duration = Duration::from_secs(6);

const FIRST_REST: Duration = Duration::from_millis(100);
const LONGEST_REST: Duration = Duration::from_secs(2);

type Done<T> = Result<T, CoordinationError>;

pub struct Engine<H: Host> {
    host: H,
    config: Rc<Config>,
    log: Rc<Log<H>>,
    session: RefCell<Option<Rc<H::Session>>>,
    awaiting: RefCell<Vec<oneshot::Sender<Rc<H::Session>>>>,
}

impl<H: Host> Engine<H> {
    pub fn new(host: H, config: Rc<Config>, log: Rc<Log<H>>) -> Engine<H> {
        Engine { host, config, log, session: RefCell::default(), awaiting: RefCell::default() }
    }

    /// Keeps a session for as long as the process lives.
    pub async fn keep_session(self: Rc<Self>) {
        let mut rest = FIRST_REST;
        let mut failed = 0;
        for server in self.config.zookeeper.iter().cycle() {
            let opened = self.host.coordinate(*server, SESSION_TIMEOUT);
            match within(&self.host, SESSION_TIMEOUT * 2, opened).await {
                Some(Ok(session)) => {
                    (rest, failed) = (FIRST_REST, 0);
                    self.hold(Rc::new(session)).await;
                }
                failure => {
                    failed += 1;
                    self.tell(failed, failure.and_then(Result::err));
                }
            }
            self.host.sleep(rest).await;
            rest = (rest * 2).min(LONGEST_REST);
        }
    }

    /// One line for all attempts in a row, once every server was tried.
    fn tell(&self, failed: usize, error: Option<CoordinationError>) {
        let servers: Vec<String> = self.config.zookeeper.iter().map(ToString::to_string).collect();
        if failed == servers.len() {
            let error = error.map_or("no answer in time".to_owned(), |error| error.to_string());
            let fields = [("servers", servers.join(", ").into()), ("error", error.into())];
            self.log.warn("No ZooKeeper server can be reached, go on trying", &fields);
        }
    }

    /// Lets the session be used until it is over.
    async fn hold(&self, session: Rc<H::Session>) {
        *self.session.borrow_mut() = Some(session.clone());
        for awaiting in self.awaiting.take() {
            let _ = awaiting.send(session.clone());
        }
        let mut state = session.state();
        while !matches!(state, SessionEvent::Expired | SessionEvent::Closed) {
            state = session.changed(state).await;
        }
        *self.session.borrow_mut() = None;
    }

    /// The session, as soon as there is one.
    pub async fn any_session(&self) -> Rc<H::Session> {
        loop {
            if let Some(session) = self.session.borrow().clone() {
                return session;
            }
            let (sender, receiver) = oneshot::channel();
            self.awaiting.borrow_mut().push(sender);
            if let Ok(session) = receiver.await {
                return session;
            }
        }
    }

    fn session(&self) -> Done<Rc<H::Session>> {
        let session = self.session.borrow().clone();
        session
            .filter(|session| session.state() == SessionEvent::Connected)
            .ok_or_else(|| CoordinationError::NotConnected("no connection now".to_owned()))
    }

    /// Data and stat, or `None` where there is no such znode.
    pub async fn get(&self, path: &str) -> Done<Option<(Vec<u8>, Stat)>> {
        match self.session()?.get(path).await {
            Err(CoordinationError::NoNode) => Ok(None),
            found => found.map(Some),
        }
    }

    pub async fn exists(&self, path: &str) -> Done<Option<Stat>> {
        self.session()?.exists(path).await
    }

    /// Names of the children; none where there is no such znode.
    pub async fn children(&self, path: &str) -> Done<Vec<String>> {
        match self.session()?.children(path).await {
            Err(CoordinationError::NoNode) => Ok(vec![]),
            found => found,
        }
    }

    pub async fn set(&self, path: &str, data: &[u8], version: Option<i32>) -> Done<Stat> {
        self.session()?.set(path, data, version).await
    }

    /// Whatever is there gives way; what is not there is created.
    pub async fn put(&self, path: &str, data: &[u8]) -> Done<()> {
        match self.exists(path).await? {
            Some(_) => self.set(path, data, None).await.map(drop),
            None => self.create(path, data, CreateMode::Persistent).await,
        }
    }

    /// Creates a znode and what is missing above it.
    pub async fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> Done<()> {
        create(&*self.session()?, path, data, mode).await
    }

    pub async fn delete(&self, path: &str) -> Done<()> {
        self.session()?.delete(path, None).await
    }

    /// All or nothing; the error comes with the index of the part that failed.
    pub async fn multi(
        &self,
        parts: Vec<MultiOp>,
    ) -> Result<Vec<crate::cluster::MultiResult>, (Option<usize>, CoordinationError)> {
        let session = self.session().map_err(|error| (None, error))?;
        session.multi(parts).await
    }
}

/// Creates a znode in this session, and what is missing above it.
pub async fn create(
    session: &impl Coordination,
    path: &str,
    data: &[u8],
    mode: CreateMode,
) -> Done<()> {
    let above: Vec<&str> = path.match_indices('/').map(|(at, _)| &path[..at]).skip(1).collect();
    let mut first_missing = above.len();
    while first_missing > 0 && session.exists(above[first_missing - 1]).await?.is_none() {
        first_missing -= 1;
    }
    for missing in &above[first_missing..] {
        match session.create(missing, b"", CreateMode::Persistent).await {
            Ok(_) | Err(CoordinationError::NodeExists) => {}
            Err(error) => return Err(error),
        }
    }
    session.create(path, data, mode).await.map(drop)
}
