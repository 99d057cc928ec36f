//! A ZooKeeper session that nobody can have: a kvrocks node needs none.

use std::future::{Future, Pending, pending};
use std::time::Duration;

use crate::cluster::{
    Coordination, CoordinationError, CreateMode, MultiOp, MultiResult, SessionEvent, Stat, Watch,
    WatchEvent, Watched,
};

/// There is no value of this type.
pub enum NoZookeeper {}

impl NoZookeeper {
    fn never<T>(&self) -> Pending<T> {
        match *self {}
    }
}

impl Watched for NoZookeeper {
    fn fired(self) -> impl Future<Output = WatchEvent> {
        pending()
    }
}

impl Coordination for NoZookeeper {
    type Watched = NoZookeeper;

    fn id(&self) -> i64 {
        match *self {}
    }

    fn timeout(&self) -> Duration {
        match *self {}
    }

    fn state(&self) -> SessionEvent {
        match *self {}
    }

    fn changed(&self, _than: SessionEvent) -> impl Future<Output = SessionEvent> + 'static {
        self.never()
    }

    fn create(
        &self,
        _path: &str,
        _data: &[u8],
        _mode: CreateMode,
    ) -> impl Future<Output = Result<String, CoordinationError>> + 'static {
        self.never()
    }

    fn get(
        &self,
        _path: &str,
    ) -> impl Future<Output = Result<(Vec<u8>, Stat), CoordinationError>> + 'static {
        self.never()
    }

    fn exists(
        &self,
        _path: &str,
    ) -> impl Future<Output = Result<Option<Stat>, CoordinationError>> + 'static {
        self.never()
    }

    fn children(
        &self,
        _path: &str,
    ) -> impl Future<Output = Result<Vec<String>, CoordinationError>> + 'static {
        self.never()
    }

    fn set(
        &self,
        _path: &str,
        _data: &[u8],
        _version: Option<i32>,
    ) -> impl Future<Output = Result<Stat, CoordinationError>> + 'static {
        self.never()
    }

    fn delete(
        &self,
        _path: &str,
        _version: Option<i32>,
    ) -> impl Future<Output = Result<(), CoordinationError>> + 'static {
        self.never()
    }

    fn sync(&self, _path: &str) -> impl Future<Output = Result<(), CoordinationError>> + 'static {
        self.never()
    }

    fn multi(
        &self,
        _parts: Vec<MultiOp>,
    ) -> impl Future<Output = Result<Vec<MultiResult>, (Option<usize>, CoordinationError)>> + 'static
    {
        self.never()
    }

    fn watch(
        &self,
        _path: &str,
        _watch: Watch,
    ) -> impl Future<Output = Result<NoZookeeper, CoordinationError>> + 'static {
        self.never()
    }

    fn close(self) -> impl Future<Output = Result<(), CoordinationError>> + 'static {
        pending()
    }
}
