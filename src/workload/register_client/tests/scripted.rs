//! A coordination session that answers from a script and notes what it was asked.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, ready};
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::cluster::{
    Coordination, CoordinationError as E, CreateMode, MultiOp, MultiResult, SessionEvent, Stat,
    Watch, WatchEvent, WatchKind, Watched,
};

/// What the session answers to the next request.
pub enum Reply {
    Done,
    Data(&'static str, i32),
    Error(E),
    Silence,
}

use Reply::{Data, Done, Error, Silence};

/// A session that notes requests and answers them from the script.
#[derive(Clone)]
pub struct Scripted {
    pub script: Rc<RefCell<VecDeque<Reply>>>,
    pub requests: Rc<RefCell<Vec<String>>>,
    pub state: Rc<Cell<SessionEvent>>,
}

pub struct NoWatch;

impl Watched for NoWatch {
    fn fired(self) -> impl Future<Output = WatchEvent> {
        ready(WatchEvent { kind: WatchKind::SessionLost, path: String::new() })
    }
}

impl Scripted {
    fn answer<T: 'static>(
        &self,
        request: String,
        reply: impl Fn(&Reply) -> Option<T>,
    ) -> LocalBoxFuture<'static, Result<T, E>> {
        self.requests.borrow_mut().push(request.clone());
        let result = match self.script.borrow_mut().pop_front() {
            Some(Silence) => return futures::future::pending().boxed_local(),
            Some(Error(error)) => Err(error),
            Some(other) => Ok(reply(&other).unwrap_or_else(|| panic!("wrong reply to {request}"))),
            None => panic!("no reply is left for {request}"),
        };
        ready(result).boxed_local()
    }
}

fn done<T: Default>(reply: &Reply) -> Option<T> {
    matches!(reply, Done).then(T::default)
}

impl Coordination for Scripted {
    type Watched = NoWatch;

    fn id(&self) -> i64 {
        1
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(4)
    }

    fn state(&self) -> SessionEvent {
        self.state.get()
    }

    fn changed(&self, _: SessionEvent) -> impl Future<Output = SessionEvent> + 'static {
        ready(self.state.get())
    }

    fn create(
        &self,
        path: &str,
        data: &[u8],
        _: CreateMode,
    ) -> impl Future<Output = Result<String, E>> + 'static {
        let data = String::from_utf8_lossy(data);
        self.answer(format!("create {path} {data:?}"), done)
    }

    fn get(&self, path: &str) -> impl Future<Output = Result<(Vec<u8>, Stat), E>> + 'static {
        self.answer(format!("get {path}"), |reply| match reply {
            Data(data, version) => {
                Some((data.as_bytes().to_vec(), Stat { version: *version, ..Stat::default() }))
            }
            _ => None,
        })
    }

    fn exists(&self, path: &str) -> impl Future<Output = Result<Option<Stat>, E>> + 'static {
        self.answer(format!("exists {path}"), done)
    }

    fn children(&self, path: &str) -> impl Future<Output = Result<Vec<String>, E>> + 'static {
        self.answer(format!("children {path}"), done)
    }

    fn set(
        &self,
        path: &str,
        data: &[u8],
        version: Option<i32>,
    ) -> impl Future<Output = Result<Stat, E>> + 'static {
        let data = String::from_utf8_lossy(data);
        self.answer(format!("set {path} {data:?} {version:?}"), done)
    }

    fn delete(&self, path: &str, _: Option<i32>) -> impl Future<Output = Result<(), E>> + 'static {
        self.answer(format!("delete {path}"), done)
    }

    fn sync(&self, path: &str) -> impl Future<Output = Result<(), E>> + 'static {
        self.answer(format!("sync {path}"), done)
    }

    fn multi(
        &self,
        parts: Vec<MultiOp>,
    ) -> impl Future<Output = Result<Vec<MultiResult>, (Option<usize>, E)>> + 'static {
        ready(Err((None, E::BadArguments(format!("{parts:?} is not scripted")))))
    }

    fn watch(&self, path: &str, _: Watch) -> impl Future<Output = Result<NoWatch, E>> + 'static {
        self.answer(format!("watch {path}"), |_| Some(NoWatch))
    }

    async fn close(self) -> Result<(), E> {
        Ok(())
    }
}

pub fn scripted(script: Vec<Reply>) -> Scripted {
    Scripted {
        script: Rc::new(RefCell::new(script.into())),
        requests: Rc::default(),
        state: Rc::new(Cell::new(SessionEvent::Connected)),
    }
}
