//! A ZooKeeper of one server for tests: sessions with the habits of the real client and server.
//!
//! A request takes a millisecond. A client that hears nothing for 2.4 s is disconnected, the server expires
//! its session after 6 s, and the client gives the session up after 8.4 s, or when it is back.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::sleep;

use super::tree::Tree;
use crate::cluster::{
    Coordination, CoordinationError, CreateMode, MultiOp, MultiResult, SessionEvent, Stat, Watch,
    WatchEvent, WatchKind, Watched,
};

const STEP: Duration = Duration::from_millis(100);
const HALF_WAY: Duration = Duration::from_micros(500);

struct Session {
    client: Ipv4Addr,
    /// As its client sees it.
    state: SessionEvent,
    silence: Duration,
    /// The server has ended it.
    is_expired: bool,
    /// Its process is gone.
    is_dead: bool,
}

#[derive(Default)]
pub struct Zookeeper {
    pub tree: RefCell<Tree>,
    sessions: RefCell<BTreeMap<i64, Session>>,
    cut: RefCell<BTreeSet<Ipv4Addr>>,
    held: RefCell<BTreeSet<Ipv4Addr>>,
    /// The next write is performed, and its answer does not come.
    loses_next_answer: Cell<bool>,
}

impl Zookeeper {
    pub fn start() -> Rc<Zookeeper> {
        let zookeeper = Rc::new(Zookeeper::default());
        let ticking = zookeeper.clone();
        tokio::task::spawn_local(async move {
            loop {
                sleep(STEP).await;
                ticking.tick();
            }
        });
        zookeeper
    }

    pub fn cut(&self, client: Ipv4Addr) {
        self.cut.borrow_mut().insert(client);
    }

    pub fn join(&self, client: Ipv4Addr) {
        self.cut.borrow_mut().remove(&client);
    }

    /// Writes from there are performed only when they are released; the session lives on.
    pub fn hold(&self, client: Ipv4Addr) {
        self.held.borrow_mut().insert(client);
    }

    pub fn release(&self, client: Ipv4Addr) {
        self.held.borrow_mut().remove(&client);
    }

    /// The process there was killed: nothing is heard of its sessions any more.
    pub fn died(&self, client: Ipv4Addr) {
        let mut sessions = self.sessions.borrow_mut();
        let own = sessions.values_mut().filter(|session| session.client == client);
        own.for_each(|session| session.is_dead = true);
    }

    pub fn lose_next_answer(&self) {
        self.loses_next_answer.set(true);
    }

    /// A znode's data as text; empty where there is none.
    pub fn text(&self, path: &str) -> String {
        let data = self.tree.borrow().get(path).map(|(data, _)| data).unwrap_or_default();
        String::from_utf8(data).expect("text")
    }

    fn is_cut(&self, client: Ipv4Addr) -> bool {
        self.cut.borrow().contains(&client)
    }

    fn tick(&self) {
        let mut sessions = self.sessions.borrow_mut();
        for (id, session) in sessions.iter_mut() {
            if self.is_cut(session.client) || session.is_dead {
                session.silence += STEP;
            } else {
                session.silence = Duration::ZERO;
            }
            if session.silence >= Duration::from_secs(6) && !session.is_expired {
                session.is_expired = true;
                self.tree.borrow_mut().expire(*id);
            }
            let gives_up = session.silence >= Duration::from_millis(8400);
            let state = match session.silence {
                _ if session.state == SessionEvent::Expired => SessionEvent::Expired,
                silence if gives_up || silence.is_zero() && session.is_expired => {
                    self.tree.borrow_mut().forget_watches(*id);
                    SessionEvent::Expired
                }
                silence if silence >= Duration::from_millis(2400) => SessionEvent::Disconnected,
                silence if silence.is_zero() => SessionEvent::Connected,
                _ => session.state,
            };
            session.state = state;
        }
    }

    pub async fn open(self: Rc<Self>, client: Ipv4Addr) -> Result<FakeSession, CoordinationError> {
        let late = tokio::time::Instant::now() + Duration::from_secs(6);
        while self.is_cut(client) {
            if tokio::time::Instant::now() >= late {
                return Err(CoordinationError::NotConnected("no answer".to_owned()));
            }
            sleep(STEP).await;
        }
        sleep(HALF_WAY * 2).await;
        let id = self.sessions.borrow().len() as i64 + 1;
        let session = Session {
            client,
            state: SessionEvent::Connected,
            silence: Duration::ZERO,
            is_expired: false,
            is_dead: false,
        };
        self.sessions.borrow_mut().insert(id, session);
        Ok(FakeSession { zookeeper: self, id, client })
    }
}

/// One session. Dropped, it is left to expire.
pub struct FakeSession {
    zookeeper: Rc<Zookeeper>,
    id: i64,
    client: Ipv4Addr,
}

pub struct FakeWatch {
    path: String,
    receiver: oneshot::Receiver<WatchEvent>,
}

impl Watched for FakeWatch {
    async fn fired(self) -> WatchEvent {
        let over = WatchEvent { kind: WatchKind::SessionLost, path: self.path };
        self.receiver.await.unwrap_or(over)
    }
}

impl FakeSession {
    fn ask<T: 'static>(
        &self,
        perform: impl FnOnce(&mut Tree, i64) -> Result<T, CoordinationError> + 'static,
    ) -> impl Future<Output = Result<T, CoordinationError>> + 'static {
        self.request(false, perform)
    }

    /// Performs a request half a round trip from now.
    fn request<T: 'static>(
        &self,
        is_write: bool,
        perform: impl FnOnce(&mut Tree, i64) -> Result<T, CoordinationError> + 'static,
    ) -> impl Future<Output = Result<T, CoordinationError>> + 'static {
        let (zookeeper, id, client) = (self.zookeeper.clone(), self.id, self.client);
        let state = move |zookeeper: &Zookeeper| zookeeper.sessions.borrow()[&id].state;
        async move {
            while state(&zookeeper) == SessionEvent::Disconnected {
                sleep(STEP).await;
            }
            if state(&zookeeper) == SessionEvent::Expired {
                return Err(CoordinationError::SessionExpired { sent: false });
            }
            sleep(HALF_WAY).await;
            while is_write && zookeeper.held.borrow().contains(&client) {
                sleep(STEP).await;
            }
            while zookeeper.is_cut(client) && state(&zookeeper) == SessionEvent::Connected {
                sleep(STEP).await;
            }
            match state(&zookeeper) {
                SessionEvent::Connected => {}
                SessionEvent::Expired => {
                    return Err(CoordinationError::SessionExpired { sent: true });
                }
                _ => return Err(CoordinationError::ConnectionLoss),
            }
            let done = perform(&mut zookeeper.tree.borrow_mut(), id);
            sleep(HALF_WAY).await;
            done
        }
    }

    fn write(
        &self,
        parts: Vec<MultiOp>,
    ) -> impl Future<Output = Result<Vec<MultiResult>, (Option<usize>, CoordinationError)>> + 'static
    {
        let zookeeper = self.zookeeper.clone();
        let asked = self.request(true, move |tree, id| Ok(tree.perform(id, &parts)));
        async move {
            let done = asked.await.map_err(|error| (None, error))?;
            if zookeeper.loses_next_answer.take() {
                return Err((None, CoordinationError::ConnectionLoss));
            }
            done.map_err(|(index, error)| (Some(index), error))
        }
    }

    fn single(
        &self,
        part: MultiOp,
    ) -> impl Future<Output = Result<MultiResult, CoordinationError>> + 'static {
        let done = self.write(vec![part]);
        async move { Ok(done.await.map_err(|(_, error)| error)?.remove(0)) }
    }
}

impl Coordination for FakeSession {
    type Watched = FakeWatch;

    fn id(&self) -> i64 {
        self.id
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(6)
    }

    fn state(&self) -> SessionEvent {
        self.zookeeper.sessions.borrow()[&self.id].state
    }

    fn changed(&self, than: SessionEvent) -> impl Future<Output = SessionEvent> + 'static {
        let (zookeeper, id) = (self.zookeeper.clone(), self.id);
        async move {
            loop {
                let state = zookeeper.sessions.borrow()[&id].state;
                if state != than {
                    return state;
                }
                sleep(STEP).await;
            }
        }
    }

    fn create(
        &self,
        path: &str,
        data: &[u8],
        mode: CreateMode,
    ) -> impl Future<Output = Result<String, CoordinationError>> + 'static {
        let (path, data) = (path.to_owned(), data.to_vec());
        let created = self.single(MultiOp::Create { path: path.clone(), data, mode });
        async move { created.await.map(|_| path) }
    }

    fn get(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<(Vec<u8>, Stat), CoordinationError>> + 'static {
        let path = path.to_owned();
        self.ask(move |tree, _| tree.get(&path))
    }

    fn exists(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<Option<Stat>, CoordinationError>> + 'static {
        let path = path.to_owned();
        self.ask(move |tree, _| Ok(tree.get(&path).ok().map(|(_, stat)| stat)))
    }

    fn children(
        &self,
        path: &str,
    ) -> impl Future<Output = Result<Vec<String>, CoordinationError>> + 'static {
        let path = path.to_owned();
        self.ask(move |tree, _| tree.children(&path))
    }

    fn set(
        &self,
        path: &str,
        data: &[u8],
        version: Option<i32>,
    ) -> impl Future<Output = Result<Stat, CoordinationError>> + 'static {
        let part = MultiOp::Set { path: path.to_owned(), data: data.to_vec(), version };
        let done = self.single(part);
        async move {
            match done.await? {
                MultiResult::Set { stat } => Ok(stat),
                other => panic!("{other:?}"),
            }
        }
    }

    fn delete(
        &self,
        path: &str,
        version: Option<i32>,
    ) -> impl Future<Output = Result<(), CoordinationError>> + 'static {
        let done = self.single(MultiOp::Delete { path: path.to_owned(), version });
        async move { done.await.map(drop) }
    }

    fn sync(&self, _path: &str) -> impl Future<Output = Result<(), CoordinationError>> + 'static {
        self.ask(|_, _| Ok(()))
    }

    fn multi(
        &self,
        parts: Vec<MultiOp>,
    ) -> impl Future<Output = Result<Vec<MultiResult>, (Option<usize>, CoordinationError)>> + 'static
    {
        self.write(parts)
    }

    fn watch(
        &self,
        path: &str,
        _watch: Watch,
    ) -> impl Future<Output = Result<FakeWatch, CoordinationError>> + 'static {
        let path = path.to_owned();
        self.ask(move |tree, id| {
            let receiver = tree.watch(id, &path);
            Ok(FakeWatch { path, receiver })
        })
    }

    fn close(self) -> impl Future<Output = Result<(), CoordinationError>> + 'static {
        self.zookeeper.died(self.client);
        std::future::ready(Ok(()))
    }
}
